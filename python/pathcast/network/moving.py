"""The client's side of a move: it passes on what the two brokers have to say (`pathcast.network.handover`).

>>> move = Move()
>>> move.begin()
[('old', ClientDepart())]
>>> move.told("old", Notice("ann", "holds"))
[('new', ClientArrive(subscriptions=0))]
"""

from __future__ import annotations

from typing import Literal

from pathcast.errors import PathcastError
from pathcast.network.message import (
    ClientArrive,
    ClientArrived,
    ClientDepart,
    ClientLeave,
    ClientMessage,
    ClientStay,
    ClientSubscribe,
    Notice,
)

Side = Literal["old", "new"]
Said = list[tuple[Side, ClientMessage]]
"""What the client says, and to which broker; in this order."""


class MoveError(PathcastError):
    """A client could not move: the new broker has a client of its name, or would not wait for so long."""


class Move:
    """One client on its way."""

    def __init__(self) -> None:
        self.is_done = False
        """Whether everything has been said."""
        self.has_failed = False
        """Whether the client stays where it was."""
        self._holds: list[ClientMessage] = []

    def begin(self) -> Said:
        """The first thing that is said."""
        return [("old", ClientDepart())]

    def told(self, side: Side, notice: Notice) -> Said:
        """What follows from a notice of one of the brokers."""
        match side, notice.kind:
            case "old", "holds":
                self._holds.extend(notice.messages)
                if notice.is_last:
                    number = sum(isinstance(each, ClientSubscribe) for each in self._holds)
                    return [("new", ClientArrive(number))]
            case "new", "welcome":
                return [("new", each) for each in self._holds]
            case "new", "ready":
                return [("old", ClientLeave())]
            case "old", "departed":
                self.is_done = notice.is_last
                return [("new", ClientArrived(notice.documents, notice.is_last, notice.unrest))]
            case "new", "ended":
                self.is_done = self.has_failed = True
                return [("old", ClientStay())]
        return []
