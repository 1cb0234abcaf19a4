"""What runs in Spark's workers: shredding, compiling and deciding, Arrow in and Arrow out.

A task gives rows of several tables in one stream: `part` names the table, and the columns of the others are
null. Spark writes them to one place, where a reader of one part reads its columns alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

import pyarrow as pa

from pathcast import _core
from pathcast.errors import DocumentError
from pathcast.limits import Limits
from pathcast.relational.backends.spark.uses import used
from pathcast.relational.candidates import Pairs, Verifier
from pathcast.relational.settings import NODE_BITS, Settings
from pathcast.relational.sql.tables import COLUMNS, DOCUMENTS, SHARED

Batches: TypeAlias = Iterable[Any]
Task: TypeAlias = Callable[[Batches], Iterator[Any]]

COMPILED = (*SHARED, "Subscriber", "Subscription")
USE = {"pattern": "bigint", "number": "bigint"}
DOCUMENT = {"node": "bigint", "document": "bigint"}
DEAD = {"reason": "varchar", "line": "bigint", "column": "bigint"}
DECIDED = {"subscription": "varchar"} | DEAD
REFUSED = {"subscription": "varchar", "reason": "varchar", "column": "bigint"}

Subjects: TypeAlias = tuple[tuple[int, str, str], ...]
SHREDDED = (*DOCUMENTS, "XMLDocument", "Dead")

# A document's number is that of its partition and its place in it; with a node's place it has 63 bits.
_PARTITION_BITS = 14
_NUMBER_BITS = 63 - NODE_BITS - _PARTITION_BITS
_DOCUMENTS = 64  # shredded at once
_BYTES = 8 << 20
_ROWS = 50_000  # of a batch that goes back to Spark
_ARROW = {
    "bigint": pa.int64(),
    "integer": pa.int32(),
    "varchar": pa.string(),
    "boolean": pa.bool_(),
    "double precision": pa.float64(),
}
_SPARK = {"integer": "int", "varchar": "string", "double precision": "double"}


def spark_type(kind: str) -> str:
    """The name that Spark has for a type of `tables`."""
    return _SPARK.get(kind, kind)


def wide_columns(parts: Iterable[str]) -> dict[str, str]:
    """The columns of all parts together, by name."""
    extra = {"Dead": DEAD | DOCUMENT, "Refused": REFUSED, "XMLDocument": DOCUMENT, "Use": USE}
    return {name: kind for part in parts for name, kind in (COLUMNS.get(part) or extra[part]).items()}


def wide_schema(parts: Iterable[str], document: str = "bigint") -> str:
    """The same as Spark declares them, with `part` before; `document` is the type of the documents' ids."""
    columns = wide_columns(parts)
    fields = [
        f"`{name}` {document if name == 'document' else spark_type(kind)}" for name, kind in columns.items()
    ]
    return ", ".join(["part string", *fields])


def shredding(limits: Limits, settings: Settings, most_rows: int, subjects: Subjects) -> Task:
    """A task that turns rows (id, document) into the rows of their tables.

    Documents are numbered by the partition of the task and their place in it.
    """
    parts = SHREDDED

    def run(batches: Batches) -> Iterator[Any]:
        first = _first_number()
        for batch in batches:
            for some in _slices(batch):
                ids = some.column(0)
                tables, refused = _core.shred(
                    some.column(1),
                    limits,
                    settings.ignore_namespaces,
                    settings.text_bytes,
                    most_rows,
                    settings.key,
                    subjects,
                    first,
                )
                for part in DOCUMENTS:
                    rows = {name: tables[part].column(name) for name in COLUMNS[part]}
                    yield from _wide(part, rows, parts, ids.type)
                nodes = [number << NODE_BITS for number in range(first, first + len(ids))]
                yield from _wide("XMLDocument", {"node": pa.array(nodes), "document": ids}, parts, ids.type)
                first += len(ids)
                if refused:
                    rows = {
                        "document": ids.take(pa.array([at for at, _ in refused], pa.int64())),
                        "reason": pa.array([error.reason for _, error in refused]),
                        "line": pa.array([error.line for _, error in refused], pa.int64()),
                        "column": pa.array([error.column for _, error in refused], pa.int64()),
                    }
                    yield from _wide("Dead", rows, parts, ids.type)

    return run


def _first_number() -> int:
    """The number of the first document of this task."""
    from pyspark import TaskContext

    context = TaskContext.get()
    partition = context.partitionId() if context else 0
    if partition >> _PARTITION_BITS:
        raise ValueError(f"documents in more than {1 << _PARTITION_BITS:,} partitions: coalesce them first")
    return int(partition) << _NUMBER_BITS


