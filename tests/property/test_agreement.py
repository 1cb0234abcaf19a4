"""Every engine agrees with the reference on random documents and expressions."""

from __future__ import annotations

import os

import pytest

pytest.importorskip("lxml")

from hypothesis import HealthCheck, given, settings

from tests.engines import ENGINES
from tests.property import agreement
from tests.property.generate import Batch
from tests.property.strategies import batches

PAIRS = int(os.environ.get("PATHCAST_PAIRS", "20000"))
SEED = int(os.environ.get("PATHCAST_SEED", "20240607"))


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(batch=batches())
def test_agrees_on_small_sets(engine: str, batch: Batch) -> None:
    wrong = list(agreement.disagreements(batch, agreement.verdicts(batch), engine))
    assert not wrong, str(wrong[0])


def test_all_engines_agree_on_many_pairs() -> None:
    sets = range(-(-PAIRS // (agreement.DOCUMENTS * agreement.SUBSCRIPTIONS)))
    pairs, true, wrong = agreement.run(SEED, sets, ENGINES)
    print(f"seed {SEED}: {pairs:,} pairs on each engine, {true / pairs:.1%} match")
    assert not wrong, f"{len(wrong)} disagreements\n" + "\n".join(wrong[:5])
    assert 0.15 < true / pairs < 0.85


@pytest.mark.parametrize("cache_bytes", [0, 200])
def test_all_engines_agree_with_hardly_any_cache(cache_bytes: int) -> None:
    sets = range(-(-PAIRS // 4 // (agreement.DOCUMENTS * agreement.SUBSCRIPTIONS)))
    pairs, _, wrong = agreement.run(SEED + 1, sets, ENGINES, cache_bytes=cache_bytes)
    print(f"seed {SEED + 1}: {pairs:,} pairs on each engine with {cache_bytes} bytes")
    assert not wrong, f"{len(wrong)} disagreements\n" + "\n".join(wrong[:5])
