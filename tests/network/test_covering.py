"""Covering, overlap and advertisements: the papers' mistakes as cases, then random ones."""

from __future__ import annotations

import os
from random import Random

import pytest

from bench.corpus import corpus
from pathcast import _core
from pathcast.errors import AdvertisementError, XPathError
from pathcast.generate import documents
from pathcast.limits import Limits
from pathcast.network import (
    advertisements,
    covers,
    graph_advertisement,
    overlaps,
    relation,
)
from pathcast.schema import Schema
from tests.network import exactness, oracle, soundness

PAIRS = int(os.environ.get("PATHCAST_PAIRS", "30000"))
SETS = int(os.environ.get("PATHCAST_SETS", "150"))


# -- the errata ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("advertisement", "subscription", "expected"),
    [
        # a failure table skips real matches and accepts false ones once there are wildcards.
        ("/a/*/b/a", "a/b/a", True),
        ("/a/b/a/b", "a/*/b", False),
        ("/a/b/a/b", "/a/*/a", True),
        # only one number of repetitions was tried.
        ("/a(/b)+(/c)+/d", "/a/b/b/b/c/d", True),
        ("/a(/b)+(/c)+/d", "/a/b/c/b", False),
        ("/a(/b(/c)+/d)+/e", "/a/b/c/c/d/b/c/d/e", True),
        ("/a(/b(/c)+/d)+/e", "/a/b/c/d/c", False),
        # The paper's own examples.
        ("/b/*/*/c/c/d", "/*/c/*/b/c", False),
        ("/a/*/e/*/d/*/c/b", "*/a//d/*/c//b", True),
        ("/a/*/c(/e/d)+/*/c/e", "/*/a/c/*/d/e/d/*", True),
    ],
)
def test_where_the_published_overlap_is_wrong(advertisement: str, subscription: str, expected: bool) -> None:
    assert overlaps(advertisement, subscription) is expected


@pytest.mark.parametrize(
    ("general", "specific", "expected"),
    [
        # neither sound nor complete.
        ("/*", "//a", True),
        ("//b/*//b//*", "/a/b//b/b", False),
        ("/a/*//a//a", "/a//a/*/a/b", False),
        # a name never covers a wildcard.
        ("/a/t", "/a/*", False),
        ("/a/*", "/a/t", True),
        # The paper's own examples.
        ("/*/a//*/c", "/a/a/*//c/e/c/d", True),
        ("/*/a//*/c", "/a/a/*//c/b/d", True),
        ("/a/*//*/d", "/a//b/c/d", True),
    ],
)
def test_where_the_published_covering_is_wrong(general: str, specific: str, expected: bool) -> None:
    assert covers(general, specific) is expected


def test_every_short_pair_is_decided_as_the_automata_say() -> None:
    """All patterns of up to three steps over two names and the wildcard, with all others."""
    names, axes = ("a", "b", "*"), ("/", "//")
    steps = [axis + name for axis in axes for name in names]
    texts = [*steps, *(one + two for one in steps for two in steps)]
    texts += [one + two + "/a" for one in steps for two in steps if two.startswith("//")]
    cover = _core.Cover(Limits())
    for number, text in enumerate(texts):
        cover.register(number, text)
    wrong = [
        (one, other)
        for first, one in enumerate(texts)
        for second, other in enumerate(texts)
        if cover.covers(first, second) != oracle.contains(oracle.steps_of(one), oracle.steps_of(other))
    ]
    assert not wrong


def test_random_linear_pairs_are_decided_exactly() -> None:
    seed = 3
    wrong, done, positive = exactness.disagreements(PAIRS, seed)
    assert not wrong, f"seed {seed}: {wrong[:5]}"
    assert done >= PAIRS
    assert positive > PAIRS // 10, "too few true pairs to mean anything"


def test_what_is_claimed_of_whole_expressions_is_so() -> None:
    seed = 2
    wrong, claims = soundness.run(SETS, seed)
    assert not wrong, f"seed {seed}: {wrong[:5]}"
    assert claims > 20 * SETS


