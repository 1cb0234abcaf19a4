"""Subscription files of every format, and every way they can be broken."""

from __future__ import annotations

import gzip
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from pathcast.errors import SubscriptionFileError
from pathcast.subscriptions import MAX_LINE, Subscription, SubscriptionFile, read_subscriptions

FULL = Subscription("s1", "/a/b", "ada", True, {"n": "urn:x"}, 2)
BARE = Subscription("7", "//a[b = 'x, y']", None, None, None, 3)

SOUND = {
    "both.csv": "id,xpath,subscriber,ordered,namespaces\n"
    's1,/a/b,ada,true,"{""n"": ""urn:x""}"\n7,"//a[b = \'x, y\']",,,\n',
    "both.tsv": "id\txpath\tsubscriber\tordered\tnamespaces\n"
    's1\t/a/b\tada\t1\t"{""n"": ""urn:x""}"\n7\t//a[b = \'x, y\']\t\t\t\n',
    "both.jsonl": '\n{"id": "s1", "xpath": "/a/b", '
    '"subscriber": "ada", "ordered": true, "namespaces": {"n": "urn:x"}}\n'
    '{"id": 7, "xpath": "//a[b = \'x, y\']"}\n',
}


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    data = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


def problems(path: Path) -> list[str]:
    with pytest.raises(SubscriptionFileError) as caught:
        list(read_subscriptions(path))
    return str(caught.value).replace(str(path), "FILE").splitlines()


@pytest.mark.parametrize("zipped", ["", ".gz"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("name", SOUND)
def test_every_text_format_gives_the_same(tmp_path: Path, name: str, end: str, bom: str, zipped: str) -> None:
    path = written(tmp_path, name + zipped, bom + SOUND[name].replace("\n", end))
    assert list(read_subscriptions(path)) == [FULL, BARE]


def test_text_numbers_lines_and_skips_blank_ones(tmp_path: Path) -> None:
    path = written(tmp_path, "s.txt", "\ufeff/a\r\n\n  \n//b ü\n  /c")
    assert [(row.id, row.xpath, row.line) for row in read_subscriptions(path)] == [
        ("1", "/a", 1),
        ("4", "//b ü", 4),
        ("5", "  /c", 5),
    ]


def test_standard_input_is_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"/a\n/b\n")))
    assert [row.id for row in read_subscriptions("-")] == ["1", "2"]


def test_columns_in_any_order_and_others_left_alone(tmp_path: Path) -> None:
    path = written(tmp_path, "s.csv", 'note, xpath ,id\n"two\nlines",/a,x\nn,/b,y\n')
    assert [(row.id, row.xpath, row.line) for row in read_subscriptions(path)] == [
        ("x", "/a", 2),
        ("y", "/b", 4),
    ]


@pytest.mark.parametrize("content", ["", "id,xpath\n"], ids=["txt", "csv"])
def test_no_subscriptions_are_no_mistake(tmp_path: Path, content: str) -> None:
    path = written(tmp_path, "s.csv" if content else "s.txt", content)
    assert list(read_subscriptions(path)) == []


@pytest.mark.parametrize("kind", ["text", "map", "struct"])
def test_parquet(tmp_path: Path, kind: str) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    namespaces: list[Any] = [{"n": "urn:x"}, None]
    of_kind = pyarrow.struct([("n", pyarrow.string()), ("absent", pyarrow.string())])
    if kind == "text":
        namespaces, of_kind = [json.dumps(namespaces[0]), None], pyarrow.string()
    elif kind == "map":
        namespaces, of_kind = [[("n", "urn:x")], None], pyarrow.map_(pyarrow.string(), pyarrow.string())
    table = pyarrow.table(
        {
            "id": ["s1", "7"],
            "note": [1.5, 2.5],
            "xpath": ["/a/b", "//a[b = 'x, y']"],
            "subscriber": ["ada", None],
            "ordered": [True, None],
            "namespaces": pyarrow.array(namespaces, of_kind),
        }
    )
    parquet.write_table(table, tmp_path / "s.parquet")
    rows = list(read_subscriptions(tmp_path / "s.parquet"))
    assert [(row.id, row.xpath, row.subscriber, row.ordered, row.namespaces) for row in rows] == [
        ("s1", "/a/b", "ada", True, {"n": "urn:x"}),
        ("7", "//a[b = 'x, y']", None, None, None),
    ]
    assert [row.line for row in rows] == [1, 2]


