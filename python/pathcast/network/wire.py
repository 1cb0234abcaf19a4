"""Messages as bytes: one line of JSON, then the document if there is one.

The line names the version and the kind. Every field is checked for its type and its size, every text for
being Unicode that can be written again (no surrogates, no U+0000); unknown kinds and fields are refused. So
whatever is read can be passed on: `decode(encode(decode(data)))` is `decode(data)`. Nothing in a message can
make a reader run code or use more memory than the message has bytes.

>>> from pathcast.network.message import Subscribe
>>> encode(Subscribe(Filter("/a/b")))
b'{"v":1,"kind":"subscribe","filter":{"xpath":"/a/b"}}\\n'
>>> decode(encode(Publish("b1/c/7", b"<a/>")))
Publish(document='b1/c/7', body=b'<a/>', path=None, flood=False)
>>> decode(b'{"v":1,"kind":"subscribe"}\\n')
Traceback (most recent call last):
pathcast.network.wire.WireError: a message of kind 'subscribe' has no 'filter'
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from pathcast.errors import PathcastError
from pathcast.network import message as m
from pathcast.network.message import Advertised, Delivery, Filter, Message, Notice, Publish
from pathcast.subscriptions import variables_from
from pathcast.types import Variables

VERSION = 1

__all__ = [
    "WireError",
    "WireLimits",
    "decode",
    "decode_delivery",
    "decode_notice",
    "encode",
    "encode_delivery",
    "encode_notice",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class WireLimits:
    """How large messages may be."""

    header_bytes: int = 8 << 20
    """The line of JSON; an advertisement may have 4 MiB."""
    body_bytes: int = 64 << 20
    """The document."""
    text: int = 1 << 10
    """Characters of an id or the name of a broker."""
    xpath: int = 16 << 10
    """Bytes of an expression."""
    names: int = 1 << 10
    """Brokers on a path, prefixes of a filter, texts of an advertisement are at most 64 times as many."""


class WireError(PathcastError, ValueError):
    """Bytes that cannot be read as a message, and why."""


def encode(message: Message) -> bytes:
    """A message as bytes."""
    kind, fields, body = _KINDS[type(message)].write(message)
    return _written({"v": VERSION, "kind": kind, **fields}) + body


def decode(data: bytes, limits: WireLimits | None = None) -> Message:
    """The message in some bytes; `WireError` says why they cannot be read."""
    limits = limits or WireLimits()
    header, body = _header(data, limits)
    name = header.pop("kind", None)
    kind = _BY_NAME.get(name) if isinstance(name, str) else None
    if kind is None:
        raise WireError(f"there is no message of kind {_shown(name)}")
    if body and not kind.has_body:
        raise WireError(f"a message of kind {name!r} has no body")
    fields = _Fields(header, str(name), limits)
    made = kind.read(fields, body)
    fields.finish()
    return made


def encode_delivery(delivery: Delivery) -> bytes:
    """What a client gets, as bytes: who, which document, by which subscriptions, and the document."""
    header = {"v": VERSION, "client": delivery.client, "document": delivery.document, "ids": delivery.ids}
    return _written(header) + delivery.body


def decode_delivery(data: bytes, limits: WireLimits | None = None) -> Delivery:
    """What `encode_delivery` wrote."""
    limits = limits or WireLimits()
    header, body = _header(data, limits)
    fields = _Fields(header, "delivery", limits)
    ids = fields.texts("ids", len(data), limits.text)
    made = Delivery(fields.text("client"), fields.text("document", 8 * limits.text), ids, body)
    fields.finish()
    return made


def encode_notice(notice: Notice) -> bytes:
    """What a client that moves is told, as bytes."""
    header: dict[str, Any] = {"v": VERSION, "client": notice.client, "notice": notice.kind}
    if notice.messages:
        header["messages"] = [encode(each).decode() for each in notice.messages]
    if notice.documents:
        header["documents"] = notice.documents
    if notice.unrest:
        header["unrest"] = notice.unrest
    return _written({**header, **({"last": True} if notice.is_last else {})})


def decode_notice(data: bytes, limits: WireLimits | None = None) -> Notice:
    """What `encode_notice` wrote.

    >>> decode_notice(encode_notice(Notice("ann", "departed", documents=("b1/wire/7",))))
    Notice(client='ann', kind='departed', messages=(), documents=('b1/wire/7',), is_last=True, unrest='')
    """
    limits = limits or WireLimits()
    header, _ = _header(data, limits)
    fields = _Fields(header, "notice", limits)
    client, kind = fields.text("client"), fields.text("notice")
    if kind not in ("holds", "welcome", "ready", "departed", "ended"):
        raise WireError(f"there is no notice of kind {_shown(kind)}")
    texts: dict[str, tuple[str, ...]] = {
        name: fields.texts(name, len(data), len(data)) if name in header else ()
        for name in ("messages", "documents")
    }
    messages = [decode(text.encode(), limits) for text in texts["messages"]]
    if not all(isinstance(each, m.ClientMessage) for each in messages):
        raise WireError("a notice has messages that are not a client's")
    last, unrest = fields.flag("last"), fields.optional("unrest")
    made = Notice(client, kind, tuple(messages), texts["documents"], last, unrest)  # type: ignore[arg-type]
    fields.finish()
    return made


def _written(header: Mapping[str, Any]) -> bytes:
    try:
        return json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
    except UnicodeEncodeError as error:
        raise WireError(f"a text of the message has a surrogate: {error.object[error.start]!a}") from None


def _header(data: bytes, limits: WireLimits) -> tuple[dict[str, Any], bytes]:
    if len(data) > limits.header_bytes + 1 + limits.body_bytes:
        raise WireError(f"the message has {len(data):,} bytes, too many")
    end = data.find(b"\n", 0, limits.header_bytes + 1)
    if end < 0:
        raise WireError("the message has no header line, or one that is too long")
    line = data[:end]
    try:
        header = json.loads(line.decode("utf-8"), object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise WireError(f"the header is not JSON: {error}") from None
    if b"\\u" in line:
        # Only an escape can stand for a surrogate or U+0000; JSON and UTF-8 refuse them as they are.
        _check_texts(header)
    if not isinstance(header, dict):
        raise WireError("the header is not a JSON object")
    version = header.pop("v", None)
    if version != VERSION or isinstance(version, bool):
        raise WireError(f"the message has version {_shown(version)}, and {VERSION} is known")
    body = data[end + 1 :]
    if len(body) > limits.body_bytes:
        raise WireError(f"the document has {len(body):,} bytes, and the limit is {limits.body_bytes:,}")
    return header, body


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name is given twice")
    return found


def _check_texts(value: Any) -> None:
    """Names and values, however deep, have no surrogate and no U+0000."""
    pending = [value]
    while pending:
        match pending.pop():
            case str() as text:
                if _UNWRITABLE.search(text):
                    raise WireError(f"the text {_shown(text)} has a surrogate or U+0000")
            case dict() as table:
                pending += table
                pending += table.values()
            case list() as values:
                pending += values


_UNWRITABLE = re.compile("[\0\ud800-\udfff]")
_TYPES = {str: "text", int: "a whole number", bool: "true or false", list: "a list", dict: "an object"}


def _shown(value: object) -> str:
    text = ascii(value)
    return text if len(text) <= 60 else text[:59] + "…"


Field = TypeVar("Field")
Wave = TypeVar("Wave", m.Settle, m.Settled, m.Visited)


class _Fields:
    """The fields of one header, each of which must be taken once."""

    def __init__(self, fields: dict[str, Any], kind: str, limits: WireLimits) -> None:
        self.fields, self.kind, self.limits = fields, kind, limits

    def take(self, name: str, type: type[Field]) -> Field:
        if name not in self.fields:
            raise WireError(f"a message of kind {self.kind!r} has no {name!r}")
        value = self.fields.pop(name)
        if not isinstance(value, type) or (isinstance(value, bool) and type is not bool):
            raise WireError(f"{name!r} is {_shown(value)}, which is not {_TYPES[type]}")
        return value

    def text(self, name: str, longest: int | None = None) -> str:
        text = self.take(name, str)
        longest = self.limits.text if longest is None else longest
        if not text or len(text) > longest:
            raise WireError(f"{name!r} is empty or too long")
        return text

    def number(self, name: str) -> int:
        number = self.take(name, int)
        if not 0 <= number < 1 << 53:
            raise WireError(f"{name!r} is {_shown(number)}, out of range")
        return number

    def texts(self, name: str, most: int, longest: int) -> tuple[str, ...]:
        texts = self.take(name, list)
        if len(texts) > most or not all(isinstance(text, str) and 0 < len(text) <= longest for text in texts):
            raise WireError(f"{name!r} has too many texts, or one that is empty or too long")
        return tuple(texts)

    def namespaces(self) -> tuple[tuple[str, str], ...]:
        if "namespaces" not in self.fields:
            return ()
        pairs = self.take("namespaces", dict)
        if len(pairs) > self.limits.names or not all(
            isinstance(uri, str) and len(prefix) + len(uri) <= 4 * self.limits.text
            for prefix, uri in pairs.items()
        ):
            raise WireError("'namespaces' has too many prefixes, or a URI that is too long or no text")
        return tuple(sorted(pairs.items()))

    def variables(self) -> Variables | None:
        if "variables" not in self.fields:
            return None
        pairs = self.take("variables", list)
        if len(pairs) > self.limits.names or len(json.dumps(pairs)) > self.limits.xpath:
            raise WireError("'variables' has too many names, or values that are too long")
        return read_variables(pairs)

    def flag(self, name: str) -> bool:
        return name in self.fields and self.take(name, bool)

    def optional(self, name: str) -> str:
        return self.text(name, 2 * self.limits.text) if name in self.fields else ""

    def inner(self, name: str) -> _Fields:
        return _Fields(self.take(name, dict), f"{self.kind}.{name}", self.limits)

    def finish(self) -> None:
        if self.fields:
            raise WireError(f"a message of kind {self.kind!r} has no {_shown(min(self.fields))}")


def filter_fields(filter: Filter) -> dict[str, Any]:
    """A filter as JSON; what is usual is left out."""
    fields: dict[str, Any] = {"xpath": filter.xpath}
    if filter.ordered:
        fields["ordered"] = True
    if filter.namespaces:
        fields["namespaces"] = dict(filter.namespaces)
    if filter.variables:
        fields["variables"] = [[name, json.loads(text)] for name, text in filter.variables]  # in their order
    return fields


def read_variables(pairs: list[Any]) -> Variables | None:
    """Names and values as `filter_fields` writes them."""
    if not all(isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str) for pair in pairs):
        raise WireError(f"'variables' is {_shown(pairs)}, which is not a list of names and values")
    try:
        return variables_from(dict(pairs))
    except ValueError as error:
        raise WireError(str(error)) from None


def _read_filter(fields: _Fields) -> Filter:
    inner = fields.inner("filter")
    xpath = inner.text("xpath", inner.limits.xpath)
    made = Filter.of(xpath, ordered=inner.flag("ordered"), variables=inner.variables())
    made = made._replace(namespaces=inner.namespaces())
    inner.finish()
    return made


def advertised_fields(advertised: Advertised) -> dict[str, Any]:
    """The advertised paths as JSON."""
    fields: dict[str, Any] = {"texts": advertised.texts}
    if advertised.namespaces:
        fields["namespaces"] = dict(advertised.namespaces)
    return fields


def _read_advertised(fields: _Fields) -> Advertised:
    inner = fields.inner("advertised")
    made = Advertised(inner.texts("texts", 64 * inner.limits.names, 4 << 20), inner.namespaces())
    inner.finish()
    return made


@dataclass(frozen=True, slots=True)
class _Kind:
    """How one kind of message is written and read."""

    name: str
    fields: Callable[[Any], Mapping[str, Any]]
    read: Callable[[_Fields, bytes], Message]
    has_body: bool = False

    def write(self, message: Any) -> tuple[str, Mapping[str, Any], bytes]:
        return self.name, self.fields(message), message.body if self.has_body else b""


def _id(message: Any) -> dict[str, Any]:
    return {"id": message.id}


def _id_advertised(message: Any) -> dict[str, Any]:
    return {"id": message.id, "advertised": advertised_fields(message.advertised)}


def _filter(message: Any) -> dict[str, Any]:
    return {"filter": filter_fields(message.filter)}


def _publish(message: Publish) -> dict[str, Any]:
    path = {} if message.path is None else {"path": message.path}
    flood = {"flood": True} if message.flood else {}
    return {"document": message.document, **path, **flood}


def _read_publish(fields: _Fields, body: bytes) -> Publish:
    path = fields.number("path") if "path" in fields.fields else None
    return Publish(fields.text("document", 8 * fields.limits.text), body, path, fields.flag("flood"))


def _number(message: Any) -> dict[str, Any]:
    return {"number": message.number}


def _wave(message: Any) -> dict[str, Any]:
    return {"number": message.number, "origin": message.origin, "round": message.round}


def _read_wave(kind: type[Wave]) -> Callable[[_Fields, bytes], Wave]:
    return lambda f, _: kind(f.number("number"), f.text("origin"), f.number("round"))


_KINDS: dict[type[Any], _Kind] = {
    m.Hello: _Kind(
        "hello",
        lambda hello: {"path": hello.path, "epoch": hello.epoch},
        lambda f, _: m.Hello(f.texts("path", f.limits.names, f.limits.text), f.number("epoch")),
    ),
    m.Reset: _Kind("reset", lambda reset: {"epoch": reset.epoch}, lambda f, _: m.Reset(f.number("epoch"))),
    m.Advertise: _Kind(
        "advertise", _id_advertised, lambda f, _: m.Advertise(f.text("id", 4096), _read_advertised(f))
    ),
    m.Unadvertise: _Kind("unadvertise", _id, lambda f, _: m.Unadvertise(f.text("id", 4096))),
    m.Subscribe: _Kind("subscribe", _filter, lambda f, _: m.Subscribe(_read_filter(f))),
    m.Unsubscribe: _Kind("unsubscribe", _filter, lambda f, _: m.Unsubscribe(_read_filter(f))),
    m.Publish: _Kind("publish", _publish, _read_publish, has_body=True),
    m.Sync: _Kind(
        "sync",
        lambda sync: {"number": sync.number, **({"through": True} if sync.through else {})},
        lambda f, _: m.Sync(f.number("number"), f.flag("through")),
    ),
    m.Synced: _Kind("synced", _number, lambda f, _: m.Synced(f.number("number"))),
    m.Unrest: _Kind(
        "unrest",
        lambda each: {"number": each.number, "origin": each.origin},
        lambda f, _: m.Unrest(f.number("number"), f.text("origin")),
    ),
    m.Settle: _Kind("settle", _wave, _read_wave(m.Settle)),
    m.Settled: _Kind("settled", _wave, _read_wave(m.Settled)),
    m.Visited: _Kind("visited", _wave, _read_wave(m.Visited)),
    m.Bye: _Kind("bye", lambda _: {}, lambda _f, _: m.Bye()),
    m.Heartbeat: _Kind(
        "heartbeat",
        lambda beat: {"suspects": beat.suspects},
        lambda f, _: m.Heartbeat(f.take("suspects", bool)),
    ),
    m.ClientSubscribe: _Kind(
        "client-subscribe",
        lambda each: {"id": each.id, "filter": filter_fields(each.filter)},
        lambda f, _: m.ClientSubscribe(f.text("id"), _read_filter(f)),
    ),
    m.ClientUnsubscribe: _Kind("client-unsubscribe", _id, lambda f, _: m.ClientUnsubscribe(f.text("id"))),
    m.ClientAdvertise: _Kind(
        "client-advertise", _id_advertised, lambda f, _: m.ClientAdvertise(f.text("id"), _read_advertised(f))
    ),
    m.ClientUnadvertise: _Kind("client-unadvertise", _id, lambda f, _: m.ClientUnadvertise(f.text("id"))),
    m.ClientPublish: _Kind(
        "client-publish", _id, lambda f, body: m.ClientPublish(f.text("id"), body), has_body=True
    ),
    m.ClientLeave: _Kind("client-leave", lambda _: {}, lambda _f, _: m.ClientLeave()),
    m.ClientDepart: _Kind("client-depart", lambda _: {}, lambda _f, _: m.ClientDepart()),
    m.ClientStay: _Kind("client-stay", lambda _: {}, lambda _f, _: m.ClientStay()),
    m.ClientArrive: _Kind(
        "client-arrive",
        lambda each: {"subscriptions": each.subscriptions},
        lambda f, _: m.ClientArrive(f.number("subscriptions")),
    ),
    m.ClientArrived: _Kind(
        "client-arrived",
        lambda each: {
            "documents": each.documents,
            **({"last": True} if each.is_last else {}),
            **({"unrest": each.unrest} if each.unrest else {}),
        },
        lambda f, _: m.ClientArrived(
            f.texts("documents", f.limits.names, 10 * f.limits.text), f.flag("last"), f.optional("unrest")
        ),
    ),
}
_BY_NAME = {kind.name: kind for kind in _KINDS.values()}
