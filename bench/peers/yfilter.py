"""YFilter 1.0, the release of its authors, when `PATHCAST_YFILTER` names its jar and that of CUP's runtime.

The two are in Maven's registry as `org.ogce:yfilter:1.0` and `edu.princeton.cup:java-cup:10k`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from bench.peers.java import JavaPeer, no_java
from bench.workloads import Workload


def missing() -> str:
    """Why it cannot run; nothing if it can."""
    if not (jars := _jars()):
        return "PATHCAST_YFILTER does not name its jar"
    absent = next((jar for jar in jars if not jar.is_file()), None)
    return f"there is no {absent}" if absent else no_java()


def _jars() -> list[Path]:
    """As a class path lists them."""
    return [Path(jar) for jar in os.environ.get("PATHCAST_YFILTER", "").split(os.pathsep) if jar]


class YFilter(JavaPeer):
    """Linear paths over documents in files, as it takes them; reading a file is counted, as it parses it."""

    def __init__(self, workload: Workload, size: int) -> None:
        super().__init__("YFilterPeer", _jars(), workload.queries(size), "4g")

    def match(self, documents: Sequence[bytes]) -> tuple[float, list[list[int]]]:
        """Each document goes through a file."""
        paths = [self._folder / f"{place}.xml" for place in range(len(documents))]
        for path, document in zip(paths, documents, strict=True):
            path.write_bytes(document)
        return self.match_lines(map(str, paths))
