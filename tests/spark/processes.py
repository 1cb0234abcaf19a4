"""Processes that tests start, kill with everything they started, and wait for with a deadline."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType

ROOT = Path(__file__).parents[2]
POLL = 0.02
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData"  # a short life pays no second compiler


class Program:
    """A program in a process group of its own, with its output in a file."""

    def __init__(
        self, command: Sequence[str], log: Path, *, checkout: bool = True, **environment: str
    ) -> None:
        self.log = log
        settings = {"PYTHONPATH": "", "PYSPARK_PYTHON": "", "PYSPARK_SUBMIT_ARGS": ""}
        if checkout:  # the program sees the package and the tests of this checkout
            import pathcast

            package = str(Path(pathcast.__file__).parents[1])
            path = os.pathsep.join([package, str(ROOT), os.environ.get("PYTHONPATH", "")])
            settings = {
                "PYTHONPATH": path.rstrip(os.pathsep),
                "PYSPARK_PYTHON": sys.executable,
                "PYSPARK_SUBMIT_ARGS": f'--driver-java-options "{QUICK}" pyspark-shell',
            }
        given = {name: value for name, value in os.environ.items() if name not in settings}
        given |= {name: value for name, value in settings.items() if value}
        with log.open("ab") as output:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd=log.parent,
                env={**given, "SPARK_LOCAL_IP": "127.0.0.1", **environment},
                start_new_session=True,
            )
        # It waits for the end of its input, which comes when this process ends, however it ends.
        self._guard = subprocess.Popen(
            ["sh", "-c", 'read -r _; kill -KILL -- "-$0"', str(self.process.pid)],
            stdin=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def __enter__(self) -> Program:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()

    def kill(self) -> None:
        """Ends it and all its children at once."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        if self._guard.poll() is None:
            self._guard.kill()
            self._guard.wait()
            assert self._guard.stdin
            self._guard.stdin.close()

    @property
    def running(self) -> bool:
        return self.process.poll() is None

    def until(self, reached: Callable[[], bool], what: str, seconds: float) -> None:
        """Waits until something is true; an error if the program ends before, or if it takes too long."""
        deadline = time.monotonic() + seconds
        while not reached():
            if not self.running and not reached():
                raise AssertionError(f"ended before {what}: {self.last_lines()}")
            if time.monotonic() > deadline:
                raise AssertionError(f"no {what} within {seconds:.0f} seconds: {self.last_lines()}")
            time.sleep(POLL)

    def finish(self, seconds: float) -> None:
        """Waits for its end; an error if it fails."""
        try:
            status = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"did not end within {seconds:.0f} seconds: {self.last_lines()}") from None
        assert status == 0, self.last_lines()

    def last_lines(self, count: int = 60) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-count:])


def python_workers(program: int) -> list[int]:
    """The processes of Python workers below a driver: a daemon, Spark's or ours, forks them."""
    parents, words = _processes()
    return sorted(child for number in _daemons(program, parents, words) for child in parents.get(number, []))


def index_holders(program: int) -> list[int]:
    """The processes that hold indexes for the workers below a driver."""
    parents, words = _processes()
    daemons = {str(number).encode() for number in _daemons(program, parents, words)}
    return sorted(
        number
        for number, said in words.items()
        if b"pathcast.spark.worker.matcher" in b" ".join(said) and daemons & set(said)
    )


def _processes() -> tuple[dict[int, list[int]], dict[int, list[bytes]]]:
    """The children of each process, and the words that each was started with."""
    parents: dict[int, list[int]] = {}
    words = {}
    for entry in Path("/proc").iterdir():
        with suppress(OSError, ValueError):
            number = int(entry.name)
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            words[number] = (entry / "cmdline").read_bytes().split(b"\0")
            parents.setdefault(parent, []).append(number)
    return parents, words


def _daemons(program: int, parents: dict[int, list[int]], words: dict[int, list[bytes]]) -> list[int]:
    """What forks Python workers below a driver, and was not itself forked from such a process."""
    below, found = {program}, [program]
    while found:
        children = parents.get(found.pop(), [])
        below.update(children)
        found += children
    names = {b"pyspark.daemon", b"pathcast.spark.worker.daemon"}
    daemons = [number for number in below if names & set(words.get(number, []))]
    forked = {child for number in daemons for child in parents.get(number, [])}
    return [number for number in daemons if number not in forked]


def driver(job: str, folder: Path) -> Program:
    """`tests.spark.driver` with a job."""
    return Program([sys.executable, "-m", "tests.spark.driver", job, str(folder)], folder / f"{job}.log")


def spark_class(folder: Path, name: str, *arguments: str, checkout: bool = True) -> Program:
    """A server of Spark from the pip package; what it starts sees the checkout, or nothing of it."""
    import pyspark

    home = Path(pyspark.__file__).parent
    command = [str(home / "bin/spark-class"), f"org.apache.spark.deploy.{name}", *arguments]
    log = folder / f"{name.rsplit('.', 1)[1]}-{len(list(folder.glob('*.log')))}.log"
    settings = {"SPARK_HOME": str(home), "SPARK_DAEMON_MEMORY": "256m", "SPARK_DAEMON_JAVA_OPTS": QUICK}
    return Program(command, log, checkout=checkout, **settings)


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
