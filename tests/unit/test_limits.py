"""`Limits`: each is honoured, named in the error, and bounded itself."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields

import pytest

import pathcast
from pathcast import Limits

# The limit, what just fits, what is one beyond, and what the error says.
DOCUMENTS = [
    ("depth", 3, "<a><b><c/></b></a>", "<a><b><c><d/></c></b></a>", "deeper than the limit of 3"),
    ("attributes", 2, "<a x='' y=''/>", "<a x='' y='' z=''/>", "limit of 2"),
    ("attributes", 2, "<a x='' xmlns='u'/>", "<a x='' xmlns='u' xmlns:p='v'/>", "limit of 2"),
    ("name_bytes", 3, "<abc/>", "<abcd/>", "limit of 3 bytes"),
    ("name_bytes", 3, "<ab é=''/>", "<ab éé=''/>", "limit of 3 bytes"),
    ("document_bytes", 10, "<a>123</a>", "<a>1234</a>", "limit of 10 bytes"),
]
EXPRESSIONS = [
    ("expression_bytes", 5, "//a/b", "//a/bc", "6 bytes, more than the limit of 5"),
    ("expression_bytes", 5, "//aé", "//aéb", "6 bytes, more than the limit of 5"),
    ("steps", 3, "/a[b]/c", "/a[b]/c/d", "4 steps, more than the limit of 3"),
    ("nesting", 2, "/a[b[c]]", "/a[b[c[d]]]", "2"),
    ("expansion", 4, "(a or b) and (c or d)", "(a or b) and (c or d or e)", "4"),
]


def test_the_defaults_are_those_of_the_language() -> None:
    assert {field.name: getattr(Limits(), field.name) for field in fields(Limits)} == {
        "depth": 1_024,
        "attributes": 10_000,
        "name_bytes": 65_536,
        "document_bytes": 1 << 30,
        "expression_bytes": 16_384,
        "steps": 256,
        "nesting": 64,
        "expansion": 4_096,
        "evaluation_steps": 100_000_000,
        "work": 10_000_000_000,
        "entity_expansion": 0,
    }


@pytest.mark.parametrize("name", [field.name for field in fields(Limits)])
def test_a_limit_is_at_least_one_and_has_a_ceiling(name: str) -> None:
    lowest = 0 if name == "entity_expansion" else 1
    for value in (lowest - 1, -1, 1 << 63):
        with pytest.raises(ValueError, match=f"{name} must be between {lowest} and"):
            Limits(**{name: value})
    assert getattr(Limits(**{name: 1}), name) == 1
    with pytest.raises(FrozenInstanceError):
        setattr(Limits(), name, 5)


def test_limits_are_values() -> None:
    assert Limits(depth=5) == Limits(depth=5) != Limits()
    assert len({Limits(), Limits(), Limits(depth=5)}) == 2
    with pytest.raises(TypeError):
        Limits(5)  # type: ignore[call-arg]


def index_with(name: str, value: int) -> pathcast.Index:
    return pathcast.Index(limits=Limits(**{name: value}))


@pytest.mark.parametrize(("name", "value", "fits", "beyond", "says"), DOCUMENTS)
def test_a_document_beyond_a_limit(name: str, value: int, fits: str, beyond: str, says: str) -> None:
    index = index_with(name, value)
    index.add("s", "//*")
    assert index.match(fits) == ["s"]
    for document in (beyond, beyond.encode()):
        with pytest.raises(pathcast.DocumentLimitError, match=says) as caught:
            index.match(document)
        error = caught.value
        assert isinstance(error, pathcast.LimitError)
        assert error.kind == "limit"
        assert error.line == 1
        assert index.match(fits) == ["s"]
    (answer,) = index.match_many([beyond])
    assert isinstance(answer, pathcast.DocumentLimitError)
    with pytest.raises(pathcast.DocumentLimitError, match=says):
        pathcast.explain("//*", beyond, limits=Limits(**{name: value}))


@pytest.mark.parametrize(("name", "value", "fits", "beyond", "says"), EXPRESSIONS)
def test_an_expression_beyond_a_limit(name: str, value: int, fits: str, beyond: str, says: str) -> None:
    index = index_with(name, value)
    index.add("s", fits)
    for call in (index.check, lambda xpath: index.add("t", xpath), lambda xpath: index.add("s", xpath)):
        with pytest.raises(pathcast.XPathLimitError, match=says) as caught:
            call(beyond)
        assert isinstance(caught.value, pathcast.LimitError)
        assert 1 <= caught.value.column <= len(beyond) + 1
    with pytest.raises(pathcast.SubscriptionErrors) as errors:
        index.add_many([("t", fits), ("u", beyond)])
    assert [(id, type(error)) for id, error in errors.value.failures] == [("u", pathcast.XPathLimitError)]
    assert index.ids() == ["s"]
    with pytest.raises(pathcast.XPathLimitError, match=says):
        pathcast.explain(beyond, "<a/>", limits=Limits(**{name: value}))
