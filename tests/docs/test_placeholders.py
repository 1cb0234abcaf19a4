"""What is still to be filled in before the first public release, as docs/releasing.md says."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
MARKS = ("pathcast" + ".example", "Authors to be" + " added", "is not on the package" + " index yet")
EXPECTED = {
    "pyproject.toml": 5,
    "docs/releasing.md": 1,
    "CITATION.cff": 1,
    "README.md": 1,
    "docs/tutorial.md": 1,
}


def test_placeholders_are_where_the_list_says() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    found = {}
    for name in listed.stdout.splitlines():
        if not (ROOT / name).is_file():
            continue
        text = (ROOT / name).read_bytes().decode("utf-8", "replace")
        if number := sum(text.count(mark) for mark in MARKS):
            found[name] = number
    assert found == EXPECTED


def test_the_habits_of_a_project_are_there() -> None:
    for name in (
        "SECURITY.md",
        "CODE_OF_CONDUCT.md",
        "CITATION.cff",
        "CHANGELOG.md",
        ".pre-commit-config.yaml",
        ".github/PULL_REQUEST_TEMPLATE.md",
        ".github/workflows/ci.yml",
        ".github/workflows/wheels.yml",
        "docs/releasing.md",
    ):
        assert (ROOT / name).is_file(), name


def test_hosted_checks_run_the_same_script() -> None:
    workflow = (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")
    assert "run: .ci/run" in workflow
    hook = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    assert "entry: make lint" in hook


def test_the_citation_names_the_version() -> None:
    version = next(
        line.split('"')[1]
        for line in (ROOT / "Cargo.toml").read_text(encoding="utf-8").splitlines()
        if line.startswith("version = ")
    )
    assert f"version: {version}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
