"""Variables: put into the expression as text, before anything else is done with it."""

from __future__ import annotations

import math

from pathcast.reference.tokens import Token, anywhere, text_of, tokenise
from pathcast.types import Variables, XPath


def substituted(xpath: str, variables: Variables) -> str:
    """The expression with a value in the place of each variable; ValueError for one that is not bound.

    An expression as a value is read from the document node, so its relative paths get a `/`. It may use the
    variables before it.

    >>> substituted("//a[@t = $t][. > $n]", {"t": "it's", "n": 2})
    '// a [ @ t = "it\\'s" ] [ . > 2 ]'
    >>> substituted("$a = 'x'", {"b": XPath("t/@u"), "a": XPath("$b[1]")})
    "( ( / t / @ u ) [ 1 ] ) = 'x'"
    >>> substituted("$c", {})
    Traceback (most recent call last):
    ValueError: the variable $c is not bound
    """
    if "$" not in xpath:
        return xpath
    texts: dict[str, str] = {}
    for name, value in variables.items():
        texts[name] = _text(value, texts)
    return text_of(_replaced(tokenise(xpath), texts))


def _replaced(tokens: list[Token], texts: dict[str, str]) -> list[Token]:
    result: list[Token] = []
    for token in tokens:
        if token.kind != "variable":
            result.append(token)
            continue
        if token.text not in texts:
            raise ValueError(f"the variable ${token.text} is not bound")
        result[-1] = Token("literal", texts[token.text])
    return result


def _text(value: str | float | bool | XPath, texts: dict[str, str]) -> str:
    if isinstance(value, XPath):
        # Paths of variables within are read from the document node already.
        own = anywhere(tokenise(value.expression), "/")
        return f"( {text_of(_replaced(own, texts))} )"
    if isinstance(value, bool):
        return f"{str(value).lower()}()"
    if isinstance(value, str):
        return _literal(value)
    if math.isfinite(value):
        return f"{float(value):.17f}".rstrip("0").rstrip(".")
    return "( 0 div 0 )" if math.isnan(value) else f"( {'-' if value < 0 else ''}1 div 0 )"


def _literal(text: str) -> str:
    """A literal cannot hold both quotes; several joined can."""
    if "'" not in text:
        return f"'{text}'"
    if '"' not in text:
        return f'"{text}"'
    parts = ', "\'", '.join(f"'{part}'" for part in text.split("'"))
    return f"concat({parts})"
