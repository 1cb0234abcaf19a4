"""How messages travel between brokers and clients: in one process, or on Apache Kafka.

`Network` is the one for trying things out: brokers in this process, nothing to install, nothing durable.
`pathcast.network.transports.kafka` makes brokers processes that lose nothing when they crash; it needs
``pip install 'pathcast[kafka]'`` and is the only place of `pathcast.network` that opens a socket. Clients are
used alike on both.
"""

from pathcast.network.transports.client import Client
from pathcast.network.transports.memory import Network

__all__ = ["Client", "Network"]
