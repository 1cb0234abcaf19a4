"""Keys: scopes, topics, tenants that do not see each other, rotation, quotas."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import httpx
import pytest

from pathcast.service.settings import Settings
from pathcast.service.store import Database, keys
from tests.service.server import Server


def test_the_first_key_is_printed_once(tmp_path_factory: pytest.TempPathFactory) -> None:
    data = str(tmp_path_factory.mktemp("first"))
    with Server("--data", data, admin=None) as server:
        [line] = [line for line in server.printed if "administrator key" in line]
        secret = line.split()[-1]
        assert not any(secret in line for line in server.logged)
        assert server.as_key(secret).put("/v1/topics/t").status_code == 201
        assert server.as_key("x" + secret).put("/v1/topics/t").status_code == 401
        assert server.stop() == 0
    with Server("--data", data, admin=None) as server:
        assert not [line for line in server.printed if "administrator key" in line]
        assert server.as_key(secret).get("/v1/topics/t").status_code == 200


def test_a_key_is_needed(server: Server) -> None:
    for header in (
        {},
        {"Authorization": "Bearer"},
        {"Authorization": "Basic YTpi"},
        {"Authorization": "Bearer no"},
    ):
        answer = httpx.get(f"{server.address}/v1/topics", headers=header, trust_env=False)
        assert answer.status_code == 401
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.headers["www-authenticate"] == "Bearer"


def test_scopes_and_topics(server: Server, name: str) -> None:
    path = server.topic(name, s="//a")
    publisher = server.key(scopes=["publish"], topics=[name])
    assert publisher.post(f"{path}/documents", content="<a/>").status_code == 202
    assert publisher.get(f"{path}/subscriptions").status_code == 403
    assert publisher.put(f"{path}/subscriptions/t", json={"xpath": "//a"}).status_code == 403
    assert publisher.post("/v1/keys", json={"scopes": ["admin"]}).status_code == 403
    server.topic(name + "-2")
    assert publisher.post(f"{path}-2/documents", content="<a/>").status_code == 403
    some = server.key(scopes=["subscribe", "read"], topics=[name + "-*"])
    assert some.put(f"{path}-2/subscriptions/t", json={"xpath": "//a"}).status_code == 201
    assert some.get(f"{path}/subscriptions").status_code == 403


def test_a_key_sees_its_tenant_only(server: Server, name: str) -> None:
    path = server.topic(name, s="//a")
    document = server.post(f"{path}/documents", content="<a/>").json()["document"]
    server.post(f"{path}/documents", content="<a")
    other = server.key(tenant=name, scopes=["publish", "subscribe", "read", "admin"])
    assert other.get(path).status_code == 404
    assert other.get(f"/v1/documents/{document}").status_code == 404
    assert other.get(f"/v1/documents/{document}/body").status_code == 404
    assert other.get("/v1/dead-letters").json()["dead_letters"] == []
    assert other.get("/v1/topics").json()["topics"] == []
    assert other.put(path).status_code == 201
    assert other.post(f"{path}/documents", content="<a/>").json()["matched"] == 0
    assert {key["tenant"] for key in other.get("/v1/keys").json()["keys"]} == {name}
    assert other.post("/v1/keys", json={"tenant": "default", "scopes": ["read"]}).status_code == 403
    [mine] = other.get("/v1/keys").json()["keys"]
    theirs = [
        key["id"] for key in server.get("/v1/keys?limit=1000").json()["keys"] if key["tenant"] == "default"
    ]
    assert other.delete(f"/v1/keys/{theirs[0]}").status_code == 404
    assert other.delete(f"/v1/keys/{mine['id']}").status_code == 204
    assert other.get("/v1/topics").status_code == 401


def test_rotation_with_a_grace_period(server: Server) -> None:
    made = server.post("/v1/keys", json={"scopes": ["read"]}).json()
    assert re.fullmatch(r"pck_[\w-]{40,}", made["key"])
    rotated = server.post(f"/v1/keys/{made['id']}/rotate", json={"grace": 3600}).json()
    for secret in (made["key"], rotated["key"]):
        assert server.as_key(secret).get("/v1/topics").status_code == 200
    last = server.post(f"/v1/keys/{rotated['id']}/rotate", json={"grace": 0}).json()
    assert server.as_key(rotated["key"]).get("/v1/topics").status_code == 401
    assert server.as_key(last["key"]).get("/v1/topics").status_code == 200
    assert "key" not in server.get("/v1/keys?limit=1000").json()["keys"][0]


def test_quotas(server: Server, name: str) -> None:
    quota = {"subscriptions": 2, "documents_per_second": 3, "pending_deliveries": 2}
    client = server.key(tenant=name, scopes=["publish", "subscribe", "read"], quota=quota)
    path = f"/v1/topics/{name}"
    client.put(path)
    for id in ("s", "t"):
        assert client.put(f"{path}/subscriptions/{id}", json={"xpath": "//a"}).status_code == 201
    full = client.put(f"{path}/subscriptions/u", json={"xpath": "//a"})
    assert full.status_code == 429
    assert int(full.headers["retry-after"]) >= 1
    assert client.put(f"{path}/subscriptions/s", json={"xpath": "//b"}).status_code == 200
    statuses = [client.post(f"{path}/documents", content="<c/>").status_code for _ in range(12)]
    assert statuses[0] == 202
    assert 429 in statuses, "twelve documents at once are more than three a second"


def test_pending_deliveries(server: Server, name: str) -> None:
    client = server.key(tenant=name, scopes=["publish", "subscribe", "read"], quota={"pending_deliveries": 2})
    path = f"/v1/topics/{name}"
    client.put(path)
    client.put(f"{path}/subscriptions/s", json={"xpath": "//a"})
    statuses = [client.post(f"{path}/documents", content="<a/>").status_code for _ in range(3)]
    assert statuses == [202, 202, 429]
    cursor = client.get(f"{path}/subscriptions/s/deliveries").json()["cursor"]
    assert client.post(f"{path}/subscriptions/s/ack", json={"cursor": cursor}).status_code == 200
    assert client.post(f"{path}/documents", content="<a/>").status_code == 202


def test_every_answer_carries_the_policy(server: Server) -> None:
    for path in ("/healthz", "/v1/topics", "/nowhere"):
        headers = server.get(path).headers
        assert "script-src 'self'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"


def test_an_administrator_gets_no_further_than_its_key(server: Server, name: str) -> None:
    """Neither to the first administrator's rights, nor to topics that it does not see."""
    admin = server.key(tenant="default", scopes=["admin"])
    first = next(
        each["id"]
        for each in admin.get("/v1/keys?limit=1000").json()["keys"]
        if each["labels"].get("name") == "first administrator"
    )
    assert admin.post(f"/v1/keys/{first}/rotate").status_code == 403
    assert admin.delete(f"/v1/keys/{first}").status_code == 403
    wide = server.post("/v1/keys", json={"scopes": ["read"]}).json()["id"]
    narrow = server.key(tenant="default", scopes=["admin"], topics=[f"{name}-*"])
    for topics in (["*"], [f"{name}*"], [f"{name}-*", "b"]):
        assert narrow.post("/v1/keys", json={"scopes": ["read"], "topics": topics}).status_code == 403
    assert narrow.post(f"/v1/keys/{wide}/rotate").status_code == 403
    assert narrow.delete(f"/v1/keys/{wide}").status_code == 403
    within = {"scopes": ["read"], "topics": [f"{name}-a*", f"{name}-b"]}
    assert narrow.post("/v1/keys", json=within).status_code == 201
    assert server.post("/v1/keys", json={"scopes": ["read"], "topics": ["a?"]}).status_code == 422


