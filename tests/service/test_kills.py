"""The server is killed at random moments while clients publish and receive: nothing is lost or invented.

`PATHCAST_KILLS` sets how often; `make faults` kills a hundred times. The seed is printed.
"""

from __future__ import annotations

from pathlib import Path

from tests.service.fleet import survives
from tests.service.receiver import Receiver
from tests.service.server import Server


def test_nothing_is_lost_and_nothing_is_invented(tmp_path: Path) -> None:
    options = ("--data", str(tmp_path / "data"), "--allow-webhooks-to", "127.0.0.0/8")
    with Receiver() as receiver, Server(*options) as server:

        def harm(turn: int) -> None:
            server.kill()
            server.start()

        survives([server], receiver, harm)
