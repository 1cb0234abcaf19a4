"""Results: light sequences that stay what they were; many documents in every container."""

from __future__ import annotations

import faulthandler
import io
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyarrow")

import pyarrow as pa

import pathcast
from pathcast import DocumentError, MatchBatch, Matches

IDS: list[str | int] = ["s1", 7, "s2", -3]


def index_of(ids: Sequence[str | int], xpath: str = "//a") -> pathcast.Index:
    index = pathcast.Index()
    index.add_many((id, xpath) for id in ids)
    return index


def one(index: pathcast.Index, document: str = "<a/>") -> Matches:
    (matches,) = index.match_many([document])
    assert isinstance(matches, Matches)
    return matches


def plain(batch: MatchBatch) -> list[Any]:
    """Ids, or the kind of an error."""
    return [each.kind if isinstance(each, DocumentError) else list(each) for each in batch]


# One result


def test_a_result_is_a_sequence() -> None:
    matches = one(index_of(IDS))
    assert isinstance(matches, Sequence)
    assert len(matches) == 4
    assert [matches[at] for at in range(-4, 4)] == IDS + IDS
    for at in (4, -5, 2**62, -(2**62)):
        with pytest.raises(IndexError):
            matches[at]
    with pytest.raises(TypeError):
        matches["0"]  # type: ignore[call-overload]
    assert list(matches) == list(iter(matches)) == IDS
    assert list(reversed(matches)) == IDS[::-1]
    assert repr(matches) == f"Matches({IDS!r})"


@pytest.mark.parametrize(
    "at", [slice(None), slice(1, 3), slice(None, None, -1), slice(-2, None), slice(9, 99)]
)
def test_a_slice_of_a_result_is_a_list(at: slice) -> None:
    assert one(index_of(IDS))[at] == IDS[at]


def test_membership_and_position() -> None:
    matches = one(index_of(IDS))
    assert all(id in matches for id in IDS)
    assert not any(id in matches for id in ("7", -4, None, 7.5, b"s1", 2**70, [1]))
    assert [matches.index(id) for id in IDS] == [0, 1, 2, 3]
    assert [matches.count(id) for id in (7, "7")] == [1, 0]
    with pytest.raises(ValueError, match="not in"):
        matches.index("none")


def test_results_are_equal_to_what_they_hold() -> None:
    matches = one(index_of(IDS))
    assert matches == IDS
    assert matches == one(index_of(IDS))
    assert matches != one(index_of(IDS[:3]))
    assert matches != IDS[:3]
    assert matches != 5
    assert one(index_of([])) == []
    with pytest.raises(TypeError):
        hash(matches)


def test_nothing_is_false() -> None:
    assert not one(index_of(IDS), "<b/>")
    assert one(index_of(IDS))


@pytest.mark.parametrize(
    ("ids", "type", "expected"),
    [
        ([1, -2, 2**63 - 1], pa.int64(), [1, -2, 2**63 - 1]),
        (["x", "", "é"], pa.string(), ["x", "", "é"]),
        (["x", 5], pa.string(), ["x", "5"]),
    ],
)
def test_a_result_becomes_an_arrow_array(ids: list[Any], type: Any, expected: list[Any]) -> None:
    array = one(index_of(ids)).to_arrow()
    assert isinstance(array, pa.Array)
    array.validate(full=True)
    assert array.type == type
    assert array.to_pylist() == expected


def test_the_arrow_type_is_that_of_the_index_and_not_of_the_answer() -> None:
    """Or the batches of one stream would not have one schema."""
    kinds: list[tuple[list[str | int], Any]] = [
        (["x", "y"], pa.string()),
        ([1, 2], pa.int64()),
        ([1, "x"], pa.string()),
    ]
    for ids, type in kinds:
        index = index_of(ids)
        index.add(3, "//c")
        assert one(index, "<b/>").to_arrow().type == type
        assert one(index, "<c/>").to_arrow().type == type
        assert index.match_many(["<b/>", "<"]).to_arrow().type == pa.list_(type)
        assert index.match_many([]).to_arrow().type.id == pa.list_(type).id
    index = index_of(["x", 1])
    index.remove("x")
    assert one(index).to_arrow().type == pa.int64()


