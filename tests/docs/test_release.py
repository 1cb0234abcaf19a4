"""What a release carries: one version everywhere, notes for it, and the licences of all that is linked in."""

from __future__ import annotations

import json
import re
import runpy
import shutil
import subprocess
from pathlib import Path

import pytest

import pathcast

ROOT = Path(__file__).parents[2]
TREE = "cargo tree --locked --package pathcast-python --edges normal --target all --prefix none --format {p}"


def test_the_changelog_has_the_version_that_is_installed() -> None:
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(
        rf"^## \[{re.escape(pathcast.__version__)}\] - \d{{4}}-\d\d-\d\d$", changes, re.MULTILINE
    )


def test_the_citation_names_the_version_and_the_day_of_the_changelog() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    day = re.search(r"^date-released: (\d{4}-\d\d-\d\d)$", citation, re.MULTILINE)
    assert day
    assert f"version: {pathcast.__version__}\n" in citation
    assert f"## [{pathcast.__version__}] - {day[1]}\n" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_notes_name_the_format_that_is_written(tmp_path: Path) -> None:
    pathcast.Index().save(tmp_path / "index")
    written = int.from_bytes((tmp_path / "index").read_bytes()[8:12], "little")
    assert f"writes format {written} " in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"| format version, little-endian; {written}, " in (ROOT / "ARCHITECTURE.md").read_text(
        encoding="utf-8"
    )


@pytest.mark.skipif(not shutil.which("cargo"), reason="there is no cargo")
def test_every_crate_in_the_extension_has_its_licence_listed() -> None:
    tree = subprocess.run(TREE.split(), cwd=ROOT, capture_output=True, text=True, check=True).stdout
    linked = {" ".join(line.split()[:2]) for line in tree.splitlines() if line and "(/" not in line}
    listed = re.findall(r"^(\S+) (\d\S*): .+$", (ROOT / "THIRD-PARTY.txt").read_text(encoding="utf-8"), re.M)
    assert {f"{name} v{version}" for name, version in listed} == linked, "run make licences"


CRATES = """{"metadata": {"component": {"bom-ref": "path+file:///builder/here/crates/pathcast-python#1.0.0",
  "name": "pathcast-python", "version": "1.0.0", "purl": "pkg:cargo/pathcast-python@1.0.0?download_url=file://."}},
 "components": [{"bom-ref": "registry+https://index#memchr@2.0.0", "name": "memchr", "version": "2.0.0"}],
 "dependencies": [{"ref": "path+file:///builder/here/crates/pathcast-python#1.0.0",
  "dependsOn": ["registry+https://index#memchr@2.0.0"]}]}"""


def test_the_bill_of_materials_is_about_the_package_and_names_no_folder() -> None:
    found = runpy.run_path(str(ROOT / "tools/release/sbom.py"))["about_the_package"](CRATES)
    assert found["metadata"]["component"]["purl"] == "pkg:pypi/pathcast@1.0.0"
    assert "builder" not in json.dumps(found)
    assert "file:" not in json.dumps(found)
    known = {each["bom-ref"] for each in (found["metadata"]["component"], *found["components"])}
    needs = {each["ref"]: each["dependsOn"] for each in found["dependencies"]}
    assert needs["pkg:pypi/pathcast@1.0.0"] == ["crates/pathcast-python#1.0.0"]
    assert {*needs, *(each for some in needs.values() for each in some)} == known


def test_a_licence_is_named_wherever_a_package_says_it() -> None:
    licence = runpy.run_path(str(ROOT / "tools/release/sbom.py"))["licence"]
    assert licence({"license_expression": "MIT"}) == "MIT"
    assert licence({"license": "BSD\n\nAll of it"}) == "BSD"
    named = ["Typing :: Typed", "License :: OSI Approved :: MIT License"]
    assert licence({"classifier": named}) == "MIT License"


def test_the_pages_ship_only_what_the_lock_file_names() -> None:
    """The bill of materials is made from both."""
    shipped = ROOT / "python/pathcast/service/pages/static/vendor/LICENSES.txt"
    named = re.findall(r"^(@?[a-z][\w./-]*) (\d+\.\d+\.\d+)$", shipped.read_text(encoding="utf-8"), re.M)
    packages = json.loads((ROOT / "tools/pages/package-lock.json").read_text(encoding="utf-8"))["packages"]
    assert named
    for name, version in named:
        assert packages[f"node_modules/{name}"]["version"] == version
