"""Schema-Conscious Filtering of XML Documents: its tables and figures."""

from __future__ import annotations

from bench.evidence.exhibit import Exhibit

TITLE = "Schema-Conscious Filtering of XML Documents"
EXHIBITS: tuple[Exhibit, ...] = ()
