"""Shards to which documents are routed find what one index finds, in the experiment too."""

from __future__ import annotations

from itertools import islice

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")

from bench.scale import SHARDS
from bench.shard_costs import Routed
from bench.workloads import WORKLOADS
from pathcast.spark.driver.placement import placement


def test_routed_shards_find_what_one_index_finds() -> None:
    alerts = WORKLOADS["alerts"]
    queries = alerts.queries(2_000)
    documents = list(islice(alerts.documents(3), 50))
    routed = Routed(queries, placement(queries, SHARDS))
    expected = len(alerts.index(queries=queries).match_many(documents).to_arrow().values)
    assert expected > 100
    assert routed.match(documents) == expected
    assert routed.concerned < SHARDS * len(documents) / 2
