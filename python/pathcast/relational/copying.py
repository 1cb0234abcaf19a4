"""Arrow rows as the text that PostgreSQL's COPY reads, made a column at a time.

Cells are separated by tabs, rows by line ends, and what a value holds of these is escaped; ``\\N`` is null.
So nothing in a value can end a row, and there is no quoting to get wrong.

>>> import pyarrow as pa
>>> rows = pa.record_batch({"a": [1, None], "b": ["tab\\t, \\\\N", "line\\n"], "c": [float("inf"), 0.1]})
>>> b"".join(lines(rows))
b'1\\ttab\\\\t, \\\\\\\\N\\tinf\\n\\\\N\\tline\\\\n\\t0.1\\n'
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

ROWS = 50_000  # at a time
_ESCAPES = (("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n"), ("\r", "\\r"))

SQL_TYPES: dict[Any, str] = {
    pa.int64(): "bigint",
    pa.int32(): "integer",
    pa.string(): "varchar",
    pa.large_string(): "varchar",
    pa.bool_(): "boolean",
    pa.float64(): "double precision",
}


def columns(rows: Any) -> str:
    """The columns of some rows as a table declares them."""
    return ", ".join(f"{field.name} {SQL_TYPES[field.type]}" for field in rows.schema)


def lines(rows: Any) -> Iterator[bytes]:
    """The rows as text, some at a time."""
    for start in range(0, rows.num_rows, ROWS):
        some = rows.slice(start, ROWS)
        cells = [_cells(column) for column in some.columns]
        joined = pc.binary_join_element_wise(*cells, pa.scalar("\t", pa.large_string()))
        yield ("\n".join(joined.to_pylist()) + "\n").encode()


def _cells(column: Any) -> Any:
    if pa.types.is_boolean(column.type):
        text = pc.if_else(column, "t", "f").cast(pa.large_string())
    else:
        text = column.cast(pa.large_string())
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        for plain, escaped in _ESCAPES:
            text = pc.replace_substring(text, plain, escaped)
    return pc.fill_null(text, "\\N")
