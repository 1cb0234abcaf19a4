"""An index in a process of its own answers as one in the worker does, and nobody is lost when it is gone."""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")
if not hasattr(os, "memfd_create"):
    pytest.skip("indexes are shared on Linux only", allow_module_level=True)

import pyarrow as pa

from pathcast.errors import IndexFormatError
from pathcast.spark.artifact import Manifest, Shard
from pathcast.spark.driver.compiled import Compiled
from pathcast.spark.driver.delta import changed_shards
from pathcast.spark.driver.doctor import Needs
from pathcast.spark.worker import base, matcher, messages, shards, shared
from pathcast.spark.worker.match import MatchJob, match_batches
from pathcast.spark.worker.shards import ShardFiles, open_shard
from tests.spark.data import world
from tests.spark.shards import ROWS, SETTINGS, compiled

_FOLDER = shared._folder


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """A worker that has nothing open; its process for indexes ends with the test."""
    monkeypatch.setattr(shards, "_shared", type(shards._shared)())
    monkeypatch.setattr(shards, "_bases", type(shards._bases)())
    for name, value in (("_connection", None), ("_given_up", False), ("_fallbacks", 0)):
        monkeypatch.setattr(shared, name, value)
    folder = tmp_path / "private"
    folder.mkdir(mode=0o700)
    monkeypatch.setattr(shared, "_folder", lambda parent: folder)
    started: list[subprocess.Popen[bytes]] = []
    popen = subprocess.Popen

    def start(*arguments: Any, **options: Any) -> Any:
        started.append(popen(*arguments, **options))
        return started[-1]

    monkeypatch.setattr(subprocess, "Popen", start)
    yield
    if shared._connection is not None:
        shared._connection[1].close()
    for process in started:
        process.kill()
        process.wait()


def files_of(folder: Path, shard: Shard, share: bool = True) -> ShardFiles:
    return ShardFiles(str(folder), shard, SETTINGS, share=share)


def rows_of(files: ShardFiles, documents: list[Any], result: str) -> list[Any]:
    job = MatchJob(result, files, SETTINGS, failfast=False, batch_bytes=1 << 20)  # type: ignore[arg-type]
    cells = [pa.array(range(len(documents))), pa.array(documents, pa.binary())]
    batches = match_batches(iter([pa.RecordBatch.from_arrays(cells, ["id", "document"])]), job)
    rows = [row for batch in batches for row in batch.to_pylist()]
    for row in rows:
        if row.get("found"):
            row["found"].sort(key=repr)  # the matches of a document come in no order
    return rows


@pytest.fixture
def here(tmp_path: Path) -> tuple[Path, Shard, list[Any]]:
    """Random subscriptions, compiled, and documents, some of them bad."""
    drawn = world(seed=31, documents=70, subscriptions=80)
    names = ("id", "xpath", "ordered", "namespaces", "subscriber")
    rows = [dict(zip(names, (*row[:3], row[3], row[4]), strict=True)) for row in drawn.rows]
    folder = tmp_path / "index"
    folder.mkdir()
    return folder, compiled(folder, rows), [cell for _, cell in drawn.documents]


@pytest.mark.parametrize("result", ["matches", "tagged", "grouped", "delivered", "dead"])
def test_it_answers_as_an_index_of_the_worker(here: tuple[Path, Shard, list[Any]], result: str) -> None:
    folder, shard, documents = here
    own = rows_of(files_of(folder, shard, share=False), documents, result)
    assert own
    assert rows_of(files_of(folder, shard), documents, result) == own
    assert isinstance(open_shard(files_of(folder, shard)).index, shared.SharedIndex)
    assert not shared.fallbacks()


def test_what_a_shared_index_needs(here: tuple[Path, Shard, list[Any]]) -> None:
    folder, shard, _ = here
    for index_bytes, count, kept in ((shards.SHARED_BYTES, 1, 1 << 30), (1 << 30, 3, 1 << 20), (1, 1, 1)):
        each = [replace(shard, index_bytes=index_bytes) for _ in range(count)]
        needs = Needs.of(Compiled(folder, Manifest(SETTINGS, "string", None, tuple(each))), kept)
        assert needs.worker > 150e6
        # In each worker an index and what it remembers, twice while a new version comes; shared once.
        assert needs.shared is None if index_bytes == 1 else 144e6 < (needs.shared or 0) < 150e6


def with_change(folder: Path, shard: Shard, id: str, xpath: str) -> Shard:
    row = {"id": id, "xpath": xpath, "removed": False, "shard": 0, "seed": False}
    table = pa.Table.from_pylist(
        [row], pa.schema([*ROWS, ("removed", pa.bool_()), ("shard", pa.int32()), ("seed", pa.bool_())])
    ).append_column("problem", pa.nulls(1, pa.string()))
    changed = changed_shards(folder, {0: shard}, table, SETTINGS)
    assert changed
    return changed[0]


def test_a_delta_that_cannot_be_read_leaves_what_was_there(tmp_path: Path) -> None:
    shard = compiled(tmp_path, [{"id": "s", "xpath": "/a"}])
    versions = [with_change(tmp_path, shard, "s", f"/{name}") for name in "bc"]
    second, third = (shards._located(files_of(tmp_path, each)) for each in versions)
    held = base.Base(second)
    held.become(second)
    (tmp_path / str(versions[1].delta)).unlink()
    with pytest.raises((IndexFormatError, OSError)):
        held.become(third)
    held.become(second)  # of as many subscriptions as without it
    assert [len(held.index.match(f"<{name}/>".encode())) for name in "abc"] == [0, 1, 0]


