"""What an advertisement costs a broker while there are ever more of them: the first against the last.

Publishers have names of their own and some in common. Most filters ask for one publisher's documents, some
for names that all have. One neighbour tells a broker of one advertisement after the other, and the broker
tells another neighbour.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from random import Random

from bench.harness.kept import Kept, Row
from bench.harness.turns import scale
from bench.plan import Plan
from pathcast.network import Advertised, Broker, Filter, Policy
from pathcast.network import message as m

SIZES = ((100, 10_000), (1_000, 100_000))
"""Publishers and filters."""
EACH = 100
"""Advertisements of a publisher."""
SCALE = scale()


def table(kept: Kept, _: Plan) -> Iterator[Row]:
    """Processor time of an advertisement: the first and the last tenth of all, and how they compare."""
    for publishers, filters in SIZES:
        publishers, filters = max(10, int(publishers * SCALE)), max(100, int(filters * SCALE))
        subject = f"{publishers:,} publishers, {filters:,} filters"
        if not kept.has(subject):
            yield _row(subject, publishers, filters)


def _row(subject: str, publishers: int, filters: int) -> Row:
    random = Random(1)
    broker = Broker("b1", Policy(durable=False, max_advertisements=publishers * EACH))
    for name in ("b2", "b3"):
        broker.handle_link_up(name, 0.0)
        broker.handle_message(name, m.Hello((name, "b1"), 1), 0.0)
        broker.handle_message(name, m.Reset(1), 0.0)
    start = time.process_time()
    for number in range(filters):
        broker.handle_client("c", m.ClientSubscribe(str(number), Filter(_filter(random, publishers))), 0.0)
    subscribed = time.process_time() - start
    order = [(publisher, each) for publisher in range(publishers) for each in range(EACH)]
    random.shuffle(order)
    tenth = len(order) // 10
    times = [time.process_time()]
    for number, (publisher, each) in enumerate(order):
        advertised = Advertised((_path(publisher, each),))
        broker.handle_message("b2", m.Advertise(f"b2/{number}", advertised), 0.0)
        if (number + 1) % tenth == 0:
            times.append(time.process_time())
    first, last = ((times[at + 1] - times[at]) / tenth * 1_000 for at in (0, 9))
    _check(broker, publishers * EACH)
    return Row(
        subject,
        {
            "advertisements": float(len(order)),
            "subscriptions / s": filters / subscribed,
            "first tenth ms": first,
            "last tenth ms": last,
            "last / first": last / first,
        },
    )


def _path(publisher: int, each: int) -> str:
    return f"/feed/p{publisher}/s{each % 10}/t{each // 10}"


def _filter(random: Random, publishers: int) -> str:
    """One in a hundred asks for what any publisher may have, and one in ten for what nobody has."""
    publisher, section, leaf = random.randrange(publishers), random.randrange(10), random.randrange(10)
    kind = random.random()
    if kind < 0.01:
        return f"/feed/*/s{section}[t{leaf} = {random.randrange(1_000)}]"
    if kind < 0.1:
        return f"//p{publisher}/s{section}/u{random.randrange(1_000)}"
    return random.choice(
        [f"/feed/p{publisher}//t{leaf}", f"//p{publisher}/s{section}[t{leaf} > {random.randrange(100)}]"]
    )


def _check(broker: Broker, advertised: int) -> None:
    """What is kept change by change is what a look at everything finds, for some of the filters."""
    overlap = broker.publications.sides["b2"].overlap
    assert len(overlap.advertised) == advertised
    handles = sorted([*overlap.witness, *overlap.waiting])
    some = handles[:: max(1, len(handles) // 50)]
    fitting = set(broker.cover.overlapping(sorted(overlap.advertised), some))
    assert fitting == {handle for handle in some if handle in overlap.witness}
    assert 0 < len(overlap.waiting) < len(overlap.witness)
