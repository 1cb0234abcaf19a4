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


def component(kind: str, name: str, version: str, licence: str) -> Component:
    """One entry; the package address says where it is from."""
    address = f"pkg:{kind}/{name.replace('@', '%40')}@{version}"
    entry: Component = {"type": "library", "bom-ref": address, "purl": address}
    entry |= {"name": name, "version": version}
    if licence:
        entry["licenses"] = [{"license": {"name": licence}}]
    return entry


def rust(wheel: zipfile.ZipFile) -> Component:
    """The document that is in the wheel."""
    lists = r"\.dist-info/sboms/.*\.cyclonedx\.json$"
    (name,) = (name for name in wheel.namelist() if re.search(lists, name))
    found: Component = json.loads(wheel.read(name))
    return found


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
            said = found.metadata.json
            licence = str(said.get("license_expression") or said.get("license") or "")
            yield component("pypi", name, found.version, licence.partition("\n")[0])
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
