"""How many documents a second pass three brokers in a line on a Kafka of one node, by size of batch.

``python -m tests.network.throughput --documents 5000``; deliveries are counted, a missing one ends the run.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from pathcast.generate import documents
from pathcast.schema import Schema
from tests.kafka.server import KafkaServer
from tests.network.deployment import Deployment, Subscriber, settle

DTD = Path(__file__).parents[2] / "examples/news/wire.dtd"


def measure(kafka: KafkaServer, folder: Path, number: int, batch: int) -> float:
    """Seconds from the first document published to the last one delivered at the far end."""
    folder.mkdir()
    with Deployment(kafka, folder) as made:
        made.add("a", ["b"], batch=batch)
        made.add("b", ["a", "c"], batch=batch)
        made.add("c", ["b"], batch=batch)
        made.start()
        schema = Schema.from_dtd(DTD)
        writer, reader = made.client("a", "writer"), Subscriber(made.client("c", "reader"))
        writer.advertise("all", schema)
        writer.advertise("probes", ["/probe"])
        reader.client.subscribe("all", "/*[not(self::probe)]")
        settle(writer, "a", [reader], "ready")
        bodies = list(documents(schema, number, seed=1, max_levels=6))
        before = len(reader.got)
        start = time.perf_counter()
        for place, body in enumerate(bodies):
            writer.publish(str(place), body)
        writer.flush()
        reader.until(lambda: len(reader.got) >= before + number, "last document")
        return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=5_000)
    parser.add_argument("--batches", type=int, nargs="+", default=[500, 50, 5])
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, KafkaServer(Path(folder) / "kafka") as kafka:
        for batch in given.batches:
            number = min(given.documents, 100 * batch)
            seconds = measure(kafka, Path(folder) / f"batch{batch}", number, batch)
            print(f"batch {batch}: {number} documents, {number / seconds:,.0f} a second", flush=True)


if __name__ == "__main__":
    main()
