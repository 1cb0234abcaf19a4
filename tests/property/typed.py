"""Expressions of the whole of XPath 1.0 at random, by type: nodes, numbers, strings, booleans; variables.

Left out on purpose, because libxml2 differs from the recommendation there: `following::` from attributes, and
strings made of numbers that are not small integers; positions right behind `id()`, and white space before the
first word of its argument.
"""

from __future__ import annotations

from random import Random

from pathcast import XPath
from pathcast.types import Variables

NAMES = ("a", "b", "c", "d")
LITERALS = ("'x'", "'xy'", "'1'", "'2'", "''", '"y"', "'007'", "' 3 '", "'10'", "'a'", "'b'", "'urn:x'")
IDS = ("1", "2", "3", "x", "xy", "007", "y", "none", "i", "j")
NUMBERS = ("0", "1", "2", "3", "-1", "1.5", "-2.5", "10", "7", ".5")
COMPARISONS = ("=", "=", "=", "!=", "<", "<=", ">", ">=")
FORWARD = ("", "", "", "", "child::", "descendant::", "descendant-or-self::", "self::", "following-sibling::")
BACKWARD = ("parent::", "ancestor::", "ancestor-or-self::", "preceding-sibling::", "preceding::")
POSITIONS = (
    *("1", "1", "2", "3", "last()", "last() - 1", "position() = 1", "position() > 1", "position() < 3"),
    *("position() = last()", "position() mod 2 = 1", "last() > 1", "position() != last()"),
)
NAN = float("nan")
TESTS = ("node()", "node()", "text()", "comment()", "processing-instruction()", "processing-instruction('p')")


