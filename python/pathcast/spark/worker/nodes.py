"""The nodes that matches select, for subscribers that are sent the part they asked for.

A document that matched is read once more, and its nodes become Python objects: this costs more than matching.
Answers go out as soon as they hold `_SENT` bytes, and no match brings more than `NODE_BYTES`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from pathcast.spark.worker.shards import OpenShard

__all__ = ["NODE", "NODES", "NODE_BYTES", "bounded", "selected"]

NODE_BYTES = 1 << 20
"""Of paths and texts of one match; the nodes beyond are counted."""
_SENT = 8 << 20

NODE = pa.struct([("path", pa.string()), ("text", pa.string())])
NODES = (("nodes", pa.list_(NODE)), ("nodes_left_out", pa.int64()))
"""What a match has beside the subscription; null for one whose nodes took too many evaluation steps."""


def selected(documents: Any, lists: Any, shard: OpenShard) -> Iterator[tuple[int, int, Any, dict[str, Any]]]:
    """Runs of documents: from and to, their lists of matches, and the columns `NODES` for those matches."""
    start, size = 0, 0
    found: list[list[int] | None] = []
    nodes: list[list[dict[str, str]] | None] = []
    left_out: list[int | None] = []
    for at in range(len(documents)):
        rows = lists[at].as_py()
        found.append(rows)
        # What the index raises for undecided subscriptions would leave out the others.
        chosen = shard.own._core.select(documents[at].as_py())[0] if rows else {}
        for row in rows or ():
            some, taken = bounded(chosen.get(row))
            nodes.append(some)
            left_out.append(None if some is None else len(chosen[row]) - len(some))
            size += taken
        if size >= _SENT or at + 1 == len(documents):
            columns = [pa.array(nodes, NODES[0][1]), pa.array(left_out, NODES[1][1])]
            run = pa.array(found, lists.type)
            yield start, at + 1, run, dict(zip((name for name, _ in NODES), columns, strict=True))
            start, size, found, nodes, left_out = at + 1, 0, [], [], []


def bounded(nodes: Any) -> tuple[list[dict[str, str]] | None, int]:
    """As many of the first nodes as may go out, and their bytes; at least one."""
    if nodes is None:
        return None, 0
    some: list[dict[str, str]] = []
    taken = 0
    for node in nodes:
        path, text = node.path, node.text
        taken += len(path) + len(text.encode())
        if some and taken > NODE_BYTES:
            break
        some.append({"path": path, "text": text})
    return some, taken
