"""A network of brokers that route documents by content."""

from pathcast.network.covering import covers, overlaps, relation

__all__ = ["covers", "overlaps", "relation"]
