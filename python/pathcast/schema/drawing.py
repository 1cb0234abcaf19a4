"""Draws the graph of a schema as SVG: elements in columns by level, from the root on the left.

An element stands in the column of the *longest* way to it when it is in no cycle, with cycles taken as one
node, so that edges lead to the right; only edges inside a cycle may lead back, and these and their elements
have another colour. The order in a column follows the middle of an element's neighbours, swept a few times
to and fro, which is the usual way to few crossings. Everything is computed; nothing is random.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias
from xml.sax.saxutils import escape

from pathcast.errors import printable
from pathcast.schema.declarations import tag
from pathcast.schema.schema import Schema

_CHARACTER = 7.2  # width of one, at 12 pixels
_HEIGHT = 22  # of a box
_ROW = 32
_LANE = 8  # of a way between boxes
_GAP = 90  # between columns
_MARGIN = 24
_TITLE = 56  # room above the columns
_SWEEPS = 12

Item: TypeAlias = "str | tuple[str, int]"
"""What stands in a column: the box of an element, or a lane for edges that pass on to one."""
Box: TypeAlias = "tuple[float, float, float]"

_STYLE = """
  text { font: 12px "DejaVu Sans", Verdana, sans-serif; fill: #1f2933; }
  .title { font-size: 15px; font-weight: bold; }
  .small { fill: #616e7c; }
  rect { fill: #eef4fb; stroke: #3a6ea5; }
  .recursive rect { fill: #fdf0e3; stroke: #c4661f; }
  .root rect { stroke-width: 2.5; }
  path { fill: none; stroke: #3a6ea5; stroke-opacity: 0.45; }
  path.cycle { stroke: #c4661f; stroke-opacity: 0.75; }
  path.back { stroke: #c4661f; stroke-opacity: 0.75; stroke-dasharray: 5 3; }
"""


def draw(schema: Schema) -> str:
    """The drawing of what is reachable from the root.

    >>> schema = Schema.from_text("<!ELEMENT a (b?, c)> <!ELEMENT b (c)> <!ELEMENT c EMPTY>")
    >>> drawing = draw(schema)
    >>> drawing.count("<rect"), drawing.count("<path")
    (6, 6)
    """
    columns = _columns(schema)
    ways = _ways(schema, columns)
    boxes = _placed(_ordered(schema, columns, ways))
    edges = [_edge(schema, parent, child, lanes, boxes) for (parent, child), lanes in ways.items()]
    names = [_box(schema, name, *box) for name, box in boxes.items() if isinstance(name, str)]
    legend = _legend()
    width = max(max(left + size for left, _, size in boxes.values()) + _MARGIN + 40, 740)
    height = max(top for _, top, _ in boxes.values()) + _ROW + _MARGIN
    depth = f"depth {schema.depth}" if schema.depth else "depth unbounded"
    title = f"{len(names)} elements, {len(edges)} edges, {len(schema.recursive)} in cycles, {depth}"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
            f'width="{width:.0f}" height="{height:.0f}">',
            f"<style>{_STYLE}</style>",
            '<rect width="100%" height="100%" style="fill: white; stroke: none"/>',
            f'<text class="title" x="{_MARGIN}" y="28">{escape(printable(tag(schema.root)))}</text>',
            f'<text class="small" x="{_MARGIN}" y="46">{title}</text>',
            *legend,
            *sorted(edges),  # plain ones first, so that cycles lie on top
            *names,
            "</svg>",
            "",
        ]
    )


def _columns(schema: Schema) -> dict[str, int]:
    """The column of each reachable element."""
    reachable = set(schema.reachable)
    component = {name: place for place, names in enumerate(schema.components) for name in names}
    group = {name: f"#{component[name]}" if name in component else name for name in reachable}
    members: dict[str, list[str]] = {}
    for name in schema.reachable:
        members.setdefault(group[name], []).append(name)
    waiting = dict.fromkeys(members, 0)
    for name in reachable:
        for child in schema.children(name):
            waiting[group[child]] += group[child] != group[name]
    first = dict.fromkeys(members, 0)
    ready = [group[schema.root]]
    columns: dict[str, int] = {}
    while ready:
        now = ready.pop()
        inner = _inside(schema, members[now], now, group, first[now])
        columns.update(inner)
        last = max(inner.values())
        for name in members[now]:
            for child in schema.children(name):
                if group[child] != now:
                    # What hangs below a cycle stands behind all of it.
                    first[group[child]] = max(
                        first[group[child]], (last if now[0] == "#" else inner[name]) + 1
                    )
                    waiting[group[child]] -= 1
                    if not waiting[group[child]]:
                        ready.append(group[child])
    return columns


def _inside(
    schema: Schema, names: Sequence[str], here: str, group: Mapping[str, str], first: int
) -> dict[str, int]:
    """The columns of the elements of one cycle, by their distance from where it is entered."""
    if len(names) == 1:
        return {names[0]: first}
    entered = [name for name in names if name == schema.root] or [
        child
        for name in schema.reachable
        if group[name] != here
        for child in schema.children(name)
        if group[child] == here
    ]
    columns = dict.fromkeys(entered, first)
    now = list(columns)
    for name in now:
        for child in schema.children(name):
            if group[child] == here and child not in columns:
                columns[child] = columns[name] + 1
                now.append(child)
    return columns


def _ways(schema: Schema, columns: Mapping[str, int]) -> dict[tuple[str, str], list[Item]]:
    """What each edge passes between its ends: a lane in every column that it would otherwise cross.

    Edges to one element share its lanes. One that leads back passes its own column too.
    """
    ways: dict[tuple[str, str], list[Item]] = {}
    for parent, here in columns.items():
        for child in schema.children(parent):
            there = columns[child]
            passed = range(here + 1, there) if there > here else range(here, there, -1)
            ways[parent, child] = [(child, column) for column in passed]
    return ways


def _ordered(
    schema: Schema, columns: Mapping[str, int], ways: Mapping[tuple[str, str], list[Item]]
) -> list[list[Item]]:
    """The columns with their boxes and lanes in an order that crosses few edges."""
    listed: list[list[Item]] = [[] for _ in range(max(columns.values()) + 1)]
    column_of: dict[Item, int] = {}
    for name in schema.reachable:
        column_of[name] = columns[name]
        listed[columns[name]].append(name)
    near: dict[Item, list[Item]] = {name: [] for name in columns}
    for (parent, child), lanes in ways.items():
        for lane in lanes:
            if lane not in column_of:
                column_of[lane] = int(lane[1])
                listed[int(lane[1])].append(lane)
                near[lane] = []
        for one, other in pairwise([parent, *lanes, child]):
            near[one].append(other)
            near[other].append(one)
    place = {item: at / len(column) for column in listed for at, item in enumerate(column)}
    for sweep in range(_SWEEPS):
        side = -1 if sweep % 2 == 0 else 1
        for at, column in enumerate(listed) if side < 0 else reversed(list(enumerate(listed))):
            middle = {}
            for item in column:
                around = [place[one] for one in near[item] if (column_of[one] - at) * side > 0]
                middle[item] = sum(around) / len(around) if around else place[item]
            column.sort(key=lambda item: middle[item])
            place.update((item, (number + 0.5) / len(column)) for number, item in enumerate(column))
    return listed


def _placed(columns: Sequence[Sequence[Item]]) -> dict[Item, Box]:
    """Left, top and width of each box and lane; columns are centred against the tallest."""
    boxes: dict[Item, Box] = {}

    def height(item: Item) -> float:
        return _ROW if isinstance(item, str) else _LANE

    tallest = max(sum(map(height, column)) for column in columns)
    left = float(_MARGIN)
    for column in columns:
        size = max(len(printable(name)) for name in column if isinstance(name, str)) * _CHARACTER + 16
        top = _TITLE + 20 + (tallest - sum(map(height, column))) / 2
        for item in column:
            boxes[item] = (left, top, size)
            top += height(item)
        left += size + _GAP + min(2 * len(column), 120)
    return boxes


def _box(schema: Schema, name: str, left: float, top: float, size: float) -> str:
    kinds = ["recursive"] * (name in schema.recursive) + ["root"] * (name == schema.root)
    return (
        f'<g class="{" ".join(kinds)}"><rect x="{left:.1f}" y="{top:.1f}" width="{size:.1f}" '
        f'height="{_HEIGHT}" rx="4"/><text x="{left + 8:.1f}" y="{top + 15.5:.1f}">'
        f"{escape(printable(tag(name)))}</text></g>"
    )


def _edge(schema: Schema, parent: str, child: str, lanes: Sequence[Item], boxes: Mapping[Item, Box]) -> str:
    """From the parent's right side along its lanes to the child's left side, or right if it leads back.

    Between columns there are no boxes, and a lane is between boxes, so an edge never runs behind one.
    """
    left, top, size = boxes[parent]
    end, end_top, end_size = boxes[child]
    x, y = left + size, top + _HEIGHT / 2
    together = parent in schema.recursive and any(
        parent in names and child in names for names in schema.components
    )
    leads_back = end <= left
    kind = "back" if leads_back else "cycle" if together else ""
    if parent == child:
        y -= 5
    path = [f"M{x:.1f} {y:.1f}"]
    stops = [(boxes[lane][0], boxes[lane][0] + boxes[lane][2], boxes[lane][1] + _LANE / 2) for lane in lanes]
    for near, far, level in stops:
        first, last = (far, near) if leads_back else (near, far)
        path.append(f"{_curve(x, y, first, level)} H{last:.1f}")
        x, y = last, level
    goal = end + end_size if leads_back else end
    path.append(_curve(x, y, goal, end_top + _HEIGHT / 2 + (5 if parent == child else 0)))
    name = f' class="{kind}"' if kind else ""
    return f'<path{name} d="{" ".join(path)}"/>'


def _curve(x: float, y: float, to: float, level: float) -> str:
    """A curve within the gap between two columns; one that ends where it starts bulges into it."""
    if abs(to - x) > 1:
        middle = (x + to) / 2
        return f"C{middle:.1f} {y:.1f} {middle:.1f} {level:.1f} {to:.1f} {level:.1f}"
    bulge = 26 + min(abs(level - y) / 6, 30)
    return f"C{x + bulge:.1f} {y:.1f} {to + bulge:.1f} {level:.1f} {to:.1f} {level:.1f}"


def _legend() -> list[str]:
    """What the colours mean."""
    return [
        '<g transform="translate(400 16)"><rect width="20" height="14" rx="3"/>',
        '<text x="28" y="12">element</text></g>',
        '<g class="recursive" transform="translate(490 16)"><rect width="20" height="14" rx="3"/>',
        '<text x="28" y="12">can contain itself</text></g>',
        '<g transform="translate(400 38)"><path d="M0 7 H20"/><text x="28" y="12">may contain</text></g>',
        '<g transform="translate(520 38)"><path class="cycle" d="M0 7 H20"/>'
        '<text x="28" y="12">in a cycle</text></g>',
        '<g transform="translate(620 38)"><path class="back" d="M0 7 H20"/>'
        '<text x="28" y="12">leads back</text></g>',
    ]