def test_the_forest_of_linear_paths_is_exact() -> None:
    """Its searches find every covering: no root covers another, and everything else is covered by a root."""
    random = Random(6)
    for _ in range(20):
        cover = _core.Cover(Limits())
        texts = list(dict.fromkeys(oracle.pattern(random, 7) for _ in range(250)))
        for number, text in enumerate(texts):
            cover.register(number, text)
            cover.insert(0, number)
        inside = set(range(len(texts)))
        for number in random.sample(sorted(inside), 80):
            cover.remove(0, number)
            inside.discard(number)
        roots = cover.roots(0)
        for number in inside:
            covering = [root for root in roots if cover.covers(root, number)]
            assert covering == [number] if number in roots else covering, texts[number]


# -- twigs and values ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("general", "specific", "expected"),
    [
        ("//a[b]", "/x/a[b = 3]/c", True),
        ("/a[.//c]", "/a[b/c]/d", True),
        ("/a[b or c]", "/a[b]", True),
        ("/a[b]", "/a[b or c]", False),
        ("/a/*", "/a[b or c]", True),
        ("//*[b][c]", "/a/*[b][c]", True),
        ("/*[b][b/c]", "/*/b/c", True),
        ("/a[not(b[c])]", "/a[not(b)]", True),
        ("/a[not(b)]", "/a[not(b[c])]", False),
        ("//a[@x > 3]", "//a[@x >= 4]", True),
        ("//a[@x > 3]", "//a[@x != 4]", False),
        ("//a[@x = 3]", "//a[@x >= 3][@x <= 3]", True),
        ("//a[b > 3]", "//a[b = 3.5]", True),
        # Two b's may be meant: intervals are joined on one operand only.
        ("//a[b = 3]", "//a[b >= 3][b <= 3]", False),
        ("//a[@x = 'p' or @x = 'q' or @x = 'r']", "//a[@x = 'p' or @x = 'r']", True),
        ("//a[@x = 'p']", "//a[@x = 'p' or @x = 'r']", False),
        ("//a[starts-with(@x, 'ab')]", "//a[@x = 'abc']", True),
        ("//a[contains(@x, 'b')]", "//a[starts-with(@x, 'ab')]", True),
        ("//a[not(@x = 3)]", "//a[@x = 4]", True),
        ("//a[not(b = 3)]", "//a[b = 4]", False),
        ("//a[following::c]", "//a[following-sibling::c[d]]", True),
        ("/a[/b/c]", "/a[/b/c/d]", True),
        ("//n:*", "//n:b", True),
        ("//@*", "/a/b/@x", True),
        ("/a//@x", "/a/@x", True),
        ("/a/@x", "/a//@x", False),
    ],
)
def test_trees_and_values(general: str, specific: str, expected: bool) -> None:
    assert covers(general, specific, namespaces={"n": "urn:n"}) is expected


def test_order() -> None:
    assert covers("/a[b][d]", "/a[b][c][d]", ordered=True)
    assert not covers("/a[d][b]", "/a[b][c][d]", ordered=True)


def test_texts_that_differ_and_mean_the_same_are_equal() -> None:
    assert relation("//*/a", "/*//a") == "equal"
    assert relation("/a[b][c]", "/a[c][b]") == "equal"
    assert relation("/a[b][.//b]", "/a[b]") == "equal"
    assert relation("a/b", "//a/b") == "equal"
    assert relation("/a", "/b") == "neither"


def test_long_and_deep_expressions_are_decided_at_once() -> None:
    """64 times ``//*``, and hundreds of branches."""
    assert relation("//*" * 64, "/*" * 64) == "equal"
    assert covers("//a//*//*//b", "/a" + "/x" * 60 + "/b")
    many = "//a" + "".join(f"[b{number}//c]" for number in range(120))
    assert covers("//a[b7//c]", many)
    assert not covers(many + "[z]", many)


def test_what_is_refused() -> None:
    with pytest.raises(XPathError):
        covers("/a[", "/a")
    for text in (
        "",
        "a",
        "/",
        "/a(/b)",
        "/a(/b)+)",
        "/a//b",
        "(/a",
        "/a(b)+",
        "{a=b}x",
        "{a}",
        "/n:a",
        "/a b",
    ):
        with pytest.raises(AdvertisementError):
            overlaps(text, "/a")
    with pytest.raises(AdvertisementError, match="64 deep"):
        overlaps("(" * 100 + "/a" + ")+" * 100, "/a")


