"""What workers tell a command that waits for them."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pytest.importorskip("pyspark", reason="pyspark is not installed")

from pathcast.spark.progress import VARIABLE, Progress, Reporter, gathered

PROGRAM = """
import pyarrow as pa
from pathcast.spark.artifact import Settings
from pathcast.spark.worker.match import MatchJob, match_batches

job = MatchJob("dead", None, Settings(), False, 1 << 20)
documents = [b"<a>" + b"<b/>" * 100_000 + b"</a>", b"<a>", b"<a>" + b"text" * 4_000_000 + b"</a>"]
batch = pa.RecordBatch.from_pydict({"id": [1, 2, 3], "document": documents})
print(sum(each.num_rows for each in match_batches(iter([batch]), job)))
"""


def test_a_worker_tells_what_it_did(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={VARIABLE: str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["1"]
    found = gathered(tmp_path)
    assert (found.documents, found.dead, found.at) == (3, 1, 0)
    assert found.bytes == 400_007 + 3 + 16_000_007


def test_what_is_long_is_told_before_it_is_done(tmp_path: Path) -> None:
    worker = Reporter(tmp_path)
    worker.begin(1_000)
    assert gathered(tmp_path) == Progress()
    worker.begin(200_000_000)
    found = gathered(tmp_path)
    assert (found.at, found.documents) == (200_000_000, 0)
    assert found.line(found.since + 3) == "at 200 MB for 3 s"
    worker.end(1, 200_000_000, 7, 0)
    found = gathered(tmp_path)
    assert found.told >= found.began > 0
    found.told = found.began + 2
    assert found.line(0.0) == "1 document, 7 matches (4/s), 200 MB"


def test_rates_are_of_the_time_that_workers_were_at_it(tmp_path: Path) -> None:
    for name, began, told in (("1", 100.0, 104.0), ("2", 102.0, 110.0)):
        one = Progress(500, 10, 0, 0, began=began, told=told)
        (tmp_path / f"{name}.json").write_text(json.dumps(asdict(one)))
    assert gathered(tmp_path).line(1_000.0) == "1,000 documents (100/s)"


def test_records_are_told_while_they_are_cut(tmp_path: Path) -> None:
    (tmp_path / "told").mkdir()
    (tmp_path / "huge.xml").write_bytes(b"<a>" + b"<b/>" * 3_000 + b"</a>")
    program = (
        "from pathcast.spark.worker.unpack import UnpackJob, unpack\n"
        f"print(sum(each.num_rows for each in unpack([{str(tmp_path / 'huge.xml')!r}], "
        "UnpackJob('b', 1 << 20, 4_000))))"
    )
    settings = {VARIABLE: str(tmp_path / "told")}
    done = subprocess.run(
        [sys.executable, "-c", program], env=settings, capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == ["3000"], done.stderr
    found = gathered(tmp_path / "told")
    assert 0 < found.read <= 3_000
    assert found.line(0.0).endswith(" documents read")
    (tmp_path / "told/other.json").write_text(json.dumps(asdict(Progress(3_000, began=100.0, told=102.0))))
    assert gathered(tmp_path / "told").line(0.0) == "3,000 documents (1,500/s)"
