"""Every error that Pathcast raises: one root, a position where there is one, a sentence a user can act on.

An error holds plain values in ``args``, so it pickles, and two errors are alike when their ``repr`` is. The
attributes give the text as it came; ``str()`` escapes control characters, because names and texts of
strangers' documents end up in logs and on terminals.

>>> print(XPathError("expected a step", "//a/", 5))
column 5 of '//a/': expected a step
>>> print(DocumentError("the end tag does not fit", 3, 7))
line 3, column 7: the end tag does not fit
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias, cast

DocumentErrorKind: TypeAlias = Literal["malformed", "encoding", "entity", "limit", "invalid", "io"]

_SHOWN = 80  # characters of an expression that a message quotes


def printable(text: str) -> str:
    """The text on one line, with everything that is not printable escaped.

    >>> printable("two\\nlines, \\x1b[31mred")
    'two\\\\nlines, \\\\x1b[31mred'
    """
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
        for character in text
    )


class PathcastError(Exception):
    """The root of all errors that Pathcast raises on purpose."""

    def __str__(self) -> str:
        return printable(super().__str__())


class XPathError(PathcastError, ValueError):
    """An expression that was refused when it was registered; ``column`` counts characters from 1."""

    def __init__(self, message: str, expression: str, column: int) -> None:
        super().__init__(message, expression, column)

    @property
    def message(self) -> str:
        """What is wrong, without the position."""
        return cast(str, self.args[0])

    @property
    def expression(self) -> str:
        """The expression as it was given."""
        return cast(str, self.args[1])

    @property
    def column(self) -> int:
        """Where in the expression, in characters from 1."""
        return cast(int, self.args[2])

    def __str__(self) -> str:
        shown = self.expression if len(self.expression) <= _SHOWN else self.expression[: _SHOWN - 1] + "…"
        return f"column {self.column} of {shown!r}: {printable(self.message)}"


class AdvertisementError(PathcastError, ValueError):
    """A text that is not an advertisement; ``column`` counts characters from 1."""

    def __init__(self, message: str, text: str, column: int) -> None:
        super().__init__(message, text, column)

    @property
    def message(self) -> str:
        """What is wrong, without the position."""
        return cast(str, self.args[0])

    @property
    def text(self) -> str:
        """The text as it was given."""
        return cast(str, self.args[1])

    @property
    def column(self) -> int:
        """Where in the text, in characters from 1."""
        return cast(int, self.args[2])

    def __str__(self) -> str:
        shown = self.text if len(self.text) <= _SHOWN else self.text[: _SHOWN - 1] + "…"
        return f"column {self.column} of {shown!r}: {printable(self.message)}"


class DocumentError(PathcastError, ValueError):
    """A document that was refused: nothing of it was matched. Line 0 says that there is no position."""

    def __init__(self, reason: str, line: int, column: int, kind: DocumentErrorKind = "malformed") -> None:
        super().__init__(reason, line, column, kind)

    @property
    def reason(self) -> str:
        """What is wrong, without the position."""
        return cast(str, self.args[0])

    @property
    def line(self) -> int:
        """The line, from 1."""
        return cast(int, self.args[1])

    @property
    def column(self) -> int:
        """The column in characters, from 1."""
        return cast(int, self.args[2])

    @property
    def kind(self) -> DocumentErrorKind:
        """Which family of refusals it belongs to."""
        return cast(DocumentErrorKind, self.args[3])

    def __str__(self) -> str:
        reason = printable(self.reason)
        return f"line {self.line}, column {self.column}: {reason}" if self.line else reason


class LimitError(PathcastError):
    """Something was deeper, wider or longer than its limit allows."""


class XPathLimitError(XPathError, LimitError):
    """An expression beyond a limit."""


class DocumentLimitError(DocumentError, LimitError):
    """A document beyond a limit."""

    def __init__(self, reason: str, line: int, column: int, kind: DocumentErrorKind = "limit") -> None:
        super().__init__(reason, line, column, kind)


class EvaluationError(LimitError):
    """Some subscriptions cost more than `Limits.evaluation_steps` to decide on a document.

    ``failures`` are their ids, ``matches`` the answer for all others.

    >>> print(EvaluationError(["s1"], ["s2", "s3"]))
    deciding 's2' and 1 more took more steps than Limits.evaluation_steps allows; the others are answered
    """

    def __init__(self, matches: list[str | int], failures: list[str | int]) -> None:
        super().__init__(matches, failures)

    @property
    def matches(self) -> list[str | int]:
        """The ids of the subscriptions that the document satisfies, among those that were decided."""
        return cast("list[str | int]", self.args[0])

    @property
    def failures(self) -> list[str | int]:
        """The ids of the subscriptions that were not decided."""
        return cast("list[str | int]", self.args[1])

    def __str__(self) -> str:
        first, *more = self.failures
        others = f" and {len(more)} more" if more else ""
        return (
            f"deciding {printable(repr(first))}{others} took more steps than Limits.evaluation_steps allows; "
            "the others are answered"
        )


class Cancelled(PathcastError):  # noqa: N818 - nothing went wrong
    """A call that was ended by its `Cancellation`; it changed nothing."""


class SchemaError(PathcastError, ValueError):
    """A schema that cannot be read, or one that is needed and missing."""


class SchemaWarning(UserWarning):
    """A subscription that no document can match which keeps to the schema."""


class IndexFormatError(PathcastError, ValueError):
    """A saved index that is damaged, or was written by a newer version."""


class DatabaseError(PathcastError):
    """A database that cannot be reached, was lost, or refuses; nothing was changed by the call."""


class SubscriptionErrors(XPathError):  # noqa: N818 - it holds several
    """Several subscriptions given at once, some of them refused; none was added.

    It stands for its first failure where one ``XPathError`` is expected.
    """

    def __init__(self, failures: Iterable[tuple[str | int, XPathError]]) -> None:
        # Exception.__init__ and not our parent's: args must be what the constructor takes.
        Exception.__init__(self, list(failures))
        if not self.failures:
            raise ValueError("SubscriptionErrors needs at least one failure.")

    @property
    def failures(self) -> list[tuple[str | int, XPathError]]:
        """Each refused subscription's id and error, in the order given."""
        return cast("list[tuple[str | int, XPathError]]", self.args[0])

    @property
    def message(self) -> str:
        """What is wrong with the first."""
        return self.failures[0][1].message

    @property
    def expression(self) -> str:
        """The first refused expression."""
        return self.failures[0][1].expression

    @property
    def column(self) -> int:
        """Where in the first refused expression."""
        return self.failures[0][1].column

    def __str__(self) -> str:
        identifier, error = self.failures[0]
        count = len(self.failures)
        if count == 1:
            return f"subscription {identifier!r} was refused, none was added: {error}"
        return f"{count} subscriptions were refused, none was added; the first is {identifier!r}: {error}"


class SubscriptionFileError(PathcastError, ValueError):
    """A subscriptions file with broken rows; a problem without a line concerns the whole file."""

    def __init__(self, file: str, problems: Iterable[tuple[int | None, str]]) -> None:
        super().__init__(file, list(problems))

    @property
    def file(self) -> str:
        """The file as it was named."""
        return cast(str, self.args[0])

    @property
    def problems(self) -> list[tuple[int | None, str]]:
        """Each broken row's line and what is wrong with it, in the order of the file."""
        return cast("list[tuple[int | None, str]]", self.args[1])

    def __str__(self) -> str:
        return "\n".join(located(self.file, line, message) for line, message in self.problems)


def located(name: str, line: int | None, message: str, column: int | None = None) -> str:
    """``NAME:LINE:COLUMN: message`` on one line, without the numbers that are missing.

    >>> located("alerts.txt", 3, "expected a step")
    'alerts.txt:3: expected a step'
    """
    numbers = "".join(f":{number}" for number in (line, column) if number)
    return f"{printable(name)}{numbers}: {printable(message)}"