# -- advertisements ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dtd", "expected"),
    [
        ("<!ELEMENT a (b, c?)> <!ELEMENT b EMPTY> <!ELEMENT c (b)>", ["/a/b", "/a/c/b"]),
        ("<!ELEMENT a (b)> <!ELEMENT b (c)> <!ELEMENT c (b | d)> <!ELEMENT d EMPTY>", ["/a(/b/c)+/d"]),
        (
            "<!ELEMENT a (b)> <!ELEMENT b (b | c)> <!ELEMENT c (c | d)> <!ELEMENT d EMPTY>",
            ["/a(/b)+(/c)+/d"],
        ),
        (
            "<!ELEMENT a (b)> <!ELEMENT b (c)> <!ELEMENT c (c | e)> <!ELEMENT e (b | d)> <!ELEMENT d EMPTY>",
            ["/a(/b(/c)+/e)+/d"],
        ),
        ("<!ELEMENT a (b | c)> <!ELEMENT b (a | c)> <!ELEMENT c (a*)>", ["/a(/*)+"]),
    ],
)
def test_advertisements_of_the_four_kinds(dtd: str, expected: list[str]) -> None:
    schema = Schema.from_text(dtd, root="a")
    assert advertisements(schema) == expected


def test_advertisements_are_bounded_and_cover_everything() -> None:
    """However many paths are asked for, every valid document is covered."""
    schema = Schema.from_text(
        "".join(
            f"<!ELEMENT e{n} (e{n + 1} | f{n + 1})*> <!ELEMENT f{n} (e{n + 1} | f{n + 1})*>"
            for n in range(12)
        )
        + "<!ELEMENT e12 EMPTY> <!ELEMENT f12 EMPTY>",
        root="e0",
    )
    cover = _core.Cover(Limits())
    cover.advertise(0, [graph_advertisement(schema)])
    for limit in (1, 10, 100, 1000):
        found = advertisements(schema, limit=limit)
        assert len(found) <= 2 * limit
        cover.advertise(1, found)
        assert cover.advertisement_covers(1, 0, 1_000_000)
    cover.advertise(1, advertisements(schema, max_depth=3))
    assert cover.advertisement_covers(1, 0, 1_000_000)


SCHEMAS = {
    "nitf": ("nitf/nitf-2-5.dtd", "nitf"),
    "blast": ("blast/NCBI_BlastOutput.dtd", "BlastOutput"),
    "xmark": ("xmark/auction.dtd", "site"),
    "docbook": ("dtds/docbook/4.5/docbookx.dtd", "article"),
    "xhtml": ("dtds/xhtml1-strict.dtd", "html"),
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_advertisements_of_real_schemas_cover_their_documents(name: str) -> None:
    folder = corpus()
    file, root = SCHEMAS[name]
    if folder is None or not (folder / file).is_file():
        pytest.skip("needs the corpus")
    schema = Schema.from_dtd(folder / file, root)
    found = advertisements(schema)
    assert len(found) <= 2_000
    cover = _core.Cover(Limits())
    cover.advertise(0, found, schema.namespaces)
    cover.advertise(1, [graph_advertisement(schema)], schema.namespaces)
    assert cover.advertisement_covers(0, 1, 1_000_000)
    for document in documents(schema, 20, max_levels=12, target_size=4_000, seed=1):
        for path, _ in _core.leaf_paths(document, Limits()):
            assert cover.accepts(0, path), path
            assert cover.accepts(1, path), path


def test_overlap_with_the_graph_is_exact_for_linear_paths() -> None:
    """The schema's own consistency check is another way to the same answer."""
    from pathcast import Index

    schema = Schema.from_text(
        "<!ELEMENT a (b, c*)> <!ELEMENT b (c | b)*> <!ELEMENT c (a?, d)> <!ELEMENT d EMPTY>", root="a"
    )
    index = Index(schema=schema, prune=True, impossible="ignore")
    graph = graph_advertisement(schema)
    random = Random(4)
    seen = set()
    for _ in range(2_000):
        text = oracle.pattern(random).replace("z", "d")
        possible = bool(index.pruned(text))
        seen.add(possible)
        assert overlaps([graph], text) is possible, text
    assert seen == {True, False}
