"""Routing of XML and XPath Queries in Data Dissemination Networks: its tables and figures."""

from __future__ import annotations

from bench.evidence.exhibit import Exhibit

TITLE = "Routing of XML and XPath Queries in Data Dissemination Networks"
EXHIBITS: tuple[Exhibit, ...] = ()
