"""The writer alone: what goes wrong with one job of a group."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import Connection

from pathcast.service.catalog import LiveTopic, empty_index
from pathcast.service.publishing import Publication
from pathcast.service.settings import Settings
from pathcast.service.store import Database
from pathcast.service.writer import Writer


def _publish(connection: Connection, batch: list[Publication]) -> None:
    for each in batch:
        if each.body == b"bad":
            raise LookupError("a mistake of ours")
        each.status = 202


def _fail(connection: Connection) -> None:
    raise LookupError("a mistake of ours")


@pytest.mark.parametrize("work", [None, _fail])
def test_a_job_that_fails_harms_no_other(tmp_path: Path, work: Callable[[Connection], None] | None) -> None:
    database = Database(Settings(data=tmp_path).url)
    database.migrate()
    topic = LiveTopic(1, "t", "t", {}, empty_index({}))

    async def run() -> list[object]:
        writer = Writer(database, _publish)
        bodies = [b"<a/>", b"<b/>"] if work is not None else [b"<a/>", b"bad", b"<b/>"]
        waiting = [writer.publish("t", Publication(topic, body, "")) for body in bodies]
        failing = [asyncio.create_task(writer.run("t", work))] if work is not None else []
        await asyncio.sleep(0)
        writer.start()  # now all of it is one group
        done = await asyncio.gather(*waiting, *failing, return_exceptions=True)
        await asyncio.to_thread(writer.close)
        return list(done)

    done = asyncio.run(run())
    database.close()
    failed = [each for each in done if isinstance(each, LookupError)]
    assert len(failed) == 1
    assert [each.status for each in done if isinstance(each, Publication)] == [202, 202]
