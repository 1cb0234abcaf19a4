"""Work that would not end in the life of a test ends when somebody says so."""

from __future__ import annotations

import asyncio
import io
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import pathcast
from pathcast import aio

ENDLESS = pathcast.Limits(document_bytes=1 << 62, evaluation_steps=1 << 62, work=1 << 62)
# Every element is compared with all pairs of elements.
SLOW = "//a[count(//a[count(preceding::a) = count(following::a)]) = count(preceding::a)]"
SLOW_DOCUMENT = "<r>" + "<a/>" * 20_000 + "</r>"


class Endless(io.RawIOBase):
    """A document without an end."""

    def __init__(self) -> None:
        self._begun = False

    def read(self, size: int = -1) -> bytes:
        begun, self._begun = self._begun, True
        return b"<a/>" * 4096 if begun else b"<r>"


@pytest.fixture
def index() -> pathcast.Index:
    index = pathcast.Index(limits=ENDLESS)
    index.add("s1", SLOW)
    index.add("s2", "//a")
    return index


@pytest.fixture
def signals() -> Iterator[None]:
    """A signal soon, whose handler raises."""

    def handler(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


CALLS: dict[str, Callable[[pathcast.Index], Any]] = {
    "match": lambda index: index.match(SLOW_DOCUMENT),
    "match_many": lambda index: index.match_many([SLOW_DOCUMENT] * 3),
    "threads": lambda index: index.match_many([SLOW_DOCUMENT] * 3, threads=3),
    "stream": lambda index: list(index.match_stream([SLOW_DOCUMENT] * 3, threads=2)),
    "select": lambda index: index.select(SLOW_DOCUMENT),
    "explain": lambda index: pathcast.explain(SLOW, SLOW_DOCUMENT, limits=ENDLESS),
    "file": lambda index: index.match(Endless()),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.usefixtures("signals")
def test_a_signal_ends_a_call(call: str, index: pathcast.Index) -> None:
    with pytest.raises(KeyboardInterrupt):
        CALLS[call](index)
    assert index.match("<a/>") == ["s2"]


@pytest.mark.usefixtures("signals")
def test_a_signal_ends_waiting_for_a_pipe(index: pathcast.Index, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(KeyboardInterrupt):
        index.match(tmp_path / "pipe")


def test_a_handler_that_uses_the_index_gets_an_error_and_no_deadlock(index: pathcast.Index) -> None:
    def handler(number: int, frame: FrameType | None) -> None:
        index.add("s3", "//b")

    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        with pytest.raises(RuntimeError, match="signal handler"):
            index.match(SLOW_DOCUMENT)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert "s3" not in index


TWIGS = [(number, f"//a{number}[b = {number}]//c[d]") for number in range(30_000)]


def _load(saved: Path) -> object:
    return pathcast.Index.load(saved)


def _compile(saved: Path) -> object:
    return pathcast._core.compile(TWIGS, pathcast.Limits(), False, None, False, (1, 2), 8, 64)


def _add(saved: Path) -> object:
    index = pathcast.Index()
    index.add_many(TWIGS)
    return index


@pytest.mark.parametrize("call", [_load, _compile, _add])
def test_a_call_looks_for_signals_while_it_works(call: Callable[[Path], object], tmp_path: Path) -> None:
    """A handler that runs in between may not use an index, and so knows that it does."""
    saved = tmp_path / "saved"
    index = pathcast.Index()
    index.add_many(TWIGS)
    index.save(saved)

    def handler(number: int, frame: FrameType | None) -> None:
        try:
            index.match("<a/>")
        except RuntimeError:
            raise KeyboardInterrupt from None

    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.005, 0.005)
    try:
        with pytest.raises(KeyboardInterrupt):
            call(saved)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_adding_many_is_taken_back(index: pathcast.Index) -> None:
    before = dict(index.items())
    given = iter(range(1 << 62))

    def rows() -> Iterator[tuple[Any, str]]:
        yield "s2", "//other"
        for number in given:
            if number == 20_000:
                # What the loop in the core meets first is a signal.
                signal.setitimer(signal.ITIMER_REAL, 0.01)
            if number == 200_000:
                return
            yield number, f"//a{number}/b//c[d = {number}]"

    def handler(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    old = signal.signal(signal.SIGALRM, handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            index.add_many(rows())
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    assert dict(index.items()) == before


def test_another_thread_cancels(index: pathcast.Index) -> None:
    for call in (index.match, index.select, lambda each, **more: index.match_many([each], **more)):
        cancellation = pathcast.Cancellation()
        threading.Timer(0.05, cancellation.cancel).start()
        with pytest.raises(pathcast.Cancelled):
            call(SLOW_DOCUMENT, cancellation=cancellation)
        assert cancellation.cancelled
        with pytest.raises(pathcast.Cancelled):
            call("<a/>", cancellation=cancellation)


def test_a_stream_takes_a_few_documents_ahead() -> None:
    index = pathcast.Index()
    index.add("s1", "//a")
    for threads, ahead in [(1, 1), (3, 6)]:
        taken: list[str] = []

        def documents(taken: list[str] = taken) -> Iterator[str | None]:
            for _ in range(1000):
                taken.append("<a/>")
                yield "<a/>" if len(taken) % 2 else None

        results = index.match_stream(documents(), threads)
        for place, result in enumerate(results):
            assert len(taken) <= place + ahead
            assert isinstance(result, pathcast.DocumentError) == bool(place % 2)
        assert len(taken) == 1000


def test_a_stream_that_is_left_ends_its_work(index: pathcast.Index) -> None:
    results = index.match_stream(["<a/>", SLOW_DOCUMENT, SLOW_DOCUMENT, SLOW_DOCUMENT], threads=2)
    assert list(next(results)) == ["s2"]  # type: ignore[arg-type]
    results.close()  # type: ignore[attr-defined]


def test_a_cancelled_task_ends_its_call(index: pathcast.Index) -> None:
    async def main() -> None:
        for call in (
            aio.match(index, Endless()),
            aio.match(index, SLOW_DOCUMENT),
            aio.select(index, SLOW_DOCUMENT),
        ):
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(call, 0.05)
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(aio.match_many(index, [SLOW_DOCUMENT] * 3, threads=2), 0.05)
        await asyncio.get_running_loop().shutdown_default_executor()  # waits for every thread

    asyncio.run(main())


def test_results_come_through_asyncio_in_order(index: pathcast.Index) -> None:
    async def documents() -> Any:
        for number in range(20):
            yield f"<{'a' if number % 3 else 'b'}/>"

    async def main() -> list[list[str | int]]:
        return [list(found) async for found in aio.match_stream(index, documents(), threads=3)]  # type: ignore[arg-type]

    assert asyncio.run(main()) == [["s2"] if number % 3 else [] for number in range(20)]


FORKING = """
import gc, os, sys, threading, warnings
import pathcast
warnings.simplefilter("ignore")
index = pathcast.Index()
index.add_many([(n, f"//a{n}//b[c > {n}]") for n in range(2000)])
document = "<r>" + "<a1><b><c>5</c></b></a1>" * 2000 + "</r>"
stop = False
gc.set_threshold(1)  # collecting lets other threads in while ids are made
def match():
    while not stop:
        list(index.match_many([document])[0])
        index.add("x", "//x")
        index.remove("x")
threads = [threading.Thread(target=match) for _ in range(3)]
for thread in threads:
    thread.start()
for _ in range(40):
    child = os.fork()
    if not child:
        index.add("child", "//r")
        os._exit(0 if index.match("<r/>") == ["child"] else 1)
    assert os.waitpid(child, 0)[1] == 0
stop = True
for thread in threads:
    thread.join()
assert "child" not in index
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_child_can_use_an_index_that_other_threads_were_using() -> None:
    subprocess.run([sys.executable, "-c", FORKING], check=True, timeout=120)