def test_parquet_problems(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(
        pyarrow.table({"id": [1, 1, None], "xpath": ["/a", "/b", "/c"]}), tmp_path / "s.parquet"
    )
    assert problems(tmp_path / "s.parquet") == [
        "FILE:2: the id '1' is already on line 1",
        "FILE:3: the id must be a string, not None",
    ]
    parquet.write_table(pyarrow.table({"id": [1]}), tmp_path / "s.parquet")
    assert problems(tmp_path / "s.parquet") == ["FILE: the header has no column xpath"]
    assert problems(written(tmp_path, "s.parquet", "no parquet"))[0].startswith(
        "FILE: cannot be read as Parquet"
    )
    assert problems(tmp_path / "absent.parquet")[0].startswith("FILE: cannot be read: ")


def test_parquet_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    path = written(tmp_path, "s.parquet", b"PAR1")
    assert problems(path) == ["FILE: Parquet needs pyarrow: pip install 'pathcast[arrow]'"]


BROKEN: dict[str, tuple[str, str | bytes, list[str]]] = {
    "no xpath column": ("s.csv", "id,path\ns1,/a\n", ["FILE:1: the header has no column xpath"]),
    "no columns": ("s.tsv", "", ["FILE:1: the header has no column id and no column xpath"]),
    "wrong delimiter": ("s.tsv", "id,xpath\n", ["FILE:1: the header has no column id and no column xpath"]),
    "a column twice": ("s.csv", "id,xpath,id\n", ["FILE:1: the header has the column id more than once"]),
    "cells": (
        "s.csv",
        "id,xpath\ns1\ns2,/a,x\ns3,/a\n",
        ["FILE:2: the row has 1 cells, the header has 2", "FILE:3: the row has 3 cells, the header has 2"],
    ),
    "quotes": (
        "s.csv",
        'id,xpath\ns1,"/a"b\ns2,"/a\n',
        [
            "FILE:2: the row cannot be read: ',' expected after '\"'",
            "FILE:3: the row cannot be read: unexpected end of data",
        ],
    ),
    "ids": (
        "s.csv",
        "id,xpath\ns1,/a\n,/b\ns1,/c\n",
        ["FILE:3: the id is empty", "FILE:4: the id 's1' is already on line 2"],
    ),
    "ordered": (
        "s.csv",
        "id,xpath,ordered\ns1,/a,yes\n",
        ["FILE:2: ordered must be true, false, 1 or 0, not 'yes'"],
    ),
    "namespaces": (
        "s.csv",
        'id,xpath,namespaces\na,/a,n=urn:x\nb,/b,[]\nc,/c,"{""n"": 1}"\nd,/d,[[1]]\n',
        [
            "FILE:2: namespaces must be a JSON object, not 'n=urn:x'",
            "FILE:3: namespaces must be a JSON object, not []",
            "FILE:4: the namespace of 'n' must be a string, not 1",
            "FILE:5: namespaces must be a JSON object, not [[1]]",
        ],
    ),
    "a name twice": (
        "s.csv",
        'id,xpath,namespaces\na,/n:a,"{""n"": ""urn:x"", ""n"": ""urn:y""}"\n',
        ["FILE:2: namespaces: the name 'n' is there twice"],
    ),
    "a member twice": (
        "s.jsonl",
        '{"id": "s1", "xpath": "/a", "xpath": "/b"}\n{"id": "s2", "xpath": "/c"}\n',
        ["FILE:1: the line is not JSON: the name 'xpath' is there twice"],
    ),
    "json": (
        "s.jsonl",
        '{"id": "s1"\n[]\n{"id": "s2"}\n{"id": true, "xpath": "/a"}\n{"id": "s3", "xpath": 4}\n'
        '{"id": 1, "xpath": "/a"}\n'
        '{"id": "1", "xpath": "/b"}\n{"id": "s4", "xpath": "\\ud800"}\n',
        [
            "FILE:1: the line is not JSON: Expecting ',' delimiter: line 2 column 1 (char 12)",
            "FILE:2: the line is no JSON object with id and xpath",
            "FILE:3: the line is no JSON object with xpath",
            "FILE:4: the id must be a string, not True",
            "FILE:5: the xpath must be a string, not 4",
            "FILE:7: the id '1' is already on line 6",
            "FILE:8: the xpath holds a lone surrogate: '\\ud800'",
        ],
    ),
    "bytes": (
        "s.txt",
        b"/a\n//\xff\n/b\n\xe9\n",
        ["FILE:2: the line is not UTF-8 at byte 3", "FILE:4: the line is not UTF-8 at byte 1"],
    ),
    "UTF-16": (
        "s.csv",
        "id,xpath\n".encode("utf-16"),
        ["FILE:1: the line is not UTF-8 at byte 1"],
    ),
    "a long line": (
        "s.txt.gz",
        b"/a\n" + b"x" * 3 * MAX_LINE + b"\n/b",
        ["FILE:2: the line is longer than 1,048,576 bytes"],
    ),
    "no extension": (
        "s",
        "/a\n",
        ["FILE: has no known extension; use .txt, .csv, .tsv, .jsonl, .parquet, or .gz of a text format"],
    ),
    "zipped parquet": ("s.parquet.gz", "", ["FILE: has no known extension"]),
}


@pytest.mark.parametrize("case", BROKEN)
def test_every_problem_is_reported(tmp_path: Path, case: str) -> None:
    name, content, expected = BROKEN[case]
    found = problems(written(tmp_path, name, content))
    assert len(found) >= len(expected)
    assert all(line.startswith(start) for line, start in zip(found, expected, strict=False)), found


def test_deep_json_is_a_problem_and_not_a_crash(tmp_path: Path) -> None:
    path = written(tmp_path, "s.jsonl", "[" * 100_000 + "\n")
    assert problems(path)[0].startswith("FILE:1: the line is not JSON: ")


def test_damaged_gzip(tmp_path: Path) -> None:
    path = tmp_path / "s.txt.gz"
    whole = gzip.compress(b"/a\n" * 10_000)
    for damaged in (b"/a\n", whole[:-12], whole[:20] + b"\xff\xff\xff\xff" + whole[24:]):
        path.write_bytes(damaged)
        assert problems(path)[-1].startswith(("FILE: cannot be read: ", "FILE: is a damaged gzip file: "))


def test_missing_file_and_directory(tmp_path: Path) -> None:
    assert problems(tmp_path / "absent.txt") == ["FILE: cannot be read: No such file or directory"]
    (tmp_path / "folder.txt").mkdir()
    assert problems(tmp_path / "folder.txt") == ["FILE: cannot be read: Is a directory"]


def test_sound_rows_come_before_the_problems(tmp_path: Path) -> None:
    file = SubscriptionFile(written(tmp_path, "s.csv", "id,xpath\na,/a\nb\nc,/c\n"))
    assert [row.id for row in file] == ["a", "c"]
    assert [line for line, _ in file.problems] == [3]
    assert file.line_of("c") == 4
