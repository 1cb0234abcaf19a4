"""YFilter 1.0, the release of its authors, when `PATHCAST_YFILTER` names its jar."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from bench.peers.java import JavaPeer, no_java
from bench.workloads import Workload


def missing() -> str:
    """Why it cannot run; nothing if it can."""
    jar = os.environ.get("PATHCAST_YFILTER")
    if not jar:
        return "PATHCAST_YFILTER does not name its jar"
    return no_java() if Path(jar).is_file() else f"there is no {jar}"


class YFilter(JavaPeer):
    """Linear paths over documents in files, as it takes them; reading a file is counted, as it parses it."""

    def __init__(self, workload: Workload, size: int) -> None:
        super().__init__("YFilterPeer", [Path(os.environ["PATHCAST_YFILTER"])], workload.queries(size), "4g")

    def match(self, documents: Sequence[bytes]) -> tuple[float, list[list[int]]]:
        """Each document goes through a file."""
        paths = [self._folder / f"{place}.xml" for place in range(len(documents))]
        for path, document in zip(paths, documents, strict=True):
            path.write_bytes(document)
        return self.match_lines(map(str, paths))
