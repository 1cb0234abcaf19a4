"""Expressions of ordered mode: location paths, comparisons, string functions and `and`, as a small tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

from pathcast.reference.tokens import Token, anywhere, tokenise


def parse_ordered(xpath: str) -> Term:
    """Read an expression with its top-level relative paths made absolute; ValueError outside the subset.

    >>> str(parse_ordered("a[@x = 1]/b"))
    '/descendant-or-self::node()/child::a[attribute::x = 1]/child::b'
    """
    return _Parser(anywhere(tokenise(xpath))).expression("")


@dataclass(frozen=True)
class Step:
    """One step with its axis spelled out."""

    axis: str
    test: str
    predicates: tuple[Term, ...] = ()

    def __str__(self) -> str:
        return f"{self.axis}::{self.test}" + "".join(f"[{predicate}]" for predicate in self.predicates)


@dataclass(frozen=True)
class Path:
    """A location path."""

    absolute: bool
    steps: tuple[Step, ...]

    def __str__(self) -> str:
        return ("/" if self.absolute else "") + "/".join(map(str, self.steps))


@dataclass(frozen=True)
class Test:
    """A path, perhaps within a comparison or a string function: `before`, the path, `after`.

    `path` is None for a test without any path, such as `'x'`.
    """

    path: Path | None
    before: str = ""
    after: str = ""
    function: bool = False

    def __str__(self) -> str:
        return self.before + (str(self.path) if self.path else "") + self.after


@dataclass(frozen=True)
class Conjunction:
    """Terms joined by `and`."""

    terms: tuple[Term, ...]

    def __str__(self) -> str:
        return "(" + " and ".join(map(str, self.terms)) + ")"


Term: TypeAlias = Test | Conjunction

ANY_NODE: Final = Step("descendant-or-self", "node()")
_AXES: Final = frozenset({"child", "descendant", "descendant-or-self", "self", "attribute"})
_NAMES: Final = frozenset({"name", "local-name", "namespace-uri"})  # of the node itself
_COMPARISONS: Final = frozenset({"=", "!=", "<", "<=", ">", ">="})


class _Parser:
    """Recursive descent over the tokens of the ordered subset."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.position = 0

    def peek(self, ahead: int = 0) -> Token:
        index = self.position + ahead
        return self.tokens[index] if index < len(self.tokens) else Token("end", "")

    def take(self, expected: str | None = None) -> Token:
        token = self.peek()
        if expected is not None and token.text != expected:
            raise ValueError(f"ordered mode: expected {expected!r}, found {token.text or 'the end'!r}")
        self.position += 1
        return token

    def expression(self, end: str) -> Term:
        terms = [self.comparison()]
        while self.peek() == Token("operator", "and"):
            self.take()
            terms.append(self.comparison())
        if self.peek().text in {"or", "|"}:
            raise ValueError(f"ordered mode: {self.peek().text!r} is not allowed")
        self.take(end)
        return terms[0] if len(terms) == 1 else Conjunction(tuple(terms))

    def comparison(self) -> Term:
        left = self.operand()
        if self.peek().text not in _COMPARISONS:
            if isinstance(left, str):
                return Test(None, left)
            return left
        operator = self.take().text
        right = self.operand()
        if isinstance(left, str) and isinstance(right, str):
            return Test(None, f"{left} {operator} {right}")
        if isinstance(left, str) and isinstance(right, Test) and not right.after:
            return Test(right.path, f"{left} {operator} ")
        if isinstance(right, str) and isinstance(left, Test) and not left.after:
            return Test(left.path, "", f" {operator} {right}")
        raise ValueError("ordered mode: a comparison needs one path and one value")

    def operand(self) -> Term | str:
        """A value as its text, a path or a call as a test, or anything in parentheses."""
        token = self.peek()
        if token.kind in {"literal", "number"}:
            return self.take().text
        if token.text == "-":
            self.take()
            return "-" + self.take().text
        if token.text in _NAMES and self.peek(2).text == ")":
            return "".join(self.take().text for _ in range(3))
        if token.kind == "function":
            return self.call()
        if token.text == "(":
            self.take()
            return self.expression(")")
        return Test(self.path())

    def call(self) -> Term:
        name = self.take().text
        if name not in {"contains", "starts-with"}:
            raise ValueError(f"ordered mode: {name}() is not allowed")
        self.take("(")
        first = self.operand()
        self.take(",")
        second = self.operand()
        self.take(")")
        if isinstance(first, str) and isinstance(second, str):
            return Test(None, f"{name}({first}, {second})")
        if isinstance(first, Test) and second in {"''", '""'}:
            return Test(None, "'every string has the empty one'")
        if isinstance(first, Test) and isinstance(second, str):
            return Test(first.path, f"{name}(", f", {second})", function=True)
        if isinstance(first, str) and isinstance(second, Test):
            return Test(second.path, f"{name}({first}, ", ")", function=True)
        raise ValueError(f"ordered mode: {name}() needs one path and one value")

    def path(self) -> Path:
        absolute = self.peek().text in {"/", "//"}
        steps: list[Step] = []
        if absolute:
            if self.take().text == "//":
                steps.append(ANY_NODE)
            elif not self.at_step():
                return Path(True, ())
        steps.append(self.step())
        while self.peek().text in {"/", "//"}:
            if self.take().text == "//":
                steps.append(ANY_NODE)
            steps.append(self.step())
        return Path(absolute, tuple(steps))

    def at_step(self) -> bool:
        token = self.peek()
        return token.kind in {"test", "type", "axis"} or token.text in {"@", ".", ".."}

    def step(self) -> Step:
        if not self.at_step():
            raise ValueError(f"ordered mode: expected a step, found {self.peek().text or 'the end'!r}")
        if self.peek().text == ".":
            self.take()
            return Step("self", "node()")
        axis = "child"
        if self.peek().text == "@":
            self.take()
            axis = "attribute"
        elif self.peek().kind == "axis":
            axis = self.take().text
            self.take("::")
        if axis not in _AXES or self.peek().text == "..":
            raise ValueError(f"ordered mode: the axis {axis}:: is not allowed")
        token = self.take()
        test = token.text
        if token.kind == "type":
            self.take("(")
            target = self.take().text if self.peek().kind == "literal" else ""
            self.take(")")
            test = f"{test}({target})"
        predicates: list[Term] = []
        while self.peek().text == "[":
            self.take()
            if self.peek().kind == "number" and self.peek(1).text == "]":
                raise ValueError("ordered mode: positional predicates are not allowed")
            predicates.append(self.expression("]"))
        if axis == "descendant-or-self" and (test != "node()" or predicates):
            raise ValueError("ordered mode: descendant-or-self:: is not allowed")
        return Step(axis, test, tuple(predicates))
