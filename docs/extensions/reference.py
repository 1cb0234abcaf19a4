"""The reference is what the code says of itself, appended to the pages in `docs/reference` by the build."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from calls import calls_page, description
from commands import commands_page
from docutils import nodes  # type: ignore[import-untyped]
from sphinx.application import Sphinx

MODULES = {
    "library": ("pathcast", "pathcast.aio", "pathcast.subscriptions"),
    "schemas": ("pathcast.schema", "pathcast.generate", "pathcast.draw"),
    "spark": ("pathcast.spark",),
    "network": ("pathcast.network",),
    "databases": ("pathcast.relational", "pathcast.reference"),
}
FIRST = "pathcast"
KINDS = ("function", "class", "data", "exception")
GENERATED: dict[str, Callable[[], str]] = {
    "docs/reference/commands": commands_page,
    "docs/reference/calls": calls_page,
}


def modules_page(names: tuple[str, ...]) -> str:
    """A section for each module, from its docstrings."""
    return "\n".join(f"## `{name}`\n\n```{{eval-rst}}\n{_directives(name)}\n```\n" for name in names)


def _directives(name: str) -> str:
    """A module in its own order, but `pathcast` as one reads it: its index first and its errors last."""
    if name != FIRST:
        return f".. automodule:: {name}"
    module = import_module(name)
    kinds = {each: _kind(getattr(module, each)) for each in module.__all__ if not each.startswith("__")}
    order = sorted(kinds, key=lambda each: (each != "Index", KINDS.index(kinds[each])))
    lines = [f".. automodule:: {name}", "   :no-members:", ""]
    return "\n".join(lines + [f".. auto{kinds[each]}:: {name}.{each}\n" for each in order])


def _kind(found: object) -> str:
    if not inspect.isclass(found):
        return "function" if callable(found) else "data"
    return "exception" if issubclass(found, BaseException) else "class"


def add_generated(app: Sphinx, docname: str, source: list[str]) -> None:
    """Appends what is generated to its page."""
    folder, _, name = docname.rpartition("/")
    if docname in GENERATED:
        source[0] += "\n" + GENERATED[docname]()
    elif folder == "docs/reference" and name in MODULES:
        source[0] += "\n" + modules_page(MODULES[name])


def add_description(app: Sphinx, error: Exception | None) -> None:
    """Puts the description of the calls beside the pages, for programs."""
    if error is None and app.builder.format == "html":
        text = json.dumps(description(), indent=1)
        Path(app.outdir, "openapi.json").write_text(text, encoding="utf-8")


def without_what_says_nothing(app: Sphinx, doctree: nodes.document) -> None:
    """Takes out that a class is an object, and the numbers that stand for docstrings of a tuple's fields."""
    for paragraph in list(doctree.findall(nodes.paragraph)):
        if re.fullmatch(r"Bases: object|Alias for field number \d+", paragraph.astext()):
            paragraph.parent.remove(paragraph)


def setup(app: Sphinx) -> dict[str, bool]:
    """What Sphinx calls."""
    app.connect("source-read", add_generated)
    app.connect("doctree-read", without_what_says_nothing)
    app.connect("build-finished", add_description)
    return {"parallel_read_safe": True}
