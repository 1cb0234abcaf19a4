"""Pathcast on Spark: DataFrames of documents and subscriptions in, DataFrames of matches out.

Works in classic and in Spark Connect sessions. `driver` plans, `worker` reads and matches; the two share the
format of compiled subscriptions (`artifact`) and the options. `read_documents` makes tables of documents,
`compile_subscriptions` turns a table of subscriptions into an index in a folder, `match` matches, `stream`
matches documents as they arrive, and `deliver` puts what matched into outboxes. `match_files` matches files
without taking their documents through Java, with the data source `PathcastDataSource`, and
`register_functions` does it in SQL.

    from pathcast.spark import compile_subscriptions, match, read_documents

    documents = read_documents(spark, "/data/news")
    subscriptions = compile_subscriptions(spark.table("subscriptions"), "/data/index", shards=4)
    matches, dead = match(documents, subscriptions)
"""

try:
    from pathcast.spark.driver.compile import compile_subscriptions, update_subscriptions
    from pathcast.spark.driver.compiled import Compiled, RejectedSubscriptions, remove_unused
    from pathcast.spark.driver.datasource import PathcastDataSource
    from pathcast.spark.driver.delivery_ids import delivery_id, document_hash
    from pathcast.spark.driver.documents import kafka_documents, read_documents
    from pathcast.spark.driver.functions import register_functions
    from pathcast.spark.driver.kafka_sink import KafkaSink
    from pathcast.spark.driver.listener import MetricsListener, StreamProgress
    from pathcast.spark.driver.match import Matched, match, match_tagged, split_tagged
    from pathcast.spark.driver.match_files import match_files
    from pathcast.spark.driver.outbox_log import acknowledge_outbox, read_outbox, write_outboxes
    from pathcast.spark.driver.outboxes import deliver, send_outboxes
    from pathcast.spark.driver.sinks import Batch, FileSink, Sink, StreamError, read_deliveries
    from pathcast.spark.driver.stream import stream
    from pathcast.spark.driver.stream_state import BatchMetrics
    from pathcast.spark.options import MatchOptions
except ModuleNotFoundError as error:
    if error.name not in ("pyarrow", "pyspark"):
        raise
    raise ModuleNotFoundError(
        f"pathcast.spark needs {error.name}: pip install 'pathcast[spark]'", name=error.name
    ) from None

__all__ = [
    "Batch",
    "BatchMetrics",
    "Compiled",
    "FileSink",
    "KafkaSink",
    "MatchOptions",
    "Matched",
    "MetricsListener",
    "PathcastDataSource",
    "RejectedSubscriptions",
    "Sink",
    "StreamError",
    "StreamProgress",
    "acknowledge_outbox",
    "compile_subscriptions",
    "deliver",
    "delivery_id",
    "document_hash",
    "kafka_documents",
    "match",
    "match_files",
    "match_tagged",
    "read_deliveries",
    "read_documents",
    "read_outbox",
    "register_functions",
    "remove_unused",
    "send_outboxes",
    "split_tagged",
    "stream",
    "update_subscriptions",
    "write_outboxes",
]
