"""The functions of XPath 2.0 that subscriptions may use, for lxml to call."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from pathcast.reference.tokens import Token

_FLAGS = {"i": re.IGNORECASE, "s": re.DOTALL, "m": re.MULTILINE, "x": re.VERBOSE}
_SAME = {"exists": "boolean", "empty": "not"}  # of a node-set they mean the same


def _matches(context: object, text: str, pattern: str, flags: str = "") -> bool:
    return re.search(pattern, text, sum(_FLAGS[flag] for flag in flags)) is not None


FUNCTIONS: dict[tuple[None, str], Callable[..., object]] = {
    (None, "ends-with"): lambda _, text, end: text.endswith(end),
    (None, "matches"): _matches,
    (None, "lower-case"): lambda _, text: text.lower(),
    (None, "upper-case"): lambda _, text: text.upper(),
}
"""By namespace and name, as lxml takes them. All arguments are strings."""


def callable_by_lxml(tokens: Sequence[Token]) -> list[Token]:
    """Write `string()` around every argument of these functions, so that libxml2 converts it.

    lxml hands a function node-sets as lists, and leaves the document node out of them.

    >>> from pathcast.reference.tokens import text_of, tokenise
    >>> text_of(callable_by_lxml(tokenise("ends-with(a[exists(b)], 'x') and empty(/)")))
    "ends-with ( string ( a [ boolean ( b ) ] ) , string ( 'x' ) ) and not ( / )"
    """
    result: list[Token] = []
    ours: list[bool] = []  # of every bracket that is open: whether it holds arguments of ours
    called = False
    for token in tokens:
        closing = token.text in {")", "]"} and token.kind == "symbol"
        separating = token.text == "," and token.kind == "symbol"
        if ours and ours[-1] and (closing or separating):
            result.append(Token("symbol", ")"))
        if closing:
            ours.pop()
        known = token.kind == "function"
        result.append(Token(token.kind, _SAME.get(token.text, token.text)) if known else token)
        if token.text in {"(", "["} and token.kind == "symbol":
            ours.append(called)
        if ours and ours[-1] and (separating or (token.text == "(" and called)):
            result += [Token("function", "string"), Token("symbol", "(")]
        called = known and (None, token.text) in FUNCTIONS
    return result
