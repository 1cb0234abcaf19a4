"""The session that commands start for themselves."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")

TWICE = """
from pathcast.spark.driver.session import session
for cores in (2, 3):
    with session("test", master=f"local[{cores}]", memory="512m") as spark:
        print(spark.sparkContext.master, spark.conf.get("spark.python.daemon.module", None))
"""


@pytest.mark.skipif(shutil.which("java") is None and "JAVA_HOME" not in os.environ, reason="no Java")
@pytest.mark.parametrize("python", ["this", "another"])
def test_each_session_of_a_process_has_its_master(python: str) -> None:
    environment = {name: text for name, text in os.environ.items() if not name.startswith("PYSPARK")}
    if python == "another":
        environment["PYSPARK_PYTHON"] = "python3-of-somebody"  # which may lack this package
    done = subprocess.run(
        [sys.executable, "-c", TWICE], env=environment, capture_output=True, text=True, timeout=300
    )
    daemon = "pathcast.spark.worker.daemon" if python == "this" else "None"
    assert done.stdout.splitlines() == [f"local[2] {daemon}", f"local[3] {daemon}"], done.stderr
