"""Writes the bill of materials of a wheel as CycloneDX: `python sbom.py WHEEL > FILE`.

Maturin puts the list of Rust crates into the wheel. To it are added the scripts that the service's pages
ship, from the lock file they were built with, and the Python packages that `pathcast[all]` needs, as they are
installed.
"""

from __future__ import annotations

import json
import re
import sys
import zipfile
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, TypeAlias

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
VENDOR = "service/pages/static/vendor/LICENSES.txt"
Component: TypeAlias = dict[str, Any]


def component(kind: str, name: str, version: str, licensed: str) -> Component:
    """One entry; the package address says where it is from."""
    address = f"pkg:{kind}/{name.replace('@', '%40')}@{version}"
    entry: Component = {"type": "library", "bom-ref": address, "purl": address}
    entry |= {"name": name, "version": version}
    if licensed:
        entry["licenses"] = [{"license": {"name": licensed}}]
    return entry


def rust(wheel: zipfile.ZipFile) -> Component:
    """The document that is in the wheel, about the Python package and without the folder it was built in."""
    lists = r"\.dist-info/sboms/.*\.cyclonedx\.json$"
    (name,) = (name for name in wheel.namelist() if re.search(lists, name))
    return about_the_package(wheel.read(name).decode())


def about_the_package(crates: str) -> Component:
    """A document about the binding's crate, made into one about `pathcast`, which contains that crate."""
    found: Component = json.loads(re.sub(r"path\+file://[^\s\"#]*/crates/", "crates/", crates))
    binding = found["metadata"]["component"]
    package = component("pypi", "pathcast", binding["version"], "Apache-2.0")
    for each in (binding, *binding.get("components", ()), *found["components"]):
        each["purl"] = each.get("purl", "").partition("?")[0]
    found["metadata"]["component"] = package
    found["components"].append(binding)
    found.setdefault("dependencies", []).append(
        {"ref": package["bom-ref"], "dependsOn": [binding["bom-ref"]]}
    )
    return found


def licence(metadata: Component) -> str:
    """What the metadata of a Python package says: an expression, a name, or the end of a classifier."""
    said = str(metadata.get("license_expression") or metadata.get("license") or "").partition("\n")[0]
    classified = (each.rpartition(" :: ") for each in metadata.get("classifier", ()))
    return said or ", ".join(name for kind, _, name in classified if kind.startswith("License"))


def scripts(wheel: zipfile.ZipFile) -> Iterator[Component]:
    """What the pages ship: the licence file names each package and its version."""
    packages = json.loads((ROOT / "tools/pages/package-lock.json").read_text(encoding="utf-8"))["packages"]
    shipped = wheel.read(f"pathcast/{VENDOR}").decode()
    for path, package in packages.items():
        name = path.rpartition("node_modules/")[2]
        if name and re.search(rf"^{re.escape(name)} {re.escape(package['version'])}$", shipped, re.MULTILINE):
            yield component("npm", name, package["version"], package.get("license", ""))


def python() -> Iterator[Component]:
    """What `pathcast[all]` needs, directly or not."""
    waiting = [Requirement("pathcast[all]")]
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        requirement = waiting.pop()
        extras = frozenset(requirement.extras) | {""}
        name = re.sub(r"[-_.]+", "-", requirement.name).lower()
        if (name, extras) in seen:
            continue
        try:
            found = distribution(name)
        except PackageNotFoundError:
            continue  # of another platform
        if name != "pathcast" and not any(name == other for other, _ in seen):
            yield component("pypi", name, found.version, licence(found.metadata.json))
        seen.add((name, extras))
        for line in found.requires or ():
            needed = Requirement(line)
            if needed.marker is None or any(needed.marker.evaluate({"extra": extra}) for extra in extras):
                waiting.append(needed)


def main(path: str) -> None:
    """Prints the whole document."""
    with zipfile.ZipFile(path) as wheel:
        document = rust(wheel)
        added = [*scripts(wheel), *python()]
    document["components"] += sorted(added, key=lambda each: str(each["purl"]))
    print(json.dumps(document, indent=1))


if __name__ == "__main__":
    main(sys.argv[1])
