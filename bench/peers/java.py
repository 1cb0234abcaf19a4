"""A Java program of ours beside the benchmark: compiled when it is needed, spoken to in lines.

The program reads subscriptions from a file, answers ``ready SECONDS``, and then for each line that names a
file of documents writes their matches into a file and answers ``done SECONDS``.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from bench.corpus import ROOT

SOURCES = Path(__file__).parent
BUILT = ROOT / "build/bench/java"


def no_java() -> str:
    """Why Java programs cannot run; nothing if they can."""
    return "" if shutil.which("javac") and shutil.which("java") else "there is no JDK"


class JavaPeer:
    """A running program; the caller's lines are one subscription or one document each."""

    def __init__(
        self, program: str, jars: Sequence[Path], subscriptions: Iterable[str], memory: str = "2g"
    ) -> None:
        path = ":".join(map(str, (BUILT, *jars)))
        BUILT.mkdir(parents=True, exist_ok=True)
        source = SOURCES / f"{program}.java"
        subprocess.run(["javac", "-cp", path, "-d", str(BUILT), str(source)], check=True)
        self._folder = Path(tempfile.mkdtemp(prefix="pathcast-peer-"))
        given = self._folder / "subscriptions"
        given.write_text("".join(f"{line}\n" for line in subscriptions), encoding="utf-8")
        self._process = subprocess.Popen(
            ["java", f"-Xmx{memory}", "-XX:+UseSerialGC", "-cp", path, program, str(given)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=self._folder,
        )
        self.added_seconds = self._answer("ready")

    def match_lines(self, documents: Iterable[str]) -> tuple[float, list[list[int]]]:
        """Seconds of the thread that matches, and the numbers of the subscriptions for each line."""
        asked, answered = self._folder / "documents", self._folder / "matches"
        asked.write_text("".join(f"{line}\n" for line in documents), encoding="utf-8")
        assert self._process.stdin is not None
        self._process.stdin.write(f"{asked}\t{answered}\n")
        self._process.stdin.flush()
        seconds = self._answer("done")
        lines = answered.read_text(encoding="utf-8").splitlines()
        return seconds, [sorted(map(int, line.split())) for line in lines]

    def _answer(self, word: str) -> float:
        assert self._process.stdout is not None
        for line in self._process.stdout:  # a program may also chat
            if line.startswith(f"{word} "):
                return float(line.split()[1])
        raise RuntimeError(f"the Java program ended with status {self._process.wait()}")

    def close(self) -> None:
        """Ends the program."""
        self._process.kill()
        self._process.communicate()
        shutil.rmtree(self._folder, ignore_errors=True)