# Many results


def batch() -> MatchBatch:
    return index_of([1, 2]).match_many(["<a/>", "<b/>", "<a>", "<a/>"])


def test_a_batch_is_a_sequence() -> None:
    results = batch()
    assert isinstance(results, Sequence)
    assert len(results) == 4
    assert plain(results) == [[1, 2], [], "malformed", [1, 2]]
    assert results[-1] == results[0] == [1, 2]
    assert [type(each) for each in results[1:3]] == [Matches, DocumentError]
    assert results[::-1][0] == [1, 2]
    for at in (4, -5):
        with pytest.raises(IndexError):
            results[at]
    assert [1, 2] in results
    assert results.index([1, 2]) == 0
    assert results.count([1, 2]) == 2
    assert [1] not in results
    assert len(list(reversed(results))) == 4
    assert repr(results) == "<4 results, 1 of them errors>"
    assert results[0] is results[0]


def test_a_batch_becomes_a_list_array_with_null_for_a_bad_document() -> None:
    array = batch().to_arrow()
    array.validate(full=True)
    assert array.type == pa.list_(pa.int64())
    assert array.to_pylist() == [[1, 2], [], None, [1, 2]]
    mixed = index_of(["x", 2]).match_many(["<a", "<a/>"]).to_arrow()
    assert mixed.type == pa.list_(pa.string())
    assert mixed.to_pylist() == [None, ["x", "2"]]
    empty = index_of([]).match_many([]).to_arrow()
    assert len(empty) == 0


@pytest.mark.parametrize(
    "ids", [range(40), [*range(20), *range(100, 120)], [*range(20), "text", *range(30, 40)]]
)
def test_ids_in_no_order_are_the_same_and_there_once(ids: Sequence[str | int], tmp_path: Path) -> None:
    index = index_of(ids)
    for id in (3, 4, 15):  # they leave and come back, so lists hold them twice
        index.add(id, "//b")
        index.add(id, "//a")
    index.add(5, "//b")
    index.remove(6)
    for each in (index, saved_as_image(index, tmp_path / "image")):
        ordered = each.match_many(["<a/>", "<b>", "<c><b/></c>", "<a><b/></a>"]).to_arrow()
        loose = each.match_many(["<a/>", "<b>", "<c><b/></c>", "<a><b/></a>"]).to_arrow(ordered=False)
        assert [row and sorted(row, key=str) for row in loose.to_pylist()] == [
            row and sorted(row, key=str) for row in ordered.to_pylist()
        ]


def saved_as_image(index: pathcast.Index, path: Path) -> pathcast.Index:
    index.save_image(path)
    return pathcast.Index.load_image(path)


def test_an_error_of_a_batch_is_whole() -> None:
    error = batch()[2]
    assert isinstance(error, DocumentError)
    assert (error.line, error.column) == (1, 4)
    assert error.reason
    assert repr(error) == repr(batch()[2])


# Documents in every container

TEXTS = ["<a/>", None, "<b/>", "<a>", "", "<a>é</a>", "<a/>"]
EXPECTED = [[1, 2], "malformed", [], "malformed", "malformed", [1, 2], [1, 2]]
TYPES = ["string", "large_string", "string_view", "binary", "large_binary", "binary_view"]


def values(type: str) -> list[Any]:
    return [text.encode() if text is not None and "binary" in type else text for text in TEXTS]


@pytest.mark.parametrize("threads", [1, 2, 8])
@pytest.mark.parametrize("type", TYPES)
def test_arrow_arrays_of_every_type(type: str, threads: int) -> None:
    index = index_of([1, 2])
    array = pa.array(values(type), getattr(pa, type)())
    assert plain(index.match_many(array, threads=threads)) == EXPECTED
    for start, stop in ((1, 7), (2, 3), (3, 3), (5, 7)):
        assert plain(index.match_many(array[start:stop], threads=threads)) == EXPECTED[start:stop]
    chunked = pa.chunked_array([array[2:], array[:0], array[:2]], type=array.type)
    assert plain(index.match_many(chunked, threads=threads)) == EXPECTED[2:] + EXPECTED[:2]
    assert len(index.match_many(pa.array([], array.type), threads=threads)) == 0
    assert len(index.match_many(pa.chunked_array([], array.type), threads=threads)) == 0