def compiling(limits: Limits, settings: Settings, ordered: bool, levels: int, alternatives: int) -> Task:
    """A task that turns rows (id, xpath, ...) into the rows of their tables, refused ones apart."""
    parts = (*COMPILED, "Use", "Refused")

    def run(batches: Batches) -> Iterator[Any]:
        for together in _gathered(batches):  # what subscriptions have in common is then written once
            for start in range(0, together.num_rows, _ROWS):
                some = together.slice(start, _ROWS)
                tables, refused = _core.compile(
                    some,
                    limits,
                    ordered,
                    settings.namespaces,
                    settings.ignore_namespaces,
                    settings.key,
                    levels,
                    alternatives,
                )
                names = tables["Subscription"].column("subscription")
                for part in COMPILED:
                    found = tables[part]
                    rows = {name: found.column(name) for name in found.schema.names if name != "position"}
                    if part == "Subscriber":
                        rows["subscription"] = names.take(found.column("position"))
                    yield from _wide(part, rows, parts)
                yield from _wide("Use", used(tables), parts)
                if refused:
                    rows = {
                        "subscription": pa.array([json.dumps(id) for _, id, _ in refused]),
                        "reason": pa.array([str(error) for *_, error in refused]),
                        "column": pa.array([error.column for *_, error in refused], pa.int64()),
                    }
                    yield from _wide("Refused", rows, parts)

    return run


def naming() -> Task:
    """A task that turns rows (id) into the ids as they are kept."""

    def run(batches: Batches) -> Iterator[Any]:
        for batch in batches:
            names = _core.encode_ids(batch.column(0).to_pylist())
            yield pa.RecordBatch.from_arrays([pa.array(names, pa.string())], names=["subscription"])

    return run


def deciding(limits: Limits, settings: Settings) -> Task:
    """A task that takes rows (id, document, candidates) and gives the pairs (id, subscription) that match.

    A document with candidates that cost too much has a row more, with the reason in place of a subscription.
    """

    def run(batches: Batches) -> Iterator[Any]:
        verifier = Verifier(limits, settings)
        for batch in batches:
            for at in range(batch.num_rows):
                candidates = {
                    each["subscription"]: each["definition"] for each in batch.column(2)[at].as_py()
                }
                matched, errors = _decided(verifier, candidates, batch.column(1)[at].as_py())
                rows: list[dict[str, Any]] = [
                    *({"subscription": name} for name in matched),
                    *({"reason": each.reason, "line": each.line, "column": each.column} for each in errors),
                ]
                ids = batch.column(0).slice(at, 1).take(pa.array([0] * len(rows), pa.int64()))
                told = [
                    pa.array([row.get(name) for row in rows], _ARROW[kind]) for name, kind in DECIDED.items()
                ]
                yield pa.RecordBatch.from_arrays([ids, *told], names=["document", *DECIDED])

    return run


def _decided(
    verifier: Verifier, candidates: dict[str, str], content: Any
) -> tuple[list[str], list[DocumentError]]:
    """The candidates that one document matches, and why others are undecided."""
    names = pa.array(list(candidates), pa.string())
    asked = Pairs(pa.array([0] * len(names), pa.int64()), names)
    matched, errors = verifier.decide(asked, lambda _: candidates, [content])
    return matched.names.to_pylist(), [error for _, error in errors]


def _gathered(batches: Batches) -> Iterator[Any]:
    """Several batches as one table, until they are long enough."""
    held: list[Any] = []
    for batch in batches:
        held.append(batch)
        if sum(each.num_rows for each in held) >= _ROWS:
            yield pa.Table.from_batches(held)
            held = []
    if held:
        yield pa.Table.from_batches(held)


def _slices(batch: Any) -> Iterator[Any]:
    """So many documents that their rows fit into memory."""
    start = size = 0
    documents = batch.column(1)
    for at in range(batch.num_rows):
        size += documents.slice(at, 1).nbytes
        if at + 1 - start >= _DOCUMENTS or size >= _BYTES:
            yield batch.slice(start, at + 1 - start)
            start, size = at + 1, 0
    if start < batch.num_rows:
        yield batch.slice(start)


def _wide(part: str, rows: dict[str, Any], parts: Iterable[str], document: Any = None) -> Iterator[Any]:
    """Rows of one part with the columns of all, some at a time."""
    count = len(next(iter(rows.values())))
    columns = wide_columns(parts)
    for start in range(0, count, _ROWS):
        length = min(_ROWS, count - start)
        arrays = [pa.array([part] * length, pa.string())]
        for name, kind in columns.items():
            wanted = document if name == "document" and document is not None else _ARROW[kind]
            column = rows.get(name)
            arrays.append(
                pa.nulls(length, wanted) if column is None else column.slice(start, length).cast(wanted)
            )
        yield pa.RecordBatch.from_arrays(arrays, names=["part", *columns])
