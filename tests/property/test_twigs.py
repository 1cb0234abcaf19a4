"""Twigs, ordered, unordered and hybrid, on every engine; the long run is a command."""

from __future__ import annotations

import pytest

pytest.importorskip("lxml")

from tests.engines import ENGINES
from tests.property.twigs import run

SEED = 3


@pytest.mark.parametrize("engine", ENGINES)
def test_twigs_agree_with_their_definition(engine: str) -> None:
    print(f"seed {SEED}")
    matched = 0
    for number in range(15):
        _, true, wrong = run(SEED, number, [engine])
        assert not wrong, "\n".join(wrong)
        matched += true
    assert matched > 100


def test_tests_of_values_agree_with_lxml() -> None:
    print(f"seed {SEED}")
    matched = 0
    for number in range(40):
        _, true, wrong = run(SEED, number, ["auto"], values=True)
        assert not wrong, "\n".join(wrong)
        matched += true
    assert matched > 500
