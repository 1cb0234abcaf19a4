"""The generator: everything it draws is accepted by the reference, and both verdicts are frequent."""

from __future__ import annotations

from random import Random

import pytest

from tests.property.generate import draw_batch

reference = pytest.importorskip("pathcast.reference", reason="the reference needs lxml")

SEED = 7


def test_both_verdicts_are_frequent_and_nothing_is_refused() -> None:
    random = Random(SEED)
    counts = {(ordered, verdict): 0 for ordered in (False, True) for verdict in (False, True)}
    for _ in range(40):
        batch = draw_batch(random)
        trees = [reference.parse(document.text) for document in batch.documents]
        for subscription in batch.subscriptions:
            expression = reference.Expression(
                subscription.xpath,
                ordered=subscription.ordered,
                namespaces=batch.namespaces(subscription),
                ignore_namespaces=batch.ignore_namespaces,
                variables=subscription.variables,
            )
            for tree in trees:
                counts[subscription.ordered, expression.matches(tree)] += 1
    for ordered in (False, True):
        share = counts[ordered, True] / (counts[ordered, True] + counts[ordered, False])
        print(f"seed {SEED}: ordered={ordered}: {share:.1%} match")
        assert 0.15 < share < 0.85


def test_the_same_seed_draws_the_same_batch() -> None:
    assert draw_batch(Random("1:2")) == draw_batch(Random("1:2"))


def test_ordered_matches_are_unordered_matches() -> None:
    """Condition (1) of the definition: an ordered match is an unordered match too."""
    random = Random(SEED)
    for _ in range(100):
        batch = draw_batch(random)
        tree = reference.parse(batch.documents[0].text)
        for subscription in batch.subscriptions:
            if subscription.ordered:
                options = {
                    "namespaces": batch.namespaces(subscription),
                    "ignore_namespaces": batch.ignore_namespaces,
                }
                ordered = reference.Expression(subscription.xpath, ordered=True, **options)
                unordered = reference.Expression(subscription.xpath, **options)
                assert unordered.matches(tree) or not ordered.matches(tree), subscription.xpath
