"""`explain`: why a document satisfies an expression, or which step is the first that finds nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pathcast import _core
from pathcast.errors import printable
from pathcast.limits import Limits

if TYPE_CHECKING:
    from pathcast.types import Document, Namespaces


@dataclass(frozen=True, slots=True)
class ExplainedStep:
    """One step of a path, how many nodes it selects, and where the first of them are."""

    text: str
    count: int
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ExplainedPath:
    """One path outside predicates, whether it holds, and its steps up to the first that found nothing."""

    text: str
    matched: bool
    steps: tuple[ExplainedStep, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """The verdict on one expression and one document, and what led to it."""

    xpath: str
    matched: bool
    paths: tuple[ExplainedPath, ...]

    def __bool__(self) -> bool:
        return self.matched

    def __str__(self) -> str:
        lines = [f"{'matches' if self.matched else 'does not match'}: {self.xpath}"]
        for path in self.paths:
            if len(self.paths) > 1:
                lines.append(f"{'holds' if path.matched else 'does not hold'}: {path.text}")
            for step in path.steps:
                if not step.count:
                    lines.append(f"  {step.text}  finds nothing")
                    continue
                more = ", …" if step.count > len(step.nodes) else ""
                nodes = f"{step.count} node{'s' if step.count > 1 else ''}"
                lines.append(f"  {step.text}  {nodes}: {', '.join(step.nodes)}{more}")
        return "\n".join(printable(line) for line in lines)


def explain(
    xpath: str,
    document: Document,
    *,
    ordered: bool = False,
    namespaces: Namespaces | None = None,
    ignore_namespaces: bool = False,
    limits: Limits | None = None,
) -> Explanation:
    """Which nodes matched each step, or the first step that found none.

    >>> print(explain("/news/item[@lang='de']/title", "<news><item lang='en'><title/></item></news>"))
    does not match: /news/item[@lang='de']/title
      /news  1 node: /news
      /item[@lang = 'de']  finds nothing
    """
    matched, paths = _core.explain(
        xpath, document, limits or Limits(), namespaces, ignore_namespaces, ordered
    )
    return Explanation(
        xpath,
        matched,
        tuple(
            ExplainedPath(
                text, holds, tuple(ExplainedStep(step, count, tuple(nodes)) for step, count, nodes in steps)
            )
            for text, holds, steps in paths
        ),
    )
