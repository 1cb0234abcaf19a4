"""Predicate-based Filtering of XPath Expressions: its figures."""

from __future__ import annotations

from bench.evidence.exhibit import Exhibit

TITLE = "Predicate-based Filtering of XPath Expressions"
EXHIBITS: tuple[Exhibit, ...] = ()
