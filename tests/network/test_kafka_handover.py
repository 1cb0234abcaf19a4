"""A client moves between two brokers on a real Kafka while documents are published at both."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("confluent_kafka")

from pathcast.network.moving import MoveError
from tests.network.deployment import Deployment, Subscriber, settle

if TYPE_CHECKING:
    from tests.kafka.server import KafkaServer

NUMBER = 60


def test_a_client_moves_and_gets_every_document_once(kafka: KafkaServer, tmp_path: Path) -> None:
    with Deployment(kafka, tmp_path) as made:
        for name, other in (("b1", "b2"), ("b2", "b1")):
            made.add(name, [other], open=False, clients=["ann", f"wire-{name}"])
        made.start()
        wires = {name: made.client(name, f"wire-{name}", shared=False) for name in ("b1", "b2")}
        ann = Subscriber(made.client("b1", "ann", shared=False))
        ann.client.subscribe("a", "//a")
        ann.client.subscribe("odd", "//a[@n mod 2 = 1]")
        settle(wires["b2"], "b2", [ann], "ready")
        there = made.client("b2", "ann", shared=False)
        for name, wire in wires.items():
            for number in range(NUMBER):
                wire.publish(str(number), f"<a n='{number}' at='{name}'>{'x' * number * 20}</a>")
        for wire in wires.values():
            wire.flush()
        ann.got.extend(ann.client.move(there))
        moved = Subscriber(there)
        for name, wire in wires.items():
            for number in range(NUMBER, NUMBER + 10):
                wire.publish(str(number), f"<a n='{number}' at='{name}'/>")
            wire.flush()
        last = {f"{name}/wire-{name}/{NUMBER + 9}" for name in wires}
        moved.until(lambda: last <= {each.document for each in moved.got}, "last documents")
        got = [each for each in (*ann.got, *moved.got) if "/ready-" not in each.document]
        wanted = {f"{name}/wire-{name}/{number}" for name in wires for number in range(NUMBER + 10)}
        assert {each.document for each in got} == wanted
        assert len(got) == len(wanted), "a document came twice"
        for each in got:
            assert each.ids == (("a", "odd") if int(each.document.rsplit("/")[-1]) % 2 else ("a",))
        assert moved.got, "everything came from the old broker"
        # Where it was nobody knows it any more, and it cannot come to where it is.
        ann.client.subscribe("a", "//a")
        ann.client.flush()
        with pytest.raises(MoveError, match="has a client ann already"):
            list(ann.client.move(there))
        assert [why for _, why, _ in made.quarantined("b1")] == []
        assert [why for _, why, _ in made.quarantined("b2")] == [
            "it is a client here already, and cannot move here"
        ]
