"""Index files and what Spark compiles: an error that says why, and the old version stays."""

from __future__ import annotations

from pathlib import Path

import pytest

import pathcast
from tests.faults.conftest import Disk

pytest.importorskip("pyarrow")
from pathcast.spark.artifact import Manifest, Settings

FAULTS = [("full", "No space left on device"), ("sync", "Input/output error")]

SAVE = """
import sys, pathcast
index = pathcast.Index()
index.add_many((f"s{i}", f"//new{i}") for i in range(20_000))
try:
    index.save(sys.argv[1])
except OSError as error:
    print(error)
"""

PUBLISH = """
import sys
from pathlib import Path
from pathcast.spark.artifact import Manifest, Settings
try:
    Manifest(Settings(ordered=True), "string", None, ()).write(Path(sys.argv[1]))
except OSError as error:
    print(error)
"""


@pytest.mark.parametrize(("fault", "said"), FAULTS)
def test_an_index_that_cannot_be_saved(disk: Disk, tmp_path: Path, fault: str, said: str) -> None:
    path = tmp_path / "folder" / "index.pathcast"
    path.parent.mkdir()
    index = pathcast.Index()
    index.add("old", "//old")
    index.save(path)
    disk.fail(fault)
    assert said in disk.run(SAVE, path)
    assert pathcast.Index.load(path).match("<old/>") == ["old"]
    assert list(path.parent.iterdir()) == [path], "nothing half written is left"
    disk.mend()
    assert disk.run(SAVE, path) == ""
    assert len(pathcast.Index.load(path)) == 20_000


@pytest.mark.parametrize(("fault", "said"), FAULTS)
def test_a_version_that_cannot_be_published(disk: Disk, tmp_path: Path, fault: str, said: str) -> None:
    folder = tmp_path / "compiled"
    folder.mkdir()
    old = Manifest(Settings(), "string", None, ())
    old.write(folder)
    before = sorted(folder.iterdir())
    disk.fail(fault)
    assert said in disk.run(PUBLISH, folder)
    assert Manifest.read(folder) == old
    assert sorted(folder.iterdir()) == before
    disk.mend()
    assert disk.run(PUBLISH, folder) == ""
    assert Manifest.read(folder).settings.ordered
