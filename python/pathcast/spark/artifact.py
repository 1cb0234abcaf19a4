"""What compiled subscriptions are on disk: a folder with a manifest and, for each shard, two files or three.

    manifest.json                        written last, whole or not at all: it alone makes the others count
    manifest-4ab21f….json                the same for every version, for those who still use it
    shard-00000-4f5c9a….pathcast         the index; its ids are rows of the next file, counted from 0
    shard-00000-b07d31….image            the same as tables in memory, for workers with the same Pathcast
    shard-00000-4f5c9a….arrow            the subscriptions, sorted by id
    shard-00000-c2271e….delta.arrow      what changed since the shard was compiled, if anything
    shard-00000-08d12b….rejected.arrow   the rows that were refused, if any
    routing-71c09e….arrow                which shards a document can concern, if it is routed

A subscription's shard depends on its id alone, or on what it requires of a document if documents are routed;
a file's name depends on the content it was made from. So a shard whose rows did not change keeps its files,
and a running job never sees a file change under it. The index answers with row numbers because numbers are
cheaper to hand over than strings, and because the row gives the id in its own type and the subscriber with
one `take`; the Arrow file is mapped into memory, not read.

An image is opened many times as fast as an index, and only by the Pathcast that made it (`IMAGE_LAYOUT`).
Where it fits, the index file is not needed; where it does not, or is not there, nothing else is.

The manifest has the SHA-256 of all files, and a worker opens nothing else: a file that was swapped, in
whatever folder, is refused.
"""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal
from uuid import uuid4

import pathcast
from pathcast.errors import IndexFormatError, SchemaError
from pathcast.index import IMAGE_LAYOUT, Index, engines, needs_schema
from pathcast.limits import Limits
from pathcast.schema import CompiledSchema

__all__ = ["Field", "Manifest", "Routing", "Settings", "Shard", "check_engine", "replace_file", "sha256"]

FORMAT = 4
MANIFEST = "manifest.json"
_IMAGE = ("image_sha256", "image_bytes", "image_layout")
_AGAIN = "compile the subscriptions again with compile_subscriptions()"
_WHERE = "give the folder that compile_subscriptions() or `pathcast spark compile` wrote"


def check_engine(engine: str, settings: Settings | None = None) -> None:
    """Raises when there is no such engine, or it needs a schema and there is none."""
    if engine not in engines(variants=True):
        raise ValueError(f"there is no engine {engine!r}; there are {', '.join(engines())}")
    if settings and settings.schema is None and needs_schema(engine):
        raise SchemaError(
            f"the engine {engine!r} needs a schema to prune wildcards: compile_subscriptions(..., schema=)"
        )


@dataclass(frozen=True)
class Settings:
    """What every index of an artifact is made with."""

    ordered: bool = False
    namespaces: Mapping[str, str] | None = None
    ignore_namespaces: bool = False
    limits: Limits = field(default_factory=Limits)
    schema: str | None = None
    """A `CompiledSchema` as text; subscriptions are then pruned by it."""
    impossible: Literal["error", "ignore"] = "ignore"
    entities: Literal["html"] | Mapping[str, str] | None = None

    def index(self, engine: str = "auto") -> Index:
        """An empty index."""
        return Index(
            engine,
            limits=self.limits,
            ordered=self.ordered,
            namespaces=self.namespaces,
            ignore_namespaces=self.ignore_namespaces,
            schema=CompiledSchema(self.schema) if self.schema else None,
            prune=self.schema is not None,
            # Shards must agree on which documents are bad, also those that pruning leaves alone.
            validate=self.schema is not None,
            impossible=self.impossible,
            entities=self.entities,
        )


