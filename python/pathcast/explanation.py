"""`explain`: why a document satisfies an expression, or what of it fails first."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from pathcast import _core
from pathcast.arguments import known_entities
from pathcast.errors import printable
from pathcast.limits import Limits

if TYPE_CHECKING:
    from pathcast.types import Document, Namespaces, Variables


@dataclass(frozen=True, slots=True)
class ExplainedPredicate:
    """One predicate, or the comparison at the end of a path: how many nodes pass, and values found."""

    text: str
    kept: int
    of: int
    found: tuple[str, ...]

    def __str__(self) -> str:
        found = f", found {', '.join(self.found)}" if self.found and self.kept < self.of else ""
        return f"[{self.text}]  {self.kept} of {self.of}{found}"


@dataclass(frozen=True, slots=True)
class ExplainedStep:
    """One step of a path: how many nodes it selects, where the first are, and what is nearly there."""

    text: str
    count: int
    nodes: tuple[str, ...]
    hints: tuple[str, ...] = ()
    predicates: tuple[ExplainedPredicate, ...] = ()


@dataclass(frozen=True, slots=True)
class ExplainedPath:
    """One condition outside predicates, whether it holds, and the steps of its paths until one fails."""

    text: str
    matched: bool
    steps: tuple[ExplainedStep, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """The verdict on one expression and one document, and what led to it.

    `normal_form` is what the expression is rewritten to before it is matched; `failure` is the first thing
    that fails, for the nodes that came furthest.
    """

    xpath: str
    matched: bool
    paths: tuple[ExplainedPath, ...]
    normal_form: str = ""
    failure: str | None = None

    def __bool__(self) -> bool:
        return self.matched

    def to_dict(self) -> dict[str, Any]:
        """The same as dicts, lists, strings and numbers."""
        return asdict(self)

    def to_json(self) -> str:
        """The same as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    def __str__(self) -> str:
        lines = [f"{'matches' if self.matched else 'does not match'}: {self.xpath}"]
        for path in self.paths:
            if len(self.paths) > 1:
                lines.append(f"{'holds' if path.matched else 'does not hold'}: {path.text}")
            for step in path.steps:
                lines.extend(_lines(step))
        # Of what fails only a negation begins so, and the lines above say what holds within it.
        if self.failure and self.failure.startswith("not("):
            lines.append(f"does not hold: {self.failure}")
        elif not self.matched and not self._failing_is_shown():
            lines.append(f"does not hold: {self.xpath}")
        return "\n".join(printable(line) for line in lines)

    def _failing_is_shown(self) -> bool:
        """Whether a line says what fails; in a lone function all steps find something."""
        several = len(self.paths) > 1
        return any(
            not path.matched and (several or any(step.count == 0 for step in path.steps))
            for path in self.paths
        )


def _lines(step: ExplainedStep) -> list[str]:
    if step.count:
        more = ", …" if step.count > len(step.nodes) else ""
        nodes = f"{step.count} node{'s' if step.count > 1 else ''}"
        return [f"  {step.text}  {nodes}: {', '.join(step.nodes)}{more}"]
    lines = [f"  {step.text}  finds nothing"]
    lines += [f"    {predicate}" for predicate in step.predicates]
    return lines + [f"    {hint}" for hint in step.hints]


def explain(
    xpath: str,
    document: Document,
    *,
    ordered: bool = False,
    namespaces: Namespaces | None = None,
    ignore_namespaces: bool = False,
    limits: Limits | None = None,
    variables: Variables | None = None,
    entities: Literal["html"] | Mapping[str, str] | None = None,
) -> Explanation:
    """Which nodes matched each step and each predicate, or what fails first and what was there instead.

    >>> print(explain("/news/item[@lang='de']/title", "<news><item lang='en'><title/></item></news>"))
    does not match: /news/item[@lang='de']/title
      /news  1 node: /news
      /item[@lang = 'de']  finds nothing
        [@lang = 'de']  0 of 1, found 'en'

    `entities` are those that the document may use without declaring them, as for an `Index`.

    >>> explain("/a[. = 'é']", "<a>&eacute;</a>", entities="html").matched
    True
    """
    told = _core.explain(
        xpath,
        document,
        limits or Limits(),
        namespaces,
        ignore_namespaces,
        ordered,
        variables,
        known_entities(entities),
    )
    return Explanation(
        xpath,
        told["matched"],
        tuple(_path(path) for path in told["paths"]),
        told["normal_form"],
        told["failure"],
    )


def _path(told: dict[str, Any]) -> ExplainedPath:
    return ExplainedPath(told["text"], told["matched"], tuple(_step(step) for step in told["steps"]))


def _step(told: dict[str, Any]) -> ExplainedStep:
    predicates = (
        ExplainedPredicate(each["text"], each["kept"], each["of"], tuple(each["found"]))
        for each in told["predicates"]
    )
    return ExplainedStep(
        told["text"], told["count"], tuple(told["nodes"]), tuple(told["hints"]), tuple(predicates)
    )
