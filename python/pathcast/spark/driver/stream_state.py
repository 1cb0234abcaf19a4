"""What a stream keeps on disk: its name, the version that each batch uses, and what each batch did."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import cast
from uuid import uuid4

from pathcast.errors import IndexFormatError
from pathcast.spark.artifact import Manifest, replace_file
from pathcast.spark.driver.compiled import Compiled
from pathcast.spark.driver.sinks import StreamError
from pathcast.spark.leases import lease_newest

__all__ = ["BatchMetrics", "StreamState"]


@dataclass(frozen=True)
class BatchMetrics:
    """What a batch did; also a line of `metrics.jsonl`."""

    batch: int
    index_version: str
    subscriptions: int
    documents: int
    bytes: int
    matches: int
    dead_letters: int
    milliseconds: int
    """From the start of the batch until it was written."""
    core_milliseconds: int
    """In the index, over all tasks: with two cores, up to twice the time that passed."""
    spark_milliseconds: int
    """The rest of the matching tasks: waiting for documents and handing them and matches over."""
    tasks: int
    finished: float
    """Seconds since 1970."""

    def line(self) -> str:
        """As JSON."""
        return json.dumps(asdict(self))


@dataclass(frozen=True)
class StreamState:
    """What a stream must know after its driver died."""

    folder: Path

    def stream(self, manifest: Manifest) -> str:
        """The name of this stream, made up in its first batch; the types of its columns stay as they are."""
        file = self.folder / "stream.json"
        types = {"id_type": manifest.id_type, "subscriber_type": manifest.subscriber_type}
        try:
            found = json.loads(file.read_bytes())
        except FileNotFoundError:
            found = {"stream": uuid4().hex, **types}
            self.folder.mkdir(parents=True, exist_ok=True)
            replace_file(file, json.dumps(found).encode())
        before = {key: found[key] for key in types}
        if before != types:
            raise StreamError(
                f"the subscriptions of this stream had {before}, and now have {types}: the rows that it "
                "wrote and those to come would not fit; start a new stream with a new output and checkpoint"
            )
        return cast(str, found["stream"])

    def version(self, number: int, subscriptions: Path) -> Compiled:
        """The version that a batch uses: the one it began with, or else the newest."""
        note = self.folder / "batches" / f"{number:08}.json"
        if not note.exists():
            return self._begun(number, note, subscriptions)
        hash = json.loads(note.read_bytes())["index_version"]
        compiled = Compiled.version(subscriptions, hash)
        if compiled is None:
            raise IndexFormatError(
                f"batch {number} began with version {hash[:12]} of the subscriptions, which is no longer in "
                f"{subscriptions}: put its files back; or, if the output has nothing of this batch yet, "
                f"delete {note} and it is matched with the present version"
            )
        return compiled

    def _begun(self, number: int, note: Path, subscriptions: Path) -> Compiled:
        # Before anything is noted: a batch must not be tied to a version that does not fit.
        holder = f"stream-{self.stream(Manifest.read(subscriptions))}"
        manifest = lease_newest(subscriptions, holder, also=self._last(number, subscriptions))
        self.stream(manifest)
        note.parent.mkdir(parents=True, exist_ok=True)
        replace_file(note, json.dumps({"batch": number, "index_version": manifest.hash}).encode())
        return Compiled(subscriptions, manifest)

    def _last(self, number: int, subscriptions: Path) -> list[Manifest]:
        """The version of the batch before: Spark may ask for that one again."""
        note = self.folder / "batches" / f"{number - 1:08}.json"
        if not note.exists():
            return []
        found = Compiled.version(subscriptions, json.loads(note.read_bytes())["index_version"])
        return [found.manifest] if found else []

    def tell(self, metrics: BatchMetrics) -> None:
        """Appends a line, in place of the last one if that is torn or of the same batch."""
        file = self.folder / "metrics.jsonl"
        file.touch()
        with open(file, "r+b") as lines:
            end = lines.seek(0, os.SEEK_END)
            start = max(0, end - 65536)
            lines.seek(start)
            tail = lines.read()
            last = tail.rstrip(b"\n").rfind(b"\n") + 1
            if tail and (not tail.endswith(b"\n") or _batch_of(tail[last:]) == metrics.batch):
                end = start + last
            lines.truncate(end)
            lines.seek(end)
            lines.write(metrics.line().encode() + b"\n")

    def forget(self, number: int) -> None:
        """Removes what is known about that batch."""
        if number >= 0:
            (self.folder / "batches" / f"{number:08}.json").unlink(missing_ok=True)


def _batch_of(line: bytes) -> int | None:
    try:
        return cast(int, json.loads(line)["batch"])
    except (ValueError, KeyError, TypeError):
        return None