@dataclass(frozen=True)
class Shard:
    """One shard's files and counts."""

    number: int
    hash: str
    """Of the accepted rows and the settings; with a delta, of what it was before and of the changes."""
    base: str
    """The hash that it was compiled with, without the delta."""
    source: str
    """Of all rows as they came and the settings: what tells that nothing changed."""
    subscriptions: int
    refused: int
    rows_sha256: str
    index_sha256: str
    index_bytes: int
    rejected: str | None = None
    """The name of the file of refused rows."""
    delta: str | None = None
    """The name of the file of changes."""
    delta_sha256: str | None = None
    on_tree: int = 0
    """Expressions that are decided on a tree of the document: only these may take too many steps."""
    image_sha256: str | None = None
    """None if there is no image."""
    image_bytes: int = 0
    image_layout: str | None = None
    """The `IMAGE_LAYOUT` of who made it."""

    @property
    def index(self) -> str:
        """The name of the index file."""
        return f"shard-{self.number:05}-{self.base[:20]}.pathcast"

    @property
    def rows(self) -> str:
        """The name of the file of subscriptions."""
        return f"shard-{self.number:05}-{self.base[:20]}.arrow"

    @property
    def image(self) -> str | None:
        """The name of the image; no two that differ have the same."""
        return f"shard-{self.number:05}-{self.image_sha256[:20]}.image" if self.image_sha256 else None

    @property
    def fitting_image(self) -> str | None:
        """The name of the image, if this Pathcast can open it and may."""
        fits = self.image_layout == IMAGE_LAYOUT and os.environ.get("PATHCAST_IMAGES") != "off"
        return self.image if fits else None

    @property
    def without_image(self) -> Shard:
        """The shard as if it had none."""
        return replace(self, image_sha256=None, image_bytes=0, image_layout=None)

    @property
    def files(self) -> list[str]:
        """The names of the files that workers open, whichever Pathcast they have."""
        return [name for name in (self.index, self.image, self.rows, self.delta) if name]

    def needed(self, folder: Path) -> list[str]:
        """Of these the ones in a folder that workers with this Pathcast open."""
        image = self.fitting_image
        index = image if image and (folder / image).exists() else self.index
        return [index, self.rows, *([self.delta] if self.delta else [])]


@dataclass(frozen=True)
class Field:
    """What of a document is compared with values (an expression), and where those values are."""

    text: str
    first: int
    last: int
    """The shards over which values without a place of their own are spread."""
    prefix: int | None = None
    """With too many values, documents are routed by so many of their first characters; 0: by the field."""


@dataclass(frozen=True)
class Routing:
    """Where subscriptions are by what they require, and how documents find them."""

    fields: tuple[Field, ...]
    """Of several that a subscription requires, the first counts."""
    places: Mapping[str, tuple[int, int]]
    """The shards, first and last, of requirements that many subscriptions have."""
    always: tuple[int, int]
    """The shards of subscriptions of which no requirement is known: they see every document."""
    name: str = ""
    """The file of all requirements with their shards."""
    sha256: str = ""
    requirements: int = 0


@dataclass(frozen=True)
class Manifest:
    """The contents of `manifest.json`."""

    settings: Settings
    id_type: str
    """Spark's name for the type of subscription ids."""
    subscriber_type: str | None
    shards: tuple[Shard, ...]
    pathcast: str = pathcast.__version__
    routing: Routing | None = None
    """None if every shard sees every document."""

    @property
    def hash(self) -> str:
        """The version of the whole set: equal tables compiled with equal settings have equal ones."""
        digest = hashlib.sha256(_settings_json(self.settings).encode())
        digest.update(f"{self.id_type} {self.subscriber_type} {len(self.shards)}".encode())
        for shard in self.shards:
            digest.update(shard.hash.encode())
        if self.routing:
            digest.update(self.routing.sha256.encode())
        return digest.hexdigest()

    @property
    def subscriptions(self) -> int:
        """How many were accepted."""
        return sum(shard.subscriptions for shard in self.shards)

    @property
    def refused(self) -> int:
        """How many were not."""
        return sum(shard.refused for shard in self.shards)

    @property
    def files(self) -> list[str]:
        """The names of all files of all shards."""
        rejected = [shard.rejected for shard in self.shards if shard.rejected]
        routing = [self.routing.name] if self.routing else []
        return [*(name for shard in self.shards for name in shard.files), *rejected, *routing]

    @property
    def name(self) -> str:
        """The file that keeps this manifest when a newer version has replaced it."""
        return version_file(self.hash)

    @property
    def types(self) -> dict[str, str | None]:
        """The types of the columns that readers of an older version rely on."""
        return {"id_type": self.id_type, "subscriber_type": self.subscriber_type}

    def write(self, folder: Path) -> None:
        """Makes this the manifest of a folder whose files are all there."""
        contents = self._contents()
        replace_file(folder / self.name, contents)
        try:
            before = Manifest.read(folder)
        except IndexFormatError:
            before = None
        for name in [*before.files, before.name] if before else []:
            if name not in self.files and name != self.name:
                with suppress(OSError):
                    os.utime(folder / name)  # when it was replaced: `remove_unused` counts from there
        replace_file(folder / MANIFEST, contents)

    def _contents(self) -> bytes:
        contents = {
            "format": FORMAT,
            "pathcast": self.pathcast,
            "hash": self.hash,
            "subscriptions": self.subscriptions,
            "refused": self.refused,
            "id_type": self.id_type,
            "subscriber_type": self.subscriber_type,
            "settings": json.loads(_settings_json(self.settings)),
            "shards": [asdict(shard) for shard in self.shards],
        }
        if self.routing:
            contents["routing"] = asdict(self.routing)
            contents = json.loads(json.dumps(contents))  # as it will be read: the checksum is of that
        contents["crc32"] = zlib.crc32(json.dumps(contents, sort_keys=True).encode())
        return (json.dumps(contents, indent=2) + "\n").encode()

    @classmethod
    def read(cls, folder: Path, name: str = MANIFEST) -> Manifest:
        """The manifest of a folder; `IndexFormatError` says what is wrong with it and what to do."""
        return cls.parsed((folder / name).read_bytes, str(folder), name)

    @classmethod
    def parsed(cls, read: Callable[[], bytes], folder: str, name: str) -> Manifest:
        """The manifest that is read, from wherever that is."""
        path = f"{folder}/{name}"
        try:
            contents = json.loads(read())
        except (FileNotFoundError, NotADirectoryError):
            how = _AGAIN if name != MANIFEST else _WHERE
            raise IndexFormatError(
                f"{folder} holds no compiled subscriptions ({name} is missing): {how}"
            ) from None
        except (OSError, ValueError) as error:
            raise IndexFormatError(f"{path} cannot be read ({error}): {_AGAIN}") from None
        version = contents.get("format") if isinstance(contents, dict) else None
        if isinstance(version, int) and version > FORMAT:
            raise IndexFormatError(
                f"{path} has format version {version}, but this Pathcast ({pathcast.__version__}) reads up "
                f"to {FORMAT}: upgrade Pathcast to {contents.get('pathcast')}, or {_AGAIN}"
            )
        if isinstance(version, int) and 0 < version < FORMAT:
            raise IndexFormatError(
                f"{path} has format version {version}, from an older Pathcast, and this one "
                f"({pathcast.__version__}) reads {FORMAT}: {_AGAIN}"
            )
        try:
            if contents.pop("crc32") != zlib.crc32(json.dumps(contents, sort_keys=True).encode()):
                raise ValueError("its checksum does not fit")
            return _manifest(contents)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise IndexFormatError(f"{path} is damaged ({error}): {_AGAIN}") from None


