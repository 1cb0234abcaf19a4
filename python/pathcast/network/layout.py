"""Where brokers stand in a drawing: rows by their distance from the first, as few crossings as a tree needs.

Everything is computed; nothing is random.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple
from xml.sax.saxutils import escape

from pathcast.errors import printable

ROW = 120
COLUMN = 172
SMALL = 16
"""Up to so many brokers side by side have boxes; more are dots."""
MARGIN = 70
STYLE = """
  text { font: 12px "DejaVu Sans", Verdana, sans-serif; fill: #1f2933; text-anchor: middle; }
  .title { font-size: 15px; font-weight: bold; text-anchor: start; }
  .small { fill: #616e7c; font-size: 11px; }
  rect, circle { fill: #eef4fb; stroke: #3a6ea5; }
  .bad { fill: #fdecea; stroke: #b3261e; }
  line { stroke: #1f6f8b; stroke-opacity: 0.55; stroke-linecap: round; }
  line.unused { stroke: #9aa5b1; stroke-dasharray: 4 4; }
  line.bad { stroke: #b3261e; stroke-dasharray: 4 4; }
"""


class Layout(NamedTuple):
    """Places, and the size of the drawing."""

    places: dict[str, tuple[float, float]]
    width: int
    height: int
    boxed: bool
    """Whether there is room for boxes with text."""


def arranged(names: Iterable[str], links: Iterable[tuple[str, str]]) -> Layout:
    """Rows by distance, those at the ends side by side, others above their middle.

    >>> arranged(["b1", "b2", "b3"], [("b1", "b2"), ("b1", "b3")]).places
    {'b2': (174.0, 210.0), 'b3': (346.0, 210.0), 'b1': (260.0, 90.0)}
    """
    near: dict[str, list[str]] = {name: [] for name in names}
    for one, other in links:
        near[one].append(other)
        near[other].append(one)
    row: dict[str, int] = {}
    below: dict[str, list[str]] = {name: [] for name in near}
    for start in near:
        if start in row:
            continue
        row[start] = 0
        found = [start]
        for name in found:
            for other in near[name]:
                if other not in row:
                    row[other] = row[name] + 1
                    below[name].append(other)
                    found.append(other)
    column: dict[str, float] = {}
    ends = 0
    # Downwards once to number the ends from left to right, then upwards for the middles.
    order: list[str] = []
    pending = [name for name in reversed(near) if row[name] == 0]
    while pending:
        name = pending.pop()
        order.append(name)
        pending.extend(reversed(below[name]))
        if not below[name]:
            column[name] = ends
            ends += 1
    for name in reversed(order):
        if below[name]:
            column[name] = sum(column[other] for other in below[name]) / len(below[name])
    boxed = ends <= SMALL
    step = COLUMN if boxed else 1400 / max(1, ends)
    width = max(520, round(ends * step) + 2 * MARGIN)
    left = (width - ends * step) / 2
    places = {name: (left + (at + 0.5) * step, 90.0 + row[name] * ROW) for name, at in column.items()}
    return Layout(places, width, 40 + (max(row.values(), default=0) + 1) * ROW, boxed)


def drawn(layout: Layout, title: str, shapes: Iterable[str]) -> str:
    """The whole of an SVG file."""
    width, height = layout.width, layout.height
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}">',
            f"<style>{STYLE}</style>",
            '<rect width="100%" height="100%" style="fill: white; stroke: none"/>',
            f'<text class="title" x="{MARGIN // 2}" y="32">{title}</text>',
            *shapes,
            "</svg>",
            "",
        ]
    )


def line(layout: Layout, link: tuple[str, str], kind: str, wide: float, said: str, label: str) -> str:
    """A link between two brokers."""
    (x1, y1), (x2, y2) = layout.places[link[0]], layout.places[link[1]]
    named = f' class="{kind}"' if kind else ""
    shape = (
        f'<line{named} x1="{x1:.0f}" y1="{y1:.0f}" x2="{x2:.0f}" y2="{y2:.0f}" stroke-width="{wide:.1f}">'
        f"<title>{shown(link[0])} – {shown(link[1])}: {escape(printable(said))}</title></line>"
    )
    if not layout.boxed:
        return shape
    x, y = (x1 + x2) / 2, (y1 + y2) / 2 - 3
    return f'{shape}\n<text class="small" x="{x:.0f}" y="{y:.0f}">{escape(label)}</text>'


def box(layout: Layout, name: str, said: str, kind: str = "") -> str:
    """A broker with a line about it; a dot where there is no room."""
    x, y = layout.places[name]
    named = f' class="{kind}"' if kind else ""
    if not layout.boxed:
        title = f"<title>{shown(name)}: {escape(said)}</title>"
        return f'<circle{named} cx="{x:.0f}" cy="{y:.0f}" r="4">{title}</circle>'
    return "\n".join(
        [
            f'<rect{named} x="{x - 77:.0f}" y="{y - 21:.0f}" width="154" height="42" rx="6"/>',
            f'<text x="{x:.0f}" y="{y - 4:.0f}">{shown(name)}</text>',
            f'<text class="small" x="{x:.0f}" y="{y + 12:.0f}">{escape(said)}</text>',
        ]
    )


def shown(name: str) -> str:
    """A name as it may stand in a drawing."""
    return escape(printable(name[:24]))
