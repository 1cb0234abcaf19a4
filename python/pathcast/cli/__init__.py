"""The command line: one file a command, put together here.

Results go to standard output and everything else to standard error. The exit status is 0 when all is fine,
1 when some documents were bad (the others are still answered), 2 when the call or a subscription is wrong.
"""

from __future__ import annotations

import io
import os
import sys
from typing import Any

import typer
from typer.core import TyperArgument, TyperGroup

from pathcast.cli import (
    bench,
    broker,
    check,
    client,
    cover,
    explain,
    generate,
    match,
    network,
    prune,
    schema,
    serve,
    spark,
)
from pathcast.cli.arguments import Version
from pathcast.cli.messages import plain
from pathcast.errors import PathcastError, located, printable


class Argument(TyperArgument):
    """An argument that help calls by its name; the library would add the Python type and braces."""

    def display_type_rich(self, ctx: Any) -> None:
        """No type."""

    def get_usage_pieces(self, ctx: Any) -> list[str]:
        """``DOCUMENT...``."""
        name = self.display_name_raw if self.required else f"[{self.display_name_raw}]"
        return [name if self.nargs == 1 else f"{name}..."]


class Listed(TyperGroup):
    """A group that lists its commands with their whole first sentence; the library would cut it off."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for command in self.commands.values():
            for parameter in command.params:
                if isinstance(parameter, TyperArgument):
                    parameter.__class__ = Argument

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Writes the list."""
        found = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
        rows = [(name, _first(each.help or "")) for name, each in found if each and not each.hidden]
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)


def _first(text: str) -> str:
    """The first sentence.

    >>> _first("Print the\\n    names. Then more.")
    'Print the names.'
    """
    words = " ".join(text.split("\n\n")[0].split())
    sentence, end, _ = words.partition(". ")
    return sentence + end.strip()


class Commands(Listed):
    """All commands; one whose output nobody reads any more ends quietly, and mistakes are told plainly."""

    def invoke(self, ctx: Any) -> Any:
        """Runs a command; ``pathcast ... | head`` is no error."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            error.message = plain(error.message)
            raise
        except BrokenPipeError:
            # What is left in the buffer goes nowhere, also when the interpreter flushes at its end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None


# Help and errors stay plain text: a box drawn around a message is hard to search for.
app = typer.Typer(
    name="pathcast",
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback()
def pathcast(version: Version = False) -> None:
    """Which of many XPath subscriptions does an XML document satisfy?

    \b
    Exit status:
      0  all is fine
      1  some documents were bad; the others are still answered
      2  the call or a subscription is wrong; nothing was matched
    """


app.command()(match.match)
app.command()(explain.explain)
app.command()(check.check)
app.command()(prune.prune)
app.command()(cover.advertise)
app.command()(cover.cover)
app.command()(cover.merge)
app.command()(serve.serve)
app.command()(serve.playground)
app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(bench.bench)
app.add_typer(broker.app, name="broker", cls=Listed)
app.add_typer(client.app, name="client", cls=Listed)
app.add_typer(generate.app, name="generate", cls=Listed)
app.add_typer(schema.app, name="schema", cls=Listed)
app.add_typer(network.app, name="network", cls=Listed)
app.add_typer(spark.app, name="spark", cls=Listed)


def main() -> None:
    """Run the command line; a mistake of the user ends in a sentence, not in a stack trace."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A file name may hold any bytes: it leaves as it came.
        sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")
    try:
        app(prog_name="pathcast")
    except (OSError, PathcastError) as error:
        typer.echo(f"pathcast: {_sentence(error)}", err=True)
        sys.exit(2)


def _sentence(error: Exception) -> str:
    """What went wrong; of a file its name, and the reason without its number.

    >>> _sentence(FileNotFoundError(2, "No such file or directory", "news"))
    'news: No such file or directory'
    """
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return located(os.fsdecode(error.filename), None, error.strerror)
    return printable(str(error))