def test_a_null_is_no_document_and_says_so() -> None:
    (error,) = index_of([1]).match_many(pa.array([None], pa.string()))
    assert isinstance(error, DocumentError)
    assert "null" in error.reason


@pytest.mark.parametrize("array", [pa.array([1, 2]), pa.array([["<a/>"]]), pa.array([True])])
def test_other_arrow_types_are_refused(array: Any) -> None:
    with pytest.raises(TypeError, match="documents must be binary or strings"):
        index_of([1]).match_many(array)


@pytest.mark.parametrize(
    "container",
    [
        list,
        tuple,
        iter,
        lambda documents: (each for each in documents),
        lambda documents: map(str, documents),
    ],
)
def test_any_iterable(container: Callable[[list[str]], Any]) -> None:
    documents = ["<a/>", "<b/>", "<"]
    assert plain(index_of([1]).match_many(container(documents))) == [[1], [], "malformed"]
    assert plain(index_of([1]).match_many(container([]))) == []


def test_what_cannot_be_iterated_is_a_type_error() -> None:
    with pytest.raises(TypeError):
        index_of([1]).match_many(5)  # type: ignore[arg-type]


def test_an_exception_of_the_generator_comes_out() -> None:
    def documents() -> Iterator[str]:
        yield "<a/>"
        raise LookupError("no more")

    with pytest.raises(LookupError, match="no more"):
        index_of([1]).match_many(documents())


@pytest.mark.parametrize("threads", [0, -1])
def test_threads_are_at_least_one(threads: int) -> None:
    with pytest.raises(ValueError, match="threads must be at least 1"):
        index_of([1]).match_many(["<a/>"], threads=threads)


def test_any_number_of_threads_gives_the_same_answers() -> None:
    index = pathcast.Index()
    index.add_many((number, f"//a[@x = {number}]") for number in range(50))
    index.add_many((f"s{number}", f"//a[b[. = {number}]]") for number in range(50))
    documents = [f"<a x='{n % 60}'><b>{n % 70}</b></a>" if n % 11 else "<a>" for n in range(1_500)]
    expected = plain(index.match_many(documents))
    assert expected[1] == [1, "s1"]
    for threads in (2, 8):
        assert plain(index.match_many(documents, threads=threads)) == expected
        files = [io.BytesIO(document.encode()) for document in documents]
        assert plain(index.match_many(files, threads=threads)) == expected
        assert plain(index.match_many(pa.array(documents), threads=threads)) == expected


# Results and later changes


def test_results_stay_what_they_were() -> None:
    index = index_of(range(2_000))
    untouched, asked = index.match_many(["<a/>", "<a/>"])
    assert isinstance(asked, Matches)
    assert len(asked) == 2_000
    index.add(0, "//b")  # replaced
    index.add("new", "//a")
    for number in range(1, 1_900):
        index.remove(number)  # the order of registration is made anew on the way
    index.add(5, "//a")
    expected = list(range(2_000))
    assert untouched == expected
    assert asked == expected
    assert 5 in asked
    assert "new" not in asked
    assert index.match("<a/>") == [*range(1_900, 2_000), "new", 5]
    del index
    assert untouched == expected


def test_results_outlive_every_subscription() -> None:
    index = index_of(["x", "y"])
    matches = one(index)
    index.remove("x")
    index.remove("y")
    index.add("z", "//a")
    assert list(matches) == ["x", "y"]
    assert matches.to_arrow().to_pylist() == ["x", "y"]


# Threads


