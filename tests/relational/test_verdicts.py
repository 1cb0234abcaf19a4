"""Databases give the verdicts of `testdata/`, and agree with the reference on random pairs."""

from __future__ import annotations

import os

import pytest

pytest.importorskip("pyarrow", reason="pyarrow is not installed")

from pathcast import SubscriptionErrors
from tests.relational.agreement import run
from tests.relational.backends import Make
from tests.relational.verdicts import wrong_verdicts
from tests.suite.cases import refused_expressions

PAIRS = int(os.environ.get("PATHCAST_RELATIONAL_PAIRS", "6000"))


def test_the_verdicts_of_testdata(make: Make) -> None:
    wrong = wrong_verdicts(make)
    assert not wrong, "\n".join(wrong[:10])


def test_random_pairs(make: Make) -> None:
    pairs, wrong = run(11, range(PAIRS // 200), make)
    print(f"seed 11, {pairs} pairs")
    assert not wrong, "\n".join(wrong[:3])


def test_refused_expressions_are_refused_together_and_nothing_is_written(make: Make) -> None:
    database = make(False)
    refused = refused_expressions()
    rows = [(n, case.xpath, case.ordered, case.namespaces or None) for n, case in enumerate(refused)]
    with pytest.raises(SubscriptionErrors) as caught:
        database.subscribe([("good", "//a"), *rows])
    assert len(caught.value.failures) == len(refused)
    for (_, error), case in zip(caught.value.failures, refused, strict=True):
        assert case.message.lower() in str(error).lower()
    assert len(database) == database.count("Step") == 0
