"""The matcher of the paper on non-recursive SQL, as printed, on DuckDB: a yardstick for the installed one.

Every edge and every value test of every subscription is a row, by level; a document is matched from the
lowest level up, in five steps a level: frames, predicates, neighbours, branching points, cutting. Corrected:
branches must meet at one node of the document, and a virtual document node lets the root be constrained.
Steps ``*`` in the middle of a path widen an edge, as in the paper. It takes what the generator draws: names,
``*``, ``/``, ``//``, branches, and tests of a node, an attribute or a text node. The join of the document
with itself is made once for all levels: each level would make the same one, and cutting could not save it.
"""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import duckdb
import pyarrow as pa
from lxml import etree

FAR = 1 << 20
_TOKEN = re.compile(
    r"\s*(//|/|\[|\]|\.(?=//)|@[^\s\]=!<>]+|text\(\)|'[^']*'|\"[^\"]*\"|[<>!]?=|[<>]|[^\s/\[\]=!<>]+)"
)

Rows: TypeAlias = dict[int, list[tuple[Any, ...]]]

PAIRS = """
create or replace temp table pair as
select h.label as high_node, l.label as low_node, h.start as high_start, l.start as low_start,
       l.depth - h.depth as diff
from xml_frame h join xml_frame l on h.start < l.start and h.finish > l.finish
"""

FRAMES = """
create or replace temp table found as
select e.id, e.high, e.low, x.high_start, x.low_start, e.is_final
from frame_{level} e
join matched m on m.id = e.id
join pair x
    on x.high_node = e.high_node and x.low_node = e.low_node and x.diff between e.min_diff and e.max_diff
"""

PREDICATES = """
insert into found
select p.id, p.high, p.low, v.start, null, true
from pred_{level} p
join matched m on m.id = p.id
join xml_value v on v.name = p.name
join xml_frame n on n.start = v.start and n.label = p.node
where case p.operation
      when '=' then v.text = p.text or v.number = p.number
      when '!=' then v.text <> p.text or p.number is not null and v.number is distinct from p.number
      when '<' then v.number < p.number when '<=' then v.number <= p.number
      when '>' then v.number > p.number else v.number >= p.number end
"""

NEIGHBOURS = """
delete from found where not is_final and not exists (
    select 1 from below b where b.id = found.id and b.high = found.low and b.high_start = found.low_start
)
"""

BRANCHES = """
create or replace temp table below as
select f.id, f.high, f.high_start
from found f
join branches_{level} b on b.id = f.id and b.high = f.high
group by f.id, f.high, f.high_start, b.number
having count(distinct f.low) = b.number
"""

CUTTING = """
delete from matched where id in (select id from branches_{level}) and id not in (select id from below)
"""


@dataclass
class Node:
    """A node of an expression's tree; the edge to it allows some differences of depth."""

    name: str
    least: int = 0
    most: int = 0
    below: list[Node] = field(default_factory=list)
    tests: list[tuple[str, str, str]] = field(default_factory=list)


def tree(expression: str) -> Node:
    """The tree of an expression below its document node.

    >>> top = tree("/a/*//b[@c = 'd'][.//e]")
    >>> (a,) = top.below
    >>> (b,) = a.below
    >>> a.name, a.least, a.most
    ('a', 1, 1)
    >>> (b.name, b.least, b.most > 9, b.tests, [each.name for each in b.below])
    ('b', 2, True, [('@c', '=', "'d'")], ['e'])
    """
    tokens = _TOKEN.findall(expression)
    if "".join(tokens) != re.sub(r"\s(?=([^']*'[^']*')*[^']*$)", "", expression):
        raise ValueError(f"not an expression of the paper: {expression}")
    top = Node("/")
    _path(top, tokens)
    _merge(top)
    return top


def _path(node: Node, tokens: list[str]) -> None:
    """Steps from a node, until a bracket closes."""
    is_first = True
    while tokens and tokens[0] != "]":
        token = tokens.pop(0)
        if token == "[":
            _predicate(node, tokens)
            continue
        if token == ".":
            continue
        far = token == "//" or (is_first and node.name == "/" and token not in ("/", "//"))
        name = tokens.pop(0) if token in ("/", "//") else token
        node.below.append(Node(name, 1, FAR if far else 1))
        node, is_first = node.below[-1], False


def _predicate(node: Node, tokens: list[str]) -> None:
    if tokens[0][0] == "@" or tokens[0] == "text()" or (tokens[0] == "." and tokens[1] != "//"):
        name, operation, value = (tokens.pop(0) for _ in range(3))
        node.tests.append((name, operation, value))
    else:
        _path(node, tokens)
    tokens.pop(0)


def _merge(node: Node) -> None:
    """A ``*`` with one step below it and nothing else becomes part of that step's edge."""
    for at, each in enumerate(node.below):
        while each.name == "*" and not each.tests and len(each.below) == 1:
            low = each.below[0]
            low.least, low.most = low.least + each.least, min(FAR, low.most + each.most)
            each = node.below[at] = low
        _merge(each)


