"""Draws the graph of a schema as SVG: elements in columns by level, from the root on the left.

An element stands in the column of the *longest* way to it when it is in no cycle, with cycles taken as one
node, so that edges lead to the right; only edges inside a cycle may lead back, and these and their elements
have another colour. The order in a column follows the middle of an element's neighbours, swept a few times
to and fro, which is the usual way to few crossings. Everything is computed; nothing is random.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

from pathcast.errors import printable
from pathcast.schema.schema import Schema

_CHARACTER = 7.2  # width of one, at 12 pixels
_HEIGHT = 22  # of a box
_ROW = 32
_GAP = 90  # between columns
_MARGIN = 24
_TITLE = 56  # room above the columns
_SWEEPS = 12

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
    columns = _ordered(schema, _columns(schema))
    boxes = _placed(columns)
    edges = [_edge(schema, parent, child, boxes) for parent in boxes for child in schema.children(parent)]
    names = [_box(schema, name, *box) for name, box in boxes.items()]
    legend = _legend()
    width = max(max(left + size for left, _, size in boxes.values()) + _MARGIN + 40, 740)
    height = max(top for _, top, _ in boxes.values()) + _ROW + _MARGIN
    depth = f"depth {schema.depth}" if schema.depth else "depth unbounded"
    title = f"{len(boxes)} elements, {len(edges)} edges, {len(schema.recursive)} in cycles, {depth}"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
            f'width="{width:.0f}" height="{height:.0f}">',
            f"<style>{_STYLE}</style>",
            '<rect width="100%" height="100%" style="fill: white; stroke: none"/>',
            f'<text class="title" x="{_MARGIN}" y="28">{escape(printable(schema.root))}</text>',
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


def _ordered(schema: Schema, columns: Mapping[str, int]) -> list[list[str]]:
    """The columns with their elements in an order that crosses few edges."""
    listed: list[list[str]] = [[] for _ in range(max(columns.values()) + 1)]
    for name in schema.reachable:
        listed[columns[name]].append(name)
    parents: dict[str, list[str]] = {name: [] for name in columns}
    for name in columns:
        for child in schema.children(name):
            parents[child].append(name)
    place = {name: at / len(column) for column in listed for at, name in enumerate(column)}
    for sweep in range(_SWEEPS):
        to_right = sweep % 2 == 0
        for column in listed if to_right else reversed(listed):
            middle = {}
            for name in column:
                around = parents[name] if to_right else schema.children(name)
                near = [place[one] for one in around if columns[one] != columns[name]]
                middle[name] = sum(near) / len(near) if near else place[name]
            column.sort(key=lambda name: middle[name])
            place.update((name, (at + 0.5) / len(column)) for at, name in enumerate(column))
    return listed


def _placed(columns: Sequence[Sequence[str]]) -> dict[str, tuple[float, float, float]]:
    """Left, top and width of each box; columns are centred against the tallest."""
    boxes: dict[str, tuple[float, float, float]] = {}
    tallest = max(map(len, columns))
    left = float(_MARGIN)
    for column in columns:
        size = max(len(printable(name)) for name in column) * _CHARACTER + 16
        top = _TITLE + 20 + (tallest - len(column)) * _ROW / 2
        for at, name in enumerate(column):
            boxes[name] = (left, top + at * _ROW, size)
        left += size + _GAP + min(2 * len(column), 120)
    return boxes


def _box(schema: Schema, name: str, left: float, top: float, size: float) -> str:
    kinds = ["recursive"] * (name in schema.recursive) + ["root"] * (name == schema.root)
    return (
        f'<g class="{" ".join(kinds)}"><rect x="{left:.1f}" y="{top:.1f}" width="{size:.1f}" '
        f'height="{_HEIGHT}" rx="4"/><text x="{left + 8:.1f}" y="{top + 15.5:.1f}">'
        f"{escape(printable(name))}</text></g>"
    )


def _edge(schema: Schema, parent: str, child: str, boxes: Mapping[str, tuple[float, float, float]]) -> str:
    """A curve from the right side of the parent to the left side of the child, or around if it leads back."""
    left, top, size = boxes[parent]
    end, end_top, end_size = boxes[child]
    start, start_y, end_y = left + size, top + _HEIGHT / 2, end_top + _HEIGHT / 2
    together = parent in schema.recursive and any(
        parent in names and child in names for names in schema.components
    )
    if end > start:
        bend = (end - start) / 2
        kind = ' class="cycle"' if together else ""
        return (
            f'<path{kind} d="M{start:.1f} {start_y:.1f} C{start + bend:.1f} {start_y:.1f} '
            f'{end - bend:.1f} {end_y:.1f} {end:.1f} {end_y:.1f}"/>'
        )
    bulge = 26 + min(abs(end_y - start_y) / 6, 30)
    if parent == child:
        start_y, end_y = start_y + 5, end_y - 5
    # Into the right side of the child, so that the curve keeps clear of the boxes between.
    return (
        f'<path class="back" d="M{start:.1f} {start_y:.1f} C{start + bulge:.1f} {start_y:.1f} '
        f'{end + end_size + bulge:.1f} {end_y:.1f} {end + end_size:.1f} {end_y:.1f}"/>'
    )


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
