"""Subscriptions that some valid document satisfies, drawn at random; the same seed gives the same ones.

After the parameters of the papers' generators: number, depth, the probabilities of ``*`` and ``//`` at a
step, branching ("Efficient filtering of XML documents with XPath expressions", table 4), value predicates,
skew, distinct or not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

from pathcast.errors import PathcastError, SchemaError
from pathcast.generate.enumeration import linear_paths
from pathcast.generate.paths import Key, Step, key, text
from pathcast.generate.values import Values, check_share, check_skew
from pathcast.generate.walk import Odds, Walker
from pathcast.schema import Schema

ENUMERATED = 1_000_000  # expressions that are listed at most to see how many there are
PATIENCE = 10_000  # repetitions in a row before they are listed
LAST_PATIENCE = 200_000  # repetitions in a row before the search is given up
_ROOM_TRIES = 1_000  # draws in a row without room for the value predicates
_WEIGHED = 5_000  # draws after which the levels are weighed anew
_REPORTED = 1_000  # subscriptions between two calls of the progress function


class DistinctError(PathcastError, ValueError):
    """There are not as many distinct subscriptions as were asked for."""

    def __init__(self, wanted: int, found: int, exact: bool) -> None:
        super().__init__(wanted, found, exact)
        self.wanted = wanted
        self.found = found
        self.exact = exact

    def __str__(self) -> str:
        if self.exact:
            return f"{self.wanted:,} distinct subscriptions were asked for, and only {self.found:,} exist"
        return (
            f"{self.wanted:,} distinct subscriptions were asked for; after {self.found:,}, "
            f"{LAST_PATIENCE:,} draws in a row gave no new one"
        )


def subscriptions(
    schema: Schema,
    n: int,
    *,
    max_depth: int = 10,
    wildcard: float = 0.1,
    descendant: float = 0.1,
    relative: float = 0.0,
    branch: float = 0.0,
    nested: int = 1,
    predicates: int = 0,
    skew: float = 0.0,
    values: Values | None = None,
    distinct: bool = False,
    even_depth: bool = False,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> Iterator[str]:
    """Draws `n` expressions, each satisfied by some valid document that shows it within `max_depth` levels.

    `wildcard` and `descendant` are the probabilities of ``*`` and ``//`` at a step, `relative` that of a
    start at any element without a slash, `branch` that a step gets a path as predicate, in which branches may
    again be nested, `nested` deep. `predicates` value tests (on attributes and text, with the six operators
    and values from `values`) are added to each expression. `skew` is the Zipf exponent by which children
    are chosen, in the order of their content model. With `even_depth` expressions end on all levels down to
    `max_depth` alike, as far as the schema goes; without, they end where a walk meets a leaf, which is soon.
    `progress` is called with the number drawn so far.

    With `distinct` no two are the same as `pathcast.Index` counts them; `DistinctError` when there are not
    enough. When repetitions pile up, the linear expressions are listed, and what is missing is taken from
    the list. Prefixes, and the default namespace of names without one, are in `schema.namespaces`.

    >>> schema = Schema.from_text('''
    ...     <!ELEMENT news (item+)>  <!ELEMENT item (title, p*)>  <!ATTLIST item size CDATA #REQUIRED>
    ...     <!ELEMENT title (#PCDATA)>  <!ELEMENT p (#PCDATA)>
    ... ''')
    >>> list(subscriptions(schema, 4, descendant=0.3, seed=1))
    ['/news//p', '/news/item/title', '/news//p', '/news/item']
    >>> list(subscriptions(schema, 3, wildcard=0, descendant=0, distinct=True, max_depth=2))
    Traceback (most recent call last):
    pathcast.generate.subscriptions.DistinctError: 3 distinct subscriptions were asked for, and only 2 exist
    """
    for name, share in (("wildcard", wildcard), ("descendant", descendant), ("relative", relative)):
        check_share(name, share)
    check_share("branch", branch)
    check_skew(skew)
    for name, number, least in (
        ("n", n, 0),
        ("max_depth", max_depth, 1),
        ("nested", nested, 0),
        ("predicates", predicates, 0),
    ):
        if number < least:
            raise ValueError(f"{name} must be at least {least}, not {number}")
    _check_prefixes(schema)
    odds = Odds(max_depth, wildcard, descendant, relative, branch, nested, predicates, skew, even_depth)
    random = Random(f"{seed}")
    walker = Walker(schema, odds, values or Values(), random)
    found = _distinct(schema, odds, walker, n, random) if distinct else _first(_drawn(walker), n)
    return _reported(found, progress) if progress else found


def _check_prefixes(schema: Schema) -> None:
    for name in schema.reachable:
        prefix, colon, _ = name.partition(":")
        if colon and prefix not in schema.namespaces:
            raise SchemaError(f"the prefix of {name} is bound nowhere; give the schema namespaces=")


def _drawn(walker: Walker) -> Iterator[tuple[list[Step], bool]]:
    """Expressions without end."""
    while True:
        for _ in range(_ROOM_TRIES):
            path = walker.path()
            if path:
                yield path
                break
        else:
            raise SchemaError(
                f"{_ROOM_TRIES:,} expressions in a row had no room for the value predicates; ask for fewer"
            )


def _first(drawn: Iterator[tuple[list[Step], bool]], n: int) -> Iterator[str]:
    for _ in range(n):
        steps, is_relative = next(drawn)
        yield text(steps, is_relative)


class _Novelty:
    """How often expressions of each level were new of late: levels that are used up are tried less.

    Short expressions are soon all drawn. For 100,000 distinct ones of NITF, six levels deep (938 paths),
    this halves the time.
    """

    def __init__(self, walker: Walker, levels: int) -> None:
        self._walker = walker
        self._drawn = [1] * levels
        self._new = [1] * levels
        self._left = _WEIGHED

    def count(self, is_new: bool) -> None:
        """One more draw."""
        self._drawn[self._walker.last - 1] += 1
        self._new[self._walker.last - 1] += is_new
        self._left -= 1
        if not self._left:
            self._left = _WEIGHED
            rates = [new / drawn for new, drawn in zip(self._new, self._drawn, strict=True)]
            self._walker.prefer([max(rate, 0.01 * max(rates)) for rate in rates])
            self._drawn = [1 + drawn // 8 for drawn in self._drawn]
            self._new = [1 + new // 8 for new in self._new]


def _distinct(schema: Schema, odds: Odds, walker: Walker, n: int, random: Random) -> Iterator[str]:
    seen: set[Key] = set()
    repeated = 0
    drawn = _drawn(walker)
    novelty = _Novelty(walker, odds.max_depth)
    is_listed = bool((odds.branch and odds.nested) or odds.predicates)  # only linear ones can be listed
    while len(seen) < n:
        steps, is_relative = next(drawn)
        name = key(steps)
        novelty.count(name not in seen)
        if name not in seen:
            seen.add(name)
            repeated = 0
            yield text(steps, is_relative)
            continue
        repeated += 1
        if repeated >= PATIENCE and not is_listed:
            is_listed = True
            rest = _rest(schema, odds, seen)
            if rest is not None:
                random.shuffle(rest)
                yield from rest[: n - len(seen)]
                if len(seen) + len(rest) < n:
                    raise DistinctError(n, len(seen) + len(rest), exact=True)
                return
        if repeated >= LAST_PATIENCE:
            raise DistinctError(n, len(seen), exact=False)


def _rest(schema: Schema, odds: Odds, seen: set[Key]) -> list[str] | None:
    """All linear expressions that were not drawn yet; None when there are too many to list."""
    rest = []
    for count, (steps, is_relative) in enumerate(linear_paths(schema, odds)):
        if count >= ENUMERATED:
            return None
        if key(steps) not in seen:
            rest.append(text(steps, is_relative))
    return rest


def _reported(found: Iterator[str], progress: Callable[[int], None]) -> Iterator[str]:
    count = 0
    for expression in found:
        yield expression
        count += 1
        if count % _REPORTED == 0:
            progress(count)
    progress(count)
