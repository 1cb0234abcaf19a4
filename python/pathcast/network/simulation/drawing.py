"""Draws a simulated network as SVG: brokers in rows by their distance from the first, links as wide as
their traffic.

A broker shows its name, the filters in its table and what its clients got. Everything is computed; nothing
is random.
"""

from __future__ import annotations

from xml.sax.saxutils import escape

from pathcast.errors import printable
from pathcast.network.simulation.simulate import BrokerCount, Report

_ROW = 120
_COLUMN = 172
_SMALL = 16
"""Up to so many brokers side by side have boxes; more are dots."""
_MARGIN = 70
_WIDEST = 14.0
_STYLE = """
  text { font: 12px "DejaVu Sans", Verdana, sans-serif; fill: #1f2933; text-anchor: middle; }
  .title { font-size: 15px; font-weight: bold; text-anchor: start; }
  .small { fill: #616e7c; font-size: 11px; }
  rect, circle { fill: #eef4fb; stroke: #3a6ea5; }
  line { stroke: #1f6f8b; stroke-opacity: 0.55; stroke-linecap: round; }
  line.unused { stroke: #9aa5b1; stroke-dasharray: 4 4; }
"""


def draw(report: Report) -> str:
    """The drawing of a run.

    >>> from pathcast.network.simulation.simulate import simulate
    >>> from pathcast.network.simulation.topology import tree
    >>> drawing = draw(simulate(tree(3)))
    >>> drawing.count("<line"), drawing.startswith("<svg ")
    (2, True)
    """
    places, width, height, boxed = _placed(report)
    traffic = {link: _traffic(kinds) for link, kinds in report.links.items()}
    most = max(traffic.values(), default=0) or 1
    shapes = [_link(places, link, number, most, boxed) for link, number in traffic.items()]
    shapes += [_broker(places[broker.name], broker, boxed) for broker in report.brokers]
    title = (
        f"{len(report.brokers):,} brokers, {report.routing_messages:,} messages, "
        f"{report.counted.delivered:,} deliveries"
    )
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}">',
            f"<style>{_STYLE}</style>",
            '<rect width="100%" height="100%" style="fill: white; stroke: none"/>',
            f'<text class="title" x="{_MARGIN // 2}" y="32">{title}</text>',
            *shapes,
            "</svg>",
            "",
        ]
    )


def _traffic(kinds: dict[str, int]) -> int:
    return sum(number for kind, number in kinds.items() if kind not in ("Hello", "Reset"))


def _placed(report: Report) -> tuple[dict[str, tuple[float, float]], int, int, bool]:
    """Where brokers stand: rows by distance, those at the ends side by side, others above their middle."""
    near: dict[str, list[str]] = {broker.name: [] for broker in report.brokers}
    for one, other in report.links:
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
    boxed = ends <= _SMALL
    step = _COLUMN if boxed else 1400 / max(1, ends)
    width = max(520, round(ends * step) + 2 * _MARGIN)
    left = (width - ends * step) / 2
    places = {name: (left + (at + 0.5) * step, 90.0 + row[name] * _ROW) for name, at in column.items()}
    return places, width, 40 + (max(row.values(), default=0) + 1) * _ROW, boxed


def _link(
    places: dict[str, tuple[float, float]], link: tuple[str, str], number: int, most: int, boxed: bool
) -> str:
    (x1, y1), (x2, y2) = places[link[0]], places[link[1]]
    wide = 1 + (_WIDEST - 1) * number / most
    kind = "" if number else ' class="unused"'
    line = (
        f'<line{kind} x1="{x1:.0f}" y1="{y1:.0f}" x2="{x2:.0f}" y2="{y2:.0f}" stroke-width="{wide:.1f}">'
        f"<title>{_text(link[0])} – {_text(link[1])}: {number:,} messages</title></line>"
    )
    if not boxed:
        return line
    return (
        f'{line}\n<text class="small" x="{(x1 + x2) / 2:.0f}" y="{(y1 + y2) / 2 - 3:.0f}">{number:,}</text>'
    )


def _broker(place: tuple[float, float], broker: BrokerCount, boxed: bool) -> str:
    x, y = place
    said = f"filters {broker.filters:,}, delivered {broker.delivered:,}"
    if not boxed:
        return f'<circle cx="{x:.0f}" cy="{y:.0f}" r="4"><title>{_text(broker.name)}: {said}</title></circle>'
    return "\n".join(
        [
            f'<rect x="{x - 77:.0f}" y="{y - 21:.0f}" width="154" height="42" rx="6"/>',
            f'<text x="{x:.0f}" y="{y - 4:.0f}">{_text(broker.name)}</text>',
            f'<text class="small" x="{x:.0f}" y="{y + 12:.0f}">{said}</text>',
        ]
    )


def _text(name: str) -> str:
    return escape(printable(name[:24]))
