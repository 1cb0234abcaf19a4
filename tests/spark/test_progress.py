"""What workers tell a command that waits for them."""

from __future__ import annotations

import subprocess
import sys
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
    assert found.line(3.0, found.since + 3).endswith("; at 200 MB for 3 s")
    worker.end(1, 200_000_000, 7, 0)
    assert gathered(tmp_path).line(2.0, 0.0) == "1 documents (0/s), 7 matches (4/s), 0 dead letters, 200 MB"
