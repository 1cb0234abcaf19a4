"""What a broker must not forget, as records for a compacted log.

Every change of a broker's state is one record: a key, and a value or nothing when the key is gone. The last
record of each key is the state, so a compacted topic, a table or a dictionary can hold it. Keys and values
are JSON; a record that cannot be read is a `StateError`, because a broker that forgot something would lose
documents.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from pathcast.errors import PathcastError

VERSION = 2

Key = tuple[Any, ...]


class StateError(PathcastError, ValueError):
    """Records from which no broker can be restored."""


class Record(NamedTuple):
    """One change: a key and its value, or None when it is gone."""

    key: bytes
    value: bytes | None


class Store:
    """Collects the changes of one step; a broker without durability collects none.

    >>> store = Store(True)
    >>> store.put(("doc", "b1/7"), {"n": 1})
    >>> store.drop(("doc", "b1/6"))
    >>> store.taken()
    [Record(key=b'["doc","b1/7"]', value=b'{"n":1}'), Record(key=b'["doc","b1/6"]', value=None)]
    """

    def __init__(self, durable: bool) -> None:
        self.durable = durable
        self._changes: dict[Key, Mapping[str, Any] | None] = {}

    def put(self, key: Key, value: Mapping[str, Any]) -> None:
        """A key has a value."""
        if self.durable:
            self._changes[key] = value

    def drop(self, key: Key) -> None:
        """A key is gone."""
        if self.durable:
            self._changes[key] = None

    def taken(self) -> list[Record]:
        """The changes since the last call, the last one of each key."""
        changes, self._changes = self._changes, {}
        return [Record(_json(key), None if value is None else _json(value)) for key, value in changes.items()]


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def read_records(records: Iterable[Record | tuple[bytes, bytes | None]]) -> dict[Key, dict[str, Any]]:
    """The state that records leave behind.

    >>> read_records([(b'["doc","x"]', b'{}'), (b'["doc","y"]', b'{}'), (b'["doc","x"]', None)])
    {('doc', 'y'): {}}
    """
    found: dict[Key, dict[str, Any]] = {}
    listed = list(records)
    keys, values = _all(key for key, _ in listed), _all(value or b"null" for _, value in listed)
    for (key, _), parsed, content in zip(listed, keys, values, strict=True):
        if not isinstance(parsed, list) or not parsed or not (content is None or isinstance(content, dict)):
            raise StateError(f"a record of the broker's state has the key {key[:80]!r}, which cannot be read")
        name: Key = tuple(parsed)
        kinds = set(map(type, name))
        if list in kinds or dict in kinds:
            name = _hashable(parsed)
        if content is None:
            found.pop(name, None)
        else:
            found[name] = content
    return found


def _all(texts: Iterable[bytes]) -> list[Any]:
    """Many texts in JSON as one, which takes a third of the time; one by one if any is at fault."""
    texts = list(texts)
    try:
        found = _read(b"[%s]" % b",".join(texts))
        if len(found) == len(texts):
            return found  # type: ignore[no-any-return]
    except ValueError:
        pass
    try:
        return [_read(text) for text in texts]
    except ValueError as error:
        raise StateError(f"a record of the broker's state cannot be read: {error}") from None


def _read(data: bytes) -> Any:
    """JSON as `_json` writes it; `json.loads` takes twice as long, and there may be a million records."""
    text = data.decode("utf-8", "surrogatepass")
    value, end = _DECODER.raw_decode(text)
    if end != len(text):
        raise ValueError(f"there is more behind column {end + 1}")
    return value


_DECODER = json.JSONDecoder()


def _hashable(value: Any) -> Any:
    if not value:
        return ()
    if type(value) is list:
        return tuple([_hashable(each) if type(each) in (list, dict) else each for each in value])
    raise StateError("a record of the broker's state has an object in its key")
