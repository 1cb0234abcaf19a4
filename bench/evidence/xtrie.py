"""Efficient filtering of XML documents with XPath expressions: its figures."""

from __future__ import annotations

from bench.evidence.exhibit import Exhibit

TITLE = "Efficient filtering of XML documents with XPath expressions"
EXHIBITS: tuple[Exhibit, ...] = ()
