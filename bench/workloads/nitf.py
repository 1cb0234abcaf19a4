"""`nitf`: the queries of the YFilter 1.0 release, and news documents of 4 KB drawn from the NITF DTD.

Up to 153,928 queries they are the first of its distinct ones; 500,000 are its own 500,000, of which 40,021
are distinct. What is missing beyond them, and everything where the release is not there, is drawn from the
DTD; where that is missing too, from the DTD of news that ships.
"""

from __future__ import annotations

from collections.abc import Iterator

from bench.corpus import news_schema, yfilter_queries
from pathcast.generate import documents as drawn_documents
from pathcast.generate import subscriptions

ENDLESS = 1 << 40
SIZE = 4_000
SEED = 7


def documents(seed: int) -> Iterator[bytes]:
    """Valid documents of about `SIZE` bytes, without end."""
    return drawn_documents(news_schema(), ENDLESS, max_levels=9, target_size=SIZE, attributes=0.3, seed=seed)


def queries(number: int) -> list[str]:
    """That many linear paths of up to six steps, a fifth of them with ``*`` or ``//``."""
    name = "153928-d" if number <= 153_928 else "500000"
    found = (yfilter_queries(name) or [])[:number]
    missing = number - len(found)
    return found + list(
        subscriptions(news_schema(), missing, max_depth=6, wildcard=0.2, descendant=0.2, seed=SEED)
    )
