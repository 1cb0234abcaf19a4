"""Writes the licences of the Rust crates in the extension: `python licences.py > THIRD-PARTY.txt`.

Texts are those that the crates ship. The licences of the pages' scripts are in `service/pages/static/vendor`.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PACKAGE = "pathcast-python"
RULE = "\n" + "-" * 100 + "\n"


def crates() -> list[dict[str, Any]]:
    """Everything that is linked into the extension on any platform, without what only builds it."""
    tree = ["cargo", "tree", "--locked", "--package", PACKAGE, "--edges", "normal", "--target", "all"]
    tree += ["--prefix", "none", "--format", "{p}"]
    listed = subprocess.run(tree, capture_output=True, text=True, check=True)
    linked = {tuple(line.split()[:2]) for line in listed.stdout.splitlines() if line}
    metadata = ["cargo", "metadata", "--locked", "--format-version", "1"]
    packages = json.loads(subprocess.run(metadata, capture_output=True, check=True).stdout)["packages"]
    found = [each for each in packages if each["source"] and (each["name"], f"v{each['version']}") in linked]
    return sorted(found, key=lambda each: (each["name"], each["version"]))


def lines(found: list[dict[str, Any]]) -> Iterator[str]:
    """A list of all crates, then each text once with the crates that it is for."""
    yield "The extension of Pathcast contains these crates, under the licences that each names.\n"
    texts: dict[str, str] = {}  # by their words: copies differ in how lines are broken
    names: dict[str, list[str]] = {}
    for crate in found:
        name = f"{crate['name']} {crate['version']}"
        yield f"{name}: {crate['license']}"
        folder = Path(crate["manifest_path"]).parent
        for path in sorted(folder.iterdir()):
            if path.is_file() and re.match(r"(?i)(licen[cs]e|copying|notice|unlicense)", path.name):
                text = path.read_text(encoding="utf-8", errors="replace").replace("\r\n", "\n").strip()
                words = " ".join(text.split()).lower()
                texts.setdefault(words, "\n".join(map(str.rstrip, text.split("\n"))))
                names.setdefault(words, []).append(name)
    for words, text in texts.items():
        yield RULE + ", ".join(dict.fromkeys(names[words])) + "\n\n" + text


if __name__ == "__main__":
    print("\n".join(lines(crates())))
