"""``pathcast network status`` and ``trace`` on monitors of brokers that run in this process."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from pathcast.network import Broker, Network
from pathcast.network.trace import Step
from pathcast.network.transports.monitor import Monitor
from pathcast.network.transports.overview import Overview
from pathcast.network.transports.status import Status, StatusError
from pathcast.network.transports.traces import STEPS, Traces, in_order
from tests.unit.cli.conftest import Run

RING = [("berlin", "paris"), ("paris", "rome"), ("rome", "berlin"), ("rome", "oslo")]


@pytest.fixture
def network() -> Network:
    """A ring and a leaf, with a document that has passed."""
    made = Network(RING)
    made.client("oslo", "ann").subscribe("titles", "//title")
    wire = made.client("paris", "wire")
    wire.advertise("news", ["/news/title"])
    wire.publish("1", "<news><title/></news>")
    return made


@pytest.fixture
def monitors(network: Network) -> Iterator[dict[str, Monitor]]:
    """A monitor for each broker; the first names those of its neighbours, and so on."""
    with ExitStack() as stack:
        made = {
            name: stack.enter_context(closing(Monitor("127.0.0.1", 0, network._traces[name])))
            for name in network.brokers
        }
        places = {name: f"127.0.0.1:{each.port}" for name, each in made.items()}
        for name, each in made.items():
            each.write("", Status.of(network.brokers[name], behind=2, monitors=places))
        yield made


def place(monitor: Monitor) -> str:
    return f"127.0.0.1:{monitor.port}"


def named(line: str) -> str:
    return line.strip("├└─│ ").split()[0]


def test_status_draws_the_living_network(run: Run, monitors: dict[str, Monitor], tmp_path: Path) -> None:
    drawing = tmp_path / "living.svg"
    done = run("network", "status", place(monitors["oslo"]), "-o", drawing)
    assert done.exit_code == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [named(line) for line in lines[:4]] == ["berlin", "paris", "rome", "oslo"]
    assert lines[3].startswith("   └─ oslo  calm  clients 1  filters 1")
    assert lines[4:] == ["paris – rome: spare"]
    root = etree.parse(str(drawing)).getroot()
    texts = {each.text for each in root.iter("{*}text")}
    assert {"berlin", "paris", "rome", "oslo", "spare"} <= texts
    assert len(list(root.iter("{*}line"))) == len(RING)


def test_trace_shows_every_hop_and_why(run: Run, monitors: dict[str, Monitor]) -> None:
    done = run("network", "trace", "paris/wire/1", f"http://{place(monitors['berlin'])}/")
    assert done.exit_code == 0, done.stderr
    assert [line.split("  ", 1)[1] for line in done.stdout.splitlines()] == [
        "paris   published by client wire",
        "paris   sent to broker berlin: it wants //title",
        "berlin  received from broker paris",
        "berlin  sent to broker rome: it wants //title",
        "rome    received from broker berlin",
        "rome    sent to broker oslo: it wants //title",
        "oslo    received from broker rome",
        "oslo    delivered to client ann: titles",
    ]
    unknown = run("network", "trace", "paris/wire/2", place(monitors["berlin"]))
    assert (unknown.exit_code, unknown.stdout) == (1, "")
    assert "no broker that was asked knows of paris/wire/2" in unknown.stderr


def test_who_does_not_answer_is_named(run: Run, monitors: dict[str, Monitor]) -> None:
    monitors["oslo"].close()
    done = run("network", "status", place(monitors["rome"]))
    assert done.exit_code == 1
    assert "oslo: was not asked, or has not answered" in done.stdout
    assert f"{place(monitors['oslo'])}: it does not answer" in done.stderr


def test_settings_say_where_a_broker_is(run: Run, monitors: dict[str, Monitor], tmp_path: Path) -> None:
    config = tmp_path / "oslo.toml"
    text = 'name = "oslo"\nkafka = { "bootstrap.servers" = "h:1" }\n'
    config.write_text(text, encoding="utf-8")
    assert "this broker has no monitor" in run("network", "status", config).stderr
    config.write_text(f"{text}monitor = {{ port = {monitors['oslo'].port} }}\n", encoding="utf-8")
    assert run("network", "status", config).exit_code == 0
    assert run("network", "status", config, "-o", "x.png").exit_code == 2


def test_answers_are_not_trusted() -> None:
    good = json.loads(json.dumps(Status.of(Broker("b1"), behind=0).values()))
    link = {"name": "b2", "state": "tree", "leaf": False, "wants": 0, "told": 0, "monitor": None}
    assert Status.read({**good, "links": [link], "more": 1}).links[0].name == "b2"
    bad: list[Any] = [
        None,
        [],
        {},
        {**good, "clients": "1"},
        {**good, "path": [1]},
        {**good, "links": [{}]},
        {**good, "links": [{**link, "state": "odd"}]},
    ]
    for values in bad:
        with pytest.raises(StatusError):
            Status.read(values)
    step = {"at": 1.0, "document": "d", "what": "sent", "whom": "broker b2", "why": ""}
    for steps in (
        1,
        [1],
        [{**step, "what": "eaten"}],
        [{**step, "at": float("nan")}],
        [{**step, "at": 1e300}],
    ):
        found = Overview(monitors={"b1": "h:1"})
        assert found.traces("d", lambda monitor, path, steps=steps: {"steps": steps}) == {}  # type: ignore[misc]
        assert list(found.failed) == ["h:1"]


def test_brokers_that_contradict_one_another_are_still_shown() -> None:
    """They are asked one after the other, while the tree changes."""
    statuses = {}
    for name, above in (("b1", "b2"), ("b2", "b1")):
        values = Status.of(Broker(name), behind=0).values()
        statuses[name] = Status.read({**values, "path": [name, above, "b0"]})
    assert [named(line) for line in Overview(statuses).lines()] == ["b1", "b2"]


def test_traces_are_bounded() -> None:
    traces = Traces(2)
    for number in range(5):
        traces.file([Step(f"d{number}", "again", "broker b")] * (STEPS + 1), 0.0)
    assert [len(traces.of(f"d{number}")) for number in range(5)] == [0, 0, 0, STEPS, STEPS]
    assert in_order({"b2": traces.of("d4"), "b1": []}) == ["b2"]