def test_matching_while_others_add_and_remove() -> None:
    """Every answer is one of before or after a change, and nobody waits for ever."""
    index = index_of(["always"])
    stop = threading.Event()
    problems: list[object] = []
    document = f"<r>{'<x/>' * 2_000}<a/></r>".encode()

    def guarded(work: Callable[[], None]) -> Callable[[], None]:
        def run() -> None:
            try:
                while not stop.is_set():
                    work()
            except BaseException as error:
                problems.append(error)
                stop.set()

        return run

    def check(found: Sequence[str | int]) -> None:
        # "pair" is replaced by an expression that matches as well: it is never gone
        if list(found) not in (["always", "pair"], ["always", "pair", "guest"]):
            problems.append(list(found))
            stop.set()

    def change() -> None:
        index.add("guest", "//a[not(b)]")
        index.add("pair", "/r/a")
        index.remove("guest")
        index.add("pair", "//r//a")

    def match_both() -> None:
        for each in index.match_many([document, io.BytesIO(document)], threads=2):
            assert isinstance(each, Matches)
            check(each)

    def look() -> None:
        assert len(index) == len(index.ids()) or len(index) in (2, 3)
        assert index.stats()["subscriptions"] in (2, 3)
        assert "always" in index

    index.add("pair", "/r/a")
    works: list[Callable[[], None]] = [
        lambda: check(index.match(document)),
        lambda: check(index.match(io.BytesIO(document))),
        match_both,
        change,
        look,
    ]
    threads = [threading.Thread(target=guarded(work), daemon=True) for work in works]
    faulthandler.dump_traceback_later(60, exit=False)
    for thread in threads:
        thread.start()
    stop.wait(1.0)
    stop.set()
    for thread in threads:
        thread.join(timeout=30)
    faulthandler.cancel_dump_traceback_later()
    assert not any(thread.is_alive() for thread in threads), "a deadlock"
    assert not problems, problems[:3]
    assert index.match(document)[:2] == ["always", "pair"]


# Groups


def expanded(groups: pathcast.Groups) -> list[list[Any] | None]:
    """For each document the ids that its groups have, sorted."""
    members = groups.members.to_pylist()
    return [
        None if found is None else sorted(id for group in found for id in members[group])
        for found in groups.documents.to_pylist()
    ]


@pytest.mark.parametrize("number", [True, False])
def test_groups_say_what_lists_say_and_name_each_id_once(number: bool) -> None:
    index = pathcast.Index()
    ids = [at if number else f"s{at}" for at in range(300)]
    index.add_many((id, f"//e{at % 7}[@x or {at % 2}]") for at, id in enumerate(ids))
    index.add_many((id, "//e1") for id in ids[::5])
    documents = ["<e0 x='1'/>", "<e1><e2/></e1>", "<bad>", "<none/>", "<e3 x=''><e1/><e6/></e3>", None]
    batch = index.match_many(documents)
    groups = batch.to_groups()
    lists = batch.to_arrow().to_pylist()
    assert expanded(groups) == [each and sorted(each) if each is not None else None for each in lists]
    named = [id for members in groups.members.to_pylist() for id in members]
    assert len(named) == len(set(named)) == len({id for each in lists for id in each or ()})
    assert all(members == sorted(members, key=ids.index) for members in groups.members.to_pylist())
    assert groups.members.type == pa.list_(pa.int64() if number else pa.string())


def test_groups_of_nothing_are_none() -> None:
    groups = pathcast.Index().match_many(["<a/>", "<bad>"]).to_groups()
    assert groups.documents.to_pylist() == [[], None]
    assert groups.members.to_pylist() == []


# Memory that is used again


def test_a_column_stays_what_it_was_while_others_come_and_go() -> None:
    index = index_of(range(5_000))
    index.add("b", "//b")
    index.remove("b")
    kept = index.match_many(["<a/>"] * 3).to_arrow()
    for count in (1, 7, 2, 30):
        other = index.match_many(["<a/>", "<b/>"] * count).to_arrow()
        assert other.to_pylist() == [list(range(5_000)), []] * count
        part = other.slice(count, 1)
        del other
        again = index.match_many(["<a/>"] * count).to_arrow()
        assert part.to_pylist() == [list(range(5_000)) if count % 2 == 0 else []]
        assert again.to_pylist() == [list(range(5_000))] * count
    assert kept.to_pylist() == [list(range(5_000))] * 3