def _manifest(contents: dict[str, Any]) -> Manifest:
    settings = contents["settings"]
    return Manifest(
        settings=Settings(
            ordered=settings["ordered"],
            namespaces=settings["namespaces"],
            ignore_namespaces=settings["ignore_namespaces"],
            limits=Limits(**settings["limits"]),
            schema=settings.get("schema"),
            impossible=settings.get("impossible", "ignore"),
            entities=settings.get("entities"),
        ),
        id_type=contents["id_type"],
        subscriber_type=contents["subscriber_type"],
        shards=tuple(_shard(shard) for shard in contents["shards"]),
        pathcast=contents["pathcast"],
        routing=_routing(contents["routing"]) if "routing" in contents else None,
    )


def _shard(values: dict[str, Any]) -> Shard:
    """Before there were images, manifests said nothing of them."""
    known = [each.name for each in fields(Shard)]
    return Shard(**{name: values[name] for name in known if name in values or name not in _IMAGE})


def _routing(values: dict[str, Any]) -> Routing:
    return Routing(
        tuple(Field(**each) for each in values["fields"]),
        {text: (first, last) for text, (first, last) in values["places"].items()},
        (values["always"][0], values["always"][1]),
        values["name"],
        values["sha256"],
        values["requirements"],
    )


def _settings_json(settings: Settings) -> str:
    values = asdict(settings)
    if settings.entities is None:
        # Without them a version is what it was before there were any.
        del values["entities"]
    return json.dumps(values, sort_keys=True)


def settings_digest(settings: Settings) -> bytes:
    """What the hash of every shard starts from."""
    return hashlib.sha256(_settings_json(settings).encode()).digest()


def version_file(hash: str) -> str:
    """The name of the manifest of a version."""
    return f"manifest-{hash[:20]}.json"


def sha256(path: str | os.PathLike[str]) -> str:
    """The SHA-256 of a file's contents."""
    with open(path, "rb") as file:
        digest = hashlib.sha256()
        while chunk := file.read(1 << 20):
            digest.update(chunk)
        return digest.hexdigest()


def replace_file(path: Path, contents: bytes | Path) -> None:
    """Writes a file, whole or not at all: a task that runs twice, even at once, leaves one good file."""
    part = path.with_name(f".{path.name}.{uuid4().hex}.part")
    try:
        with open(part, "wb") as file:
            if isinstance(contents, Path):
                with open(contents, "rb") as source:
                    while chunk := source.read(1 << 20):
                        file.write(chunk)
            else:
                file.write(contents)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
