"""What is sent to executors is forgotten once no lease holds it, and nothing that was sent can fail a job."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")

from pathcast.spark import compile_subscriptions, match, remove_unused, store
from pathcast.spark.driver import shipping
from pathcast.spark.leases import lease_newest
from pathcast.spark.worker import shipped
from pathcast.spark.worker.shipped import Shipped, find_shipped, forget, shipped_name

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Application:
    """What `ship_files` sees of a session: Spark serves what was added, by its path, for ever."""

    def __init__(self, name: str) -> None:
        self.conf = {"spark.app.id": name}
        self.served: list[Path] = []

    def addArtifacts(self, path: str, *, file: bool) -> None:  # noqa: N802 - as Spark has it
        assert file
        assert path not in map(str, self.served), "Spark ignores a name that it has been given before"
        self.served.append(Path(path))

    def contents(self) -> dict[str, bytes]:
        """What a new executor would fetch, by the names that files had in their folder."""
        return {path.name.split("-", 3)[3]: path.read_bytes() for path in self.served}


@pytest.fixture
def application(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, request: pytest.FixtureRequest) -> Any:
    import pyspark

    (tmp_path / "root").mkdir()
    monkeypatch.setattr(pyspark.SparkFiles, "getRootDirectory", lambda: str(tmp_path / "root"))
    monkeypatch.setattr(pyspark.SparkFiles, "get", lambda name: str(tmp_path / "root" / name))
    return Application(request.node.name)


def test_a_file_is_served_as_long_as_its_folder_has_it(application: Any, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).write_bytes(name.encode())
    first = shipping.ship_files(application, tmp_path, ["one", "two"])
    assert shipping.ship_files(application, tmp_path, ["one"]) == first
    assert application.contents() == {"one": b"one", "two": b"two"}
    (tmp_path / "root" / application.served[0].name).write_bytes(b"one")  # the driver's own
    (tmp_path / "one").unlink()
    (tmp_path / "three").write_bytes(b"three")
    second = shipping.ship_files(application, tmp_path, ["three"])
    # A new executor still fetches it, as it must, and gets nothing.
    assert application.contents() == {"one": b"", "two": b"two", "three": b"three"}
    assert second == Shipped(first.sender, 3, (2, 3))
    assert not list((tmp_path / "root").iterdir())
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/four").write_bytes(b"four")
    shipping.ship_files(application, tmp_path / "elsewhere", ["four"])
    shutil.rmtree(tmp_path / "elsewhere")
    assert shipping.ship_files(application, tmp_path, []).held == (2, 3, 4), "a folder may come back"
    # It comes back under another name, because executors do not fetch one again.
    (tmp_path / "one").write_bytes(b"one")
    assert shipping.ship_files(application, tmp_path, ["one"]).held == (2, 3, 4, 5)
    assert application.served[-1].read_bytes() == b"one"


def test_an_executor_deletes_what_is_not_held_and_leaves_what_it_does_not_know(
    application: Any, tmp_path: Path
) -> None:
    root = tmp_path / "root"
    for number, name in enumerate(["one", "two", "three"], 1):
        (root / shipped_name("me", number, name)).write_bytes(name.encode())
    (root / shipped_name("other", 1, "one")).touch()
    (root / "stderr").touch()
    found = find_shipped("one")
    assert found is not None
    assert found.endswith("pathcast-me-00000001-one")
    shipped.forget.cache_clear()
    # A job that was planned before the third was sent, and when the first was gone.
    forget(Shipped("me", 2, (2,)))
    left = {each.name.split("-", 1)[-1] for each in root.iterdir()}
    assert left == {"stderr", "other-00000001-one", "me-00000002-two", "me-00000003-three"}
    assert find_shipped("one") is None, "an empty file was forgotten"
    assert find_shipped("three") is not None


def test_executors_keep_the_versions_that_leases_hold(spark: SparkSession, tmp_path: Path) -> None:
    """In a session of this machine workers are sent files too, if told so."""
    from pyspark import SparkFiles

    documents = spark.createDataFrame([(1, "<a><b/></a>")], "doc_id int, xml string")

    def version(*rows: tuple[str, str]) -> list[str]:
        compiled = compile_subscriptions(spark.createDataFrame(rows, "id string, xpath string"), tmp_path)
        assert match(documents, compiled, ship=True)[0].count() == len(rows)
        return [name for shard in compiled.manifest.shards for name in shard.files]

    def sent(names: list[str]) -> set[bool]:
        root = Path(SparkFiles.getRootDirectory())
        return {bool(list(root.glob(f"pathcast-*-{name}"))) for name in names}

    one = version(("sent a", "//a"))
    lease_newest(tmp_path, "reader")
    two = version(("sent a", "//a"), ("sent b", "//b"))
    assert remove_unused(tmp_path) == []
    three = version(("sent b", "//b"))
    assert set(two) <= set(remove_unused(tmp_path))
    match(documents, str(tmp_path), ship=True)[0].count()
    assert [sent(each) for each in (one, two, three)] == [{True}, {False}, {True}]


def test_a_host_forgets_what_the_store_has_no_longer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "mirror", lambda _: tmp_path / "mirror")
    monkeypatch.setattr(store, "_looked", {})
    (tmp_path / "mirror").mkdir()
    (tmp_path / "store").mkdir()
    for name in ("one", "two"):
        (tmp_path / "store" / name).write_bytes(name.encode())
    for name in ("one", "old", "new"):
        (tmp_path / "mirror" / name).touch()
    for name in ("one", "old"):
        os.utime(tmp_path / "mirror" / name, (1, 1))
    assert store.fetched(str(tmp_path / "store"), "two").read_bytes() == b"two"
    assert sorted(each.name for each in (tmp_path / "mirror").iterdir()) == ["new", "one", "two"]
