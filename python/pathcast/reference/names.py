"""What the names of an expression mean: prefixes, a default namespace, or local names only."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from lxml import etree

from pathcast.reference.later import FUNCTIONS, callable_by_lxml
from pathcast.reference.tokens import Token, tokenise


class Question:
    """A compiled expression that any context node answers with yes or no."""

    def __init__(self, xpath: str, namespaces: dict[str, str]) -> None:
        try:
            self._evaluate = etree.XPath(
                f"boolean({xpath})", namespaces=namespaces, extensions=FUNCTIONS, smart_strings=False
            )
        except etree.XPathSyntaxError as error:
            raise ValueError(f"{error}: {xpath}") from None

    def __call__(self, context: Any) -> bool:
        try:
            return bool(self._evaluate(context))
        except etree.XPathEvalError as error:
            raise ValueError(f"{error}: {self._evaluate.path}") from None


class Names:
    """What the names of one expression mean: its prefixes, its default namespace, or local names only."""

    def __init__(self, namespaces: Mapping[str, str] | None, *, ignore: bool) -> None:
        self.prefixes = {prefix: uri for prefix, uri in (namespaces or {}).items() if prefix}
        self.default = (namespaces or {}).get("", "")
        self.ignore = ignore
        self.default_prefix = next(p for n in itertools.count() if (p := f"default{n}") not in self.prefixes)

    def compile(self, xpath: str) -> Question:
        """Compile an expression whose names are still as the subscriber wrote them."""
        return _compile(self.rewrite(xpath), tuple(sorted(self.bound().items())))

    def bound(self) -> dict[str, str]:
        """The prefixes that a rewritten expression uses."""
        return {**self.prefixes, self.default_prefix: self.default} if self.default else self.prefixes

    def rewrite(self, xpath: str) -> str:
        """Spell the name tests so that lxml reads them as meant.

        >>> Names(None, ignore=True).rewrite("n:a/@x")
        "*[local-name() = 'a'] / @ *[local-name() = 'x']"
        """
        tokens = callable_by_lxml(tokenise(xpath))
        words = []
        for index, (kind, text) in enumerate(tokens):
            if kind != "test" or text == "*":
                words.append(text)
                continue
            prefix, _, local = text.rpartition(":")
            before = tokens[max(index - 2, 0) : index]
            attribute = before[-1:] == [Token("symbol", "@")] or before[:1] == [Token("axis", "attribute")]
            if self.ignore:
                words.append("*" if local == "*" else f"*[local-name() = '{local}']")
            elif self.default and not prefix and not attribute:
                words.append(f"{self.default_prefix}:{local}")
            else:
                words.append(text)
        return " ".join(words)


@lru_cache(maxsize=65_536)
def _compile(xpath: str, namespaces: tuple[tuple[str, str], ...]) -> Question:
    return Question(xpath, dict(namespaces))