class PaperMatcher:
    """Subscriptions in tables a level, and documents that are matched one at a time."""

    def __init__(self, expressions: Iterable[str]) -> None:
        self._database = duckdb.connect()
        self._database.execute("set threads = 1")
        self._number = 0
        self.nodes = 0
        """The elements of the document."""
        self.found = 0
        """The edges and value tests that the last match has found in the document, over all levels."""
        frames: Rows = defaultdict(list)
        tests: Rows = defaultdict(list)
        branches: Rows = defaultdict(list)
        for self._number, expression in enumerate(expressions, 1):
            _store(self._number - 1, tree(expression), frames, tests, branches)
        self._levels = max(branches)
        for level in range(1, self._levels + 1):
            self._table(f"frame_{level}", FRAME, frames[level])
            self._table(f"pred_{level}", PRED, tests[level])
            self._table(f"branches_{level}", BRANCH, branches[level])

    def _table(self, name: str, columns: dict[str, Any], rows: list[tuple[Any, ...]]) -> None:
        arrays = zip(*rows, strict=True) if rows else ([] for _ in columns)
        held = pa.table(
            [pa.array(each, kind) for each, kind in zip(arrays, columns.values(), strict=True)], [*columns]
        )
        self._database.register("held", held)
        self._database.execute(f"create or replace temp table {name} as from held")
        self._database.unregister("held")

    def publish(self, document: bytes) -> None:
        """Stores a document; this is not part of the matching."""
        nodes, values = _shred(document)
        self.nodes = len(nodes) // 2
        self._table(
            "xml_frame",
            {"label": pa.string(), "start": pa.int32(), "finish": pa.int32(), "depth": pa.int32()},
            nodes,
        )
        self._table("xml_value", {"start": pa.int32(), "name": pa.string(), "text": pa.string()}, values)
        self._database.execute(
            "create or replace temp table xml_value as "
            "select *, try_cast(trim(text) as double) as number from xml_value"
        )

    def match(self, *, cutting: bool) -> list[int]:
        """The subscriptions that the document satisfies."""
        run = self._database.execute
        run(PAIRS)
        run(f"create or replace temp table matched as select range as id from range({self._number})")
        run("create or replace temp table below as select 0 as id, 0 as high, 0 as high_start where false")
        self.found = 0
        for level in range(self._levels, 0, -1):
            for statement in (FRAMES, PREDICATES, NEIGHBOURS, BRANCHES, *[CUTTING] * cutting):
                rows = run(statement.replace("{level}", str(level))).fetchone()
                if statement in (FRAMES, PREDICATES) and rows:
                    self.found += int(rows[0])
        return [id for (id,) in run("select distinct id from below order by id").fetchall()]


FRAME = {
    **{name: pa.int32() for name in ("id", "high", "low")},
    **{name: pa.string() for name in ("high_node", "low_node")},
    **{name: pa.int32() for name in ("min_diff", "max_diff")},
    "is_final": pa.bool_(),
}
PRED = {
    **{name: pa.int32() for name in ("id", "high", "low")},
    **{name: pa.string() for name in ("node", "name", "operation", "text")},
    "number": pa.float64(),
}
BRANCH = {"id": pa.int32(), "high": pa.int32(), "number": pa.int32()}


def _store(id: int, top: Node, frames: Rows, tests: Rows, branches: Rows) -> None:
    """The rows of an expression, by level; nodes and tests are numbered through."""
    numbers = itertools.count()
    waiting = [(top, next(numbers), 1)]
    while waiting:
        node, high, level = waiting.pop()
        for each in node.below:
            low = next(numbers)
            final = not each.below and not each.tests
            frames[level].append((id, high, low, node.name, each.name, each.least, each.most, final))
            waiting.append((each, low, level + 1))
        for name, operation, value in node.tests:
            text = value[1:-1] if value[0] in "'\"" else None
            number = None if text is not None else float(value)
            tests[level].append((id, high, next(numbers), node.name, name, operation, text, number))
        if node.below or node.tests:
            branches[level].append((id, high, len(node.below) + len(node.tests)))


def _shred(document: bytes) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """Labelled nodes and their values; a node answers to its name and to ``*``."""
    clock = itertools.count(2)
    nodes: list[tuple[Any, ...]] = []
    values: list[tuple[Any, ...]] = []

    def visit(element: Any, depth: int) -> None:
        start = next(clock)
        values.extend((start, f"@{name}", text) for name, text in element.items())
        values.extend((start, "text()", text) for text in _texts(element))
        values.append((start, ".", "".join(element.itertext())))
        for each in element:
            visit(each, depth + 1)
        finish = next(clock)
        nodes.extend((label, start, finish, depth) for label in (element.tag, "*"))

    visit(etree.fromstring(document), 1)
    nodes.append(("/", 1, next(clock), 0))
    return nodes, values


def _texts(element: Any) -> Iterator[str]:
    return (text for text in (element.text, *(each.tail for each in element)) if text)
