"""Documents that are valid for a schema, drawn at random; the same seed gives the same bytes.

After the parameters of IBM's XML Generator, which the papers use: root, levels, repetitions, the odds of
optional parts and attributes, and where values come from.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator
from random import Random

from pathcast.errors import SchemaError
from pathcast.generate.growth import Child, Growth
from pathcast.generate.tags import Pieces, Tags
from pathcast.generate.values import Values, check_share
from pathcast.schema import Schema

MAX_SIZE = 1 << 20  # characters, from where on a document is brought to its end
_LOOK = 32  # elements between two looks at the size
_TRIES = 50  # for a document whose required references find an identifier
_SIZE_TRIES = 6  # for a document of the wanted size


def documents(
    schema: Schema,
    n: int,
    *,
    root: str | None = None,
    max_levels: int = 10,
    max_repeats: int = 3,
    optional: float = 0.5,
    attributes: float = 0.5,
    values: Values | None = None,
    target_size: int | None = None,
    seed: int = 0,
) -> Iterator[bytes]:
    """Draws `n` documents that are valid for the schema.

    Levels count the root as the first. `max_repeats` bounds what may repeat (``*``, ``+``, mixed content),
    `optional` are the odds of what may be left out (``?``, ``*``), `attributes` those of attributes that are
    not required, `values` says where text and attribute values come from. With a `target_size` (in
    bytes) documents stop growing there, and small ones are drawn again with more repetitions. Without one
    they stop growing at one mebibyte. The document at a place depends on the seed and the place alone.

    Raises `SchemaError` when the levels do not suffice for any document.

    >>> schema = Schema.from_text('''
    ...     <!ELEMENT news (item+)>  <!ELEMENT item (#PCDATA)>  <!ATTLIST item lang (en|fr) #REQUIRED>
    ... ''')
    >>> for document in documents(schema, 2, seed=4):
    ...     print(document.decode())
    <news><item lang="en">summit</item></news>
    <news><item lang="fr">willow</item><item lang="fr">delta</item><item lang="fr">pepper</item></news>
    """
    check_share("optional", optional)
    check_share("attributes", attributes)
    for name, number, least in (("n", n, 0), ("max_levels", max_levels, 1), ("max_repeats", max_repeats, 1)):
        if number < least:
            raise ValueError(f"{name} must be at least {least}, not {number}")
    if target_size is not None and target_size < 1:
        raise ValueError(f"target_size must be at least 1, not {target_size}")
    top = root or schema.root
    if top not in schema.elements:
        raise SchemaError(f"the root {top!r} is not declared in the DTD")
    if top != schema.root:
        schema = schema.rooted(top)
    height = schema.height(top)
    if height is None or height > max_levels:
        raise SchemaError(f"the shallowest valid {top} has {height} levels, and max_levels is {max_levels}")
    writer = Writer(schema, max_levels, max_repeats, optional, attributes, values or Values())
    return writer.write(n, seed, target_size)


class Writer:
    """Writes documents of one schema with one set of parameters."""

    def __init__(
        self,
        schema: Schema,
        max_levels: int,
        max_repeats: int,
        optional: float,
        attributes: float,
        values: Values,
    ) -> None:
        self._schema = schema
        self._levels = max_levels
        self._repeats = max_repeats
        self._optional = optional
        self._attributes = attributes
        self._random = Random()
        self._tags = Tags(schema, self._random, attributes, values)
        self._growths: dict[int, Growth] = {}

    def write(self, n: int, seed: int, target_size: int | None) -> Iterator[bytes]:
        """The documents one by one."""
        for place in range(n):
            self._random.seed(f"{seed}/{place}")
            document = self._connected(0, target_size or MAX_SIZE)
            if target_size is not None:
                for more in range(1, _SIZE_TRIES):
                    if len(document) >= target_size * 0.7:
                        break
                    again = self._connected(more, target_size)
                    document = min(document, again, key=lambda one: abs(len(one) - target_size))
            yield document

    def _growth(self, more: int) -> Growth:
        """How content grows: the plain odds, or higher ones for a document that should be larger."""
        if more not in self._growths:
            optional = 1 - (1 - self._optional) / 2**more
            self._growths[more] = Growth(self._schema, self._random, optional, self._repeats * 2**more)
        return self._growths[more]

    def _connected(self, more: int, size: int) -> bytes:
        """A document in which every reference leads to an identifier."""
        for attempt in range(_TRIES):
            pieces = self._draw(self._growth(max(more, min(attempt // 10, 4))), size)
            if pieces.connect(self._random):
                return "".join(pieces.places).encode()
        raise SchemaError(
            f"none of {_TRIES} documents has an element with an ID that its required references can lead to"
        )

    def _draw(self, growth: Growth, size: int) -> Pieces:
        """A document, element by element from a stack."""
        pieces = Pieces()
        append, draw, odds = pieces.places.append, self._random.random, self._attributes
        texts, cumulative = self._tags.texts
        tag_of, grow = self._tags.of, growth.of
        stack: list[Child | str] = [(self._schema.root, self._levels)]
        pop, extend = stack.pop, stack.extend
        looked = written = elements = 0
        countdown = look = 4 if size < MAX_SIZE else _LOOK
        is_full = False
        children: list[Child] = []
        while stack:
            item = pop()
            if item is None:
                append(texts[bisect(cumulative, draw())])
                continue
            if item.__class__ is str:
                append(item)
                continue
            assert not isinstance(item, str)
            name, levels = item
            tag = tag_of(name)
            tag.write(pieces, draw, odds)
            if is_full:
                children = growth.smallest(name, levels)
            else:
                children = []
                grow(name, levels)(children)
                countdown -= 1
                if not countdown:
                    countdown = look
                    elements += look
                    written += sum(map(len, pieces.places[looked:]))
                    looked = len(pieces.places)
                    # Half of what is open is end tags, the rest will be about as large as what is written.
                    is_full = written + len(stack) // 2 * written // elements >= size
            if children:
                append(">")
                stack.append(tag.end)
                children.reverse()
                extend(children)
            else:
                append("/>")
        return pieces
