"""Covering and overlap of whole expressions compared with documents: what is claimed must be so.

``python -m tests.network.soundness --sets 2000 --seed 1``

If one expression covers another, no document may satisfy only the other. If a document satisfies an
expression, its own paths must overlap with it. A forest must answer as its expressions do one by one.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from random import Random

from pathcast import Index, _core
from pathcast.errors import XPathError
from pathcast.limits import Limits
from tests.property.generate import Batch, draw_batch


def weakened(xpath: str, random: Random) -> str:
    """An expression with something left out: often one that covers the original."""
    cut = [at for at, character in enumerate(xpath) if character in "/[]= '"]
    if len(cut) < 2:
        return xpath
    start, end = sorted(random.sample(cut, 2))
    return xpath[:start] + random.choice(("", "/*", "//*", "//")) + xpath[end:]


def check(batch: Batch, random: Random) -> Iterator[str]:
    """What is claimed wrongly in one set of expressions and documents; the last line counts the claims."""
    index, cover = Index(), _core.Cover(Limits())
    texts: list[str] = []
    for each in batch.subscriptions:
        for xpath in (each.xpath, weakened(each.xpath, random)):
            number = len(texts)
            try:
                names, variables = batch.namespaces(each), each.variables or None
                index.add(number, xpath, ordered=each.ordered, namespaces=names, variables=variables)
                cover.register(number, xpath, each.ordered, names, variables)
            except XPathError:
                continue
            texts.append(xpath)
    found: list[set[int]] = [set(map(int, index.match(each.text))) for each in batch.documents]
    claims = 0
    for general in range(len(texts)):
        for specific in range(len(texts)):
            if general != specific and cover.covers(general, specific):
                claims += 1
                for document, matched in zip(batch.documents, found, strict=True):
                    if specific in matched and general not in matched:
                        yield f"{texts[general]} does not cover {texts[specific]}: {document.text!r}"
    for document, matched in zip(batch.documents, found, strict=True):
        paths = [names for names, _ in _core.leaf_paths(document.text.encode(), Limits())]
        uris = {
            uri: f"n{place}" for place, uri in enumerate({uri for path in paths for uri, _ in path}) if uri
        }
        advertised = [
            "".join(f"/{uris[uri]}:{local}" if uri else f"/{local}" for uri, local in path) for path in paths
        ]
        cover.advertise(0, advertised, {prefix: uri for uri, prefix in uris.items()})
        lost = matched - set(cover.overlapping([0], sorted(matched)))
        yield from (f"{texts[number]} overlaps with {document.text!r}" for number in lost)
        if not all(cover.accepts(0, path) for path in paths):
            yield f"a path of {document.text!r} is not accepted"
    yield from forest(cover, len(texts), found, random)
    yield f"#{claims}"


def forest(cover: _core.Cover, number: int, found: list[set[int]], random: Random) -> Iterator[str]:
    """Members come and go; what is told of roots is so, and roots cover everything."""
    inside: set[int] = set()
    roots: set[int] = set()
    for _ in range(2 * number):
        handle = random.randrange(number)
        if handle in inside:
            was_root, surfaced, hidden = cover.remove(9, handle)
            inside.discard(handle)
            if was_root != (handle in roots):
                yield f"{handle} was told as a root, and was none"
            roots.discard(handle)
            roots.update(surfaced)
            roots.difference_update(hidden)
        else:
            is_root, hidden = cover.insert(9, handle)
            inside.add(handle)
            if not set(hidden) <= roots:
                yield f"{hidden} were told as hidden, and were no roots"
            roots.difference_update(hidden)
            if is_root:
                roots.add(handle)
        if set(cover.roots(9)) != roots or cover.sizes(9) != (len(inside), len(roots)):
            yield f"the roots are {cover.roots(9)}, and were told as {sorted(roots)}"
    for matched in found:
        if matched & inside and not matched & roots:
            yield f"a document satisfies {matched & inside} and no root"
    for handle in sorted(inside):
        cover.remove(9, handle)
    if cover.sizes(9) != (0, 0):
        yield "the forest is not empty"


def run(sets: int, seed: int) -> tuple[list[str], int]:
    """All wrong claims, and how many claims there were."""
    wrong: list[str] = []
    claims = 0
    for number in range(sets):
        random = Random(f"{seed}:{number}")
        for line in check(draw_batch(random, 12, 20), random):
            if line.startswith("#"):
                claims += int(line[1:])
            else:
                wrong.append(f"set {number}: {line}")
    return wrong, claims


def main() -> None:
    """Compare and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    wrong, claims = run(options.sets, options.seed)
    for line in wrong[:20]:
        print(line)
    print(f"seed {options.seed}: {options.sets:,} sets, {claims:,} coverings claimed, {len(wrong):,} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
