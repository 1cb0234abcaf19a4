"""A report as one HTML file that needs nothing else: sections in a grid, and matplotlib's drawings in them.

What is handed over is HTML, but for titles and the text below them.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STYLE = """
:root { color-scheme: light dark; --ink: #1f2933; --muted: #66727f; --line: #e4e7eb; }
:root { --ground: #f5f6f7; --card: #fff; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e7eb; --muted: #9aa5b1; --line: #323f4b; --ground: #12171c; --card: #1b2229; }
  svg { filter: invert(.88) hue-rotate(180deg); }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 70rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1 { font-size: 1.7rem; margin: 0; } h2 { font-size: 1.05rem; margin: 0 0 .2rem; }
p { margin: 0 0 .8rem; color: var(--muted); }
.grid { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(26rem, 100%), 1fr)); gap: 1rem; }
.wide { grid-column: 1 / -1; overflow-x: auto; }
section { min-width: 0; background: var(--card); }
section { border: 1px solid var(--line); border-radius: .5rem; padding: 1rem 1.2rem; }
svg { display: block; width: 100%; height: auto; }
svg text { font-family: system-ui, sans-serif !important; }
table { border-collapse: collapse; width: 100%; font-size: .85rem; margin: .4rem 0 .6rem; }
th { text-align: left; color: var(--muted); font-weight: 500; vertical-align: bottom; }
th, td { padding: .3rem .6rem .3rem 0; border-bottom: 1px solid var(--line); }
td { vertical-align: top; } .n { text-align: right; font-variant-numeric: tabular-nums; }
td.n, td:first-child { white-space: nowrap; }
"""
SETTINGS: Any = {
    "svg.fonttype": "none",  # letters stay letters: small, sharp, and can be searched for
    "svg.hashsalt": "pathcast",  # the same figures give the same bytes
}


def page(title: str, above: str, sections: Iterable[str], style: str = "") -> str:
    """The whole file; `above` stands between the title and the sections."""
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}{style}</style><main><h1>{escape(title)}</h1>"
        f'{above}<div class="grid">{"".join(sections)}</div></main></html>\n'
    )


def section(body: str, *, title: str = "", says: str = "", wide: bool = False) -> str:
    """A card; a wide one has a row of the grid to itself."""
    kind = ' class="wide"' if wide else ""
    head = f"<h2>{escape(title)}</h2>" if title else ""
    text = f"<p>{escape(says)}</p>" if says else ""
    return f"<section{kind}>{head}{text}{body}</section>"


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Cells under their columns; a column whose name starts with # holds numbers.

    >>> table(("", "#n"), [("<b>you</b>", "7")])
    '<table><tr><th></th><th class="n">n</th></tr><tr><td><b>you</b></td><td class="n">7</td></tr></table>'
    """
    kinds = [' class="n"' if name.startswith("#") else "" for name in columns]
    names = (escape(name.removeprefix("#")) for name in columns)

    def row(cells: Iterable[str], tag: str) -> str:
        inside = (f"<{tag}{kind}>{cell}</{tag}>" for cell, kind in zip(cells, kinds, strict=True))
        return f"<tr>{''.join(inside)}</tr>"

    return f"<table>{row(names, 'th')}{''.join(row(cells, 'td') for cells in rows)}</table>"


def svg(figure: Figure, name: str) -> str:
    """A drawing without what a file would need, as wide as the page lets it be.

    Several share one page, and what they refer to must not clash: `name` is put before it.
    """
    import matplotlib as mpl

    out = io.StringIO()
    with mpl.rc_context(SETTINGS):
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None})
    text = out.getvalue()
    text = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.DOTALL)
    head, rest = text.split(">", 1)
    text = re.sub(r' (width|height)="[^"]*"', "", head) + ">" + rest
    return re.sub(r'(id="|url\(#|href="#)', rf"\g<1>{name}-", text)
