"""The fixture `disk`: what a process needs to see a disk that fails when told to."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

SOURCE = Path(__file__).with_name("disk.c")


@dataclass(frozen=True)
class Disk:
    """Fails in every process with this environment as long as it is told so."""

    library: Path
    switch: Path

    @property
    def environment(self) -> dict[str, str]:
        return {"LD_PRELOAD": str(self.library), "PATHCAST_FAULT": str(self.switch)}

    def fail(self, how: str) -> None:
        self.switch.write_text(how)

    def mend(self) -> None:
        self.switch.unlink()

    def run(self, code: str, *arguments: object) -> str:
        """What a Python process prints that sees this disk."""
        ended = subprocess.run(
            [sys.executable, "-c", code, *map(str, arguments)],
            env={**os.environ, **self.environment},
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert ended.returncode == 0, ended.stderr
        return ended.stdout


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc")
    if compiler is None or not sys.platform.startswith("linux"):
        pytest.skip("a failing disk is made with a C compiler, for Linux")
    built = tmp_path_factory.mktemp("faults") / "disk.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", built, SOURCE, "-ldl"], check=True)
    return built


@pytest.fixture
def disk(library: Path, tmp_path: Path) -> Disk:
    return Disk(library, tmp_path / "switch")
