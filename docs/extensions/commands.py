"""The commands as Markdown, from the same declarations that `--help` prints."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

from typer.main import get_command

from pathcast.cli import app

EVERYWHERE = ("--help", "--version")


def commands_page() -> str:
    """A section for each command."""
    return "\n".join(_lines("pathcast", get_command(app)))


def _lines(name: str, command: Any, parent: Any = None) -> Iterator[str]:
    context = command.context_class(command, info_name=name.split()[-1], parent=parent)
    groups = getattr(command, "commands", {})
    if parent is not None and (not groups or command.invoke_without_command):
        yield f"## `{name}`\n"
        usage = command.get_usage(context).removeprefix("Usage: ")
        yield f"```text\n{' '.join(usage.split())}\n```\n"
        yield from _prose(command.help or "")
        for parameter in command.params:
            record = parameter.get_help_record(context)
            if record and not record[0].startswith(EVERYWHERE):
                yield f"`{record[0]}`\n: {_plain(record[1] or '')}\n"
    for child, each in groups.items():
        yield from _lines(f"{name} {child}", each, context)


def _prose(text: str) -> Iterator[str]:
    """Paragraphs are joined; what stands after a `\\b` mark, or is indented, keeps its lines."""
    for paragraph in inspect.cleandoc(text).replace("\b", "").strip().split("\n\n"):
        lines = paragraph.strip("\n").split("\n")
        if any(line.startswith("  ") for line in lines):
            first = next(place for place, line in enumerate(lines) if line.startswith("  "))
            yield _plain(" ".join(lines[:first])) + "\n"
            yield "```text\n" + inspect.cleandoc("\n".join(["", *lines[first:]])) + "\n```\n"
        else:
            yield _plain(" ".join(lines)) + "\n"


def _plain(text: str) -> str:
    """Signs that Markdown would read stay as they are."""
    return "".join(f"\\{sign}" if sign in "\\*_<>[]#$&" else sign for sign in text)
