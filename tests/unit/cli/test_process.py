"""The command line as a process of its own: entry points, pipes and terminals."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import pathcast
from tests.unit.cli.conftest import Run

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


@pytest.mark.parametrize("command", ["serve", "playground"])
@pytest.mark.parametrize("port", ["99999", "-1"])
def test_a_port_that_is_none(command: str, port: str, run: Run) -> None:
    """Without a bound the system takes the port modulo 65,536."""
    done = run(command, "--port", port)
    assert done.exit_code == 2
    assert "'--port': it must be at " in done.stderr


def commands() -> list[list[str]]:
    """Every command and group of commands."""
    from typer.main import get_command

    from pathcast.cli import app

    found: list[list[str]] = []
    pending: list[tuple[list[str], Any]] = [([], get_command(app))]
    while pending:
        path, command = pending.pop()
        found.append(path)
        pending += [([*path, name], each) for name, each in getattr(command, "commands", {}).items()]
    return sorted(found)


@pytest.mark.parametrize("command", commands(), ids=" ".join)
def test_every_command_has_a_version_and_a_help(command: list[str], run: Run) -> None:
    version = run(*command, "--version")
    assert (version.exit_code, version.stdout) == (0, f"pathcast {pathcast.__version__}\n")
    assert run(*command, "--help").stdout.startswith("Usage: ")


@pytest.mark.parametrize("command", commands(), ids=" ".join)
def test_help_says_what_each_argument_is_and_names_no_python_type(command: list[str], run: Run) -> None:
    """The library adds `<list[str]>` and braces to arguments, and `<str>` to options without a name."""
    shown = run(*command, "--help").stdout
    assert not re.search(r"<(str|int|float|list\b)|\{[A-Z]", shown)
    _, _, arguments = shown.partition("\nArguments:\n")
    for line in arguments.partition("\n\n")[0].splitlines():
        assert not re.fullmatch(r"  \S+ +\[required\]", line), line


@pytest.mark.parametrize("command", ["check", "match"])
def test_a_closed_pipe_ends_quietly_with_status_0(command: str, tmp_path: Path) -> None:
    (tmp_path / "s.txt").write_text("/a\n" * 100_000)
    (tmp_path / "a.xml").write_text("<a/>")
    arguments = ["check", "-s", str(tmp_path / "s.txt")]
    if command == "match":
        arguments = ["match", "-e", "//a", *[str(tmp_path / "a.xml")] * 3_000]
    with subprocess.Popen([*MODULE, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0


def test_answers_come_before_the_documents_behind_them(folder: Path) -> None:
    """The second document is a pipe that nobody writes to until the first answer was read."""
    os.mkfifo("slow.xml")
    command = [*MODULE, "match", "-s", "s.txt", "docs/1.xml", "slow.xml"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout
        assert json.loads(process.stdout.readline())["matches"] == ["1"]
        (folder / "slow.xml").write_text("<a><c/></a>")
        assert json.loads(process.stdout.readline())["matches"] == ["3"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shell_completion(shell: str) -> None:
    environment = os.environ | {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    done = subprocess.run(
        [*MODULE, "--show-completion", shell], capture_output=True, text=True, check=True, env=environment
    )
    assert "pathcast" in done.stdout


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
