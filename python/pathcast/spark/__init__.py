"""Pathcast on Spark: DataFrames of documents and subscriptions in, DataFrames of matches out.

Works in classic and in Spark Connect sessions. `read_documents` makes tables of documents,
`compile_subscriptions` turns a table of subscriptions into an index in a folder, `match` matches.

    from pathcast.spark import compile_subscriptions, match, read_documents

    documents = read_documents(spark, "/data/news")
    subscriptions = compile_subscriptions(spark.table("subscriptions"), "/data/index", shards=4)
    matches, dead = match(documents, subscriptions)
"""

from pathcast.spark.artifact import remove_unused
from pathcast.spark.compile import (
    Compiled,
    RejectedSubscriptions,
    compile_subscriptions,
    update_subscriptions,
)
from pathcast.spark.match import match, match_tagged, split_tagged
from pathcast.spark.read import kafka_documents, read_documents

__all__ = [
    "Compiled",
    "RejectedSubscriptions",
    "compile_subscriptions",
    "kafka_documents",
    "match",
    "match_tagged",
    "read_documents",
    "remove_unused",
    "split_tagged",
    "update_subscriptions",
]
