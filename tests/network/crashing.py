"""A broker process that kills itself at a chosen point of a transaction.

``python -m tests.network.crashing POINT NUMBER CONFIG`` ends with SIGKILL in the transaction of that number
(the first belongs to the start), at POINT: ``written``, when everything is in Kafka and nothing is committed;
``committed``, when Kafka has committed and the process has not heard of it yet.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from pathcast.network.transports.kafka import KafkaBroker
from pathcast.network.transports.settings import BrokerSettings, read_broker

POINTS = ("written", "committed")


class Crashing(KafkaBroker):
    """A broker that does not survive."""

    def __init__(self, settings: BrokerSettings, point: str, number: int) -> None:
        super().__init__(settings, lambda line: print(line, file=sys.stderr, flush=True))
        self.point, self.left = point, number

    def _insist(self, call: Callable[[float], None], what: str) -> None:
        if what == "commit":
            self.left -= 1
            self._die_at("written")
        super()._insist(call, what)
        if what == "commit":
            self._die_at("committed")

    def _die_at(self, point: str) -> None:
        if self.left == 0 and point == self.point:
            self._producer.flush(30)
            os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    point, number, config = sys.argv[1:]
    assert point in POINTS
    Crashing(read_broker(Path(config)), point, int(number)).run(create_topics=True)
