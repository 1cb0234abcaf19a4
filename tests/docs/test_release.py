"""What a release carries: one version everywhere, notes for it, and the licences of all that is linked in."""

from __future__ import annotations

import json
import re
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


def test_the_notes_name_the_format_that_is_written(tmp_path: Path) -> None:
    pathcast.Index().save(tmp_path / "index")
    written = int.from_bytes((tmp_path / "index").read_bytes()[8:12], "little")
    assert f"writes format {written} " in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


@pytest.mark.skipif(not shutil.which("cargo"), reason="there is no cargo")
def test_every_crate_in_the_extension_has_its_licence_listed() -> None:
    tree = subprocess.run(TREE.split(), cwd=ROOT, capture_output=True, text=True, check=True).stdout
    linked = {" ".join(line.split()[:2]) for line in tree.splitlines() if line and "(/" not in line}
    listed = re.findall(r"^(\S+) (\d\S*): .+$", (ROOT / "THIRD-PARTY.txt").read_text(encoding="utf-8"), re.M)
    assert {f"{name} v{version}" for name, version in listed} == linked, "run make licences"


def test_the_pages_ship_only_what_the_lock_file_names() -> None:
    """The bill of materials is made from both."""
    shipped = ROOT / "python/pathcast/service/pages/static/vendor/LICENSES.txt"
    named = re.findall(r"^(@?[a-z][\w./-]*) (\d+\.\d+\.\d+)$", shipped.read_text(encoding="utf-8"), re.M)
    packages = json.loads((ROOT / "tools/pages/package-lock.json").read_text(encoding="utf-8"))["packages"]
    assert named
    for name, version in named:
        assert packages[f"node_modules/{name}"]["version"] == version
