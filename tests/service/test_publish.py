"""Publishing and pulling: durable answers, idempotency, batches, long polls, dead letters."""

from __future__ import annotations

import base64
import gzip
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.service.server import Server


def pulled(server: Server, path: str, id: str, **parameters: Any) -> dict[str, Any]:
    answer: dict[str, Any] = server.get(f"{path}/subscriptions/{id}/deliveries", params=parameters).json()
    return answer


def test_publish_pull_acknowledge(server: Server, name: str) -> None:
    path = server.topic(name, s="//a[@x > 1]", t="//b")
    answers = [server.post(f"{path}/documents", content=f"<a x='{n}'/>") for n in range(4)]
    assert [each.status_code for each in answers] == [202] * 4
    assert [each.json()["matched"] for each in answers] == [0, 0, 1, 1]
    first = pulled(server, path, "s", limit=1)
    [delivery] = first["deliveries"]
    assert delivery["document"] == answers[2].json()["document"]
    assert delivery["body"] == "<a x='2'/>"
    second = pulled(server, path, "s", after=first["cursor"])
    assert [each["document"] for each in second["deliveries"]] == [answers[3].json()["document"]]
    assert pulled(server, path, "s") == pulled(server, path, "s"), "stable, until it is acknowledged"
    acked = server.post(f"{path}/subscriptions/s/ack", json={"cursor": first["cursor"]})
    assert acked.json() == {"cursor": first["cursor"]}
    assert pulled(server, path, "s") == second
    server.post(f"{path}/subscriptions/s/ack", json={"cursor": second["cursor"]})
    assert pulled(server, path, "s")["deliveries"] == []
    assert (
        server.post(f"{path}/subscriptions/s/ack", json={"cursor": "0"}).json()["cursor"] == second["cursor"]
    )
    assert pulled(server, path, "t")["deliveries"] == []
    assert server.get(f"{path}/subscriptions/u/deliveries").status_code == 404
    assert server.get(f"{path}/subscriptions/s/deliveries", params={"after": "x"}).status_code == 400


def test_who_got_it_and_why(server: Server, name: str) -> None:
    path = server.topic(name, s="//a", t="//b", u="//a/b")
    body = "<?xml version='1.0'?>\r\n<a><b>é</b></a>".encode()
    headers = {"Content-Type": "application/xml; charset=utf-8"}
    document = server.post(f"{path}/documents", content=body, headers=headers).json()["document"]
    answer = server.get(f"/v1/documents/{document}").json()
    assert [each["subscription"] for each in answer["deliveries"]] == ["s", "t", "u"]
    assert all(each["why"]["matched"] for each in answer["deliveries"])
    assert (answer["topic"], answer["matched"], answer["size"]) == (name, 3, len(body))
    back = server.get(f"/v1/documents/{document}/body")
    assert back.content == body
    assert back.headers["content-type"] == "application/xml; charset=utf-8"
    assert server.get("/v1/documents/doc_0").status_code == 404
    listed = server.get("/v1/documents", params={"topic": name}).json()["documents"]
    assert [each["document"] for each in listed] == [document]


def test_a_bad_document_is_a_dead_letter(server: Server, name: str) -> None:
    path = server.topic(name, s="//a")
    refused = server.post(f"{path}/documents", content="<a>\n <b></a>", headers={"Idempotency-Key": "k"})
    assert refused.status_code == 400
    assert refused.headers["content-type"] == "application/problem+json"
    assert (refused.json()["line"], refused.json()["column"]) == (2, 5)
    again = server.post(f"{path}/documents", content="<a>\n <b></a>", headers={"Idempotency-Key": "k"})
    assert again.json() == refused.json()
    [letter] = server.get("/v1/dead-letters", params={"topic": name}).json()["dead_letters"]
    assert (letter["kind"], letter["line"], letter["column"]) == ("document", 2, 5)
    assert server.get(f"/v1/dead-letters/{letter['id']}/body").text == "<a>\n <b></a>"
    assert pulled(server, path, "s")["deliveries"] == []
    redriven = server.post(f"/v1/dead-letters/{letter['id']}:redrive")
    assert redriven.status_code == 400, "it is still not well-formed"
    assert redriven.json()["dead_letter"] == letter["id"]
    assert server.get("/v1/dead-letters", params={"topic": name}).json()["dead_letters"] == [letter]


def test_a_redriven_document_is_delivered(server: Server, name: str) -> None:
    path = f"/v1/topics/{name}"
    server.put(path, json={"limits": {"depth": 1}})
    server.put(f"{path}/subscriptions/s", json={"xpath": "//b"})
    assert server.post(f"{path}/documents", content="<a><b/></a>").status_code == 400
    server.put(path)
    [letter] = server.get("/v1/dead-letters", params={"topic": name}).json()["dead_letters"]
    assert server.post(f"/v1/dead-letters/{letter['id']}:redrive").json()["matched"] == 1
    assert len(pulled(server, path, "s")["deliveries"]) == 1
    assert server.get("/v1/dead-letters", params={"topic": name}).json()["dead_letters"] == []


def test_the_same_key_gives_the_same_answer(server: Server, name: str) -> None:
    path = server.topic(name, s="//a")
    keyed = {"Idempotency-Key": "k1"}
    first = server.post(f"{path}/documents", content="<a/>", headers=keyed)
    server.topic(name, t="//a")
    again = server.post(f"{path}/documents", content="<a/>", headers=keyed)
    assert (again.status_code, again.json()) == (202, first.json())
    other = server.post(f"{path}/documents", content="<a>2</a>", headers=keyed)
    assert other.status_code == 422
    assert len(pulled(server, path, "s")["deliveries"]) == 1
    assert pulled(server, path, "t")["deliveries"] == []


