"""What a restart of a broker costs: until it takes documents again, and each step after that.

The filters are paths that hardly cover each other, the case in which most must be told: one neighbour has
advertised everything, another nothing. Covering is found out after the restart, some filters a step; a change
meanwhile does not wait for it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import pairwise
from random import Random
from statistics import median

from bench.harness.answers import WrongAnswerError
from bench.harness.kept import Kept, Row
from bench.harness.turns import scale
from bench.plan import Plan
from pathcast.network import Advertised, Broker, Filter, restored, snapshot
from pathcast.network import message as m
from pathcast.network.state import Record

SIZES = (10_000, 100_000)
NAMES = 120
ROUNDS = 3
SCALE = scale()


def table(kept: Kept, _: Plan) -> Iterator[Row]:
    """Processor time of a restart, of the first change after it, and of what is left; medians of three."""
    for size in SIZES:
        size = max(100, int(size * SCALE))
        if not kept.has(f"{size:,} filters"):
            yield _row(size)


def _row(size: int) -> Row:
    records = _records(size)
    restarts: list[float] = []
    changes: list[float] = []
    longest: list[float] = []
    wholes: list[float] = []
    for _ in range(ROUNDS):
        began = time.process_time()
        broker, outcome = restored("b1", records)
        restarts.append(time.process_time() - began)
        steps = [time.process_time()]
        change = broker.handle_client("c", m.ClientSubscribe("one more", Filter("/one/more")), 0.0)
        steps.append(time.process_time())
        messages = [*outcome.messages, *change.messages]
        while any(side.unfilled is not None for side in broker.publications.sides.values()):
            messages += broker.handle_tick(0.0).messages
            steps.append(time.process_time())
        times = [after - before for before, after in pairwise(steps)]
        changes.append(times[0])
        longest.append(max(times))
        wholes.append(sum(times))
        told = [message for _, message in messages if isinstance(message, m.Subscribe | m.Unsubscribe)]
        if told != [m.Subscribe(Filter("/one/more"))] or len(broker.publications.entries) != size + 1:
            raise WrongAnswerError(f"{len(told):,} messages after a restart and a change, not 1")
    values = {
        "records": float(len(records)),
        "restart s": median(restarts),
        "µs / filter": 1e6 * median(restarts) / size,
        "first change ms": 1e3 * median(changes),
        "longest step ms": 1e3 * median(longest),
        "until all is covered s": median(wholes),
    }
    return Row(f"{size:,} filters", values)


def _records(size: int) -> list[Record]:
    random = Random(1)
    names = [f"n{number}" for number in range(NAMES)]
    paths: dict[str, None] = {}
    while len(paths) < size:
        steps = (
            random.choice(("/", "/", "/", "/", "//")) + random.choice(names)
            for _ in range(random.randint(5, 9))
        )
        paths["".join(steps)] = None
    broker = Broker("b1")
    for name in ("b2", "b3"):
        broker.handle_link_up(name, 0.0)
        for message in (m.Hello((name, "b1"), 1), m.Reset(1)):
            broker.handle_message(name, message, 0.0)
    broker.handle_message("b2", m.Advertise("b2/0", Advertised(("(/*)+",))), 0.0)
    for number, path in enumerate(paths):
        broker.handle_client("c", m.ClientSubscribe(str(number), Filter(path)), 0.0)
    return snapshot(broker)
