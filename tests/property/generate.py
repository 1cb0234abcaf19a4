"""Documents and expressions at random from one `random.Random`: fast enough for a million pairs.

Alphabets are tiny so that matches are frequent, and more than half of the paths start from one that exists
in the document. Everything drawn is inside the subscription language and is accepted by lxml. Left out on
purpose, because libxml2 differs from XPath there: `following::` and `preceding::` from attributes, and
numbers whose decimal digits libxml2 rounds to another double than the nearest one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from pathcast.types import Variables
from tests.property.typed import TypedWriter

NAMES = ("a", "b", "c", "d")
ATTRIBUTES = ("x", "y")
VALUES = ("1", "2", " 3 ", "-2.5", "1e1", "", "x", "xy", "007", "10", "y", "NaN")
LITERALS = ("'x'", "'xy'", "'1'", "'2'", "''", '"y"', "'007'", "' 3 '", "'10'", "'zz'")
NUMBERS = ("1", "2", "3", "-2.5", "10", "7", "0", "2.0", ".5", "-1")
EDGES = {"1": "1", "2": "2", " 3 ": "3", "-2.5": "-2.5", "1e1": "10", "007": "7", "10": "10"}
OPERATORS = ("=", "!=", "<", "<=", ">", ">=")
URIS = ("urn:x", "urn:y")
PREFIXES = {"n": "urn:x", "m": "urn:y"}


@dataclass
class Node:
    """An element as the generator remembers it: enough to write a path that exists."""

    name: str
    attributes: dict[str, str] = field(default_factory=dict)
    children: list[Node] = field(default_factory=list)
    text: str = ""


@dataclass(frozen=True)
class Document:
    """The text of a document and its element tree."""

    text: str
    root: Node
    namespaced: bool


@dataclass(frozen=True)
class Subscription:
    """An expression with everything it takes to register it."""

    xpath: str
    ordered: bool = False
    namespaces: dict[str, str] = field(default_factory=dict)
    variables: Variables = field(default_factory=dict)


class DocumentWriter:
    """Draws one document."""

    def __init__(self, random: Random, *, namespaced: bool = False, elements: int = 20) -> None:
        self.random = random
        self.namespaced = namespaced
        self.left = random.randint(1, elements)

    def document(self) -> Document:
        """A whole document, prolog and epilog included."""
        node, text = self.element(0, "")
        if self.random.random() < 0.1:
            text = self.random.choice(("<!--c-->", "<?p x?>", "<!DOCTYPE a>")) + text
        elif self.random.random() < 0.2:
            text = self.declarations() + text
        if self.random.random() < 0.1:
            # From a comment behind the root element libxml2's preceding axis misses that element, unless
            # something stands before it.
            behind = ("<!--d-->", "<?q x?>", "\n") if text.startswith(("<!--", "<?")) else ("\n",)
            text += self.random.choice(behind)
        if self.random.random() < 0.1:
            text = '<?xml version="1.0"?>' + text
        return Document(text, node, self.namespaced)

    def declarations(self) -> str:
        """A document type that says which attributes are IDs; of two declarations the first counts."""
        types = ("ID", "ID", "ID", "CDATA", "NMTOKENS")
        lists = [
            f"<!ATTLIST {name} {attribute} {self.random.choice(types)} {default}>"
            for name in self.random.sample((*NAMES, "p:a", "a"), 4)
            for attribute in self.random.sample(("x", "y", "p:x", "xml:id"), 2)
            for default in (self.random.choice(("#IMPLIED", "'i'")) if attribute == "y" else "#IMPLIED",)
        ]
        return f"<!DOCTYPE a [{''.join(lists)}]>"

    def element(self, depth: int, default: str) -> tuple[Node, str]:
        """An element as remembered and as written; `default` is the default namespace in force."""
        random = self.random
        self.left -= 1
        local = random.choice(NAMES)
        tag, uri, declarations = local, default, ""
        if self.namespaced:
            kind = random.random()
            if kind < 0.3:
                prefix, uri = random.choice((("p", "urn:x"), ("q", "urn:y")))
                tag = f"{prefix}:{local}"
            elif kind < 0.5:
                default = uri = random.choice((*URIS, ""))
                declarations = f" xmlns='{uri}'"
            if depth == 0:
                declarations += " xmlns:p='urn:x' xmlns:q='urn:y'"
        node = Node(_qualified(uri, local))
        written = [tag, declarations]
        for attribute in ATTRIBUTES:
            if random.random() < 0.3:
                value = random.choice(VALUES)
                if self.namespaced and random.random() < 0.3:
                    node.attributes[_qualified("urn:x", attribute)] = value
                    written.append(f" p:{attribute}='{value}'")
                else:
                    node.attributes[attribute] = value
                    written.append(f' {attribute}="{value}"')
        if random.random() < 0.04:
            written.append(f" xml:id='{random.choice(('i', 'j', 'y', ' 3 ', '1'))}'")
        content: list[str] = []
        while random.random() < (0.88, 0.75, 0.6)[min(depth, 2)]:
            content.append(self.content(node, depth, default))
        body = "".join(content)
        if not body and random.random() < 0.7:
            return node, f"<{''.join(written)}/>"
        return node, f"<{''.join(written)}>{body}</{tag}>"

    def content(self, node: Node, depth: int, default: str) -> str:
        """One piece of content: mostly elements, some text in every spelling."""
        random = self.random
        kind = random.random()
        if kind < 0.62 and self.left > 0 and depth < 8:
            child, text = self.element(depth + 1, default)
            node.children.append(child)
            return text
        if kind < 0.9:
            value = random.choice(VALUES)
            node.text += value
            return self.spell(value)
        return random.choice(("<!--x-->", "<?p x?>", "<!---->", "<?q?>", "<!--1-->"))

    def spell(self, value: str) -> str:
        """The same characters as text, CDATA, references or a mix of them."""
        kind = self.random.random()
        if kind < 0.75 or not value:
            return value
        if kind < 0.85:
            return f"<![CDATA[{value}]]>"
        if kind < 0.95:
            return "".join(f"&#{ord(character)};" for character in value)
        return f"{value[:1]}<![CDATA[{value[1:]}]]>"


def _qualified(uri: str, local: str) -> str:
    return local if not uri else ("n:" if uri == "urn:x" else "m:") + local


class ExpressionWriter:
    """Draws one expression; `near` is the document that half of the paths are taken from."""

    def __init__(
        self, random: Random, near: Document | None = None, *, ordered: bool = False, default: str = ""
    ) -> None:
        self.random = random
        self.near = near
        self.ordered = ordered
        self.namespaced = near is not None and near.namespaced
        self.default = default

    def subscription(self) -> Subscription:
        """A whole subscription with its prefixes."""
        xpath = self.top_ordered() if self.ordered else self.top(0)
        return Subscription(xpath, self.ordered, dict(PREFIXES) if self.namespaced else {})

    # Whole expressions

    def top(self, depth: int) -> str:
        kind = self.random.random()
        if depth > 2 or kind < 0.72:
            return self.top_path()
        if kind < 0.77:
            return self.compared(self.top_path())
        if kind < 0.8:
            return self.called(self.top_path())
        if kind < 0.85:
            return f"{self.top(depth + 1)} or {self.top(depth + 1)}"
        if kind < 0.9:
            return f"{self.top(depth + 1)} and {self.top(depth + 1)}"
        if kind < 0.94:
            return f"not({self.top(depth + 1)})"
        if kind < 0.96:
            return f"({self.top(depth + 1)})"
        union = f"{self.top_path()} | {self.top_path()}"
        return union if self.random.random() < 0.7 else self.compared(union)

    def top_ordered(self) -> str:
        kind = self.random.random()
        if kind < 0.85:
            return self.top_path()
        if kind < 0.9:
            return self.compared(self.top_path())
        if kind < 0.93:
            return self.called(self.plain_path(self.random.choice(("/", "//", ""))))
        return f"{self.top_path()} and {self.top_path()}"

    def top_path(self) -> str:
        if self.near is not None and self.random.random() < 0.6:
            return self.existing_path()
        if self.random.random() < 0.01:
            return self.random.choice(("/.", ".", "//."))
        return self.random.choice(("/", "//", "//", "")) + self.steps(
            0, self.random.choice((1, 1, 2, 2, 3, 4))
        )

    # Paths that exist, then changed a little

    def existing_path(self) -> str:
        assert self.near is not None
        random = self.random
        node = self.near.root
        parts = ["/" if random.random() < 0.6 else random.choice(("//", ""))]
        while True:
            parts.append(self.existing_step(node))
            if not node.children or random.random() < 0.2:
                break
            parts.append("/")
            node = random.choice(node.children)
            if node.children and random.random() < 0.2:
                parts[-1] = "//"
                node = random.choice(node.children)
        if node.attributes and random.random() < 0.15:
            parts.append("/@" + random.choice((*node.attributes, "*")))
        elif node.text and random.random() < 0.1:
            parts.append("/text()")
        return "".join(parts)

    def existing_step(self, node: Node) -> str:
        random = self.random
        name = self.spelled(node.name) if random.random() < 0.8 else "*"
        if random.random() < 0.06:
            name = self.name()
        if len(node.children) > 1 and random.random() < 0.25:
            return name + self.existing_branches(node)
        if random.random() < 0.4:
            tests = [self.existing_test(node) for _ in range(random.choice((1, 1, 2)))]
            return name + "".join(f"[{test}]" for test in tests)
        return name

    def existing_branches(self, node: Node) -> str:
        """Children as predicates, mostly in the order they stand in, or tied by a sibling axis."""
        random = self.random
        count = random.choice((2, 2, 3))
        chosen = sorted(random.sample(range(len(node.children)), min(count, len(node.children))))
        if random.random() < 0.3:
            random.shuffle(chosen)
        steps = [self.existing_step(node.children[number]) for number in chosen]
        if self.ordered or random.random() < 0.4:
            return f"[{' and '.join(steps)}]" if random.random() < 0.2 else "".join(f"[{s}]" for s in steps)
        axis = random.choice(("following-sibling", "following-sibling", "following", "preceding-sibling"))
        return f"[{f'/{axis}::'.join(steps)}]"

    def existing_test(self, node: Node) -> str:
        """A predicate that holds of the node, most of the time."""
        random = self.random
        kind = random.random()
        if node.attributes and kind < 0.35:
            attribute, value = random.choice(tuple(node.attributes.items()))
            return f"@{attribute}" if random.random() < 0.3 else self.near_value(f"@{attribute}", value)
        if node.children and kind < 0.75:
            child = random.choice(node.children)
            path = self.existing_step(child)
            if random.random() < 0.3:
                path = ".//" + path
            elif child.children and random.random() < 0.4:
                path += "/" + self.existing_step(random.choice(child.children))
            if not child.children and "[" not in path and random.random() < 0.4:
                return self.near_value(path, child.text)
            return path
        if not node.children and kind < 0.9:
            return self.near_value(random.choice((".", ".", "text()")), node.text)
        return self.predicate(1)

    def near_value(self, path: str, value: str) -> str:
        """A test at the edge of what the value satisfies."""
        random = self.random
        kind = random.random()
        if kind < 0.2:
            function = random.choice(("contains", "starts-with"))
            start = random.randrange(len(value) + 1)
            return f"{function}({path}, '{value[start : start + 2]}')"
        if kind < 0.5:
            return f"{path} = '{value}'"
        literal = EDGES.get(value, f"'{value}'")
        operator = random.choice(OPERATORS)
        return f"{path} {operator} {literal}" if random.random() < 0.6 else f"{literal} {operator} {path}"

    # Steps

    def name(self) -> str:
        random = self.random
        if self.namespaced and random.random() < 0.4:
            return random.choice(("n:", "m:")) + random.choice((*NAMES, "*"))
        return random.choice((*NAMES, "*"))

    def spelled(self, name: str) -> str:
        """A name of the document in the prefixes of this subscription."""
        prefix, _, local = name.rpartition(":")
        if prefix and PREFIXES[prefix] == self.default and self.random.random() < 0.7:
            return local
        return name

    def attribute(self) -> str:
        name = self.random.choice((*ATTRIBUTES, *ATTRIBUTES, "*"))
        if self.namespaced and self.random.random() < 0.3:
            name = "n:" + name
        return self.random.choice(("@", "@", "@", "attribute::")) + name

    def steps(self, depth: int, count: int) -> str:
        """A relative path of so many steps, perhaps with a tail that is no element."""
        parts = [self.step(depth)]
        for _ in range(count - 1):
            parts.append(self.random.choice(("/", "/", "//")))
            parts.append(self.step(depth))
        if self.random.random() < 0.2:
            parts.append(self.random.choice(("/", "/", "//")) + self.tail())
        return "".join(parts)

    def step(self, depth: int) -> str:
        random = self.random
        kind = random.random()
        axis = ""
        if kind > 0.98:
            return "."
        if kind > 0.92:
            axis = random.choice(("child::", "descendant::", "self::", "descendant-or-self::"))
            if self.ordered and axis in {"self::", "descendant-or-self::"}:
                return axis + "node()"
        elif kind > 0.84 and not self.ordered:
            axis = random.choice(("following-sibling::", "preceding-sibling::", "following::", "preceding::"))
        test = self.name()
        if random.random() < 0.04:
            test = "node()" if self.ordered else random.choice(("node()", "text()", "comment()"))
        if self.ordered and test == "node()":
            return axis + test
        return axis + test + self.predicates(depth)

    def tail(self) -> str:
        random = self.random
        kind = random.random()
        tests = ("", "", "", "[. = 'x']", "[. > 1]", "[contains(., 'x')]")
        if kind < 0.6:
            return self.attribute() + random.choice(tests)
        if kind < 0.85:
            return random.choice(("", "child::")) + "text()" + random.choice(tests)
        return random.choice(
            ("comment()", "processing-instruction()", "processing-instruction('p')", "node()")
        )

    def predicates(self, depth: int) -> str:
        count = 0
        while self.random.random() < 0.28 and count < 3 and depth < 3:
            count += 1
        return "".join(f"[{self.predicate(depth + 1)}]" for _ in range(count))

    # Predicates

    def predicate(self, depth: int) -> str:
        random = self.random
        kind = random.random()
        if depth > 3:
            return self.compared(self.attribute())
        if kind < 0.4:
            return self.test_path(depth)
        if kind < 0.68:
            return self.compared(self.test_path(depth))
        if kind < 0.76:
            return self.called(self.plain_path("") if self.ordered else self.test_path(depth))
        if kind < 0.84:
            return f"{self.predicate(depth + 1)} and {self.predicate(depth + 1)}"
        if self.ordered:
            return self.test_path(depth)
        if kind < 0.9:
            return f"{self.predicate(depth + 1)} or {self.predicate(depth + 1)}"
        if kind < 0.96:
            return f"not({self.predicate(depth + 1)})"
        if kind < 0.98:
            return f"({self.predicate(depth + 1)})"
        union = f"{self.test_path(depth)} | {self.test_path(depth)}"
        return union if random.random() < 0.6 else self.compared(union)

    def test_path(self, depth: int) -> str:
        """A path inside a predicate, without any value test around it."""
        random = self.random
        kind = random.random()
        if kind < 0.12:
            return "."
        if kind < 0.3:
            return random.choice(("", "", ".//")) + self.attribute()
        if kind < 0.42:
            return random.choice(("", "", ".//")) + "text()"
        if kind < 0.48:
            return random.choice(("/", "//")) + self.steps(depth, random.choice((1, 2)))
        if kind < 0.6:
            return ".//" + self.steps(depth, 1)
        return random.choice(("", "", "", "./")) + self.steps(depth, random.choice((1, 1, 1, 2, 3)))

    def plain_path(self, start: str) -> str:
        """A path without predicates, for string functions in ordered mode."""
        random = self.random
        if not start and random.random() < 0.3:
            return random.choice((".", "text()", self.attribute(), ".//text()"))
        path = start or random.choice(("", "", ".//"))
        path += random.choice(("/", "//")).join(self.name() for _ in range(random.choice((1, 1, 2))))
        return path + random.choice(("", "", "", "/" + self.attribute(), "/text()"))

    def compared(self, path: str) -> str:
        random = self.random
        value = random.choice(LITERALS) if random.random() < 0.5 else random.choice(NUMBERS)
        operator = random.choice(("=", "=", "=", *OPERATORS))
        return f"{path} {operator} {value}" if random.random() < 0.75 else f"{value} {operator} {path}"

    def called(self, path: str) -> str:
        function = self.random.choice(("contains", "starts-with"))
        if not self.ordered and self.random.random() < 0.15:
            return f"{function}({self.random.choice(LITERALS)}, {path})"
        return f"{function}({path}, {self.random.choice(LITERALS)})"


@dataclass(frozen=True)
class Batch:
    """Documents and subscriptions that are all asked of one another, with what holds for the whole set."""

    documents: list[Document]
    subscriptions: list[Subscription]
    default: str = ""
    ignore_namespaces: bool = False

    def namespaces(self, subscription: Subscription) -> dict[str, str]:
        """What the names of a subscription mean in this set."""
        return {**({"": self.default} if self.default else {}), **subscription.namespaces}


def draw_document(random: Random, *, namespaced: bool | None = None) -> Document:
    """One document; every fourth uses namespaces unless told otherwise."""
    if namespaced is None:
        namespaced = random.random() < 0.25
    return DocumentWriter(random, namespaced=namespaced).document()


def draw_subscription(
    random: Random,
    near: Document | None,
    *,
    ordered: bool | None = None,
    default: str = "",
    variables: bool = False,
) -> Subscription:
    """One subscription; every fifth is ordered unless told otherwise, half of the rest is any XPath."""
    if ordered is None:
        ordered = random.random() < 0.2
        if not ordered and random.random() < 0.5:
            namespaced = near is not None and near.namespaced
            writer = TypedWriter(random, namespaced=namespaced)
            xpath, bound = writer.bound() if variables else (writer.expression(), {})
            return Subscription(xpath, False, dict(PREFIXES) if namespaced else {}, bound)
    return ExpressionWriter(random, near, ordered=ordered, default=default).subscription()


def draw_batch(random: Random, documents: int = 5, subscriptions: int = 40) -> Batch:
    """A set of subscriptions and documents; a third of the sets uses namespaces in one of three ways."""
    kind = random.random()
    namespaced = kind < 0.35
    default = random.choice(URIS) if 0.1 < kind < 0.2 else ""
    drawn = [draw_document(random, namespaced=namespaced) for _ in range(documents)]
    asked = [
        draw_subscription(random, random.choice(drawn), default=default, variables=True)
        for _ in range(subscriptions)
    ]
    return Batch(drawn, asked, default, ignore_namespaces=0.2 < kind < 0.3)
