"""Which files of older versions are removed, and which are left."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")

from pathcast.errors import PathcastError
from pathcast.spark.artifact import Manifest, Settings, Shard
from pathcast.spark.folders import LocalFolder
from pathcast.spark.leases import (
    Lease,
    alone,
    check_types,
    lease_newest,
    leases,
    remove_unused,
    unchanged,
    writing,
)


def published(folder: Path, number: int, subscriber: str | None = None) -> Manifest:
    """A version with files of its own."""
    shard = Shard(0, f"{number:020}", f"{number:020}", "", 0, 0, "", "", 0)
    manifest = Manifest(Settings(), "string", subscriber, (shard,))
    for name in manifest.files:
        (folder / name).touch()
        os.utime(folder / name, (1, 1))
    manifest.write(folder)
    return manifest


def there(folder: Path, manifest: Manifest) -> bool:
    found = {(folder / name).exists() for name in [*manifest.files, manifest.name]}
    assert len(found) == 1, "a version is there whole, or not at all"
    return found.pop()


def test_a_lease_keeps_a_version(tmp_path: Path) -> None:
    one = published(tmp_path, 1)
    assert lease_newest(tmp_path, "reader").hash == one.hash
    two = published(tmp_path, 2)
    assert remove_unused(tmp_path) == []
    three = published(tmp_path, 3)
    remove_unused(tmp_path)
    assert [there(tmp_path, each) for each in (one, two, three)] == [True, False, True]
    assert lease_newest(tmp_path, "reader", also=[one]).hash == three.hash
    remove_unused(tmp_path)
    assert there(tmp_path, one)
    lease_newest(tmp_path, "reader")
    remove_unused(tmp_path)
    assert [there(tmp_path, each) for each in (one, three)] == [False, True]


def test_a_version_has_a_time_of_grace(tmp_path: Path) -> None:
    one = published(tmp_path, 1)
    published(tmp_path, 2)
    assert remove_unused(tmp_path, grace=3600) == []
    for name in [*one.files, one.name]:
        os.utime(tmp_path / name, (1, 1))
    remove_unused(tmp_path, grace=3600)
    assert not there(tmp_path, one)


def test_what_is_being_written_is_left(tmp_path: Path) -> None:
    published(tmp_path, 1)
    with writing(tmp_path):
        (tmp_path / "shard-00000-new.arrow").touch()
        assert remove_unused(tmp_path) == []
    assert remove_unused(tmp_path) == ["shard-00000-new.arrow"]


def test_leases_end_and_damaged_ones_hold_everything(tmp_path: Path) -> None:
    one = published(tmp_path, 1)
    published(tmp_path, 2)
    Lease("old", 1.0, tuple(one.files)).write(tmp_path)
    assert leases(tmp_path) == []
    assert not list(tmp_path.glob("lease-*"))
    (tmp_path / "lease-torn.json").write_text("{")
    assert remove_unused(tmp_path) == []
    Lease("torn", 1.0).end(tmp_path)
    assert there(tmp_path, one)
    remove_unused(tmp_path)
    assert not there(tmp_path, one)


def test_types_that_a_stream_relies_on(tmp_path: Path) -> None:
    published(tmp_path, 1, "string")
    lease_newest(tmp_path, "stream-1")
    check_types(tmp_path, {"id_type": "string", "subscriber_type": "string"})
    with pytest.raises(TypeError, match=r"stream-1 .*subscribers of type string.*have .*no subscribers"):
        check_types(tmp_path, {"id_type": "string", "subscriber_type": None})


def test_where_it_cannot_look_is_told() -> None:
    with pytest.raises(PathcastError, match="dbfs:/x needs fsspec and what it opens such URLs with"):
        remove_unused("dbfs:/x")


def test_a_file_system_without_locks_is_written_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fcntl = pytest.importorskip("fcntl")

    def flock(file: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, "no locks available")

    monkeypatch.setattr(fcntl, "flock", flock)
    manifest = published(tmp_path, 1)
    for entered in (alone(LocalFolder(tmp_path)), unchanged(LocalFolder(tmp_path), manifest)):
        with entered:
            pass
    published(tmp_path, 2)
    with pytest.raises(ValueError, match="nothing was written"), unchanged(LocalFolder(tmp_path), manifest):
        pass
