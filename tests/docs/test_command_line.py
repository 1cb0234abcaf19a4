"""The page about the command line says all that the commands say of themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.main import get_command

from pathcast.cli import app
from pathcast.subscriptions import COLUMNS

PAGE = (Path(__file__).parents[2] / "docs/cli.md").read_text(encoding="utf-8")
SAID_ONCE = {"--help", "--version", "--xsd", "--master", "--memory"}
"""Options that a sentence gives to many commands."""


def commands(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    """Every command that does something, by its full name."""
    children = getattr(command, "commands", {})
    if not children or command.invoke_without_command:
        yield name, command
    for child, each in children.items():
        yield from commands(f"{name} {child}", each)


def test_every_command_and_option_is_on_the_page() -> None:
    missing = []
    for name, command in commands("pathcast", get_command(app)):
        calls = [part for part in re.split(r"\n(?=pathcast |```)", PAGE) if re.match(rf"{name}\b", part)]
        words = {word for call in calls for word in re.findall(r"(?<![\w-])--?[\w-]+", call)}
        options = [each for each in command.params if each.param_type_name == "option"]
        missing += [] if calls else [name]
        missing += [
            f"{name} {each.opts[0]}"
            for each in options
            if words.isdisjoint([*each.opts, *each.secondary_opts]) and SAID_ONCE.isdisjoint(each.opts)
        ]
    assert not missing
    assert [option for option in SAID_ONCE if not re.search(rf"`{option}\b", PAGE)] == []


def test_every_column_of_a_file_of_subscriptions_is_on_the_page() -> None:
    assert [column for column in COLUMNS if f"`{column}`" not in PAGE] == []
