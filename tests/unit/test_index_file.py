"""`Index.save` and `Index.load`: what comes back is what was saved, or an error."""

from __future__ import annotations

import errno
import os
import pickle
import struct
import threading
import zlib
from pathlib import Path
from typing import Any

import pytest

import pathcast
from tests.suite.cases import cases

DOCUMENTS = [
    "<a><b x='1'>é</b><c/></a>",
    "<a xmlns='urn:x'><b/></a>",
    "<p:a xmlns:p='urn:own'><c/><b/></p:a>",
    "<a><c/><b x='2'/></a>",
    "<d/>",
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "index.pathcast"


def saved_and_loaded(index: pathcast.Index, path: Path) -> pathcast.Index:
    index.save(path)
    return pathcast.Index.load(path)


def small(**settings: Any) -> pathcast.Index:
    index = pathcast.Index(**settings)
    index.add_many(
        [
            ("s1", "//b[@x = 1]"),
            (2, "/a/b"),
            ("s3", "/a[b][c]", True, None),
            (-4, "not(//b) or //c"),
            ("5", "//n:a", None, {"n": "urn:own"}),
            ("é", "//b = 'é'"),
            (7, "'constant'"),
            (8, "''"),
            (9, "/a/b"),
        ]
    )
    index.remove(2)
    index.add("s1", "//b[@x]")
    return index


def test_the_round_trip_keeps_ids_order_and_answers(path: Path) -> None:
    index = small()
    loaded = saved_and_loaded(index, path)
    assert loaded.ids() == index.ids() == ["s1", "s3", -4, "5", "é", 7, 8, 9]
    assert len(loaded) == 8
    for document in DOCUMENTS:
        assert loaded.match(document) == index.match(document)
    for key in ("subscriptions", "distinct", "linear", "twigs"):
        assert loaded.stats()[key] == index.stats()[key]
    loaded.save(path)
    first = path.read_bytes()
    saved_and_loaded(pathcast.Index.load(path), path)
    assert path.read_bytes() == first


def test_a_loaded_index_lives_on(path: Path) -> None:
    loaded = saved_and_loaded(small(), path)
    loaded.remove("s1")
    loaded.add("s3", "/d")
    loaded.add("last", "//*")
    assert loaded.match("<d/>") == ["s3", -4, 7, "last"]
    for id in loaded.ids():
        loaded.remove(id)
    assert loaded.stats()["distinct"] == 0


def test_namespaces_of_the_set_are_kept(path: Path) -> None:
    index = small(namespaces={"": "urn:x", "q": "urn:q"})
    loaded = saved_and_loaded(index, path)
    for each in (index, loaded):
        each.add("later", "/a/b")
        each.add("prefix", "//q:a")
    for document in DOCUMENTS:
        assert loaded.match(document) == index.match(document)
    assert "later" in loaded.match(DOCUMENTS[1])


def test_ignore_namespaces_is_kept(path: Path) -> None:
    index = pathcast.Index(ignore_namespaces=True)
    index.add(1, "/a/b")
    loaded = saved_and_loaded(index, path)
    loaded.add(2, "/any:a/c")
    assert [loaded.match(document) for document in DOCUMENTS] == [[1, 2], [1], [1, 2], [1, 2], []]


def test_the_mode_of_the_set_is_kept(path: Path) -> None:
    loaded = saved_and_loaded(pathcast.Index(ordered=True), path)
    loaded.add("set", "/a[c][b]")
    loaded.add("own", "/a[c][b]", ordered=False)
    loaded.add_many([("many", "/a[c][b]")])
    assert loaded.match(DOCUMENTS[0]) == ["own"]
    assert loaded.match(DOCUMENTS[3]) == ["set", "own", "many"]


def test_limits_are_kept(path: Path) -> None:
    limits = pathcast.Limits(
        depth=2,
        attributes=1,
        name_bytes=5,
        document_bytes=60,
        expression_bytes=20,
        steps=3,
        nesting=2,
        expansion=4,
    )
    index = pathcast.Index(limits=limits)
    index.add(1, "//*")
    loaded = saved_and_loaded(index, path)
    for document in (
        "<a><b/></a>",
        "<a><b><c/></b></a>",
        "<a x='' y=''/>",
        "<abcdef/>",
        f"<a>{'x' * 60}</a>",
    ):
        outcomes = []
        for each in (index, loaded):
            (answer,) = each.match_many([document])
            outcomes.append(repr(answer))
        assert outcomes[0] == outcomes[1]
    for xpath in ("/a/b/c", "/a/b/c/d", "a[b[c[d]]]", "//" + "a" * 20, "(a or b) and (c or d or e)"):
        errors = []
        for each in (index, loaded):
            try:
                errors.append(repr(each.check(xpath)))
            except pathcast.XPathLimitError as error:
                errors.append(repr(error))
        assert errors[0] == errors[1]


def test_every_case_of_the_suite_survives(path: Path) -> None:
    index = pathcast.Index()
    plain = [case for case in cases() if not case.ignore_namespaces and "" not in case.namespaces]
    for number, case in enumerate(plain):
        namespaces, variables = case.namespaces or None, case.variables or None
        index.add(number, case.xpath, ordered=case.ordered, namespaces=namespaces, variables=variables)
    loaded = saved_and_loaded(index, path)
    for document in {case.document for case in plain}:
        assert loaded.match(document) == index.match(document)


def test_a_file_of_version_1_is_still_read(path: Path) -> None:
    """`version-1.pathcast` was written by the last version that wrote that format."""
    old = Path(__file__).parent / "version-1.pathcast"
    assert old.read_bytes()[8:12] == struct.pack("<I", 1)
    index = pathcast.Index.load(old)
    ids = ["path", "anywhere", 3, -4, "5", "é", 7, 8, "union", "first", "sideways", "text"]
    assert index.ids() == ids
    expected = {
        "<a><b x='1'>é</b><c/></a>": [*ids[:4], "é", 7, "union", "first", "sideways", "text"],
        "<p:a xmlns:p='urn:own'><p:c/></p:a>": [-4, "5", 7],
        "<a y='1'><c/><b>z</b></a>": ["path", -4, 7, "union", "text"],
    }
    for document, matched in expected.items():
        assert index.match(document) == matched
    assert (index.xpath("anywhere"), index.xpath(3)) == ("//b[@x = 1]", "/a[b][c]")
    assert index.stats()["subscriptions"] == len(dict(index.items())) == 12
    again = saved_and_loaded(index, path)
    assert path.read_bytes()[8:12] == struct.pack("<I", 3)
    assert {document: again.match(document) for document in expected} == expected


def test_a_file_of_version_2_is_still_read(path: Path) -> None:
    """Version 2 is version 3 without a limit on entities and without entities: two numbers less."""
    index = pathcast.Index(limits=pathcast.Limits(work=12_345))
    index.add_many({"path": "/a/b", 2: "//b[@x = 1]", "text": "a[contains(., 'é')]"})
    index.save(path)
    whole = path.read_bytes()
    payload, starts = whole[24:], [0]
    while len(starts) < 13:  # seven sizes, the document's, two of work, entity_expansion, how many entities
        starts.append(next(at for at in range(starts[-1], len(payload)) if payload[at] < 0x80) + 1)
    older = payload[: starts[10]] + payload[starts[12] :]
    header = len(older).to_bytes(8, "little") + zlib.crc32(older).to_bytes(4, "little")
    path.write_bytes(whole[:8] + struct.pack("<I", 2) + header + older)
    loaded = pathcast.Index.load(path)
    assert list(loaded.items()) == list(index.items())
    for document in ("<a><b x='1'>é</b></a>", "<c><b x='1'/></c>", "<a/>"):
        assert loaded.match(document) == index.match(document)
    loaded.save(path)
    assert path.read_bytes() == whole


def test_an_empty_index_survives(path: Path) -> None:
    loaded = saved_and_loaded(pathcast.Index(), path)
    assert len(loaded) == 0
    assert loaded.match("<a/>") == []


def test_paths_are_str_or_pathlike(path: Path) -> None:
    index = small()
    index.save(str(path))
    assert len(pathcast.Index.load(str(path))) == 8
    for wrong in (5, None, b"bytes"):
        with pytest.raises(TypeError):
            index.save(wrong)  # type: ignore[arg-type]
        with pytest.raises(TypeError):
            pathcast.Index.load(wrong)  # type: ignore[arg-type]


# Damage


def test_cut_at_every_byte(path: Path) -> None:
    small().save(path)
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(pathcast.IndexFormatError):
            pathcast.Index.load(path)
    path.write_bytes(whole + b"\0")
    with pytest.raises(pathcast.IndexFormatError, match="damaged"):
        pathcast.Index.load(path)


def test_every_single_flipped_bit(path: Path) -> None:
    small().save(path)
    whole = bytearray(path.read_bytes())
    for at in range(len(whole)):
        for bit in range(8):
            whole[at] ^= 1 << bit
            path.write_bytes(whole)
            with pytest.raises(pathcast.IndexFormatError):
                pathcast.Index.load(path)
            whole[at] ^= 1 << bit
    path.write_bytes(whole)
    assert len(pathcast.Index.load(path)) == 8


def test_a_newer_version_says_so(path: Path) -> None:
    small().save(path)
    whole = path.read_bytes()
    (version,) = struct.unpack_from("<I", whole, 8)
    path.write_bytes(whole[:8] + struct.pack("<I", version + 1) + whole[12:])
    with pytest.raises(pathcast.IndexFormatError, match=rf"version {version + 1}.*upgrade"):
        pathcast.Index.load(path)


@pytest.mark.parametrize(
    "content", [b"", b"PATHCAS", b"<a/>", b"\x1f\x8b\x08" + b"\0" * 100, b"PK\x03\x04" * 30]
)
def test_something_else_is_not_an_index(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(pathcast.IndexFormatError, match="not a Pathcast index"):
        pathcast.Index.load(path)


@pytest.mark.parametrize("filler", [b"\xff", b"\x00", b"\x04", b"\x7f", b"\x80"])
def test_nonsense_with_a_right_checksum_is_damage(path: Path, filler: bytes) -> None:
    """A checksum is no proof of good will: lengths, nesting and numbers are checked as well."""
    small().save(path)
    whole = path.read_bytes()
    for kept in range(0, len(whole) - 24, 3):
        payload = whole[24 : 24 + kept] + filler * 20_000
        front = whole[:12] + struct.pack("<QI", len(payload), zlib.crc32(payload))
        path.write_bytes(front + payload)
        with pytest.raises(pathcast.IndexFormatError):
            pathcast.Index.load(path)


@pytest.mark.parametrize("link", [bytes([4]), bytes([5, 1, 1, 0, 0]), bytes([10]), bytes([2, 2, 6, 2])])
def test_nesting_without_end_is_damage(path: Path, link: bytes) -> None:
    """Whatever is let through fits the stack of a thread: an overflow would end the process."""
    pathcast.Index().save(path)
    empty = path.read_bytes()
    outcomes = []

    def load(depth: int) -> None:
        payload = empty[24:-3] + b"\0\1\1" + link * depth + b"\x08\0\1x" + b"\1\0" + bytes(10)
        path.write_bytes(empty[:12] + struct.pack("<QI", len(payload), zlib.crc32(payload)) + payload)
        try:
            index = pathcast.Index.load(path)
        except pathcast.IndexFormatError:
            outcomes.append("refused")
            return
        index.match("<a/>")
        index.match_many(["<a><b/></a>"] * 4, threads=2)
        index.save(path)
        index.remove(0)
        outcomes.append("loaded")

    before = threading.stack_size(2 << 20)
    try:
        for depth in (1, 1_000, 2_000, 2_047, 3_000, 4_000, 4_095, 100_000):
            thread = threading.Thread(target=load, args=(depth,))
            thread.start()
            thread.join(timeout=60)
    finally:
        threading.stack_size(before)
    assert len(outcomes) == 8
    assert outcomes[:2] == ["loaded", "loaded"]
    assert outcomes[4:] == ["refused"] * 4


# Files


def test_a_missing_file_is_an_os_error(path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        pathcast.Index.load(path)
    with pytest.raises(OSError, match="irectory"):
        pathcast.Index.load(path.parent)


def test_saving_into_a_missing_or_wrong_place_is_an_os_error(path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        small().save(path / "none" / "index")
    folder = path.parent / "folder"
    folder.mkdir()
    with pytest.raises(OSError, match="irectory"):
        small().save(folder)
    assert sorted(path.parent.iterdir()) == [folder]
    with pytest.raises(OSError, match=r"."):
        small().save("")


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is unwritable for root")
def test_an_unwritable_folder_keeps_the_old_file(path: Path) -> None:
    small().save(path)
    before = path.read_bytes()
    path.parent.chmod(0o555)
    try:
        with pytest.raises(PermissionError):
            pathcast.Index().save(path)
    finally:
        path.parent.chmod(0o755)
    assert path.read_bytes() == before


def test_a_write_that_fails_half_way_keeps_the_old_file(path: Path) -> None:
    """As on a full disk: files of this process may not grow beyond 64 KiB."""
    resource = pytest.importorskip("resource")
    small().save(path)
    before = path.read_bytes()
    large = pathcast.Index()
    large.add_many((f"{number:0100}", "//a") for number in range(2_000))
    signal = pytest.importorskip("signal")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (64 << 10, hard))
    try:
        with pytest.raises(OSError, match=r".") as caught:
            large.save(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, handler)
    assert caught.value.errno == errno.EFBIG
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path], "nothing half written is left"


def test_saving_from_several_threads_leaves_one_whole_file(path: Path) -> None:
    indexes = []
    for number in range(4):
        index = pathcast.Index()
        index.add_many((f"{number}-{each}", f"//a[{'b' * (number + 1)}]") for each in range(3_000))
        indexes.append(index)
    problems: list[BaseException] = []

    def save(index: pathcast.Index) -> None:
        try:
            for _ in range(10):
                index.save(path)
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=save, args=(index,), daemon=True) for index in indexes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert not any(thread.is_alive() for thread in threads)
    assert not problems
    assert len(pathcast.Index.load(path)) == 3_000
    assert list(path.parent.iterdir()) == [path]


def test_limits_of_a_file_are_capped_like_others(path: Path) -> None:
    """The checksum is right, and the limit on steps would let in an expression that no stack can hold."""
    pathcast.Index().save(path)
    whole = path.read_bytes()
    version, payload = whole[8:12], whole[24:]
    starts = [0]
    while len(starts) < 6:  # depth, attributes, name_bytes, expression_bytes, steps
        end = next(at for at in range(starts[-1], len(payload)) if payload[at] < 0x80)
        starts.append(end + 1)
    forged = payload[: starts[4]] + bytes([0x80] * 5 + [0x20]) + payload[starts[5] :]  # 2 ** 40
    header = len(forged).to_bytes(8, "little") + zlib.crc32(forged).to_bytes(4, "little")
    path.write_bytes(whole[:8] + version + header + forged)
    with pytest.raises(pathcast.IndexFormatError, match="a limit beyond the highest"):
        pathcast.Index.load(path)


def test_a_small_stack_suffices_for_the_longest_expressions(path: Path) -> None:
    steps = pathcast.Limits(steps=1_024, nesting=256, expression_bytes=1 << 20)
    nested = "a" + "[b" * 250 + "]" * 250
    long = "/a" * 250
    answers: list[object] = []

    def use() -> None:
        index = pathcast.Index(limits=steps)
        for number, expression in enumerate(
            [nested, long, f"not({nested})", "//a[" + " or ".join(["b/c"] * 400) + "]"]
        ):
            index.add(number, expression)
        index.save(path)
        loaded = pathcast.Index.load(path)
        answers.append(loaded.match("<a>" * 250 + "</a>" * 250))
        answers.append(pathcast.explain(nested, "<a/>", limits=steps).matched)
        answers.append(len(pickle.loads(pickle.dumps(loaded))))

    before = threading.stack_size(192 << 10)
    try:
        thread = threading.Thread(target=use)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert answers == [[1, 2], False, 4]
