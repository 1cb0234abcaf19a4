"""What a cache could know a document by: the set of its paths, and of its paths with values."""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree import ElementTree


def paths(document: bytes) -> frozenset[str]:
    """The paths of elements and attributes.

    >>> sorted(paths(b"<a x='1'><b>2</b><b/></a>"))
    ['/a', '/a/@x', '/a/b']
    """
    return frozenset(path for path, _ in _steps(document))


def values(document: bytes) -> frozenset[tuple[str, str]]:
    """The same with attribute values and text.

    >>> sorted(values(b"<a x='1'><b>2</b><b/></a>"))
    [('/a', ''), ('/a/@x', '1'), ('/a/b', ''), ('/a/b', '2')]
    """
    return frozenset(_steps(document))


def repeated(signatures: Iterable[object]) -> float:
    """The share that came before.

    >>> repeated("abca")
    0.25
    """
    found = list(signatures)
    return 1 - len(set(found)) / len(found)


def _steps(document: bytes) -> Iterable[tuple[str, str]]:
    open_elements = [("", ElementTree.fromstring(document))]
    while open_elements:
        above, element = open_elements.pop()
        path = f"{above}/{element.tag}"
        yield path, (element.text or "").strip()
        for name, value in element.attrib.items():
            yield f"{path}/@{name}", value
        open_elements.extend((path, child) for child in element)
