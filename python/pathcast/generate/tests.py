"""Value tests on attributes and text, with values that the documents draw too."""

from __future__ import annotations

import re
from collections.abc import Mapping
from random import Random

from pathcast.generate.paths import Step
from pathcast.generate.values import Distribution, Values, zipf
from pathcast.schema import Attribute, Schema
from pathcast.schema.model import Any, Mixed

OPERATORS = ("=", "!=", "<", "<=", ">", ">=")

_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?").fullmatch


class Tests:
    """The tests that fit each element: one for each attribute that XPath can see, and one for text."""

    def __init__(self, schema: Schema, values: Values, random: Random) -> None:
        self._schema = schema
        self._values = values
        self._any = values.distribution()
        self._random = random
        self._known: dict[str, list[tuple[str, Distribution, str]]] = {}

    def add(self, steps: list[Step], count: int) -> bool:
        """Adds `count` tests to steps at random, no two on the same thing; False when there is no room."""
        free = [(step, test) for step in steps for test in self._of(step.element)]
        if len(free) < count:
            return False
        for step, (subject, values, kind) in self._random.sample(free, count):
            step.tests.append(f"{subject} {self._comparison(values, kind)}")
        return True

    def _comparison(self, values: Distribution, kind: str) -> str:
        value = values.draw(self._random)
        if kind == "fixed":
            return f"= {_literal(value)}"
        if kind == "any" and _NUMBER(value):
            return f"{self._random.choice(OPERATORS)} {value}"
        return f"{self._random.choice(OPERATORS[:2])} {_literal(value)}"

    def _of(self, element: str) -> list[tuple[str, Distribution, str]]:
        known = self._known.get(element)
        if known is None:
            known = [
                found
                for attribute in self._schema.attributes(element)
                if (found := self._attribute(attribute, self._schema.namespaces))
            ]
            model = self._schema.elements[element].model
            texts = self._schema.elements[element].examples
            if texts is not None:
                if any(texts):
                    shares = zipf(len(texts), self._values.skew)
                    known.append((".", Distribution(texts, shares), "listed" if len(texts) > 1 else "fixed"))
            elif isinstance(model, (Mixed, Any)):
                known.append(("." if model == Mixed() else "text()", self._any, "any"))
            self._known[element] = known
        return known

    def _attribute(
        self, attribute: Attribute, namespaces: Mapping[str, str]
    ) -> tuple[str, Distribution, str] | None:
        prefix, colon, _ = attribute.name.partition(":")
        if attribute.is_namespace or (colon and prefix != "xml" and prefix not in namespaces):
            return None
        subject = f"@{attribute.name}"
        if attribute.presence == "fixed":
            return (subject, Distribution([attribute.value or ""], [1.0]), "fixed")
        if attribute.examples is not None:
            if not any(attribute.examples):
                return None
            shares = zipf(len(attribute.examples), self._values.skew)
            return (
                subject,
                Distribution(attribute.examples, shares),
                "listed" if len(attribute.examples) > 1 else "fixed",
            )
        if attribute.values:
            shares = zipf(len(attribute.values), self._values.skew)
            kind = "listed" if len(attribute.values) > 1 else "fixed"
            return (subject, Distribution(attribute.values, shares), kind)
        if attribute.type in ("CDATA", "NMTOKEN", "NMTOKENS"):
            return (subject, self._any, "any")
        return None


def _literal(value: str) -> str:
    """The value as an XPath literal; of one with both quotes, what stands before the second kind."""
    if "'" not in value:
        return f"'{value}'"
    return f'"{value}"' if '"' not in value else f"'{value.partition(chr(39))[0]}'"
