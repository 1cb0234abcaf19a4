"""Adding, replacing, removing, saving and loading in any order equal a fresh build."""

from __future__ import annotations

import tempfile
from pathlib import Path
from random import Random

import pytest

pytest.importorskip("lxml")

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)

import pathcast
from pathcast import reference
from tests.engines import ENGINES, index_with
from tests.property.generate import Subscription, draw_document
from tests.property.strategies import subscriptions

DOCUMENTS = [
    draw_document(Random(f"lifecycle:{number}"), namespaced=False).text.encode() for number in range(12)
]
# Few expressions and few ids, so that subscriptions share expressions and ids come back.
IDS = st.one_of(st.integers(0, 5), st.sampled_from(["s1", "s2", "0"]))
SHARED = st.sampled_from(
    [Subscription(xpath) for xpath in ("//a", "//a/b", "//a[b]", "//a[b]/c", "a | b", "not(//d)", "//*[@x]")]
)
ANY = st.one_of(SHARED, SHARED, subscriptions())


class Lifecycle(RuleBasedStateMachine):
    """An index beside a dict: the dict's order is the order of registration."""

    engine = "auto"
    cache_bytes = 64 << 20
    removed = Bundle("removed")

    @initialize()
    def start(self) -> None:
        self.index = index_with(self.engine, cache_bytes=self.cache_bytes)
        self.model: dict[int | str, Subscription] = {}

    @rule(id=IDS, subscription=ANY)
    def add_or_replace(self, id: int | str, subscription: Subscription) -> None:
        self.index.add(id, subscription.xpath, ordered=subscription.ordered)
        self.model[id] = subscription  # a known id keeps its place

    @rule(pairs=st.lists(st.tuples(IDS, SHARED), max_size=6, unique_by=lambda pair: pair[0]))
    def add_many(self, pairs: list[tuple[int | str, Subscription]]) -> None:
        self.index.add_many((id, subscription.xpath) for id, subscription in pairs)
        self.model.update(pairs)

    @rule(target=removed, data=st.data())
    def remove(self, data: st.DataObject) -> object:
        if not self.model:
            return multiple()
        id = data.draw(st.sampled_from(list(self.model)))
        self.index.remove(id)
        del self.model[id]
        return id

    @rule(id=consumes(removed))
    def remove_twice(self, id: int | str) -> None:
        if id not in self.model:
            with pytest.raises(KeyError):
                self.index.remove(id)

    @rule(id=IDS)
    def a_refused_expression_changes_nothing(self, id: int | str) -> None:
        with pytest.raises(pathcast.XPathError):
            self.index.add(id, "//a[")

    @rule()
    def remove_all(self) -> None:
        for id in list(self.model):
            self.index.remove(id)
        self.model.clear()
        assert self.index.stats()["distinct"] == 0

    @rule()
    def save_and_load(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "index.pathcast"
            self.index.save(path)
            self.index = pathcast.Index.load(path)

    @rule()
    def save_and_load_an_image(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "index.image"
            has_one = self.index.save_image(path)
            assert has_one == (self.engine == "auto")
            if has_one:
                self.index = pathcast.Index.load_image(path)

    @rule(document=st.sampled_from(DOCUMENTS))
    def match(self, document: bytes) -> None:
        found = list(self.index.match(document))
        assert found == list(self.rebuilt().match(document))
        tree = reference.parse(document)
        assert found == [
            id
            for id, subscription in self.model.items()
            if reference.Expression(subscription.xpath, ordered=subscription.ordered).matches(tree)
        ]

    @rule()
    def a_refused_document_leaves_no_trace(self) -> None:
        with pytest.raises(pathcast.DocumentError):
            self.index.match(b"<a><b/><c>")

    def rebuilt(self) -> pathcast.Index:
        """A fresh index with the same subscriptions."""
        index = index_with(self.engine)
        for id, subscription in self.model.items():
            index.add(id, subscription.xpath, ordered=subscription.ordered)
        return index

    @invariant()
    def counts_are_right(self) -> None:
        if hasattr(self, "model"):
            assert len(self.index) == len(self.model)
            assert self.index.stats()["subscriptions"] == len(self.model)
            assert self.index.stats()["distinct"] <= len(self.model)
            assert all(id in self.index for id in self.model)
            assert "never" not in self.index


@pytest.mark.parametrize(("cache_bytes", "examples"), [(64 << 20, 30), (100, 15)])
@pytest.mark.parametrize("engine", ENGINES)
def test_any_order_equals_a_fresh_build(engine: str, cache_bytes: int, examples: int) -> None:
    machine = type("Lifecycle", (Lifecycle,), {"engine": engine, "cache_bytes": cache_bytes})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=30,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_removing_an_unknown_id_is_a_key_error() -> None:
    index = pathcast.Index()
    with pytest.raises(KeyError):
        index.remove("never")


def test_replacing_keeps_the_place_and_adding_again_goes_to_the_end() -> None:
    index = pathcast.Index()
    index.add_many([("p", "//a"), ("q", "//a"), ("r", "//a")])
    index.add("p", "//*")
    assert list(index.match(b"<a/>")) == ["p", "q", "r"]
    index.remove("p")
    index.add("p", "//a")
    assert list(index.match(b"<a/>")) == ["q", "r", "p"]
