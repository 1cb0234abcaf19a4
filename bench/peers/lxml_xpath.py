"""lxml as a careful user has it: expressions compiled once, one parse a document, one evaluation each."""

from __future__ import annotations

import time
from collections.abc import Sequence

from lxml import etree

from bench.workloads import Workload


class Lxml:
    """Every expression on every document."""

    def __init__(self, workload: Workload, size: int) -> None:
        start = time.process_time()
        names = dict(workload.namespaces) or None
        self._tests = [etree.XPath(f"boolean({query})", namespaces=names) for query in workload.queries(size)]
        self._variables = dict(workload.variables)
        self.added_seconds = time.process_time() - start

    def match(self, documents: Sequence[bytes]) -> tuple[float, list[list[int]]]:
        """Seconds, and the numbers of the expressions that hold."""
        start = time.process_time()
        found = []
        for document in documents:
            tree = etree.fromstring(document)
            found.append([at for at, test in enumerate(self._tests) if test(tree, **self._variables)])
        return time.process_time() - start, found

    def close(self) -> None:
        """Nothing is open."""
