"""The tokens of XPath 1.0, and the one rewriting that makes relative paths match anywhere."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

_START: Final = (
    r"A-Z_a-z\u00C0-\u00D6\u00D8-\u00F6\u00F8-\u02FF\u0370-\u037D\u037F-\u1FFF\u200C-\u200D\u2070-\u218F"
    r"\u2C00-\u2FEF\u3001-\uD7FF\uF900-\uFDCF\uFDF0-\uFFFD\U00010000-\U000EFFFF"
)
_NAME: Final = rf"[{_START}][{_START}\-.0-9\u00B7\u0300-\u036F\u203F-\u2040]*"
_TOKEN: Final = re.compile(
    rf"""[ \t\r\n]*(?:
        (?P<literal> "[^"]*" | '[^']*')
      | (?P<number> (?: [0-9]+ (?: \.[0-9]* )? | \.[0-9]+ ) (?: [eE][+-]?[0-9]+ )? )
      | (?P<name> {_NAME} (?: :(?!:) (?: {_NAME} | \* ) )? )
      | (?P<symbol> \.\. | :: | // | != | <= | >= | [][()@,.$/|+\-=<>*] )
    )""",
    re.VERBOSE,
)
_NODE_TYPES: Final = frozenset({"node", "text", "comment", "processing-instruction"})
_OPERATOR_NAMES: Final = frozenset({"and", "or", "div", "mod"})
_OPERATORS: Final = frozenset({"/", "//", "|", "+", "-", "=", "!=", "<", "<=", ">", ">="})


class Token(NamedTuple):
    """One token: its kind (literal, number, operator, function, type, axis, test, symbol) and its text."""

    kind: str
    text: str


def tokenise(xpath: str) -> list[Token]:
    """Split an expression by the rules of XPath 1.0, section 3.7; ValueError with a column where it is none.

    >>> [token.kind for token in tokenise("* * div")]
    ['test', 'operator', 'test']
    """
    raw: list[tuple[str, str]] = []
    position = 0
    while position < len(xpath.rstrip(" \t\r\n")):
        found = _TOKEN.match(xpath, position)
        if found is None or found.lastgroup is None:
            raise ValueError(f"column {position + 1}: no XPath token starts here: {xpath!r}")
        raw.append((found.lastgroup, found[found.lastgroup]))
        position = found.end()
    tokens: list[Token] = []
    for index, (kind, text) in enumerate(raw):
        following = raw[index + 1][1] if index + 1 < len(raw) else ""
        tokens.append(Token(_kind(kind, text, tokens[-1] if tokens else None, following), text))
    return tokens


def _kind(kind: str, text: str, before: Token | None, following: str) -> str:
    """Tell `*` the name test from `*` the operator, and the five roles of a name apart."""
    opening = before is None or before.kind == "operator" or before.text in {"@", "::", "(", "[", ",", "$"}
    if text == "*":
        return "test" if opening else "operator"
    if kind == "name":
        if before is not None and before.text == "$":
            return "variable"
        if not opening and text in _OPERATOR_NAMES:
            return "operator"
        if following == "::":
            return "axis"
        if following == "(":
            return "type" if text in _NODE_TYPES else "function"
        return "test"
    return "operator" if text in _OPERATORS and kind == "symbol" else kind


def text_of(tokens: Iterable[Token]) -> str:
    """Write tokens back as an expression."""
    return " ".join(token.text for token in tokens)


def anywhere(tokens: Sequence[Token], slashes: str = "//") -> list[Token]:
    """Write `//`, or `/`, before every relative path that stands outside predicates.

    >>> text_of(anywhere(tokenise("a/b[c] or not(@x = 1)")))
    '// a / b [ c ] or not ( // @ x = 1 )'
    """
    result: list[Token] = []
    depth = 0
    for token in tokens:
        before = result[-1] if result else None
        operand = before is None or before.kind == "operator" or before.text in {"(", ","}
        in_path = before is not None and before.text in {"/", "//"}
        if before is not None and before.text == "(" and len(result) > 1 and result[-2].kind == "type":
            operand = False  # the argument of processing-instruction('target')
        starts = token.kind in {"test", "type", "axis"} or token.text in {"@", ".", ".."}
        if depth == 0 and operand and starts and not in_path:
            result.append(Token("operator", slashes))
        depth += {"[": 1, "]": -1}.get(token.text, 0) if token.kind == "symbol" else 0
        result.append(token)
    return result
