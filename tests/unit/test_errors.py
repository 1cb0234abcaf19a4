"""Errors carry plain values, pickle, and are safe to log."""

from __future__ import annotations

import pickle

import pytest

import pathcast
from pathcast import errors
from pathcast.errors import (
    DocumentError,
    DocumentLimitError,
    IndexFormatError,
    LimitError,
    PathcastError,
    SchemaError,
    SubscriptionErrors,
    SubscriptionFileError,
    XPathError,
    XPathLimitError,
    located,
    printable,
)

XPATH = XPathError("expected a step", "//a/", 5)
EVERY = [
    PathcastError("something"),
    XPATH,
    XPathLimitError("more than 256 steps", "/a/a", 3),
    DocumentError("the end tag does not fit", 3, 7),
    DocumentError("cannot be read", 0, 0, "io"),
    DocumentLimitError("deeper than 1,024 elements", 9, 1),
    LimitError("too much"),
    SchemaError("no root"),
    IndexFormatError("damaged"),
    SubscriptionErrors([("s1", XPATH), (2, XPATH)]),
    SubscriptionFileError("alerts.txt", [(3, "the id is empty"), (None, "cannot be read")]),
]


@pytest.mark.parametrize("error", EVERY, ids=lambda error: type(error).__name__)
def test_pickles_and_compares_by_repr(error: PathcastError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert repr(again) == repr(error)
    assert str(again) == str(error)


def test_one_root() -> None:
    classes = [thing for thing in vars(errors).values() if isinstance(thing, type)]
    raised = [thing for thing in classes if issubclass(thing, Exception) and not issubclass(thing, Warning)]
    assert all(issubclass(thing, PathcastError) for thing in raised)
    assert issubclass(XPathError, ValueError)
    assert issubclass(DocumentError, ValueError)
    assert issubclass(XPathLimitError, LimitError)
    assert issubclass(XPathLimitError, XPathError)
    assert issubclass(DocumentLimitError, LimitError)
    assert issubclass(DocumentLimitError, DocumentError)


@pytest.mark.parametrize(
    "name",
    ["PathcastError", "XPathError", "DocumentError", "LimitError", "SchemaError", "IndexFormatError"],
)
def test_the_package_offers_them(name: str) -> None:
    assert getattr(pathcast, name) is getattr(errors, name)


def test_values_by_keyword() -> None:
    xpath = XPathError(message="expected a step", expression="//a/", column=5)
    assert (xpath.message, xpath.expression, xpath.column) == ("expected a step", "//a/", 5)
    assert repr(xpath) == repr(XPATH)
    document = DocumentError(reason="torn", line=3, column=7, kind="encoding")
    assert (document.reason, document.line, document.column, document.kind) == ("torn", 3, 7, "encoding")
    assert DocumentError("torn", 3, 7).kind == "malformed"
    assert DocumentLimitError("deep", 3, 7).kind == "limit"


def test_attributes_do_not_change() -> None:
    with pytest.raises(AttributeError):
        XPATH.column = 6  # type: ignore[misc]


def test_sentences() -> None:
    assert str(XPATH) == "column 5 of '//a/': expected a step"
    assert str(DocumentError("torn", 3, 7)) == "line 3, column 7: torn"
    assert str(DocumentError("cannot be read", 0, 0, "io")) == "cannot be read"
    assert len(str(XPathError("too long", "/a" * 10_000, 1))) < 120


def test_several_failures_stand_for_the_first() -> None:
    error = SubscriptionErrors([("s1", XPATH), (2, XPathError("unknown axis", "up::a", 1))])
    assert (error.message, error.expression, error.column) == ("expected a step", "//a/", 5)
    assert [identifier for identifier, _ in error.failures] == ["s1", 2]
    assert str(error).startswith("2 subscriptions were refused, none was added; the first is 's1': column 5")
    assert str(SubscriptionErrors([("s1", XPATH)])).startswith(
        "subscription 's1' was refused, none was added"
    )
    with pytest.raises(ValueError, match="at least one"):
        SubscriptionErrors([])


HOSTILE = "a\nFAKE: all is fine\r\x1b[31m\x00\u2028\u202e\ud800"


@pytest.mark.parametrize(
    "text",
    [
        str(PathcastError(HOSTILE)),
        str(XPathError(HOSTILE, HOSTILE, 1)),
        str(DocumentError(HOSTILE, 1, 1)),
        str(SubscriptionErrors([(HOSTILE, XPathError(HOSTILE, HOSTILE, 1))])),
        str(SubscriptionFileError(HOSTILE, [(1, HOSTILE)])),
        located(HOSTILE, 1, HOSTILE),
        printable(HOSTILE),
    ],
)
def test_no_text_of_a_stranger_starts_a_line(text: str) -> None:
    assert text.isprintable()


def test_readable_text_stays_as_it_is() -> None:
    assert printable("día, Straße, 日本, a b") == "día, Straße, 日本, a b"


def test_located() -> None:
    assert located("a.xml", 3, "torn", 7) == "a.xml:3:7: torn"
    assert located("a.xml", 0, "cannot be read", 0) == "a.xml: cannot be read"
