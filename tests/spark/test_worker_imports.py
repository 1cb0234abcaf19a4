"""What Python workers import, and what of it they share with the daemon that forks them."""

from __future__ import annotations

import os
import random
import struct
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pathcast.spark.worker.imports import forget_archives
from pathcast.spark.worker.vectors import blobs, from_numpy, to_numpy
from tests.spark.shards import published

MATCHES = """
import sys
from pathlib import Path
import pyarrow.compute as pc
from pathcast.spark.artifact import Manifest, Settings
from pathcast.spark.worker import shared
from pathcast.spark.worker.answers import RESULTS
from pathcast.spark.worker.match import MatchJob, match_batches
from pathcast.spark.worker.shards import ShardFiles
from pathcast.spark.worker.splits import Piece, ReadJob, Split, read_split
from pathcast.spark.worker.unpack import UnpackJob

folder = Path(sys.argv[1])
(folder / "private").mkdir(mode=0o700)
shared._folder = lambda parent: folder / "private"
shard = Manifest.read(folder / "index").shards[0]
split = Split((Piece(str(folder / "a.parquet"), 1, (0,)), Piece(str(folder / "b.xml"), 1)))
for result in RESULTS:
    for shape in ("lists", "rows"):
        files = ShardFiles(str(folder / "index"), shard, Settings(), share=sys.argv[2] == "shared")
        job = MatchJob(result, files, Settings(), False, 1 << 20, shape=shape)
        documents = read_split(split, ReadJob("id", "xml", UnpackJob(None, 1 << 20, 1 << 20)))
        rows = sum(batch.num_rows for batch in match_batches(documents, job))
        print(result, shape, rows, "pandas" in sys.modules)
assert (shared._started is not None) == (sys.argv[2] == "shared")
if shared._started:
    assert "/pandas/" not in Path(f"/proc/{shared._started.pid}/maps").read_text()
    shared._started.kill()
"""
TROUBLE = {
    "a thread": "from threading import Event, Thread\nThread(target=Event().wait, daemon=True).start()",
    "no import": "import sys\nsys.modules['pyspark.sql.worker.plan_data_source_read'] = None\n",
}


@pytest.mark.skipif(sys.platform != "linux", reason="an index is shared on Linux only")
@pytest.mark.parametrize("holder", ["own", "shared"])
def test_a_worker_matches_without_pandas(tmp_path: Path, holder: str) -> None:
    pytest.importorskip("pandas")
    published(tmp_path / "index", [{"id": f"s{at}", "xpath": f"//{'ab'[at % 2]}"} for at in range(10)])
    documents = pa.array([b"<a/>", b"<b/>", b"<bad", None, b"<c><a/><b/></c>"], pa.binary())
    pq.write_table(pa.table({"id": pa.array(range(5)), "xml": documents}), tmp_path / "a.parquet")
    (tmp_path / "b.xml").write_text("<a/>")
    done = subprocess.run(
        [sys.executable, "-c", MATCHES, str(tmp_path), holder], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert len(lines) == 10
    assert {imported for *_, imported in lines} == {"False"}
    assert all(int(count) > 0 for _, _, count, _ in lines)


def test_columns_are_what_arrow_makes_of_the_same_values() -> None:
    seed = random.randrange(1 << 32)
    print("seed", seed)
    draw = random.Random(seed)
    for _ in range(200):
        texts = [draw.choice([None, "", "a", "ä€𝄞" * draw.randrange(9)]) for _ in range(draw.randrange(20))]
        made = blobs(texts, pa.string())
        made.validate(full=True)
        assert made.equals(pa.array(texts, pa.string())), texts
        data = [None if text is None else text.encode() for text in texts]
        assert blobs(data, pa.binary()).equals(pa.array(data, pa.binary()))
        first = draw.randrange(len(texts) + 1)
        numbers = np.arange(len(texts), dtype=draw.choice([np.int32, np.int64, np.uint8]))
        column = from_numpy(numbers[::-1])
        assert column.to_pylist() == numbers[::-1].tolist()
        assert to_numpy(column.slice(first)).tolist() == numbers[::-1].tolist()[first:]


def test_only_the_archives_of_spark_are_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for archive in ("spark-core_2.13-9.jar", "mine.zip"):
        with zipfile.ZipFile(tmp_path / archive, "w") as file:
            file.writestr(f"of_{archive[:4]}.py", "")
        monkeypatch.syspath_prepend(str(tmp_path / archive))
    with pytest.raises(ImportError):
        __import__("of_nobody")
    places = {str(tmp_path / "spark-core_2.13-9.jar"), str(tmp_path / "mine.zip")}
    assert places <= sys.path_importer_cache.keys()
    forget_archives()
    assert places & sys.path_importer_cache.keys() == {str(tmp_path / "mine.zip")}
    assert __import__("of_spar").__name__ == "of_spar"  # it is found again
    del sys.modules["of_spar"]


def test_spark_in_an_archive_is_forgotten_too(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "pyspark.zip", "w") as file:
        file.writestr("pyspark/__init__.py", "")
        file.writestr("pyspark/some.py", "")
    program = (
        "import sys, types\n"
        f"import pathcast\nsys.path.insert(0, {str(tmp_path / 'pyspark.zip')!r})\n"
        "import pyspark.some\n"
        "package = types.ModuleType('pathcast.spark')\n"
        "package.__path__ = [pathcast.__path__[0] + '/spark']\n"
        "sys.modules['pathcast.spark'] = package\n"
        "from pathcast.spark.worker.imports import forget_archives\n"
        "def those(): return [place for place in sys.path_importer_cache if 'pyspark.zip' in place]\n"
        "print(len(those())); forget_archives(); print(len(those()))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["2", "0"], done.stderr


@contextmanager
def daemon(**environment: str) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """The daemon as Spark starts it, and the port it says; Spark ends it by closing its standard input."""
    words = [sys.executable, "-m", "pathcast.spark.worker.daemon", "pyspark.worker"]
    settings = os.environ | {"OMP_NUM_THREADS": "1"} | environment
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=settings) as process:
        assert process.stdin
        assert process.stdout
        try:
            (port,) = struct.unpack(">i", process.stdout.read(4))
            yield process, port
            process.stdin.close()
            process.wait(60)
        finally:
            process.kill()


def module_of(process: subprocess.Popen[bytes]) -> bytes:
    return Path(f"/proc/{process.pid}/cmdline").read_bytes().split(b"\0")[2]


@pytest.mark.skipif(sys.platform != "linux", reason="the daemon imports ahead on Linux only")
def test_the_daemon_has_imported_what_workers_need() -> None:
    with daemon() as (process, port):
        assert port > 0
        assert module_of(process) == b"pathcast.spark.worker.daemon"
        maps = Path(f"/proc/{process.pid}/maps").read_text()
        assert "libarrow.so" in maps
        assert "/pathcast/_core" in maps
        assert "/pandas/" not in maps


@pytest.mark.skipif(sys.platform != "linux", reason="the daemon imports ahead on Linux only")
@pytest.mark.parametrize("trouble", TROUBLE)
def test_in_trouble_it_is_spark_s_daemon(tmp_path: Path, trouble: str) -> None:
    (tmp_path / "sitecustomize.py").write_text(TROUBLE[trouble])
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    with daemon(PYTHONPATH=path) as (process, port):
        assert port > 0
        assert module_of(process) == b"pyspark.daemon"
