"""Hypothesis strategies over the generator, so that a failing example is made small."""

from __future__ import annotations

from random import Random

from hypothesis import strategies as st

from tests.property.generate import (
    Batch,
    Document,
    Subscription,
    draw_batch,
    draw_document,
    draw_subscription,
)


def _randoms() -> st.SearchStrategy[Random]:
    return st.randoms(use_true_random=False, note_method_calls=False)


def documents(*, namespaced: bool | None = None) -> st.SearchStrategy[Document]:
    """Documents with their element trees."""
    return _randoms().map(lambda random: draw_document(random, namespaced=namespaced))


def subscriptions(
    *, ordered: bool | None = None, namespaced: bool = False
) -> st.SearchStrategy[Subscription]:
    """Expressions over the whole language, or over that of ordered mode."""

    def draw(random: Random) -> Subscription:
        return draw_subscription(random, draw_document(random, namespaced=namespaced), ordered=ordered)

    return _randoms().map(draw)


def batches(documents: int = 2, subscriptions: int = 6) -> st.SearchStrategy[Batch]:
    """Small sets of documents and subscriptions."""
    return _randoms().map(lambda random: draw_batch(random, documents, subscriptions))
