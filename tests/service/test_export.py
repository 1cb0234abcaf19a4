"""A topic's subscriptions out of the store, as Spark compiles them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pathcast.service.export import export
from pathcast.service.store import StoreError
from tests.service.server import Server


def test_enabled_subscriptions_with_all_their_namespaces(tmp_path: Path) -> None:
    with Server("--data", str(tmp_path)) as server:
        server.put(
            "/v1/topics/t", json={"namespaces": {"n": "urn:n", "m": "urn:m"}, "ignore_namespaces": True}
        )
        path = "/v1/topics/t/subscriptions"
        server.put(f"{path}/s", json={"xpath": "//n:a", "namespaces": {"n": "urn:own"}, "ordered": True})
        server.put(f"{path}/u", json={"xpath": "//m:a"})
        for id, value in (("v", "x"), ("w", {"xpath": "/*/t"}), ("quotes", "'\"")):
            server.put(f"{path}/{id}", json={"xpath": "//m:a[@t = $t]", "variables": {"t": value}})
        server.put(f"{path}/paused", json={"xpath": "//n:a", "enabled": False})
        url = f"sqlite:///{tmp_path}/pathcast.db"
        found = export(url, "default", "t")
        rows = [json.loads(line) for line in found.lines]
        assert [(row["id"], row["xpath"], row["ordered"]) for row in rows] == [
            ("s", "//n:a", True),
            ("u", "//m:a", None),
            ("v", "//a[@t = 'x']", None),
            ("w", "//a[@t][@t = /*/t]", None),
            ("quotes", "//m:a[@t = $t]", None),  # XPath 1.0 cannot write both quotes in one literal
        ]
        assert [json.loads(row["namespaces"]) for row in rows[:2]] == [
            {"n": "urn:own", "m": "urn:m"},
            {"n": "urn:n", "m": "urn:m"},
        ]
        assert found.settings["ignore_namespaces"] is True
        with pytest.raises(StoreError, match="has no topic 'x'"):
            export(url, "default", "x")