def test_versions_take_turns(here: tuple[Path, Shard, list[Any]]) -> None:
    folder, shard, documents = here
    changed = with_change(folder, shard, "new", "//*")
    versions = [files_of(folder, shard), files_of(folder, changed)]
    expected = [rows_of(replace(files, share=False), documents, "matches") for files in versions]
    assert expected[0] != expected[1]
    for at in (0, 1, 0, 1, 1):
        assert rows_of(versions[at], documents, "matches") == expected[at]
    assert not shared.fallbacks()


def test_a_process_that_is_killed_is_done_without(here: tuple[Path, Shard, list[Any]]) -> None:
    folder, shard, documents = here
    files = files_of(folder, shard)
    before = rows_of(files, documents, "tagged")
    index = open_shard(files).index
    assert isinstance(index, shared.SharedIndex)
    assert shared._connection is not None
    server = messages.peer(shared._connection[1])
    assert server == os.getuid()
    shared._connection[1].shutdown(socket.SHUT_RDWR)
    assert rows_of(files, documents, "tagged") == before
    assert shared.fallbacks() == 1
    assert rows_of(files, documents, "tagged") == before  # with the shared one again
    assert shared.fallbacks() == 1


def test_a_file_that_was_swapped_is_refused(here: tuple[Path, Shard, list[Any]]) -> None:
    folder, shard, _ = here
    for name in (shard.index, shard.image):
        with (folder / str(name)).open("ab") as file:
            file.write(b"x")
    with pytest.raises(IndexFormatError, match="its contents are not what the manifest says"):
        open_shard(files_of(folder, shard))


def test_an_image_that_was_swapped_is_done_without(here: tuple[Path, Shard, list[Any]]) -> None:
    folder, shard, documents = here
    before = rows_of(files_of(folder, shard, share=False), documents, "matches")
    (folder / str(shard.image)).write_bytes(b"something else")
    assert rows_of(files_of(folder, shard), documents, "matches") == before
    assert isinstance(open_shard(files_of(folder, shard)).index, shared.SharedIndex)
    assert not shared.fallbacks()


def test_a_worker_gets_the_rows_that_were_verified(here: tuple[Path, Shard, list[Any]]) -> None:
    folder, shard, documents = here
    files = files_of(folder, shard)
    before = rows_of(files, documents, "matches")
    shards._shared.clear()  # as a worker that comes later
    rows = folder / shard.rows
    rows.unlink()
    rows.write_bytes(b"something else")
    assert rows_of(files, documents, "matches") == before
    assert not shared.fallbacks()


def test_indexes_are_kept_up_to_their_bytes(tmp_path: Path) -> None:
    made = []
    for number in range(3):
        folder = tmp_path / f"{number}"
        folder.mkdir()
        shard = compiled(folder, [{"id": f"s{number}", "xpath": f"//a{number}"}])
        made.append(shards._located(files_of(folder, shard)))
    few, many = matcher.Indexes(1), matcher.Indexes(1 << 30)
    for indexes, loads in ((few, 6), (many, 3)):
        for files in (*made, *made):
            with indexes.using(files) as (held, _):
                assert len(held.index) == 1
        assert indexes.loaded == loads
    with few.using(made[0]), few.using(made[1]) as (held, _):  # what is in use stays
        assert held.index.match("<a1/>") == [0]


def test_workers_with_the_same_version_do_not_wait_for_each_other(tmp_path: Path) -> None:
    turns = matcher._Turns()
    became: list[str] = []
    inside = threading.Barrier(2)

    def use(version: str, meet: bool) -> None:
        with turns.using(version, lambda: became.append(version)):
            if meet:
                inside.wait(60)

    threads = [threading.Thread(target=use, args=("a", True)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    use("b", False)
    use("b", False)
    use("a", False)
    assert became == ["a", "b", "a"]


def test_the_folder_is_private_and_the_process_ends_with_its_parent(
    here: tuple[Path, Shard, list[Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parent = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    assert parent.stdin is not None
    monkeypatch.setattr(shared, "_folder", _FOLDER)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    connection = shared._connect_or_start(parent.pid)
    folder = shared._folder(parent.pid)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    located = shards._located(files_of(here[0], here[1]))
    messages.send(connection, {"ask": "open", "files": asdict(located)})
    reply, opened = messages.receive(connection)
    with messages.closing(opened):
        assert reply == {"loaded": 1}
        assert messages.mapped_file(opened[0]).equals(base.read_rows(located.rows))
    assert shared._started is not None
    shared._started.send_signal(signal.SIGHUP)  # as Spark's daemon does when it ends
    parent.send_signal(signal.SIGKILL)
    parent.stdin.close()
    parent.wait()
    with pytest.raises(EOFError):
        messages.receive(connection)  # waits until it is gone
    connection.close()
    assert not folder.exists()
    shared._folder(os.getpid()).chmod(0o755)
    with pytest.raises(OSError, match="belongs to somebody else"):
        shared._folder(os.getpid())
