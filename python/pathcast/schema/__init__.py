"""Schemas: a DTD as a graph of elements, for consistency, pruning, advertisements and generated workloads."""

from pathcast.schema.compiled import CompiledSchema, Pruning
from pathcast.schema.declarations import Attribute, Element
from pathcast.schema.graph import SATURATED
from pathcast.schema.schema import DOCUMENT, Schema
from pathcast.schema.validation import Problem

__all__ = ["DOCUMENT", "SATURATED", "Attribute", "CompiledSchema", "Element", "Problem", "Pruning", "Schema"]
