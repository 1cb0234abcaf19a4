"""A network of brokers that route documents by content, each knowing only its neighbours.

`covers`, `overlaps`, `merge` and `advertisements` answer questions about expressions. `Network` is some
brokers in this process, to try things out. `Broker` is a broker without input and output;
`pathcast.network.simulation` runs many of them under one seed, `pathcast.network.transports.kafka` runs them
as processes on Apache Kafka.

>>> covers("/a//b", "/a/c/b"), overlaps("/a(/b/c)+/d", "//c/b")
(True, True)
"""

from pathcast.network.advertisement import advertisements, graph_advertisement
from pathcast.network.broker import Broker
from pathcast.network.covering import covers, overlaps, relation
from pathcast.network.merging import imperfect_degree, merge
from pathcast.network.message import Advertised, Filter
from pathcast.network.outcome import Outcome
from pathcast.network.policy import Merging, Policy
from pathcast.network.restore import restored, snapshot
from pathcast.network.transports.memory import Network

__all__ = [
    "Advertised",
    "Broker",
    "Filter",
    "Merging",
    "Network",
    "Outcome",
    "Policy",
    "advertisements",
    "covers",
    "graph_advertisement",
    "imperfect_degree",
    "merge",
    "overlaps",
    "relation",
    "restored",
    "snapshot",
]
