"""Fan-out and documents of the sizes that docs/spark.md speaks of, within the memory that it states."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")

from tests.kafka import jars
from tests.spark.processes import ROOT, Program

pytestmark = [
    pytest.mark.skipif(
        "PATHCAST_FAULTS" not in os.environ, reason="these documents are large: make giants runs these"
    ),
    pytest.mark.skipif(jars.java() is None, reason="Spark needs Java, and there is none"),
]

PAGE = (ROOT / "docs/spark.md").read_text(encoding="utf-8")
# Megabytes that a Python worker may take, as the page says.
LIMITS = re.findall(r"^\| `(\w+)` .* \| ([\d,]+) MB \|$", PAGE, re.MULTILINE)
WORKERS = {case: int(size.replace(",", "")) for case, size in LIMITS}
FOUND: dict[str, dict[str, Any]] = {
    "subscribers": {"rows": [100_000], "documents": 20, "grouped": [0, 100_000], "delivered": 2_000_000},
    "everything": {"rows": 110_000, "hot": 100_000},
    "document": {"found": ["last", "p"], "dead": 0},
    "frame": {"found": ["last", "p"], "dead": 0},
    "partition": {"found": {"even": 10_010, "p": 20}, "dead": 0},
    "group": {"found": [0, 1, 2, 4, 5, 6, 7], "dead": [[3, "malformed"]]},
}


@pytest.mark.parametrize("case", FOUND)
def test_giants(case: str, tmp_path: Path) -> None:
    log = tmp_path / "log"
    with Program([sys.executable, "-m", "tests.spark.giants", case, str(tmp_path)], log) as program:
        program.finish(900)
    (line,) = [each for each in log.read_text().splitlines() if each.startswith("{")]
    found = json.loads(line)
    print(case, line)
    told = {name: found.pop(name) for name in ("worker_mb", "heap", "seconds")}
    assert found == FOUND[case]
    assert 0 < told["worker_mb"] <= WORKERS[case]
