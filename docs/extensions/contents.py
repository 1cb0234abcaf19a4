"""The site's navigation is the list in `docs/index.md`: a heading and the links below it are one part.

The empty line that ends a session of Python, which doctest asks for, is not shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from docutils import nodes  # type: ignore[import-untyped]
from sphinx.application import Sphinx

INDEX = "docs/index"
WHOLE = 24  # letters of a word of code that a line of a telephone has room for
FIRST_PAGE = """<!doctype html>
<meta charset="utf-8"><title>Pathcast</title>
<meta http-equiv="refresh" content="0; url=docs/index.html">
<a href="docs/index.html">Pathcast: the documentation</a>
"""


def parts(text: str) -> Iterator[tuple[str, list[str]]]:
    """The headings of the second level, each with the pages that its list names."""
    for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        heading, _, below = part.partition("\n")
        yield heading, re.findall(r"^- \[[^\]]+\]\(([^)#:]+)\.md\)", below, re.MULTILINE)


def add_contents(app: Sphinx, docname: str, source: list[str]) -> None:
    """Appends a hidden table of contents for each part of the list.

    The line on installing is for who meets a page by itself; on the site it would be on every page.
    """
    source[0] = re.sub(r"^> `pip install pathcast` .*\n\n", "", source[0], count=1, flags=re.MULTILINE)
    if docname == INDEX:
        for heading, pages in list(parts(source[0])):
            lines = "\n".join(pages)
            source[0] += f"\n```{{toctree}}\n:hidden:\n:titlesonly:\n:caption: {heading}\n\n{lines}\n```\n"


def add_first_page(app: Sphinx, error: Exception | None) -> None:
    """The address of the folder leads to the first page."""
    if error is None and app.builder.format == "html":
        Path(app.outdir, "index.html").write_text(FIRST_PAGE, encoding="utf-8")


def without_last_line(app: Sphinx, doctree: nodes.document) -> None:
    """Takes empty lines from the ends of code blocks."""
    for block in doctree.findall(nodes.literal_block):
        text = block.astext().rstrip("\n")
        if len(block.children) == 1 and text != block.astext():
            block.children = [nodes.Text(text)]
            block.children[0].parent = block
            block.rawsource = text


def mark_short_words(app: Sphinx, doctree: nodes.document) -> None:
    """Code of short words has a class: the style keeps them whole, where a line would end at a hyphen."""
    for code in doctree.findall(nodes.literal):
        if max(map(len, code.astext().split()), default=0) <= WHOLE:
            code["classes"].append("whole")


def setup(app: Sphinx) -> dict[str, bool]:
    """What Sphinx calls."""
    app.connect("source-read", add_contents)
    app.connect("doctree-read", without_last_line)
    app.connect("doctree-read", mark_short_words)
    app.connect("build-finished", add_first_page)
    return {"parallel_read_safe": True}
