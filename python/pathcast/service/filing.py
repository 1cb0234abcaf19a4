"""Filing: matches of documents are turned round in the background, so that pulling finds them quickly."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from typing import TYPE_CHECKING

from sqlalchemy.exc import SQLAlchemyError

from pathcast.service.problems import Problem
from pathcast.service.store import postings

if TYPE_CHECKING:
    from pathcast.service.core import Service

log = logging.getLogger("pathcast.service")

_EVERY = 1.0


class Filing:
    """Knows how much came since it last looked, and looks into the store when it is enough."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._documents: Counter[int] = Counter()
        self._deliveries: Counter[int] = Counter()

    def published(self, topic: int, receivers: int) -> None:
        """A document was matched."""
        if receivers:
            self._documents[topic] += 1
            self._deliveries[topic] += receivers

    async def run(self, service: Service) -> None:
        """First everything that was left, then what comes, until the server stops."""
        due = {topic.number for topic in service.catalog.topics()}
        while True:
            for topic in due:
                self._documents.pop(topic, None)
                self._deliveries.pop(topic, None)
                try:
                    while await self._file(topic):
                        pass
                except (Problem, SQLAlchemyError) as error:
                    log.warning("matches could not be filed: %s", error)
            await asyncio.sleep(_EVERY)
            due = {topic for topic, count in self._documents.items() if count >= postings.STRETCH}
            due |= {topic for topic, count in self._deliveries.items() if count >= postings.ENTRIES}

    async def _file(self, topic: int) -> bool:
        """File one stretch; false when there is none."""
        stretch = await self._service.read(lambda connection: postings.gather(connection, topic))
        if stretch is None:
            return False
        return await self._service.writer.run(
            "#maintenance", lambda connection: postings.file(connection, stretch), alone=True
        )
