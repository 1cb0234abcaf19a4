"""Ordered mode: a pattern matched as an ordered tree, by trying every mapping."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from lxml import etree

from pathcast.reference.names import Names, Question
from pathcast.reference.ordered_syntax import ANY_NODE, Conjunction, Path, Step, Term, Test, parse_ordered

Tree: TypeAlias = Any
Element: TypeAlias = Any


@dataclass
class Pattern:
    """A pattern node: what must hold of the node it is mapped to, and its branches in order."""

    origin: str = ""  # "/" for the document node: lxml takes the root element when a tree is the context
    conditions: list[Question | OrderedPath] = field(default_factory=list)
    branches: list[Branch | FirstNode] = field(default_factory=list)


@dataclass(frozen=True)
class Branch:
    """An element below: a child or any descendant, the name it must have, and the pattern mapped to it."""

    descendant: bool
    test: Question
    pattern: Pattern


@dataclass(frozen=True)
class FirstNode:
    """A string function over a path: it looks at the first node of the path and at no other."""

    holds: Question
    ancestors: Any  # a compiled XPath: the elements that hold or are the first node


@dataclass(frozen=True)
class OrderedPath:
    """An absolute path as a condition: a pattern of its own from the document node."""

    pattern: Pattern


class OrderedPattern:
    """An expression matched as an ordered tree.

    Each element step is a pattern node. Its branches are its path predicates in the order written (`[a
    and b]` is two), then the next step. A pattern node maps to an element when its conditions hold there
    and its branches lie, in order, in the subtrees of strictly increasing child elements. Conditions are
    tests of attributes (`@x`, `.//@x`), of the node itself (`. = 'x'`, `text() = 'x'`, `.//text()`,
    `self::b`) and absolute paths, which are ordered patterns of their own. `contains` and `starts-with`
    over elements are a branch whose only candidate is the first node that the path selects. A self step
    stands for the node it is taken from. `//self::t` is `self::t` or `descendant::t`, whichever of the two
    matches.

    >>> pattern = OrderedPattern("a[b][c]", Names(None, ignore=False))
    >>> documents = "<a><b/><c/></a>", "<a><c/><b/></a>", "<a><d><b/><c/></d></a>"
    >>> [pattern(etree.ElementTree(etree.fromstring(document))) for document in documents]
    [True, False, False]
    """

    def __init__(self, xpath: str, names: Names) -> None:
        self._names = names
        term = parse_ordered(xpath)
        terms = term.terms if isinstance(term, Conjunction) else (term,)
        # `and` at the top: each side on its own, each in any of its readings.
        self._terms = [[self._pattern(reading) for reading in _readings(term)] for term in terms]

    def __call__(self, tree: Tree) -> bool:
        matcher = _Matcher(tree)
        return all(any(matcher.maps(pattern, tree) for pattern in readings) for readings in self._terms)

    def _pattern(self, term: Term) -> Pattern:
        """The pattern of a term whose paths all start at the document node."""
        pattern = Pattern(origin="/")
        self._add(pattern, term)
        return pattern

    def _add(self, pattern: Pattern, term: Term) -> None:
        """Add one term to a pattern node, as conditions, branches or both."""
        if isinstance(term, Conjunction):
            for part in term.terms:
                self._add(pattern, part)
        elif term.path is None:
            pattern.conditions.append(self._names.compile(str(term)))
        elif term.function:
            self._add_function(pattern, term, term.path)
        elif term.path.absolute and not pattern.origin:
            pattern.conditions.append(OrderedPath(self._pattern(term)))
        else:
            self._add_steps(pattern, term.path.steps, term)

    def _add_function(self, pattern: Pattern, term: Test, path: Path) -> None:
        if any(_branches(predicate) for step in path.steps for predicate in step.predicates):
            raise ValueError("ordered mode: a path inside a string function may not branch")
        holds = self._names.compile(str(term))
        if path.absolute or _tail_start(path.steps) == 0:
            pattern.conditions.append(holds)
        else:
            holders = self._names.rewrite(f"({path})[1]/ancestor-or-self::*")
            pattern.branches.append(FirstNode(holds, etree.XPath(holders, namespaces=self._names.bound())))

    def _add_steps(self, pattern: Pattern, steps: Sequence[Step], term: Test) -> None:
        """Walk down the steps: self steps stay on the node, the first other one is a branch."""
        if _tail_start(steps) == 0:
            if any(_branches(predicate) for step in steps for predicate in step.predicates):
                raise ValueError("ordered mode: only elements may have path predicates")
            tail = "/".join(map(str, steps)) or ("" if pattern.origin else "self::node()")
            pattern.conditions.append(self._names.compile(f"{term.before}{pattern.origin}{tail}{term.after}"))
            return
        step, rest = steps[0], steps[1:]
        if step.axis == "attribute":
            raise ValueError("ordered mode: an attribute has no elements below it")
        node = pattern
        if step.axis != "self":
            node = Pattern()
            test = "*" if step.test == "node()" else step.test
            branch = Branch(step.axis == "descendant", self._names.compile(f"self::{test}"), node)
            pattern.branches.append(branch)
        elif step.test != "node()":
            pattern.conditions.append(self._names.compile(f"{pattern.origin}self::{step.test}"))
        for predicate in step.predicates:
            self._add(node, predicate)
        if rest or term.before or term.after:
            self._add_steps(node, rest, term)


def _tail_start(steps: Sequence[Step]) -> int:
    """Where the steps after the last element begin: attributes, text, comments, any node."""
    start = len(steps)
    while start > 0:
        step = steps[start - 1]
        element = step.axis != "attribute" and not step.test.endswith(")")
        if element or (step.axis == "self" and any(map(_branches, step.predicates))):
            break
        start -= 1
    return start


def _branches(term: Term) -> bool:
    """Whether a predicate looks at elements below its node."""
    if isinstance(term, Conjunction):
        return any(map(_branches, term.terms))
    if term.path is None or term.path.absolute:
        return False
    return any(
        (step.axis not in {"self", "attribute"} and (index < _tail_start(term.path.steps)))
        or any(map(_branches, step.predicates))
        for index, step in enumerate(term.path.steps)
    )


def _readings(term: Term) -> Iterator[Term]:
    """Every way to read the `descendant-or-self` steps of a term as `self` or as `descendant`."""
    if isinstance(term, Conjunction):
        for terms in itertools.product(*map(_readings, term.terms)):
            yield Conjunction(terms)
    elif term.path is None or term.function:
        yield term
    else:
        steps = _joined(term.path.steps)
        tail = _tail_start(steps)
        for head in itertools.product(*(tuple(_step_readings(step)) for step in steps[:tail])):
            path = Path(term.path.absolute, (*head, *steps[tail:]))
            yield Test(path, term.before, term.after)


def _step_readings(step: Step) -> Iterator[Step]:
    axes = ("self", "descendant") if step.axis == "descendant-or-self" else (step.axis,)
    for axis in axes:
        for predicates in itertools.product(*(tuple(_readings(predicate)) for predicate in step.predicates)):
            yield Step(axis, step.test, predicates)


def _joined(steps: Sequence[Step]) -> tuple[Step, ...]:
    """Write `//` together with the step after it as one step."""
    result: list[Step] = []
    for step in steps:
        if result and result[-1] == ANY_NODE and step.axis != "attribute":
            axis = {"child": "descendant", "self": "descendant-or-self"}.get(step.axis, step.axis)
            result[-1] = Step(axis, step.test, step.predicates)
        else:
            result.append(step)
    return tuple(result)


class _Matcher:
    """Tries every mapping of a pattern into one tree; remembers answers so that a pair is tried once."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._known: dict[tuple[int, Element], bool] = {}

    def maps(self, pattern: Pattern, node: Tree | Element) -> bool:
        key = (id(pattern), node)
        if key not in self._known:
            self._known[key] = self._try(pattern, node)
        return self._known[key]

    def _try(self, pattern: Pattern, node: Tree | Element) -> bool:
        for condition in pattern.conditions:
            if isinstance(condition, OrderedPath):
                holds = self.maps(condition.pattern, self._tree)
            else:
                holds = condition(node)
            if not holds:
                return False
        children = [node.getroot()] if node is self._tree else [c for c in node if isinstance(c.tag, str)]
        lies = [[self._lies(branch, node, child) for child in children] for branch in pattern.branches]
        return any(
            all(lies[branch][child] for branch, child in enumerate(chosen))
            for chosen in itertools.combinations(range(len(children)), len(pattern.branches))
        )

    def _lies(self, branch: Branch | FirstNode, node: Tree | Element, child: Element) -> bool:
        """Whether a match of the branch, seen from the node, is the child or lies below it."""
        if isinstance(branch, FirstNode):
            return child in branch.ancestors(node) and branch.holds(node)
        candidates = child.iter() if branch.descendant else (child,)
        return any(
            isinstance(candidate.tag, str) and branch.test(candidate) and self.maps(branch.pattern, candidate)
            for candidate in candidates
        )
