"""Brokers and clients on Apache Kafka; needs ``pip install 'pathcast[kafka]'``.

A broker's inbox is a topic and its state a compacted topic. It reads, routes and writes (to its neighbours'
inboxes, its clients' outboxes, its quarantine and its state) in one Kafka transaction with its place in the
inbox. A crash undoes all of it or nothing, so readers of committed messages see everything once.

`KafkaBroker` is the process that `pathcast broker` runs, `KafkaShare` one of several that share a broker, and
`KafkaClient` a publisher or subscriber.
"""

try:
    from pathcast.network.transports.kafka.client import KafkaClient
    from pathcast.network.transports.kafka.connection import FencedError, TransportError
    from pathcast.network.transports.kafka.documents import DocumentGoneError
    from pathcast.network.transports.kafka.process import KafkaBroker
    from pathcast.network.transports.kafka.share import KafkaShare
except ModuleNotFoundError as error:
    if error.name not in ("confluent_kafka", "cryptography"):
        raise
    raise ModuleNotFoundError(
        f"pathcast.network.transports.kafka needs {error.name}: pip install 'pathcast[kafka]'",
        name=error.name,
    ) from None

__all__ = ["DocumentGoneError", "FencedError", "KafkaBroker", "KafkaClient", "KafkaShare", "TransportError"]
