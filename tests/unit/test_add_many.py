"""`Index.add_many`: pairs, rows and Arrow tables, all or nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("pyarrow")

import pyarrow as pa

import pathcast

NAMESPACES = pa.map_(pa.string(), pa.string())
DOCUMENT = "<a xmlns:p='urn:x'><p:b/><c/></a>"


def filled(subscriptions: Any, **settings: Any) -> pathcast.Index:
    index = pathcast.Index(**settings)
    index.add_many(subscriptions)
    return index


@pytest.mark.parametrize(
    "subscriptions",
    [
        [(1, "/a"), ("s", "//c"), (2, "/x")],
        [[1, "/a"], ["s", "//c"], [2, "/x"]],
        [(1, "/a", None), ("s", "//c", False), (2, "/x", True)],
        [(1, "/a", None, None), ("s", "//n:b", False, {"n": "urn:x"}), (2, "/x", True, {})],
        ((id, xpath) for id, xpath in [(1, "/a"), ("s", "//c"), (2, "/x")]),
        {1: "/a", "s": "//c", 2: "/x"}.items(),
    ],
    ids=["pairs", "lists", "triples", "rows", "generator", "items"],
)
def test_pairs_and_rows(subscriptions: Any) -> None:
    index = filled(subscriptions)
    assert index.ids() == [1, "s", 2]
    assert index.match(DOCUMENT) == [1, "s"]


def test_nothing_is_fine() -> None:
    assert len(filled([])) == 0
    assert len(filled(pa.table({"id": pa.array([], pa.int64()), "xpath": pa.array([], pa.string())}))) == 0


def test_rows_override_the_mode_of_the_set() -> None:
    rows = [
        (1, "/a[c][b]"),
        (2, "/a[c][b]", False, None),
        (3, "/a[c][b]", True, None),
        (4, "/a[c][b]", None, None),
    ]
    assert filled(rows, ordered=True).match("<a><b/><c/></a>") == [2]
    assert filled(rows).match("<a><b/><c/></a>") == [1, 2, 4]


@pytest.mark.parametrize("ids", [(1, 2, 1), ("a", "b", "b")])
def test_an_id_twice_is_an_error_and_nothing_is_added(ids: Any) -> None:
    index = filled([(1, "//old")])
    with pytest.raises(ValueError, match=r"the id .* is there twice, in rows \d and 2: none was added"):
        index.add_many([(id, "//a") for id in ids])
    with pytest.raises(ValueError, match="twice"):
        index.add_many(pa.table({"id": ids, "xpath": ["//a"] * 3}))
    assert dict(index.items()) == {1: "//old"}


def test_a_mapping() -> None:
    index = filled({1: "/a", "s": "//c"})
    assert index.match(DOCUMENT) == [1, "s"]


@pytest.mark.parametrize(
    "row",
    ["ab", (1,), (1, "/a", None, None, None, None), (1, "/a", None, None, 5), 5, {1, 2, 3, 4, 5},
     {"id": 1, "xpath": "//a"}, (1, 2), (1, None), (1, "/a", "yes"), (1, "/a", None, "n")],
)  # fmt: skip
def test_other_rows_are_type_errors_and_nothing_is_added(row: Any) -> None:
    index = filled([(1, "//old")])
    with pytest.raises(TypeError):
        index.add_many([(1, "//a"), (2, "//a"), row])
    assert index.ids() == [1]
    assert index.match("<old/>") == [1]


def test_an_exception_of_the_generator_comes_out_and_nothing_is_added() -> None:
    def rows() -> Iterator[tuple[int, str]]:
        yield 1, "//a"
        raise LookupError("no more")

    index = pathcast.Index()
    with pytest.raises(LookupError, match="no more"):
        index.add_many(rows())
    assert len(index) == 0


def test_all_or_nothing() -> None:
    index = filled([(1, "//a"), ("old", "//c")])
    before = index.stats()["distinct"]
    with pytest.raises(pathcast.SubscriptionErrors) as caught:
        index.add_many(
            [(1, "//x"), (2, "//a["), ("old", "//y"), (3, "//a"), ("bad", "//p:a"), (4, "namespace::a")]
        )
    failures = caught.value.failures
    assert [(id, error.expression) for id, error in failures] == [
        (2, "//a["),
        ("bad", "//p:a"),
        (4, "namespace::a"),
    ]
    assert [error.column for _, error in failures] == [5, 3, 1]
    assert isinstance(caught.value, pathcast.XPathError)
    assert "3 subscriptions were refused" in str(caught.value)
    assert index.ids() == [1, "old"]
    assert index.match(DOCUMENT) == [1, "old"]
    assert index.stats()["distinct"] == before


# Arrow


@pytest.mark.parametrize("type", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_numbers_of_any_width(type: str) -> None:
    table = pa.table({"id": pa.array([5, 3], getattr(pa, type)()), "xpath": ["/a", "//c"]})
    index = filled(table)
    assert index.ids() == [5, 3]
    assert index.match(DOCUMENT) == [5, 3]


def test_a_number_beyond_64_bits_with_sign_is_an_overflow() -> None:
    table = pa.table({"id": pa.array([1, 2**63], pa.uint64()), "xpath": ["/a", "//c"]})
    with pytest.raises(OverflowError, match="64 bits"):
        filled(table)


@pytest.mark.parametrize("type", ["string", "large_string", "string_view"])
def test_strings_of_any_type(type: str) -> None:
    kind = getattr(pa, type)()
    table = pa.table({"id": pa.array(["x", "y"], kind), "xpath": pa.array(["/a", "//c"], kind)})
    assert filled(table).match(DOCUMENT) == ["x", "y"]


def full_table() -> Any:
    return pa.table(
        {
            "subscriber": [9, 9, 9, 9],
            "namespaces": pa.array([None, [("n", "urn:x")], [], [("n", "urn:y")]], NAMESPACES),
            "xpath": ["/a[c][*]", "//n:b", "/a[c][*]", "//n:b"],
            "ordered": pa.array([True, None, False, None]),
            "id": [1, 2, 3, 4],
        }
    )


def test_ordered_and_namespaces_are_columns() -> None:
    assert filled(full_table()).match(DOCUMENT) == [2, 3]
    # the set's mode holds where the cell is null: n:b has no branches, so it is the same in both
    assert filled(full_table(), ordered=True).match(DOCUMENT) == [2, 3]


def test_readers_batches_slices_and_chunks() -> None:
    table = full_table()
    assert filled(table.to_reader(max_chunksize=1)).match(DOCUMENT) == [2, 3]
    assert filled(table.to_batches()[0]).match(DOCUMENT) == [2, 3]
    assert filled(table.slice(1, 2)).ids() == [2, 3]
    assert filled(table.slice(1, 2)).match(DOCUMENT) == [2, 3]
    assert filled(pa.concat_tables([table.slice(2), table.slice(0, 2)])).match(DOCUMENT) == [3, 2]


@pytest.mark.parametrize("column", ["id", "xpath"])
def test_a_missing_column_is_named(column: str) -> None:
    with pytest.raises(ValueError, match=f"no column '{column}'"):
        filled(full_table().drop_columns([column]))


@pytest.mark.parametrize("column", ["id", "xpath"])
def test_a_null_cell_is_named_by_its_row(column: str) -> None:
    columns: dict[str, Any] = {"id": ["x", "y", "z"], "xpath": ["/a", "/b", "/c"]}
    columns[column] = [*columns[column][:2], None]
    table = pa.table(columns)
    for source in (table, pa.concat_tables([table.slice(0, 2), table.slice(2)])):
        with pytest.raises(ValueError, match=f"row 2 of the table has no {column}"):
            filled(source)


def test_columns_of_nothing_but_nulls() -> None:
    table = pa.table({"id": [1], "xpath": ["/a"], "ordered": pa.nulls(1), "namespaces": pa.nulls(1)})
    assert filled(table).match(DOCUMENT) == [1]


@pytest.mark.parametrize(
    ("column", "values", "says"),
    [
        ("id", pa.array([1.5]), "strings or integers"),
        ("xpath", pa.array([1]), "must be strings"),
        ("ordered", pa.array(["yes"]), "must be boolean"),
        ("namespaces", pa.array(["n=urn:x"]), "map of string to string"),
        ("namespaces", pa.array([[("n", 1)]], pa.map_(pa.string(), pa.int64())), "must be strings"),
    ],
)
def test_columns_of_another_type_are_refused(column: str, values: Any, says: str) -> None:
    columns = {"id": pa.array([1]), "xpath": pa.array(["/a"])} | {column: values}
    with pytest.raises(TypeError, match=says):
        filled(pa.table(columns))


def test_a_table_is_all_or_nothing_too() -> None:
    index = filled([(1, "//a")])
    with pytest.raises(pathcast.SubscriptionErrors) as caught:
        index.add_many(pa.table({"id": [1, 2, 3], "xpath": ["//x", "/a[", "//y"]}))
    assert [id for id, _ in caught.value.failures] == [2]
    assert index.ids() == [1]
    assert index.match("<a/>") == [1]


def test_an_array_is_no_table() -> None:
    with pytest.raises((TypeError, ValueError)):
        filled(pa.chunked_array([["//a"]]))
