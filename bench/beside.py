"""Pathcast beside programs of others: the same documents and meaning, everybody warmed alike, in turns.

Pathcast is `auto` with defaults, with every id in Arrow and in Python lists. What reads a document and
matches nothing stands beside it: the bare tokeniser and lxml's parse. Every answer of a peer is compared.
Event Ruler gets the words of a headline as a list, so it may miss a word inside a longer one, and nothing
else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing

from bench.harness.answers import WrongAnswerError
from bench.harness.columns import BESIDE, forms
from bench.harness.kept import Kept, Row
from bench.harness.turns import Task, in_turns
from bench.peers import PEERS, Peer, Running
from bench.plan import Plan
from bench.workloads import Workload, alerts
from pathcast.index import Index

WARM, SIZE, ROUNDS = 1_000, 100, 6
OURS, IN_LISTS, THEIRS = "Pathcast", "Pathcast in lists", "peer"


def table(kept: Kept, plan: Plan) -> Iterator[Row]:
    """Microseconds an unseen document; × is how much longer the peer takes than Pathcast with Arrow."""
    for workload, size in plan.sets():
        for peer in PEERS:
            subject = f"{workload.name} {size:,}: {peer.name}"
            if workload.name not in peer.workloads or size > peer.largest or kept.has(subject):
                continue
            reason = peer.missing()
            yield Row(subject, {}, f"not run: {reason}") if reason else _beside(subject, workload, size, peer)


def _beside(subject: str, workload: Workload, size: int, peer: Peer) -> Row:
    queries = workload.queries(size)
    arrow, lists, judge = (workload.index(queries=queries) for _ in range(3))  # each sees a document once
    with closing(peer.start(workload, size)) as running:
        answers = Answers(peer, running, judge, size)
        tasks: dict[str, Task] = {
            OURS: forms(arrow)["arrow"],
            IN_LISTS: forms(lists)["lists"],
            THEIRS: answers.match,
            **BESIDE,
        }
        times = in_turns(
            tasks, workload.documents(1), size=SIZE, rounds=ROUNDS, warm=WARM, within=60, check=answers.check
        )
        values = {f"{name} µs": times[name].best * 1e6 for name in (THEIRS, OURS, IN_LISTS, *BESIDE)}
        values |= {f"{name} median µs": times[name].median * 1e6 for name in (THEIRS, OURS)}
        values["×"] = times[THEIRS].best / times[OURS].best
        return Row(subject, values | answers.values(), answers.note())


class Answers:
    """What a peer answers, held against another index of the same subscriptions."""

    def __init__(self, peer: Peer, running: Running, judge: Index, size: int) -> None:
        self._peer, self._running, self._judge = peer, running, judge
        self._alerts = [] if peer.exact else alerts.alerts(size)
        self._last: list[list[int]] = []
        self.matches = self.documents = self.inside_words = 0

    def match(self, documents: Sequence[bytes]) -> float:
        """The seconds that the peer tells."""
        seconds, self._last = self._running.match(documents)
        return seconds

    def check(self, name: str, documents: Sequence[bytes], _: object) -> None:
        """An error if an answer is not the index's."""
        if name != THEIRS:
            return
        for document, found in zip(documents, self._last, strict=True):
            expected = {int(place) for place in self._judge.match(document)}
            self.documents += 1
            self.matches += len(found)
            missed = expected - set(found)
            explained = {place for place in missed if self._is_inside_a_word(place, document)}
            if set(found) - expected or missed - explained:
                raise WrongAnswerError(f"{self._peer.name} and Pathcast differ on {document[:200]!r}")
            self.inside_words += len(missed)

    def _is_inside_a_word(self, place: int, document: bytes) -> bool:
        if self._peer.exact or (word := self._alerts[place].word) is None:
            return False
        headline = document.partition(b"<headline>")[2].partition(b"</headline>")[0].decode()
        return word in headline and word not in headline.split()

    def values(self) -> dict[str, float]:
        """What was compared."""
        return {
            "matches / document": self.matches / self.documents,
            "compared": self.documents,
            "added s": self._running.added_seconds,
        }

    def note(self) -> str:
        """What it leaves out, if it may."""
        if not self.inside_words:
            return ""
        share = self.inside_words / (self.matches + self.inside_words)
        return f"{100 * share:.2f} % of the matches are words inside longer ones, which it does not find"
