"""Topics and subscriptions over HTTP: life cycle, refusals that change nothing, lists, bulk loads."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.service.server import Server


def test_alive_and_ready(server: Server) -> None:
    assert server.get("/healthz").json()["status"] == "ok"
    assert server.get("/readyz").status_code == 200
    assert "pathcast_build_info" in server.get("/metrics").text


def test_the_life_of_a_topic(server: Server, name: str) -> None:
    path = f"/v1/topics/{name}"
    assert server.get(path).status_code == 404
    assert server.put(path, json={"namespaces": {"n": "urn:n"}}).status_code == 201
    assert server.put(path, json={"namespaces": {"n": "urn:n"}}).status_code == 200
    assert server.get(path).json()["namespaces"] == {"n": "urn:n"}
    assert server.put(f"{path}/subscriptions/s", json={"xpath": "//n:a"}).status_code == 201
    assert server.post(f"{path}/match", content="<a xmlns='urn:n'/>").json() == {"matches": ["s"]}
    assert server.delete(path).status_code == 204
    assert server.delete(path).status_code == 404
    assert server.put(path).status_code == 201
    assert server.post(f"{path}/match", content="<a xmlns='urn:n'/>").json() == {"matches": []}


def test_the_empty_prefix_binds_names_without_one(server: Server, name: str) -> None:
    path, document = f"/v1/topics/{name}", "<a xmlns='urn:n'><b/></a>"
    assert server.put(path, json={"namespaces": {"": "urn:n"}}).status_code == 201
    assert server.put(f"{path}/subscriptions/topic", json={"xpath": "/a/b"}).status_code == 201
    own = {"xpath": "/a/b", "namespaces": {"": "urn:other"}}
    assert server.put(f"{path}/subscriptions/own", json=own).status_code == 201
    assert server.post(f"{path}/match", content=document).json() == {"matches": ["topic"]}
    checked = server.post(
        "/v1/check", json={"xpath": "/a/b", "namespaces": {"": "urn:n"}, "document": document}
    )
    assert checked.json()["matched"] is True


def test_settings_that_do_not_suit_change_nothing(server: Server, name: str) -> None:
    path = f"/v1/topics/{name}"
    server.put(path, json={"namespaces": {"n": "urn:n"}})
    server.put(f"{path}/subscriptions/s", json={"xpath": "//n:a"})
    for settings in ({"limits": {"depth": 0}}, {"namespaces": {"m": "urn:m"}}, {"schema": "<!ELEMENT"}):
        refused = server.put(path, json=settings)
        assert refused.status_code == 422, refused.text
        assert refused.headers["content-type"] == "application/problem+json"
    assert server.post(f"{path}/match", content="<a xmlns='urn:n'/>").json() == {"matches": ["s"]}
    changed = server.put(path, json={"namespaces": {"n": "urn:other"}})
    assert changed.status_code == 200
    assert server.post(f"{path}/match", content="<a xmlns='urn:n'/>").json() == {"matches": []}


@pytest.mark.parametrize("bad", ["a b", "a/b", "é", "x" * 129, "%00"])
def test_names_that_are_none(server: Server, bad: str) -> None:
    assert server.put(f"/v1/topics/{bad}").status_code in (404, 405, 422)


def test_a_refused_expression_changes_nothing(server: Server, name: str) -> None:
    path = server.topic(name, s="//a")
    refused = server.put(f"{path}/subscriptions/s", json={"xpath": "//a["})
    assert refused.status_code == 422
    assert refused.headers["content-type"] == "application/problem+json"
    problem = refused.json()
    assert problem["column"] == 5
    assert {"type", "title", "status", "detail"} <= problem.keys()
    assert server.put(f"{path}/subscriptions/t", json={"xpath": "//x:a"}).status_code == 422
    assert server.get(f"{path}/subscriptions/s").json()["xpath"] == "//a"
    assert server.get(f"{path}/subscriptions/t").status_code == 404
    assert server.post(f"{path}/match", content="<a/>").json() == {"matches": ["s"]}


def test_put_replace_pause_remove(server: Server, name: str) -> None:
    path = server.topic(name, s="//a")
    one = f"{path}/subscriptions/s"

    def found(document: str) -> list[str]:
        matches: list[str] = server.post(f"{path}/match", content=document).json()["matches"]
        return matches

    assert server.put(one, json={"xpath": "//b", "labels": {"team": "desk"}}).status_code == 200
    assert (found("<a/>"), found("<b/>")) == ([], ["s"])
    assert server.patch(one, json={"enabled": False}).json()["enabled"] is False
    assert found("<b/>") == []
    assert server.put(one, json={"xpath": "//b", "enabled": False}).status_code == 200
    assert found("<b/>") == []
    assert server.patch(one, json={"enabled": True}).status_code == 200
    assert found("<b/>") == ["s"]
    assert server.delete(one).status_code == 204
    assert server.delete(one).status_code == 404
    assert found("<b/>") == []


def test_lists_come_in_pages(server: Server, name: str) -> None:
    path = server.topic(name, **{f"s{number:02}": "//a" for number in range(7)})
    server.put(f"{path}/subscriptions/s03", json={"xpath": "//a", "labels": {"team": "desk"}})
    seen: list[str] = []
    cursor = ""
    while cursor is not None:
        answer = server.get(f"{path}/subscriptions", params={"limit": 3, "cursor": cursor}).json()
        seen += [each["id"] for each in answer["subscriptions"]]
        cursor = answer["cursor"]
    assert seen == [f"s{number:02}" for number in range(7)]
    labelled = server.get(f"{path}/subscriptions", params={"label": "team:desk"}).json()
    assert [each["id"] for each in labelled["subscriptions"]] == ["s03"]
    assert server.get(f"{path}/subscriptions", params={"limit": 0}).status_code == 422


def test_bulk_answers_by_line(server: Server, name: str) -> None:
    path = server.topic(name, old="//a")
    lines = [
        json.dumps({"id": "s1", "xpath": "//a"}),
        json.dumps({"id": "s2", "xpath": "//a["}),
        "not json",
        "",
        json.dumps({"id": "old", "xpath": "//b"}),
        json.dumps({"id": "s 3", "xpath": "//a"}),
        json.dumps({"xpath": "//a"}),
        json.dumps({"id": "s4", "xpath": "//b", "enabled": False}),
    ]
    done = server.post(f"{path}/subscriptions:bulk", content="\n".join(lines))
    answers = [json.loads(line) for line in done.text.splitlines()]
    assert [each["status"] for each in answers] == [201, 422, 422, 200, 422, 422, 201]
    assert answers[1]["column"] == 5
    assert server.post(f"{path}/match", content="<a><b/></a>").json() == {"matches": ["old", "s1"]}


def test_a_large_bulk_load_is_there_after_a_restart(tmp_path_factory: pytest.TempPathFactory) -> None:
    data = str(tmp_path_factory.mktemp("bulk"))
    lines = "".join(json.dumps({"id": f"s{n}", "xpath": f"//a[@n = {n}]"}) + "\n" for n in range(12_000))
    with Server("--data", data) as server:
        server.topic("t")
        done = server.post("/v1/topics/t/subscriptions:bulk", content=lines)
        assert done.text.count('"status":201') == 12_000
        assert server.stop() == 0
    with Server("--data", data) as server:
        found = server.post("/v1/topics/t/match", content="<a n='7777'/>").json()
        assert found == {"matches": ["s7777"]}


def test_check_stores_nothing_and_explains(server: Server) -> None:
    good = server.post("/v1/check", json={"xpath": "/a/b[@c > 1]"})
    assert good.status_code == 200
    assert good.json()["ok"] is True
    bad = server.post("/v1/check", json={"xpath": "/a/b["})
    assert (bad.status_code, bad.json()["column"], bad.json()["ok"]) == (422, 6, False)
    body = {"xpath": "/n:a/b[@c > 1]", "document": "<a xmlns='urn:n'><b xmlns='' c='1'/></a>"}
    explained = server.post("/v1/check", json={**body, "namespaces": {"n": "urn:n"}}).json()
    assert explained["matched"] is False
    assert [step["count"] for step in explained["explanation"]["paths"][0]["steps"]] == [1, 0]
    broken = server.post("/v1/check", json={"xpath": "/a", "document": "<a>\n<b></a>"})
    assert (broken.status_code, broken.json()["line"]) == (400, 2)


def test_variables(server: Server, name: str) -> None:
    path = server.topic(name)
    body = {"xpath": "//a[@t = $t][b = $b]", "variables": {"t": "x", "b": {"xpath": "/*/c"}}}
    assert server.put(f"{path}/subscriptions/s", json=body).status_code == 201
    assert server.get(f"{path}/subscriptions/s").json()["variables"] == body["variables"]
    document = "<r><c>1</c><a t='x'><b>1</b></a></r>"
    assert server.post(f"{path}/documents", content=document).json()["matched"] == 1
    assert server.post(f"{path}/match", content=document.replace("'x'", "'y'")).json() == {"matches": []}
    assert server.post("/v1/check", json={**body, "document": document}).json()["matched"] is True
    for wrong in (
        {"t": "x"},
        {"t": "x", "b": {"path": "/a"}},
        {"t": "x", "b": [1]},
        {"t": "x", "b": {"xpath": "/["}},
    ):
        refused = server.put(f"{path}/subscriptions/s", json={**body, "variables": wrong})
        assert refused.status_code == 422, refused.text
    assert server.post(f"{path}/match", content=document).json() == {"matches": ["s"]}


def test_nodes(server: Server, name: str) -> None:
    path = server.topic(name, s="//b/@x", t="count(//b) = 2", u="//c")
    document = "<a><b x='é'/>\n<b x='2'/></a>"
    answer = server.post(f"{path}/match", params={"nodes": True}, content=document.encode()).json()
    assert answer["matches"] == ["s", "t"]
    assert [node["path"] for node in answer["nodes"]["s"]] == ["/a[1]/b[1]/@x", "/a[1]/b[2]/@x"]
    assert answer["nodes"]["t"] == []
    [start, end] = answer["nodes"]["s"][1]["span"]
    assert document.encode()[start:end] == b"x='2'"
    checked = server.post("/v1/check", json={"xpath": "//b", "document": document}).json()
    assert (checked["selected"], checked["nodes"][1]["line"]) == (2, 2)
    why = server.post("/v1/check", json={"xpath": "/a/b[@x = 3]", "document": document}).json()["explanation"]
    assert why["failure"]


def test_match_explains_one_subscription(server: Server, name: str) -> None:
    path = server.topic(name, s="/a/b", t="/a/c")
    answer = server.post(f"{path}/match", params={"explain": "t"}, content="<a><b/></a>").json()
    assert answer["matches"] == ["s"]
    assert answer["explanation"]["matched"] is False
    assert server.post(f"{path}/match", params={"explain": "u"}, content="<a/>").status_code == 404


def test_a_newer_store_is_refused(tmp_path_factory: pytest.TempPathFactory) -> None:
    import sqlite3
    import subprocess
    import sys

    data = tmp_path_factory.mktemp("newer")
    with Server("--data", str(data)) as server:
        assert server.stop() == 0
    with sqlite3.connect(data / "pathcast.db") as connection:
        connection.execute("UPDATE meta SET value = '99' WHERE name = 'version'")
    connection.close()
    command = [sys.executable, "-m", "pathcast", "serve", "--data", str(data), "--port", "0"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2
    assert "version 99" in done.stderr
    assert "newer" in done.stderr


def test_settings_must_suit_paused_subscriptions_too(server: Server, name: str) -> None:
    path = f"/v1/topics/{name}"
    server.put(path, json={"namespaces": {"n": "urn:n"}})
    server.put(f"{path}/subscriptions/s", json={"xpath": "//n:a"})
    server.patch(f"{path}/subscriptions/s", json={"enabled": False})
    refused = server.put(path, json={})
    assert (refused.status_code, refused.json()["subscription"]) == (422, "s")
    assert server.patch(f"{path}/subscriptions/s", json={"enabled": True}).status_code == 200
    assert server.post(f"{path}/documents", content="<a xmlns='urn:n'/>").json()["matched"] == 1


def test_settings_and_subscriptions_at_the_same_time(server: Server, name: str) -> None:
    """Whichever comes first, the other is refused or suits it, and the topic goes on."""
    for turn in range(12):
        path = f"/v1/topics/{name}-{turn}"
        place = f"{path}/subscriptions/s"
        server.put(path, json={"namespaces": {"n": "urn:n"}})
        with ThreadPoolExecutor(2) as pool:
            settings = pool.submit(server.put, path, json={})
            put = pool.submit(server.put, place, json={"xpath": "//n:a"})
            answers = {settings.result().status_code, put.result().status_code}
        assert answers in ({200, 422}, {201, 422}), answers
        assert server.post(f"{path}/documents", content="<a/>").status_code == 202


def test_a_pause_undoes_no_other_change(server: Server, name: str) -> None:
    place = server.topic(name) + "/subscriptions/s"
    for _ in range(12):
        server.put(place, json={"xpath": "//old"})
        with ThreadPoolExecutor(2) as pool:
            paused = pool.submit(server.patch, place, json={"enabled": False})
            put = pool.submit(server.put, place, json={"xpath": "//new"})
            assert (paused.result().status_code, put.result().status_code) == (200, 200)
        assert server.get(place).json()["xpath"] == "//new"
        with ThreadPoolExecutor(2) as pool:
            pool.submit(server.patch, place, json={"enabled": False})
            removed = pool.submit(server.delete, place)
            assert removed.result().status_code == 204
        assert server.get(place).status_code == 404
