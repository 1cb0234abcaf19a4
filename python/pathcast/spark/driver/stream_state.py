"""What a stream keeps beside Spark's checkpoint: its name, the version of each batch, what each batch did."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias, cast
from uuid import uuid4

from pathcast.errors import IndexFormatError
from pathcast.spark.artifact import Manifest
from pathcast.spark.driver.compiled import Compiled
from pathcast.spark.driver.sinks import StreamError
from pathcast.spark.folders import Folder, LocalFolder
from pathcast.spark.leases import lease_newest, manifest_in

__all__ = ["BatchMetrics", "StreamState"]

Plan: TypeAlias = dict[str, Any] | None


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

    folder: Folder

    def stream(self, manifest: Manifest) -> str:
        """The name of this stream, made up in its first batch; the types of its columns stay as they are."""
        types = {"id_type": manifest.id_type, "subscriber_type": manifest.subscriber_type}
        try:
            found = json.loads(self.folder.read("stream.json"))
        except FileNotFoundError:
            found = {"stream": uuid4().hex, **types}
            self.folder.write("stream.json", json.dumps(found).encode())
        before = {key: found[key] for key in types}
        if before != types:
            raise StreamError(
                f"the subscriptions of this stream had {before}, and now have {types}: the rows that it "
                "wrote and those to come would not fit; start a new stream with a new output and checkpoint"
            )
        return cast(str, found["stream"])

    def begin(self, number: int, subscriptions: Folder, plan: Plan) -> tuple[Compiled, Plan]:
        """The version and the plan of the sink that a batch uses: those it began with, or else the newest."""
        note = self._noted(number)
        if note is None:
            return self._begun(number, subscriptions, plan), plan
        hash = note["index_version"]
        compiled = Compiled.version(subscriptions, hash)
        if compiled is None:
            raise IndexFormatError(
                f"batch {number} began with version {hash[:12]} of the subscriptions, which is no longer in "
                f"{subscriptions.place}: put its files back; or, if the output has nothing of this batch "
                f"yet, delete {self.folder.place}/{_note(number)} and it is matched with the present version"
            )
        return compiled, note.get("plan")

    def _noted(self, number: int) -> dict[str, Any] | None:
        try:
            return cast(dict[str, Any], json.loads(self.folder.read(_note(number))))
        except FileNotFoundError:
            return None

    def _begun(self, number: int, subscriptions: Folder, plan: Plan) -> Compiled:
        # Before anything is noted: a batch must not be tied to a version that does not fit.
        holder = f"stream-{self.stream(manifest_in(subscriptions))}"
        manifest = lease_newest(subscriptions, holder, also=self._last(number, subscriptions))
        self.stream(manifest)
        contents = {"batch": number, "index_version": manifest.hash, "plan": plan}
        self.folder.write(_note(number), json.dumps(contents).encode())
        return Compiled.of(subscriptions, manifest)

    def _last(self, number: int, subscriptions: Folder) -> list[Manifest]:
        """The version of the batch before: Spark may ask for that one again."""
        note = self._noted(number - 1)
        found = Compiled.version(subscriptions, note["index_version"]) if note else None
        return [found.manifest] if found else []

    def tell(self, metrics: BatchMetrics) -> None:
        """Appends a line, in place of the last one if that is torn or of the same batch.

        Files in a store cannot grow: there each batch is a file of its own.
        """
        if not isinstance(self.folder, LocalFolder):
            self.folder.write(_metrics(metrics.batch), metrics.line().encode() + b"\n")
            return
        file = self.folder.path / "metrics.jsonl"
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
            self.folder.remove(_note(number))
            if not isinstance(self.folder, LocalFolder):
                self.folder.remove(_metrics(number))


def _note(number: int) -> str:
    return f"batches/{number:08}.json"


def _metrics(number: int) -> str:
    return f"metrics/{number:08}.json"


def _batch_of(line: bytes) -> int | None:
    try:
        return cast(int, json.loads(line)["batch"])
    except (ValueError, KeyError, TypeError):
        return None
