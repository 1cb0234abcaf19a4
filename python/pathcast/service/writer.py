"""The one writer: jobs from all requests, committed in groups.

A commit waits for the disk, and waiting once for a hundred documents costs as much as for one. So jobs queue,
and the writer's thread takes what has come together, runs it in one transaction, commits, and only then
answers. While it waits for the disk the next group gathers.

Each tenant has a queue of its own, and a group takes one job from each in turn: a tenant with ten thousand
documents waiting delays another's document by one place, not by ten thousand. A job that changes an index
runs in a transaction alone, because the index follows after the commit and before the next document is
matched.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import DataError, SQLAlchemyError

from pathcast.service.problems import Problem, unavailable
from pathcast.service.publishing import Publication
from pathcast.service.store import Database

T = TypeVar("T")

GROUP = 256  # jobs in one transaction
GROUP_BYTES = 8 << 20
QUEUE = 4_096  # jobs of one tenant that wait
QUEUE_BYTES = 256 << 20


@dataclass(slots=True, eq=False)
class Job(Generic[T]):
    """Something to do in a transaction, and who waits for it."""

    work: Callable[[Connection], T] | Publication
    waiter: asyncio.Future[Any]
    size: int
    alone: bool = False
    after: Callable[[T], None] | None = None
    result: Any = None
    error: BaseException | None = None


@dataclass(slots=True)
class _Queue:
    jobs: deque[Job[Any]] = field(default_factory=deque)
    size: int = 0


class Writer:
    """A thread with a queue for each tenant."""

    def __init__(self, database: Database, publish: Callable[[Connection, list[Publication]], None]) -> None:
        self._database = database
        self._publish = publish
        self._queues: dict[str, _Queue] = {}
        self._turns: deque[str] = deque()
        self._ready = threading.Condition()
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="writer", daemon=True)
        self.groups = 0
        self.jobs = 0

    def start(self) -> None:
        """Begin to work."""
        self._thread.start()

    def close(self) -> None:
        """Finish what is queued, then end."""
        with self._ready:
            self._closing = True
            self._ready.notify()
        if self._thread.is_alive():
            self._thread.join()

    @property
    def waiting(self) -> int:
        """Jobs in all queues."""
        with self._ready:
            return sum(len(queue.jobs) for queue in self._queues.values())

    async def run(
        self,
        tenant: str,
        work: Callable[[Connection], T],
        *,
        alone: bool = False,
        after: Callable[[T], None] | None = None,
    ) -> T:
        """Do it in a transaction; returns after the commit and after `after`."""
        waiter: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._put(tenant, Job(work, waiter, 0, alone, after))
        return await waiter

    def publish(self, tenant: str, publication: Publication) -> asyncio.Future[Publication]:
        """Publish one document; the result comes after the commit."""
        waiter: asyncio.Future[Publication] = asyncio.get_running_loop().create_future()
        self._put(tenant, Job(publication, waiter, len(publication.body)))
        return waiter

    def _put(self, tenant: str, job: Job[Any]) -> None:
        with self._ready:
            if self._closing:
                raise unavailable("the server is stopping")
            queue = self._queues.get(tenant)
            if queue is None:
                queue = self._queues[tenant] = _Queue()
                self._turns.append(tenant)
            if len(queue.jobs) >= QUEUE or queue.size + job.size > max(QUEUE_BYTES, job.size):
                raise unavailable("too many requests of this tenant wait for the store")
            queue.jobs.append(job)
            queue.size += job.size
            self._ready.notify()

    def _gather(self) -> list[Job[Any]]:
        """The next group: one job of each tenant in turn. Empty when the writer is to end."""
        with self._ready:
            while not self._queues:
                if self._closing:
                    return []
                self._ready.wait()
            group: list[Job[Any]] = []
            size = 0
            held: set[str] = set()  # tenants whose next job must run alone
            while self._turns and len(held) < len(self._turns):
                if len(group) >= GROUP or size >= GROUP_BYTES:
                    break
                tenant = self._turns[0]
                self._turns.rotate(-1)
                queue = self._queues[tenant]
                if queue.jobs[0].alone and group:
                    held.add(tenant)
                    continue
                job = queue.jobs.popleft()
                queue.size -= job.size
                size += job.size
                group.append(job)
                if not queue.jobs:
                    del self._queues[tenant]
                    self._turns.remove(tenant)
                    held.discard(tenant)
                if job.alone:
                    break
            return group

    def _run(self) -> None:
        while group := self._gather():
            self.groups += 1
            self.jobs += len(group)
            try:
                with self._database.writing() as connection:
                    self._work(connection, group)
            except SQLAlchemyError as error:
                for job in group:
                    job.error = job.error or _refused(error)
            except BaseException as error:
                for job in group:
                    job.error = job.error or error
            for job in group:
                if job.after is not None and job.error is None:
                    try:
                        job.after(job.result)
                    except BaseException as error:
                        job.error = error
            _answer(group)

    def _work(self, connection: Connection, group: list[Job[Any]]) -> None:
        documents = [(job, job.work) for job in group if isinstance(job.work, Publication)]
        if documents:
            self._documents(connection, documents)
        for job in group:
            if isinstance(job.work, Publication):
                job.result = job.work
                continue
            with _apart(connection, job):
                job.result = job.work(connection)

    def _documents(self, connection: Connection, jobs: list[tuple[Job[Any], Publication]]) -> None:
        """All documents at once; if that fails, one by one, so that one cannot harm the others."""
        if len(jobs) > 1:
            try:
                with connection.begin_nested():
                    self._publish(connection, [publication for _, publication in jobs])
                return
            except Exception as error:
                if isinstance(error, SQLAlchemyError) and getattr(error, "connection_invalidated", False):
                    raise
        for job, publication in jobs:
            with _apart(connection, job):
                self._publish(connection, [publication])


@contextlib.contextmanager
def _apart(connection: Connection, job: Job[Any]) -> Iterator[None]:
    """What goes wrong is this job's alone, unless the store fails: then the transaction may be gone."""
    try:
        with connection.begin_nested():
            yield
    except DataError as error:  # a value that the database cannot hold
        job.error = _refused(error)
    except SQLAlchemyError:
        raise
    except Exception as error:
        job.error = error


def _refused(error: SQLAlchemyError) -> Problem:
    reason = str(getattr(error, "orig", None) or error).strip().partition("\n")[0]
    return unavailable(f"the store refused: {reason}")


def _answer(group: list[Job[Any]]) -> None:
    """Wake everybody who waits, with one call into each event loop."""

    def answer(jobs: list[Job[Any]]) -> None:
        for job in jobs:
            if job.waiter.done():  # the client has gone
                continue
            if job.error is not None:
                job.waiter.set_exception(job.error)
            else:
                job.waiter.set_result(job.result)

    loops: dict[asyncio.AbstractEventLoop, list[Job[Any]]] = {}
    for job in group:
        loops.setdefault(job.waiter.get_loop(), []).append(job)
    for loop, jobs in loops.items():
        if not loop.is_closed():
            loop.call_soon_threadsafe(answer, jobs)
