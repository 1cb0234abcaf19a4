"""On DuckDB, large batches tell subscriptions by numbers, small ones by names; the answers are the same."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("duckdb", reason="duckdb is not installed")

from pathcast.relational import Relational
from pathcast.relational.backends import duckdb
from pathcast.types import Id
from tests.relational.agreement import run


@pytest.fixture(params=[0, 1 << 30], ids=["numbers", "names"])
def many(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(duckdb, "SMALL", 0)
    monkeypatch.setattr(duckdb, "MANY", request.param)
    return int(request.param)


@pytest.mark.usefixtures("many")
def test_random_pairs() -> None:
    pairs, wrong = run(23, range(10), lambda ignore: Relational("duckdb", ignore_namespaces=ignore))
    print(f"seed 23, {pairs} pairs")
    assert not wrong, "\n".join(wrong[:3])


def test_ids_come_in_order_and_once_after_every_change(many: int) -> None:
    texts: list[Id] = ["a", "a b", 'a"', "a!", "é", "\x01", "", "10", "𝄞"]
    numbers: list[Id] = [10, 9, -3, 2**62]
    with Relational("duckdb") as database:
        database.subscribe((id, "//b | //c | /a/b") for id in [*texts, *numbers])
        document = b"<a><b/><c/></a>"
        for gone in ("a", 9, None):
            wanted: list[Id] = [*sorted(map(int, numbers)), *sorted(map(str, texts))]
            assert database.match([("d", document), ("e", document)]) == [
                (at, id) for at in ("d", "e") for id in wanted
            ]
            if gone is not None:
                database.unsubscribe([gone])
                (texts if gone in texts else numbers).remove(gone)
        backend: Any = database._backend
        with backend.reading() as session:
            assert (session._numbered is not None) is (many == 0)
        database.unsubscribe([*texts, *numbers])
        assert database.match([("d", document)]) == []
