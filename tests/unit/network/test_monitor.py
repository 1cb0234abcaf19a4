"""Metrics and health of a broker process."""

from __future__ import annotations

from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from pathcast.network import Broker, Filter
from pathcast.network.message import ClientPublish, ClientSubscribe
from pathcast.network.transports.monitor import STALE, Monitor, metrics
from pathcast.network.transports.status import Status


def test_metrics_count_what_happened() -> None:
    broker = Broker('b"1')
    broker.handle_client("ann", ClientSubscribe("s", Filter("//a")), 0.0)
    broker.handle_client("wire", ClientPublish("1", b"<a/>"), 0.0)
    lines = metrics(broker, taken=2, undone=1, behind=7).splitlines()
    for line in (
        'pathcast_taken_total{broker="b\\"1"} 2',
        'pathcast_received_total{broker="b\\"1",kind="ClientPublish"} 1',
        'pathcast_delivered_total{broker="b\\"1"} 1',
        'pathcast_behind{broker="b\\"1"} 7',
        'pathcast_calm{broker="b\\"1"} 1',
        'pathcast_filters{broker="b\\"1"} 1',
    ):
        assert line in lines


def test_health_follows_the_pages() -> None:
    now = 0.0
    monitor = Monitor("127.0.0.1", 0, clock=lambda: now)
    try:
        base = f"http://127.0.0.1:{monitor.port}"
        with pytest.raises(HTTPError, match="503") as refused:
            urlopen(f"{base}/healthz", timeout=10)
        refused.value.close()
        monitor.write("pathcast_calm 1\n", Status.of(Broker("b1"), behind=0))
        with urlopen(f"{base}/healthz", timeout=10) as answer:
            assert answer.read() == b"ok\n"
        with urlopen(f"{base}/metrics", timeout=10) as answer:
            assert answer.read() == b"pathcast_calm 1\n"
        now = STALE
        with pytest.raises(HTTPError, match="503") as refused:
            urlopen(f"{base}/healthz", timeout=10)
        refused.value.close()
        with pytest.raises(HTTPError, match="404") as unknown:
            urlopen(f"{base}/other", timeout=10)
        unknown.value.close()
    finally:
        monitor.close()