def test_a_revoked_key_does_not_come_back(server: Server) -> None:
    made = server.post("/v1/keys", json={"scopes": ["read"]}).json()
    assert server.delete(f"/v1/keys/{made['id']}").status_code == 204
    assert server.post(f"/v1/keys/{made['id']}/rotate").status_code == 409


def test_a_revoked_key_stays_so_when_the_clock_goes_back(tmp_path: Path) -> None:
    database = Database(Settings(data=tmp_path).url)
    database.migrate()
    with database.writing() as connection:
        given: dict[str, Any] = {"tenant": "t", "scopes": ("read",), "topics": ("*",), "quota": {}}
        key = keys.create(connection, "secret", **given, now=1000.0)
        keys.revoke(connection, key.id)
        assert keys.by_digest(connection, keys.digest("secret"), 900.0) is None
    database.close()


def test_the_key_in_the_environment_may_be_revoked(tmp_path: Path) -> None:
    with Server("--data", str(tmp_path)) as server:
        [first] = server.get("/v1/keys").json()["keys"]
        secret = server.post(f"/v1/keys/{first['id']}/rotate", json={"grace": 0}).json()["key"]
        server.stop()
        server.start()
        assert server.get("/v1/topics").status_code == 401
        assert server.as_key(secret).get("/v1/topics").status_code == 200
        assert "PATHCAST_ADMIN_KEY was revoked" in "".join(server.logged)
