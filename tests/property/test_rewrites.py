"""What an expression is rewritten to means what was written: by name, and for random ones."""

from __future__ import annotations

import os
from random import Random

import pytest

pytest.importorskip("lxml")

from pathcast import Index, reference
from tests.property.generate import PREFIXES, draw_document
from tests.property.typed import TypedWriter

SETS = int(os.environ.get("PATHCAST_SETS", "150"))
SEED = int(os.environ.get("PATHCAST_SEED", "20240607"))

REWRITTEN = {
    # backward axes
    "//b/..": "//b",
    "//b/parent::a": "//a/b",
    "//a[parent::b]": "//b/a",
    "//a[../b = 2]": "/descendant-or-self::node()[a]/b[. = 2]",
    "//a[not(../b)]": "/descendant-or-self::node()[not(b)]/a",
    "//a/@x/..": "//a/@x",
    "//b/ancestor::a": "//a//b",
    "//b/ancestor-or-self::a": "//a/descendant-or-self::b",
    "//a[ancestor::b[@x]]": "//b[@x]//a",
    # names by function
    "//*[local-name() = 'a']": "//*[local-name() = 'a']",
    "//*['a' = local-name(.)][namespace-uri() = 'urn:x']": "//n:a",
    "//n:*[local-name() = 'a']": "//n:a",
    "//*[namespace-uri() = 'urn:x']/@*[local-name() = 'x']": "//n:*/@*[local-name() = 'x']",
    "local-name(/*) = 'a'": "/*[local-name() = 'a']",
    "//*[local-name() != 'a']": "//*[not(self::*[local-name() = 'a'])]",
    # counts and booleans
    "//a[count(b) > 0]": "//a/b",
    "//a[count(b) = 0]": "//a[not(b)]",
    "//a[0 < count(b)]": "//a/b",
    "//a[count(b) >= 1]": "//a/b",
    "//a[not(count(b))]": "//a[not(b)]",
    "//a[boolean(b)]": "//a/b",
    "//a[b = true()]": "//a/b",
    "//a[false() = boolean(b)]": "//a[not(b)]",
    "//a[exists(b)][empty(c)]": "//a[not(c)]/b",
    # at most one node
    "//a[string(@x) = 'x']": "//a[@x = 'x']",
    "//a[string(.) != 'c']": "//a[not(. = 'c')]",
    "//a[string(@x) = '']": "//a[not(@x) or @x = '']",
    "string(/a) = 'x'": "/a[. = 'x']",
    "//a[string(b[1]) = 'x']": "//a/b[not(preceding-sibling::b)][. = 'x']",
    "//a[number(@x) < 3]": "//a[@x < 3]",
    # first and last positions
    "//a[1]": "//a[not(preceding-sibling::a)]",
    "//a[position() = 1]": "//a[not(preceding-sibling::a)]",
    "//a[2 > position()]": "//a[not(preceding-sibling::a)]",
    "//a[last()]": "//a[not(following-sibling::a)]",
    "//a[position() > 1]": "//a/preceding-sibling::a",
    "//a[position() != last()]": "//a/following-sibling::a",
    "(//a)[1]": "//a",
}


@pytest.mark.parametrize(("xpath", "form"), REWRITTEN.items())
def test_the_rewriting_is_in_place_and_means_the_same(xpath: str, form: str) -> None:
    assert normal_form(xpath, "", PREFIXES) == form
    random = Random(xpath)
    verdicts: set[bool] = set()
    for number in range(5_000):
        if number >= 300 and len(verdicts) == 2:
            break
        document = reference.parse(draw_document(random).text)
        written, rewritten = (
            reference.Expression(each, namespaces=PREFIXES).matches(document) for each in (xpath, form)
        )
        assert written is rewritten, document
        verdicts.add(written)
    assert verdicts == {True, False}


@pytest.mark.parametrize("xpath", REWRITTEN)
def test_nothing_of_them_is_left_to_types(xpath: str) -> None:
    index = Index(namespaces=PREFIXES)
    index.add(1, xpath)
    assert index.stats()["typed"] == 0


def normal_form(xpath: str, default: str, namespaces: dict[str, str], ignore: bool = False) -> str:
    """The normal form as an expression; that of what never holds has no text."""
    bound = {**({"": default} if default else {}), **namespaces}
    return Index(namespaces=bound, ignore_namespaces=ignore).check(xpath) or "''"


@pytest.mark.parametrize("ignore", [False, True])
def test_every_normal_form_means_what_was_written(ignore: bool) -> None:
    for number in range(SETS):
        random = Random(f"{SEED}:{number}")
        namespaced = random.random() < 0.5
        default = random.choice(("", "", "urn:x")) if namespaced else ""
        documents = [reference.parse(draw_document(random, namespaced=namespaced).text) for _ in range(6)]
        for _ in range(10):
            xpath = TypedWriter(random, namespaced=namespaced).expression()
            form = normal_form(xpath, default, PREFIXES, ignore)
            bound = {"": default, **PREFIXES} if default else PREFIXES
            written, rewritten = (
                reference.Expression(each, namespaces=bound, ignore_namespaces=ignore)
                for each in (xpath, form)
            )
            for document in documents:
                assert written.matches(document) is rewritten.matches(document), (xpath, form)
