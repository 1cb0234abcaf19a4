"""The command line as a process of its own: entry points, pipes and terminals."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import pathcast

MODULE = [sys.executable, "-m", "pathcast"]


def test_both_entry_points() -> None:
    script = Path(sys.executable).with_name("pathcast")
    for command in (MODULE, [str(script)]):
        done = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True)
        assert (done.stdout, done.stderr) == (f"pathcast {pathcast.__version__}\n", "")


@pytest.mark.parametrize(
    "command", [[], ["match"], ["explain"], ["check"]], ids=lambda command: " ".join(command)
)
def test_help_and_version_everywhere(command: list[str]) -> None:
    shown = subprocess.run([*MODULE, *command, "--help"], capture_output=True, text=True, check=True).stdout
    assert shown.startswith(f"Usage: {' '.join(['pathcast', *command])} ")
    assert not command or f"Example:\n    pathcast {command[0]} " in shown
    version = subprocess.run(
        [*MODULE, *command, "--version"], capture_output=True, text=True, check=True
    ).stdout
    assert version == f"pathcast {pathcast.__version__}\n"


def test_a_closed_pipe_ends_quietly(tmp_path: Path) -> None:
    (tmp_path / "s.txt").write_text("/a\n" * 100_000)
    with subprocess.Popen(
        [*MODULE, "check", "-s", tmp_path / "s.txt"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""


def test_no_progress_bar_in_a_pipe_and_one_on_a_terminal(folder: Path) -> None:
    command = [*MODULE, "match", "-s", "s.txt", "docs"]
    assert subprocess.run(command, capture_output=True, check=False).stderr == b""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    environment = os.environ | {"TERM": "xterm"}
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=theirs, env=environment, check=False)
    os.close(theirs)
    shown = os.read(ours, 1 << 16)
    os.close(ours)
    assert b"Reading subscriptions" in shown
    assert json.loads(done.stdout.splitlines()[0])["document"] == "docs/1.xml"


def test_any_bytes_in_a_file_name(folder: Path) -> None:
    name = os.fsencode(str(folder)) + b"/\xff.xml"
    try:
        with open(name, "wb") as file:
            file.write(b"<a><b/></a>")
    except OSError:
        pytest.skip("this file system takes no such name")
    command = [*MODULE, "match", "-s", "s.txt", "--format", "csv", os.fsdecode(name)]
    done = subprocess.run(command, capture_output=True, check=True)
    assert done.stdout == b"document,subscription\n" + name + b",1\n"
    done = subprocess.run([*command[:-2], "jsonl", command[-1]], capture_output=True, check=True)
    assert json.loads(done.stdout)["document"] == os.fsdecode(name)


def test_a_full_disk_is_a_sentence(folder: Path) -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("there is no /dev/full")
    command = [*MODULE, "match", "-s", "s.txt", "-o", "/dev/full", "docs/1.xml"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "No space left" in done.stderr
    assert "Traceback" not in done.stderr
