"""A declarative pipeline of Spark matches within the function of a table, as docs/spark.md shows it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")
pytest.importorskip("yaml", reason="spark-pipelines needs PyYAML")
pytest.importorskip("grpc", reason="spark-pipelines needs Spark Connect")

import pyarrow.parquet as pq
import pyspark

from pathcast.spark import compile_subscriptions
from tests.kafka import jars
from tests.spark.conftest import KIND
from tests.spark.data import world
from tests.spark.processes import ROOT

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [
    pytest.mark.skipif(
        "PATHCAST_FAULTS" not in os.environ, reason="it starts Spark twice: make faults runs it"
    ),
    pytest.mark.skipif(KIND == "connect" or jars.java() is None, reason="it starts a session of its own"),
]

SPECIFICATION = """
name: news
storage: {storage}
libraries:
  - glob:
      include: transformations/**
"""


def test_a_pipeline(spark: SparkSession, tmp_path: Path) -> None:
    here = world(seed=6, documents=40, subscriptions=60)
    documents, subscriptions = here.frames(spark)
    compile_subscriptions(subscriptions, tmp_path / "index", shards=2)
    documents.write.parquet(str(tmp_path / "news"))
    page = (ROOT / "docs/spark.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```py\n(from pyspark import pipelines.*?)^```$", page, re.MULTILINE | re.DOTALL)
    (tmp_path / "transformations").mkdir()
    (tmp_path / "transformations/news.py").write_text(code.replace("/data", str(tmp_path)))
    (tmp_path / "spark-pipeline.yml").write_text(
        SPECIFICATION.format(storage=(tmp_path / "storage").as_uri())
    )
    program = Path(pyspark.__file__).parent / "bin/spark-pipelines"
    environment = {name: value for name, value in os.environ.items() if name != "PYSPARK_SUBMIT_ARGS"}
    done = subprocess.run(
        [str(program), "run"],
        cwd=tmp_path,
        env=environment | {"PYSPARK_PYTHON": sys.executable, "PYTHONPATH": str(ROOT / "python")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [
        row
        for file in (tmp_path / "spark-warehouse/answers").glob("*.parquet")
        for row in pq.read_table(file).to_pylist()
    ]
    found = sorted((int(row["doc_id"]), row["subscription_id"]) for row in rows if row["reason"] is None)
    assert found == here.matches()
    assert len([row for row in rows if row["reason"] is not None]) == len(here.dead())
