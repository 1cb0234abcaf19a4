"""Arrow's columns as numpy's arrays and back, and columns of Python's values, all without pandas.

What Arrow itself offers for that (`pa.array`, `to_numpy`) imports pandas where it is installed, to see
whether a value is one of its own: 36 MB and a third of a second in every worker, and in the process that
holds their index.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

__all__ = ["blobs", "from_numpy", "to_numpy"]


def from_numpy(values: Any) -> Any:
    """A column of numbers, which are not copied.

    >>> from_numpy(np.arange(3)).to_pylist()
    [0, 1, 2]
    """
    values = np.ascontiguousarray(values)
    kind = pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values)])


def to_numpy(column: Any) -> Any:
    """The numbers of a column without nulls, which are not copied.

    >>> to_numpy(from_numpy(np.arange(5)).slice(2))
    array([2, 3, 4])
    """
    return np.from_dlpack(column)


def blobs(values: Sequence[Any], kind: Any) -> Any:
    """A column of bytes or, if that is its kind, of texts; None is null.

    >>> blobs(["a", None, "\\u00e4"], pa.string()).to_pylist()
    ['a', None, 'ä']
    """
    parts = [each.encode() if isinstance(each, str) else each or b"" for each in values]
    ends = np.zeros(len(parts) + 1, np.int64)
    np.cumsum([len(part) for part in parts], out=ends[1:])
    if ends[-1] > np.iinfo(np.int32).max:
        return pa.array(values, kind)  # which says so
    there = np.packbits(np.array([each is not None for each in values], bool), bitorder="little")
    buffers = [pa.py_buffer(there), pa.py_buffer(ends.astype(np.int32)), pa.py_buffer(b"".join(parts))]
    return pa.Array.from_buffers(kind, len(values), buffers)