def test_one_key_from_many_at_once(server: Server, name: str) -> None:
    path = server.topic(name, s="//a")

    def send(_: int) -> object:
        keyed = {"Idempotency-Key": "k"}
        return server.post(f"{path}/documents", content="<a/>", headers=keyed).json()["document"]

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(send, range(24)))) == 1
    assert len(pulled(server, path, "s")["deliveries"]) == 1


def test_gzip(server: Server, name: str) -> None:
    path = server.topic(name, s="//a")
    packed = gzip.compress(b"<a>1</a>")
    headers = {"Content-Encoding": "gzip", "Content-Type": "application/xml"}
    done = server.post(f"{path}/documents", content=packed, headers=headers)
    assert done.json()["matched"] == 1
    assert server.get(f"/v1/documents/{done.json()['document']}/body").content == b"<a>1</a>"
    assert server.post(f"{path}/match", content=packed, headers=headers).json() == {"matches": ["s"]}
    for damaged in (packed[:-3], b"<a/>", packed + b"rest"):
        assert server.post(f"{path}/documents", content=damaged, headers=headers).status_code == 400
    bomb = gzip.compress(b"<a>" + b" " * (40 << 20) + b"</a>")
    assert server.post(f"{path}/documents", content=bomb, headers=headers).status_code == 413
    odd = {"Content-Encoding": "br"}
    assert server.post(f"{path}/documents", content=b"<a/>", headers=odd).status_code == 415


def test_batches(server: Server, name: str) -> None:
    path = server.topic(name, s="//a")
    utf16 = "<a>\n\n--x\r\n</a>".encode("utf-16")
    lines = [
        {"document": base64.b64encode(b"<a/>").decode(), "idempotency_key": "k"},
        {"document": base64.b64encode(b"<a>").decode()},
        {"document": "*"},
        {"document": base64.b64encode(b"<a/>").decode(), "idempotency_key": "k"},
        {"document": base64.b64encode(utf16).decode()},
    ]
    text = "\n".join(map(json.dumps, lines))
    done = server.post(
        f"{path}/documents:batch", content=text, headers={"Content-Type": "application/x-ndjson"}
    )
    answers = [json.loads(line) for line in done.text.splitlines()]
    assert [each["status"] for each in answers] == [202, 400, 422, 202, 202]
    assert answers[0] == answers[3]
    parts = [b"Content-Type: application/xml\r\n\r\n" + body for body in (b"<a>2</a>", utf16, b"<b")]
    parts.append(b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(b"<b/>"))
    mixed = b"".join(b"--limit\r\n" + part + b"\r\n" for part in parts) + b"--limit--\r\n"
    kind = {"Content-Type": 'multipart/mixed; boundary="limit"'}
    done = server.post(f"{path}/documents:batch", content=mixed, headers=kind)
    answers = [json.loads(line) for line in done.text.splitlines()]
    assert [each["status"] for each in answers] == [202, 202, 400, 202]
    assert [each.get("matched") for each in answers] == [1, 1, None, 0]
    assert server.get(f"/v1/documents/{answers[1]['document']}/body").content == utf16
    [*_, last] = pulled(server, path, "s")["deliveries"]
    assert base64.b64decode(last["body_base64"]) == utf16
    broken = server.post(f"{path}/documents:batch", content=mixed[:-12], headers=kind)
    assert broken.status_code == 400
    assert server.post(f"{path}/documents:batch", content=mixed).status_code == 415


def test_a_long_poll_is_answered_when_something_comes(server: Server, name: str) -> None:
    path = server.topic(name, s="//a", t="//b")
    got: list[dict[str, Any]] = []

    def wait() -> None:
        got.append(pulled(server, path, "s", wait=30))

    waiting = threading.Thread(target=wait)
    waiting.start()
    while "pathcast_requests" not in server.get("/metrics").text:
        pass
    server.post(f"{path}/documents", content="<b/>")
    document = server.post(f"{path}/documents", content="<a/>").json()["document"]
    waiting.join(30)
    assert [each["document"] for each in got[0]["deliveries"]] == [document]
    assert pulled(server, path, "t", wait=0.01, after=2**62)["deliveries"] == []


def test_a_large_document(server: Server, name: str) -> None:
    path = server.topic(name, s="//a[b = 70000]")
    large = "<a>" + "".join(f"<b>{n}</b>" for n in range(100_000)) + "</a>"
    assert server.post(f"{path}/documents", content=large).json()["matched"] == 1
    assert server.post(f"{path}/documents", content=large[:-1]).status_code == 400
    assert server.post(f"{path}/documents", content=b"<a>" + b"x" * (33 << 20)).status_code == 413


@pytest.mark.parametrize(
    "hostile", ["", "   ", "{}", "<a>&x;</a>", "<!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;</a>", "\x00"]
)
def test_hostile_documents_are_refused(server: Server, name: str, hostile: str) -> None:
    path = server.topic("hostile", s="//a")
    refused = server.post(f"{path}/documents", content=hostile)
    assert refused.status_code == 400, refused.text
    assert refused.json()["detail"]
