"""Ordered mode of the reference against the definition in the paper, word for word."""

from __future__ import annotations

from random import Random

import pytest

from tests.property.definition import draw_twig, maps
from tests.property.generate import draw_document

reference = pytest.importorskip("pathcast.reference", reason="the reference needs lxml")

SEED = 4
DOCUMENTS = 800


def test_the_reference_follows_the_definition() -> None:
    random = Random(SEED)
    verdicts = []
    for _ in range(DOCUMENTS):
        document = draw_document(random, namespaced=False)
        tree = reference.parse(document.text)
        for _ in range(4):
            twig = draw_twig(random)
            expected = maps(twig, tree)
            found = reference.Expression(twig.written(), ordered=True).matches(tree)
            assert found is expected, f"seed {SEED}: {twig.written()} on {document.text}"
            verdicts.append(found)
    assert 0.1 < sum(verdicts) / len(verdicts) < 0.9
