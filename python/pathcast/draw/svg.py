"""An XTrie as SVG: the trie from the root down, its pointers, and the substring-table beside it.

A leaf has a column of its own and an inner node stands over the middle of its children, so edges never
cross. As in the paper, the number left of a node is the first row of its substring and the number right of it
the node of its longest suffix; that pointer is drawn unless it leads to the root.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from pathcast.errors import printable

if TYPE_CHECKING:
    from pathcast.draw.structure import TrieNode, XTrieStructure

_CHARACTER = 7.2  # width of one, at 12 pixels
_COLUMN = 74  # between two leaves
_LEVEL = 74
_RADIUS = 13
_MARGIN = 26
_ROW = 22
_LONGEST = 96  # characters of an expression that are shown

_STYLE = """
  text { font: 12px "DejaVu Sans", Verdana, sans-serif; fill: #1f2933; }
  .title { font-size: 15px; font-weight: bold; }
  .substring, .suffix { paint-order: stroke; stroke: white; stroke-width: 3px; }
  .small { fill: #616e7c; font-size: 11px; }
  .head { font-weight: bold; }
  .substring { fill: #1f7a4d; font-size: 11px; }
  .suffix { fill: #c4661f; font-size: 11px; }
  circle, .off { fill: #eef4fb; stroke: #3a6ea5; }
  .met circle, .off { stroke-width: 2.5; }
  line { stroke: #3a6ea5; stroke-opacity: 0.6; }
  path { fill: none; stroke: #c4661f; stroke-opacity: 0.8; }
  path.pointer { stroke-dasharray: 4 3; }
  .rule { stroke: #cbd2d9; stroke-opacity: 1; }
  .shade { fill: #f5f7fa; }
"""

_HEAD = ("row", "pattern", "substring", "parent", "level", "rank", "children", "next")


def draw(structure: XTrieStructure) -> str:
    """The whole picture."""
    title = [
        f"p{number} = {_short(expression)}" for number, expression in enumerate(structure.expressions, 1)
    ]
    title += [f"decided on a tree: {_short(expression)}" for expression in structure.declined]
    top = _MARGIN + 28 + 18 * len(title) + 16
    places = _places(structure.nodes, top)
    trie, width, height = _trie(structure.nodes, places)
    table, table_width, table_height = _table(structure, width + 2 * _MARGIN, top)
    widest = max(map(len, title), default=0) * _CHARACTER + 2 * _MARGIN
    total = max(width + 3 * _MARGIN + table_width, widest, 480.0)
    bottom = max(height, table_height) + _MARGIN + 20
    legend = (
        "left of a node: the first row of its substring; right: its longest suffix in the trie "
        "(dashed unless it is the root)"
    )
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {total:.0f} {bottom:.0f}" '
            f'width="{total:.0f}" height="{bottom:.0f}">',
            f"<style>{_STYLE}</style>",
            '<rect width="100%" height="100%" style="fill: white"/>',
            f'<text class="title" x="{_MARGIN}" y="{_MARGIN + 6}">XTrie: {len(structure.nodes)} nodes, '
            f"{len(structure.rows)} rows</text>",
            *(
                f'<text x="{_MARGIN}" y="{_MARGIN + 28 + 18 * line}">{escape(text)}</text>'
                for line, text in enumerate(title)
            ),
            *trie,
            *table,
            f'<text class="small" x="{_MARGIN}" y="{bottom - 12:.0f}">{legend}</text>',
            "</svg>",
            "",
        ]
    )


def _short(expression: str) -> str:
    text = printable(expression)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _places(nodes: tuple[TrieNode, ...], top: float) -> dict[int, tuple[float, float]]:
    """By node number: where its middle is."""
    children: dict[int, list[TrieNode]] = {}
    for node in nodes:
        children.setdefault(node.parent, []).append(node)
    depth = {0: -1}
    for node in nodes:
        depth[node.number] = depth[node.parent] + 1 if node.parent or node.number == 1 else 0
    across: dict[int, float] = {}
    column = 0.0
    # Children before parents: nodes are numbered breadth first, but leaves must be placed depth first.
    stack = [(node, False) for node in reversed(children.get(0, []))]
    while stack:
        node, done = stack.pop()
        below = children.get(node.number, [])
        if not below:
            across[node.number] = column
            column += 1
        elif done:
            across[node.number] = (across[below[0].number] + across[below[-1].number]) / 2
        else:
            stack.append((node, True))
            stack.extend((child, False) for child in reversed(below))
    return {
        number: (_MARGIN + 24 + _COLUMN * place, top + _RADIUS + _LEVEL * depth[number])
        for number, place in across.items()
    }


def _trie(
    nodes: tuple[TrieNode, ...], places: dict[int, tuple[float, float]]
) -> tuple[list[str], float, float]:
    lines: list[str] = []
    pointers: list[str] = []
    marks: list[str] = []
    for node in nodes:
        x, y = places[node.number]
        if node.parent:
            px, py = places[node.parent]
            lines.append(f'<line x1="{px:.0f}" y1="{py:.0f}" x2="{x:.0f}" y2="{y:.0f}"/>')
            side = "end" if x < px else "start"
            shift = -5 if x < px else 5
            marks.append(
                f'<text x="{(px + x) / 2 + shift:.0f}" y="{(py + y) / 2 + 2:.0f}" text-anchor="{side}">'
                f"{escape(printable(node.name))}</text>"
            )
        if node.max_suffix > 1:
            pointers.append(_pointer(places[node.number], places[node.max_suffix]))
        marks.append(_mark(node, x, y))
    width = max(x for x, _ in places.values()) + 34
    height = max(y for _, y in places.values()) + _RADIUS + 20
    return [*lines, *pointers, *marks], width, height


def _mark(node: TrieNode, x: float, y: float) -> str:
    met = ' class="met"' if node.substring else ""
    shape = f'<circle cx="{x:.0f}" cy="{y:.0f}" r="{_RADIUS}"/>'
    below = ""
    if node.number > 1 and not node.parent:
        size = 2 * _RADIUS
        shape = (
            f'<rect class="off" x="{x - _RADIUS:.0f}" y="{y - _RADIUS:.0f}" width="{size}" height="{size}"/>'
        )
        below = (
            f'<text x="{x:.0f}" y="{y + _RADIUS + 15:.0f}" text-anchor="middle">'
            f"{escape(printable(node.name))}</text>"
        )
    return (
        f'<g{met}>{shape}<text x="{x:.0f}" y="{y + 4:.0f}" text-anchor="middle">{node.number}</text>'
        f'<text class="substring" x="{x - _RADIUS - 4:.0f}" y="{y + 4:.0f}" text-anchor="end">'
        f"{node.substring or '–'}</text>"
        f'<text class="suffix" x="{x + _RADIUS + 4:.0f}" y="{y + 4:.0f}">{node.max_suffix}</text>{below}</g>'
    )


def _pointer(start: tuple[float, float], end: tuple[float, float]) -> str:
    """A curve that bends away from the straight line, which edges may lie on."""
    (x1, y1), (x2, y2) = start, end
    length = max(((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5, 1.0)
    ux, uy = (x2 - x1) / length, (y2 - y1) / length
    bend = min(40.0, length / 4)
    mx, my = (x1 + x2) / 2 - uy * bend, (y1 + y2) / 2 + ux * bend
    x1, y1 = _towards((x1, y1), (mx, my), _RADIUS)
    x2, y2 = _towards((x2, y2), (mx, my), _RADIUS + 2)
    away = max(((x2 - mx) ** 2 + (y2 - my) ** 2) ** 0.5, 1.0)
    ux, uy = (x2 - mx) / away, (y2 - my) / away
    tip = (
        f"M{x2 - 7 * ux - 4 * uy:.1f} {y2 - 7 * uy + 4 * ux:.1f} L{x2:.1f} {y2:.1f} "
        f"L{x2 - 7 * ux + 4 * uy:.1f} {y2 - 7 * uy - 4 * ux:.1f}"
    )
    curve = f"M{x1:.1f} {y1:.1f} Q{mx:.1f} {my:.1f} {x2:.1f} {y2:.1f}"
    return f'<path class="pointer" d="{curve}"/><path d="{tip}"/>'


def _towards(start: tuple[float, float], end: tuple[float, float], distance: float) -> tuple[float, float]:
    (x1, y1), (x2, y2) = start, end
    length = max(((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5, 1.0)
    return x1 + (x2 - x1) / length * distance, y1 + (y2 - y1) / length * distance


def _table(structure: XTrieStructure, left: float, top: float) -> tuple[list[str], float, float]:
    cells = [_HEAD] + [
        (
            str(row.number),
            row.expression,
            row.substring or f"({row.mode})",
            str(row.parent),
            row.levels,
            str(row.rank),
            f"{row.children} in order" if row.mode == "ordered" and row.children > 1 else str(row.children),
            str(row.next),
        )
        for row in structure.rows
    ]
    widths = [max(len(line[at]) for line in cells) * _CHARACTER + 18 for at in range(len(_HEAD))]
    width = sum(widths)
    drawn: list[str] = []
    for number, line in enumerate(cells):
        y = top + _ROW * number
        row = structure.rows[number - 1] if number else None
        if row is not None and int(row.expression[1:]) % 2 == 0:
            drawn.append(
                f'<rect class="shade" x="{left:.0f}" y="{y:.0f}" width="{width:.0f}" height="{_ROW}"/>'
            )
        if row is None or not row.parent:
            drawn.append(
                f'<line class="rule" x1="{left:.0f}" y1="{y + (_ROW if row is None else 0):.0f}" '
                f'x2="{left + width:.0f}" y2="{y + (_ROW if row is None else 0):.0f}"/>'
            )
        x = left + 8
        for text, size in zip(line, widths, strict=True):
            style = ' class="head"' if row is None else ""
            drawn.append(f'<text{style} x="{x:.0f}" y="{y + 15:.0f}">{escape(printable(text))}</text>')
            x += size
    return drawn, width, top + _ROW * len(cells)
