"""What a stream keeps on disk: its name, the version that each batch uses, and what each batch did."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import cast
from uuid import uuid4

from pathcast.errors import IndexFormatError
from pathcast.spark.artifact import Manifest, replace_file
from pathcast.spark.driver.compiled import Compiled
from pathcast.spark.driver.sinks import StreamError

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
        try:
            hash = json.loads(note.read_bytes())["index_version"]
        except FileNotFoundError:
            compiled = Compiled.open(subscriptions)
            self.stream(compiled.manifest)  # before anything is noted: a batch must not be tied to a misfit
            place = self.folder / "versions" / compiled.hash
            place.mkdir(parents=True, exist_ok=True)
            compiled.manifest.write(place)
            note.parent.mkdir(parents=True, exist_ok=True)
            text = json.dumps({"batch": number, "index_version": compiled.hash})
            replace_file(note, text.encode())
            return compiled
        manifest = Manifest.read(self.folder / "versions" / hash)
        for shard in manifest.shards:
            for name in (shard.index, shard.rows):
                if not (subscriptions / name).exists():
                    raise IndexFormatError(
                        f"batch {number} began with version {hash[:12]} of the subscriptions, whose file "
                        f"{name} is no longer in {subscriptions}: put it back; or, if the output has "
                        f"nothing of this batch yet, delete {note} and it is matched with the present version"
                    )
        return Compiled(subscriptions, manifest)

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
        """Removes what is known about that batch and, if no other uses it, its version."""
        note = self.folder / "batches" / f"{number:08}.json"
        if number < 0 or not note.exists():
            return
        note.unlink()
        notes = (self.folder / "batches").glob("*.json")
        used = {json.loads(each.read_bytes())["index_version"] for each in notes}
        for version in (self.folder / "versions").iterdir():
            if version.name not in used:
                shutil.rmtree(version, ignore_errors=True)


def _batch_of(line: bytes) -> int | None:
    try:
        return cast(int, json.loads(line)["batch"])
    except (ValueError, KeyError, TypeError):
        return None
