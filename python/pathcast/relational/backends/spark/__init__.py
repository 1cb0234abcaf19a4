"""Spark SQL: subscriptions in files, so they need not fit into the memory of one machine."""

from pathcast.relational.backends.spark.database import SparkRelational

__all__ = ["SparkRelational"]
