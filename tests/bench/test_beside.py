"""Peers: a wrong answer ends the run, a word inside a longer one does not, and a missing peer says why."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from bench import beside
from bench.harness.answers import WrongAnswerError
from bench.harness.kept import Kept
from bench.peers import PEERS, Peer, lxml_xpath, ruler
from bench.plan import Plan
from bench.workloads import WORKLOADS, alerts

ALERTS = WORKLOADS["alerts"]
RULER = next(peer for peer in PEERS if peer.name == "Event Ruler")


class Told:
    """A peer that answers what it was told to."""

    added_seconds = 0.0

    def __init__(self, answer: list[int]) -> None:
        self._answer = answer

    def match(self, documents: Sequence[bytes]) -> tuple[float, list[list[int]]]:
        return 0.5, [self._answer for _ in documents]

    def close(self) -> None:
        pass


def answers(peer: Peer, answer: list[int], monkeypatch: pytest.MonkeyPatch) -> beside.Answers:
    """Of two alerts, on a headline that holds the first one's word in a longer one and the second's alone."""
    wanted = [
        alerts.Alert("headline", {"category": "art"}, word="tor"),
        alerts.Alert("headline", {"category": "art"}, word="late"),
    ]
    monkeypatch.setattr(alerts, "alerts", lambda size: wanted)
    judge = ALERTS.index(queries=[alert.xpath() for alert in wanted])
    return beside.Answers(peer, Told(answer), judge, 2)


DOCUMENT = b"<item><category>art</category><headline>storm late</headline></item>"


def test_a_word_inside_a_longer_one_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    held = answers(RULER, [1], monkeypatch)
    assert held.match([DOCUMENT]) == 0.5
    held.check(beside.THEIRS, [DOCUMENT], None)
    assert held.note().startswith("50.00 % of the matches are words inside longer ones")


@pytest.mark.parametrize("answer", [[], [0]])
def test_any_other_difference_ends_the_run(answer: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    held = answers(RULER, answer, monkeypatch)
    held.match([DOCUMENT])
    with pytest.raises(WrongAnswerError):
        held.check(beside.THEIRS, [DOCUMENT], None)


def test_lxml_gives_the_same_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beside, "WARM", 1)
    monkeypatch.setattr(beside, "SIZE", 5)
    monkeypatch.setattr(
        beside, "PEERS", (Peer("lxml", ("alerts",), 1_000, lambda: "", lxml_xpath.Lxml), RULER)
    )
    monkeypatch.setattr(ruler, "JARS", tmp_path)
    plan = Plan(workloads=("alerts",), sizes=(1_000,))
    lxml, missing = beside.table(Kept(tmp_path / "peers.json"), plan)
    assert lxml.values["compared"] == 30
    assert lxml.values["×"] > 0
    assert missing.note == "not run: its archive is not in .jars/ruler; `make jars` fetches it"


@pytest.mark.skipif(bool(ruler.missing()), reason=ruler.missing())
def test_event_ruler_gives_the_same_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beside, "WARM", 1)
    monkeypatch.setattr(beside, "SIZE", 10)
    monkeypatch.setattr(beside, "PEERS", (RULER,))
    (row,) = beside.table(Kept(tmp_path / "peers.json"), Plan(workloads=("alerts",), sizes=(1_000,)))
    assert row.values["compared"] == 60
    assert row.values["matches / document"] > 1
