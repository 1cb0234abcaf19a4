"""An XTrie as text for graphviz, for those who have it."""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathcast.draw.structure import XTrieStructure

_HEAD = ("row", "expression", "substring", "parent", "level", "rank", "children", "next")


def dot(structure: XTrieStructure) -> str:
    """Edges with names, dashed max-suffix pointers but those to the root, dotted substring pointers."""
    lines = ["digraph xtrie {", "  node [shape=circle, fontsize=11];", "  edge [fontsize=11];"]
    for node in structure.nodes:
        off = node.number > 1 and not node.parent
        shape = ", shape=box" if off else ""
        label = f"{node.number}\n{node.name}" if off else str(node.number)
        lines.append(f"  n{node.number} [label={_quoted(label)}{shape}];")
        if node.parent:
            lines.append(f"  n{node.parent} -> n{node.number} [label={_quoted(node.name)}];")
        if node.max_suffix > 1:
            lines.append(f"  n{node.number} -> n{node.max_suffix} [style=dashed, constraint=false];")
        if node.substring:
            lines.append(f"  n{node.number} -> table:r{node.substring} [style=dotted];")
    cells = "".join(f"<td><b>{name}</b></td>" for name in _HEAD)
    rows = [f"<tr>{cells}</tr>"]
    for row in structure.rows:
        values = (row.expression, row.substring, row.parent, row.levels, row.rank, row.children, row.next)
        cells = "".join(f"<td>{escape(str(value))}</td>" for value in values)
        rows.append(f'<tr><td port="r{row.number}">{row.number}</td>{cells}</tr>')
    table = f'<table border="0" cellborder="1" cellspacing="0">{"".join(rows)}</table>'
    lines.append(f"  table [shape=plain, label=<{table}>];")
    return "\n".join([*lines, "}", ""])


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
