"""Variables travel with filters: through the wire, through restarts, and they tell filters apart."""

from __future__ import annotations

import pytest

from pathcast import Limits, XPath
from pathcast.network import Broker, Filter, Policy, restored, snapshot
from pathcast.network.message import ClientPublish, ClientSubscribe, Subscribe
from pathcast.network.wire import WireError, decode, encode
from pathcast.types import Variables

BOUND: Variables = {"t": "x", "n": 2, "b": True, "z": XPath("/*/t"), "a": XPath("$z[$n]")}
DOCUMENT = b"<r><t>x</t><t>y</t><a k='y'/></r>"


def test_the_wire_keeps_types_and_order() -> None:
    filter = Filter.of("//a[@k = $a][$b]", variables=BOUND)
    message = ClientSubscribe("s", filter)
    assert decode(encode(message)) == message
    assert list(filter.bound or {}) == list(BOUND)
    assert filter.bound == BOUND


@pytest.mark.parametrize(
    "value", ['{"t": 1}', '[["t"]]', '[[1, "x"]]', '[["t", {"xpath": 3}]]', '[["t", []]]']
)
def test_what_is_no_variables_is_refused(value: str) -> None:
    good = encode(Subscribe(Filter.of("//a[$t]", variables={"t": "x"})))
    bad = good.replace(b'[["t","x"]]', value.encode())
    assert bad != good
    with pytest.raises(WireError):
        decode(bad)


def test_a_number_that_cannot_travel_is_refused() -> None:
    with pytest.raises(ValueError, match="the variable 'n' must be a finite number to travel"):
        Filter.of("//a[$n]", variables={"n": float("inf")})


def test_a_broker_delivers_by_them_also_when_it_is_restored() -> None:
    broker = Broker("b1")
    wanted = {
        "expression": Filter.of("//a[@k = $a]", variables=BOUND),
        "position": Filter.of("//t[$n] = 'y'", variables={"n": 2}),
        "truth": Filter.of("//t[$n] = 'y'", variables={"n": True}),
        "none": Filter.of("//t[$n] = 'y'", variables={"n": 3}),
    }
    assert len(set(wanted.values())) == 4
    for id, filter in wanted.items():
        assert not broker.handle_client("ann", ClientSubscribe(id, filter), now=0.0).quarantined
    for each in (broker, restored("b1", snapshot(broker))[0]):
        (delivery,) = each.handle_client("wire", ClientPublish("1", DOCUMENT), now=1.0).deliveries
        assert delivery.ids == ("expression", "position", "truth")


def test_what_is_not_bound_is_set_aside() -> None:
    outcome = Broker("b1").handle_client("ann", ClientSubscribe("s", Filter("//a[@k = $k]")), now=0.0)
    (refused,) = outcome.quarantined
    assert "`$k` is not bound" in refused.reason


def test_what_is_not_decided_is_delivered() -> None:
    broker = Broker("b1", Policy(limits=Limits(evaluation_steps=1_000)))
    slow = Filter("//*[count(preceding::*) > count(following::*)]")
    broker.handle_client("ann", ClientSubscribe("slow", slow), now=0.0)
    broker.handle_client("ann", ClientSubscribe("no", Filter("//b")), now=0.0)
    document = b"<r>" + b"<a/>" * 300 + b"</r>"
    (delivery,) = broker.handle_client("wire", ClientPublish("1", document), now=1.0).deliveries
    assert delivery.ids == ("slow",)
