"""Columns that go with a document: within a worker they are one value with its id, in the id's place.

So whatever makes answers knows of documents and ids only.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from pathcast.spark.worker.shards import Batches

__all__ = ["ID", "joined", "parted"]

ID = "pathcast id"
"""The id's name beside kept columns, which may be called anything else."""


def joined(batches: Batches) -> Batches:
    """Documents with what stands behind columns 0 and 1 put beside the id.

    >>> batch = pa.RecordBatch.from_pydict({"id": [1], "document": ["<a/>"], "topic": ["x"]})
    >>> [some.to_pydict() for some in joined(iter([batch]))]
    [{'id': [{'pathcast id': 1, 'topic': 'x'}], 'document': ['<a/>']}]
    """
    for batch in batches:
        id, document, *kept = batch.columns
        names = [ID, *batch.schema.names[2:]]
        yield pa.RecordBatch.from_arrays(
            [pa.StructArray.from_arrays([id, *kept], names), document], ["id", "document"]
        )


def parted(batches: Batches, names: Sequence[str]) -> Batches:
    """Answers with the kept columns behind all others, where `joined` had put them beside `doc_id`."""
    for batch in batches:
        (_, *own), (both, *rest) = batch.schema.names, batch.columns
        id, *kept = both.flatten()
        yield pa.RecordBatch.from_arrays([id, *rest, *kept], ["doc_id", *own, *names])
