"""Draws a simulated network as SVG: links are as wide as their traffic.

A broker shows its name, the filters in its table and what its clients got.
"""

from __future__ import annotations

from pathcast.network.layout import arranged, box, drawn, line
from pathcast.network.simulation.simulate import Report

_WIDEST = 14.0


def draw(report: Report) -> str:
    """The drawing of a run.

    >>> from pathcast.network.simulation.simulate import simulate
    >>> from pathcast.network.simulation.topology import tree
    >>> drawing = draw(simulate(tree(3)))
    >>> drawing.count("<line"), drawing.startswith("<svg ")
    (2, True)
    """
    layout = arranged((broker.name for broker in report.brokers), report.links)
    traffic = {link: _traffic(kinds) for link, kinds in report.links.items()}
    most = max(traffic.values(), default=0) or 1
    shapes = [
        line(
            layout,
            link,
            "" if number else "unused",
            1 + (_WIDEST - 1) * number / most,
            f"{number:,} messages",
            f"{number:,}",
        )
        for link, number in traffic.items()
    ]
    shapes += [
        box(layout, broker.name, f"filters {broker.filters:,}, delivered {broker.delivered:,}")
        for broker in report.brokers
    ]
    title = (
        f"{len(report.brokers):,} brokers, {report.routing_messages:,} messages, "
        f"{report.counted.delivered:,} deliveries"
    )
    return drawn(layout, title, shapes)


def _traffic(kinds: dict[str, int]) -> int:
    return sum(number for kind, number in kinds.items() if kind not in ("Hello", "Reset"))
