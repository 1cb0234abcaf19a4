"""A missing prerequisite is one sentence and a failure, never a stack trace."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOOLS = ("bash", "dirname", "sed", "env")  # what the script itself needs


def program(folder: Path, name: str, says: str, status: int = 0) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\necho '{says}'\nexit {status}\n")
    path.chmod(0o755)


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A folder that is the whole PATH of a machine on which everything is there."""
    for tool in TOOLS:
        found = shutil.which(tool)
        assert found
        (tmp_path / tool).symlink_to(found)
    program(tmp_path, "python3", "Python 3.10.0")
    program(tmp_path, "cargo", "cargo 1.95.0 (f2d3ce0bd 2026-03-21)")
    program(tmp_path, "cc", "")
    program(tmp_path, "java", 'openjdk version "17.0.19" 2026-04-21')
    return tmp_path


def asked(machine: Path, *more: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("CC", "JAVA_HOME")}
    environment = kept | {"PATH": str(machine)}
    command = [str(machine / "bash"), str(ROOT / ".ci/prerequisites"), "python3", *more]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_silent_when_all_is_there(machine: Path) -> None:
    done = asked(machine)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("name", "says", "status", "sentence"),
    [
        ("python3", None, 0, "there is no python3; install Python 3.10 or newer"),
        ("python3", "Python 3.9.18", 0, "python3 is Python 3.9.18, and Python 3.10 or newer is needed"),
        ("python3", "Python 2.7.18", 0, "python3 is Python 2.7.18, and Python 3.10 or newer is needed"),
        ("python3", "not found in this shell", 127, "python3 does not run"),
        ("cargo", None, 0, "there is no cargo; install Rust"),
        ("cargo", "cargo 1.70.0 (ec8a8a0ca 2023-04-25)", 0, "this is cargo 1.70.0"),
        ("cargo", "", 1, "cargo does not run"),
        ("cc", None, 0, "there is no C compiler (cc)"),
    ],
)
def test_one_sentence(machine: Path, name: str, says: str | None, status: int, sentence: str) -> None:
    (machine / name).unlink()
    if says is not None:
        program(machine, name, says, status)
    done = asked(machine)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"Pathcast cannot be set up: {sentence}")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("says", "status", "sentence"),
    [
        (None, 0, "there is no java; install a JDK 17 or newer"),
        (
            'openjdk version "11.0.24" 2024-07-16',
            0,
            'java is openjdk version "11.0.24" 2024-07-16, and Java 17',
        ),
        ('java version "1.8.0_292"', 0, 'java is java version "1.8.0_292", and Java 17 or newer is needed'),
        ("Unable to locate a Java Runtime.", 1, "java does not run"),
    ],
)
def test_spark_needs_java(machine: Path, says: str | None, status: int, sentence: str) -> None:
    assert asked(machine, "java").returncode == 0
    (machine / "java").unlink()
    if says is not None:
        program(machine, "java", says, status)
    assert asked(machine).returncode == 0, "the rest is set up without it"
    done = asked(machine, "java")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"Pathcast cannot run Spark: {sentence}")
    assert len(done.stderr.splitlines()) == 1


def test_python_without_venv(machine: Path) -> None:
    (machine / "python3").write_text('#!/bin/sh\n[ "$1" = --version ] && echo Python 3.12.1\n')
    done = asked(machine)
    assert done.returncode == 1
    assert done.stderr.startswith("Pathcast cannot be set up: python3 has no venv module")


@pytest.mark.skipif(not shutil.which("make"), reason="there is no make")
def test_make_passes_it_on() -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    done = subprocess.run(
        ["make", "setup", "PYTHON=no-such-python"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert done.stderr.startswith("Pathcast cannot be set up: there is no no-such-python")


@pytest.mark.skipif(not shutil.which("make"), reason="there is no make")
def test_make_alone_shows_help() -> None:
    done = subprocess.run(["make"], cwd=ROOT, capture_output=True, text=True, check=True)
    for target in ("setup", "demo", "tour", "test", "lint", "bench"):
        assert f"make {target} " in done.stdout


@pytest.mark.skipif(not shutil.which("bash"), reason="there is no bash")
def test_the_tour_runs() -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [str(ROOT / "examples/news/tour")],
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
