"""A runner for the command line in this process, and a folder of documents to run it on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import pytest
from typer.testing import CliRunner

from pathcast.cli import app


class Result(Protocol):
    """What a run leaves behind."""

    exit_code: int

    @property
    def stdout(self) -> str: ...
    @property
    def stderr(self) -> str: ...


Run = Callable[..., Result]


@pytest.fixture
def run() -> Run:
    """Run ``pathcast`` with these arguments; an unexpected exception fails the test."""

    def run(*arguments: str | Path, stdin: str | bytes | None = None) -> Result:
        result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return run


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory: two sound documents, one torn, and subscriptions to them."""
    monkeypatch.chdir(tmp_path)
    files = {
        "s.txt": "/a/b\n\n//c\n/a[@x = 2]\n",
        "bad.txt": "/a\n//b[\n\n/c\n/d/\n",
        "docs/1.xml": "<a><b/></a>",
        "docs/sub/2.xml": '<a x="2"><d><c/></d></a>',
        "docs/sub/notes.txt": "no document",
        "docs/torn.xml": "<a>\n<b></a>",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path