class TypedWriter:
    """Draws expressions of a type; `size` bounds how deep they nest."""

    def __init__(self, random: Random, *, namespaced: bool = False) -> None:
        self.random = random
        self.namespaced = namespaced
        self.variables: dict[str, str | float | bool | XPath] = {}

    def bound(self) -> tuple[str, Variables]:
        """An expression and what its variables are bound to; most have none."""
        if self.random.random() < 0.15:
            self.variables = {
                "s": self.random.choice(("x", "xy", "1", "", "it's", "b")),
                "n": self.random.choice((0, 1, 2, -2.5, 10, NAN)),
                "b": self.random.random() < 0.5,
                "p": XPath(self.path(1)),
                "e": XPath(self.random.choice(("count($p)", "string($p)", "$p[$n]", "$p | //b", "not($p)"))),
            }
        return self.expression(), self.variables

    def expression(self, size: int = 3) -> str:
        """An expression of any type, booleans most."""
        kind = self.random.random()
        if kind < 0.45:
            return self.nodes(size)
        if kind < 0.9:
            return self.boolean(size)
        return self.number(size) if kind < 0.95 else self.string(size)

    def predicate(self, size: int) -> str:
        """A predicate: a position, or anything else."""
        kind = self.random.random()
        if size <= 0 or kind < 0.3:
            return self.random.choice(POSITIONS)
        return self.expression(size)

    # Nodes

    def nodes(self, size: int, attribute: bool = False) -> str:
        """A path, a union, or steps from parentheses; `attribute` if the context may be one."""
        random = self.random
        kind = random.random()
        if "e" in self.variables and random.random() < 0.15:
            return "$p" + random.choice(("", "", "[1]", "/..", "//a", "[. = $s]"))
        if size > 0 and kind < 0.08:
            return f"{self.path(size - 1, attribute)} | {self.path(size - 1, attribute)}"
        if kind > 0.97:
            return self.identified(size, attribute)
        if size > 0 and kind < 0.2:
            inner = self.nodes(size - 1, attribute)
            drawn = [self.predicate(size - 1) for _ in range(random.choice((0, 1, 1, 2)))]
            predicates = "".join(f"[{each}]" for each in drawn if "following::" not in each)
            tail = random.choice(("", "", "/", "//"))
            return f"({inner}){predicates}{tail}{self.step(size - 1, True) if tail else ''}"
        return self.path(size, attribute)

    def identified(self, size: int, attribute: bool) -> str:
        """Elements by what identifies them, and perhaps steps from there."""
        random = self.random
        words = " ".join(random.choice(IDS) for _ in range(random.choice((1, 2, 3))))
        value = f"'{words}'"
        if random.random() < 0.5:
            nodes = random.choice(("//@x", "//@y", "//@*", "self::node()", "descendant::text()"))
            value = f"{nodes}[not(starts-with(., ' '))]"
        elif size > 0 and random.random() < 0.5:
            value = f"normalize-space({self.path(size - 1, attribute)})"
        tail = random.choice(("", "", "/", "//"))
        return f"id({value}){tail}{self.step(size - 1) if tail else ''}"

    def path(self, size: int, attribute: bool = False) -> str:
        random = self.random
        start = random.choice(("", "", "", "/", "//", "//", ".//", "../", "./"))
        parts = [start]
        attribute = attribute and start in {"", "./", ".//"}
        for number in range(random.choice((1, 1, 2, 2, 3))):
            if number:
                parts.append(random.choice(("/", "/", "//")))
            if random.random() < 0.14:
                parts.append(
                    "@" + random.choice(("x", "y", "*", "node()", "n:x" if self.namespaced else "x"))
                )
                if random.random() < 0.1:
                    parts[-1] = f"@*[{self.called()}]"
                parts.append(self.predicates(size, True))
                attribute = True
            else:
                parts.append(self.step(size, attribute))
        return "".join(parts)

    def step(self, size: int, attribute: bool = False) -> str:
        random = self.random
        if random.random() < 0.08:
            return random.choice((".", ".."))
        axis = random.choice(FORWARD) if random.random() < 0.7 else random.choice(BACKWARD)
        if not attribute and random.random() < 0.04:
            axis = "following::"
        test = random.choice(TESTS) if random.random() < 0.15 else self.name()
        if random.random() < 0.08:
            test = random.choice(("*", "*", "*", "node()", self.name())) + f"[{self.called()}]"
        return axis + test + self.predicates(size, attribute)

    def called(self) -> str:
        """A predicate about the name of the node itself."""
        random = self.random
        local = f"local-name({random.choice(('', '', '.'))}) = '{random.choice((*NAMES, 'p', 'x'))}'"
        uri = f"namespace-uri() {random.choice(('=', '=', '!='))} '{random.choice(('urn:x', 'urn:y', ''))}'"
        other = f"'{random.choice(NAMES)}' {random.choice(('=', '!='))} local-name()"
        name = f"name() = '{random.choice(('a', 'p:a', 'q:b', 'b'))}'"
        kind = random.random()
        if kind < 0.45:
            return local
        if kind < 0.6:
            return f"{local}{random.choice((' and ', ' or ', ']['))}{uri}"
        return random.choice((uri, other, name, f"not({local})", f"{local} or {other}", f"{local} and 1"))

    def name(self) -> str:
        names = (*NAMES, "*", "*")
        if self.namespaced and self.random.random() < 0.4:
            return self.random.choice(("n:", "m:")) + self.random.choice(names)
        return self.random.choice(names)

    def predicates(self, size: int, attribute: bool = False) -> str:
        text = ""
        while size > 0 and self.random.random() < 0.25 and len(text) < 200:
            predicate = self.predicate(size - 1)
            if attribute and "following::" in predicate:
                continue
            text += f"[{predicate}]"
        return text

    # Values

    def boolean(self, size: int) -> str:
        random = self.random
        kind = random.random()
        if size <= 0 or kind < 0.45:
            return self.comparison(size)
        if kind < 0.55:
            return f"not({self.expression(size - 1)})"
        if kind < 0.7:
            word = random.choice(("and", "or"))
            return f"({self.expression(size - 1)} {word} {self.expression(size - 1)})"
        if kind < 0.85:
            function = random.choice(("contains", "starts-with", "ends-with"))
            return f"{function}({self.text(size - 1)}, {self.text(size - 1)})"
        if kind < 0.9:
            return random.choice(
                ("true()", "false()", "lang('en')", f"matches({self.text(size - 1)}, '^[xy1]')")
            )
        function = random.choice(("boolean", "boolean", "exists", "empty"))
        inner = self.nodes(size - 1) if function != "boolean" else self.expression(size - 1)
        return f"{function}({inner})"

    def comparison(self, size: int) -> str:
        left, right = self.operand(size - 1), self.operand(size - 1)
        if self.random.random() < 0.12:
            left, right = self.of_one(size), self.random.choice((*LITERALS, *NUMBERS))
        return f"{left} {self.random.choice(COMPARISONS)} {right}"

    def of_one(self, size: int) -> str:
        """A function of a path that is one node at most, or not quite."""
        random = self.random
        paths = ("/*", ".", "..", "@x", "../@y", "a[1]", "*[last()]", f"({self.nodes(size - 1)})[1]", "b")
        function = random.choice(("string", "number", "local-name", "namespace-uri", "name", "count"))
        return f"{function}({random.choice(paths)})"

    def operand(self, size: int) -> str:
        if "e" in self.variables and self.random.random() < 0.2:
            return self.random.choice(("$s", "$n", "$b", "$p", "$e"))
        kind = self.random.random()
        if kind < 0.4:
            return self.nodes(size)
        if kind < 0.65:
            return self.number(size)
        if kind < 0.92:
            return self.string(size)
        return self.random.choice(("true()", "false()", f"boolean({self.nodes(size)})"))

    def number(self, size: int) -> str:
        random = self.random
        kind = random.random()
        if size <= 0 or kind < 0.3:
            return random.choice((*NUMBERS, "position()", "last()"))
        if kind < 0.6:
            return self.whole(size)
        if kind < 0.75:
            function = random.choice(("number", "floor", "ceiling", "round"))
            return f"{function}({self.operand(size - 1)})"
        if kind < 0.8:
            return f"sum({self.nodes(size - 1)})"
        if kind < 0.85:
            return f"-({self.number(size - 1)})"
        operator = random.choice(("+", "-", "*", "div", "mod"))
        return f"({self.number(size - 1)} {operator} {self.number(size - 1)})"

    def whole(self, size: int) -> str:
        """A number that is a small integer."""
        random = self.random
        if random.random() < 0.75:
            return f"count({self.nodes(size - 1)})"
        return random.choice(("string-length()", f"string-length({self.text(size - 1)})"))

    def text(self, size: int) -> str:
        """A string, or nodes as one."""
        return self.string(size) if self.random.random() < 0.5 else self.nodes(size)

    def string(self, size: int) -> str:
        random = self.random
        kind = random.random()
        if size <= 0 or kind < 0.3:
            return random.choice(LITERALS)
        if kind < 0.5:
            function = random.choice(("name", "local-name", "namespace-uri", "string", "normalize-space"))
            return f"{function}()" if random.random() < 0.5 else f"{function}({self.nodes(size - 1)})"
        if kind < 0.6:
            function = random.choice(("normalize-space", "lower-case", "upper-case"))
            return f"{function}(string({self.text(size - 1)}))"
        if kind < 0.7:
            return f"concat({self.text(size - 1)}, {self.text(size - 1)})"
        if kind < 0.8:
            function = random.choice(("substring-before", "substring-after"))
            return f"{function}({self.text(size - 1)}, {self.text(size - 1)})"
        if kind < 0.9:
            length = random.choice(("", f", {self.number(size - 1)}"))
            return f"substring({self.text(size - 1)}, {self.number(size - 1)}{length})"
        if kind < 0.95:
            return f"translate({self.text(size - 1)}, {random.choice(LITERALS)}, {random.choice(LITERALS)})"
        return f"string({self.whole(size - 1)})"
