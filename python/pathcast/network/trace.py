"""What a broker did with a document, and why: the way of one document through the network can be read.

Each outcome of a broker lists its steps. A transport keeps them (`pathcast.network.transports.traces`). Steps
are told and not acted on: nothing depends on them.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

What = Literal["published", "received", "again", "refused", "sent", "delivered", "unwanted"]
_WORDS: dict[What, str] = {
    "published": "published by",
    "received": "received from",
    "again": "again from",
    "refused": "refused from",
    "sent": "sent to",
    "delivered": "delivered to",
    "unwanted": "wanted by",
}
SHOWN = 200
"""Characters of a reason."""


class Step(NamedTuple):
    """One thing that happened to a document at a broker."""

    document: str
    what: What
    whom: str
    """``client NAME`` or ``broker NAME``."""
    why: str = ""

    def text(self) -> str:
        """As a line.

        >>> Step("b1/wire/7", "sent", "broker b2", "it wants //item").text()
        'sent to broker b2: it wants //item'
        """
        return f"{_WORDS[self.what]} {self.whom}" + (f": {self.why}" if self.why else "")
