"""What each call answers, as data: the statuses, an example, and what can go wrong.

The OpenAPI document is made of it, and a test holds the examples against what a server answers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

T = "/v1/topics/{topic}"
S = T + "/subscriptions/{id}"
LINES = "application/x-ndjson"

_DOCUMENT = "doc_01a1e25191f76620af66d6e2543a"
_DELIVERY_ID = "dlv_9a51217e43ec655a9841ec87b29c02ee"
_TIME = "2026-01-17T06:15:00.000Z"
_HEAD = {
    "document": _DOCUMENT,
    "topic": "news",
    "received": _TIME,
    "content_type": "application/xml",
    "size": 30,
    "matched": 1,
}
DELIVERY = {
    "id": _DELIVERY_ID,
    "cursor": "17",
    "document": _DOCUMENT,
    "topic": "news",
    "subscription": "english",
    "received": _TIME,
    "content_type": "application/xml",
    "size": 30,
    "body": '<news><item lang="en"/></news>',
}
_SUBSCRIPTION = {
    "id": "english",
    "xpath": "//item[@lang = 'en']",
    "enabled": True,
    "labels": {"team": "desk"},
}
_STORED = _SUBSCRIPTION | {"created": _TIME, "acked": "17"}
_NODE = {"path": "/news[1]/item[1]", "line": 1, "column": 7, "span": [6, 23], "text": ""}
_EXPLANATION = {
    "xpath": "//item",
    "normal_form": "//item",
    "matched": True,
    "failure": None,
    "paths": [
        {
            "text": "//item",
            "matched": True,
            "steps": [{"text": "//item", "count": 1, "nodes": ["/news/item"], "hints": [], "predicates": []}],
        }
    ],
    "text": "matches: //item\n  //item  1 node: /news/item",
}
_DEAD = {
    "id": "dead_9a9b553393ad63553afcce10",
    "kind": "document",
    "topic": "news",
    "reason": "the end tag </a> does not close <b>",
    "line": 2,
    "column": 4,
    "size": 11,
    "created": _TIME,
}
_KEY = {
    "id": "key_01bf9282bc3f54bf",
    "tenant": "newsroom",
    "scopes": ["publish", "read"],
    "topics": ["*"],
    "quota": {"documents_per_second": 50.0},
    "labels": {},
    "created": _TIME,
    "expires": None,
}
_TOPIC = {"topic": "news", "namespaces": {"cap": "urn:oasis:names:tc:emergency:cap:1.2"}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What one call answers when it goes well, and how it fails beyond what every call can."""

    good: dict[int, str]
    example: Any = None
    media: str = "application/json"
    bad: tuple[int, ...] = ()
    headers: dict[str, str] = field(default_factory=dict)
    """Headers of the request that count."""


def _page(name: str, of: Any, cursor: str | None = None) -> Answer:
    return Answer(good={200: "A page; `cursor` gives the next one."}, example={name: [of], "cursor": cursor})


_TRACE = {"traceparent": "The trace that the document belongs to; receivers get it too."}
_NEW = {201: "It is new.", 200: "It replaces what there was."}
_GONE = Answer(good={204: "It is gone."}, bad=(404,))

ANSWERS: dict[tuple[str, str], Answer] = {
    ("get", "/healthz"): Answer(good={200: "Alive."}, example={"status": "ok", "version": "0.2.0"}),
    ("get", "/readyz"): Answer(good={200: "Ready."}, example={"status": "ready"}, bad=(503,)),
    ("get", "/metrics"): Answer(
        good={200: "The text format of Prometheus."},
        media="text/plain",
        example='pathcast_documents_total{outcome="accepted"} 12.0\n',
    ),
    ("get", "/v1/overview"): Answer(
        good={200: "Up to 300 seconds, the oldest first."},
        example={
            "version": "0.2.0",
            "samples": [
                {
                    "time": 1768630500.0,
                    "documents": 12.0,
                    "deliveries": 30.0,
                    "match_p50": 0.0001,
                    "match_p99": 0.0004,
                    "publish_p50": 0.004,
                    "publish_p99": 0.011,
                    "queue": 0.0,
                    "pending": 3.0,
                    "subscriptions": 1000.0,
                    "index_bytes": 250000.0,
                }
            ],
        },
    ),
    ("post", "/v1/check"): Answer(
        good={200: "The expression is sound."},
        example={
            "ok": True,
            "xpath": "//item",
            "normal_form": "//item",
            "matched": True,
            "explanation": _EXPLANATION,
            "selected": 1,
            "nodes": [_NODE],
        },
        bad=(400, 415, 422),
    ),
    ("put", T): Answer(good=_NEW, example=_TOPIC, bad=(415, 422)),
    ("get", T): Answer(
        good={200: "The topic."},
        example=_TOPIC
        | {
            "subscriptions": 1,
            "index": {"subscriptions": 1, "distinct": 1, "engine": "auto", "memory_bytes": 2324},
            "version": 2,
        },
        bad=(404,),
    ),
    ("delete", T): _GONE,
    ("get", "/v1/topics"): _page("topics", _TOPIC | {"subscriptions": 1, "created": _TIME}),
    ("post", T + "/match"): Answer(
        good={200: "The ids, in the order in which the subscriptions were put."},
        example={"matches": ["english"], "nodes": {"english": [_NODE]}, "explanation": _EXPLANATION},
        bad=(400, 404, 413, 415),
    ),
    ("get", T + "/activity"): Answer(
        good={200: "The most active first."},
        example={
            "hot": [{"subscription": "english", "deliveries": 12}],
            "slow": [{"subscription": "hook", "seconds": 2.5, "attempts": 3}],
            "never": ["polish"],
        },
        bad=(404,),
    ),
    ("post", T + "/documents"): Answer(
        good={202: "It is durable, and will be delivered."},
        example={"document": _DOCUMENT, "matched": 2},
        bad=(400, 404, 413, 415, 422, 429),
        headers={
            "Idempotency-Key": "At most 255 characters; the same key gives the same answer for a day.",
            "Content-Encoding": "`gzip`, or nothing.",
            **_TRACE,
        },
    ),
    ("post", T + "/documents:batch"): Answer(
        good={200: "A line for each document, in their order."},
        media=LINES,
        example={"status": 202, "document": _DOCUMENT, "matched": 2},
        bad=(400, 404, 413, 415, 429),
        headers={"Content-Encoding": "`gzip`, or nothing.", **_TRACE},
    ),
    ("get", "/v1/documents"): _page("documents", _HEAD, "16"),
    ("get", "/v1/documents/{id}"): Answer(
        good={200: "The document without its bytes, and a page of its deliveries."},
        example=_HEAD
        | {
            "deliveries": [
                {
                    "id": _DELIVERY_ID,
                    "subscription": "english",
                    "xpath": "//item",
                    "channel": "webhook",
                    "state": "delivered",
                    "why": _EXPLANATION,
                    "attempts": 1,
                    "reason": None,
                }
            ],
            "cursor": None,
        },
        bad=(404,),
    ),
    ("get", "/v1/documents/{id}/body"): Answer(
        good={200: "The bytes."}, media="application/xml", example=DELIVERY["body"], bad=(404,)
    ),
    ("put", S): Answer(good=_NEW, example=_SUBSCRIPTION, bad=(404, 415, 422, 429)),
    ("patch", S): Answer(good={200: "The subscription as it is now."}, example=_SUBSCRIPTION, bad=(404, 422)),
    ("get", S): Answer(good={200: "The subscription."}, example=_STORED, bad=(404,)),
    ("delete", S): _GONE,
    ("get", T + "/subscriptions"): _page("subscriptions", _STORED, "english"),
    ("post", T + "/subscriptions:bulk"): Answer(
        good={200: "A line for each line, in their order; one that is refused is a problem with its `id`."},
        media=LINES,
        example={"id": "s1", "status": 201},
        bad=(404, 413),
    ),
    ("post", S + "/test"): Answer(
        good={200: "How the call went."},
        example={
            "delivered": True,
            "id": _DELIVERY_ID,
            "status": 200,
            "reason": None,
            "seconds": 0.021,
        },
        bad=(404, 409, 429),
    ),
    ("get", S + "/deliveries"): Answer(
        good={200: "The deliveries, perhaps none, and where to go on."},
        example={"deliveries": [DELIVERY], "cursor": "17"},
        bad=(400, 404, 422),
    ),
    ("post", S + "/ack"): Answer(
        good={200: "The place that is acknowledged now."}, example={"cursor": "17"}, bad=(400, 404, 422)
    ),
    ("get", S + "/events"): Answer(
        good={200: "A stream. The data of an event is what pulling answers for a delivery."},
        media="text/event-stream",
        example='id: 17\ndata: {"id": "dlv_…", "cursor": "17", "document": "doc_…"}\n\n',
        bad=(400, 404),
        headers={"Last-Event-ID": "The id of the last event that came."},
    ),
    ("get", "/v1/deliveries"): _page(
        "deliveries",
        {
            "id": _DELIVERY_ID,
            "topic": "news",
            "subscription": "hook",
            "document": _DOCUMENT,
            "state": "waiting",
            "attempts": 1,
            "status": 500,
            "reason": "answered 500",
            "seconds": 0.02,
            "changed": _TIME,
            "due": _TIME,
        },
    ),
    ("get", "/v1/dead-letters"): _page("dead_letters", _DEAD, "3"),
    ("get", "/v1/dead-letters/{id}"): Answer(good={200: "The dead letter."}, example=_DEAD, bad=(404,)),
    ("delete", "/v1/dead-letters/{id}"): _GONE,
    ("get", "/v1/dead-letters/{id}/body"): Answer(
        good={200: "The bytes."}, media="application/xml", example="<a>\n<b></a>", bad=(404,)
    ),
    ("post", "/v1/dead-letters/{id}:redrive"): Answer(
        good={202: "It is on its way again."},
        example={"document": _DOCUMENT, "matched": 2},
        bad=(400, 404, 409),
    ),
    ("post", "/v1/keys"): Answer(
        good={201: "The key; its secret is shown this once."},
        example=_KEY | {"key": "pck_…"},
        bad=(415, 422),
    ),
    ("get", "/v1/keys"): _page("keys", _KEY),
    ("delete", "/v1/keys/{id}"): _GONE,
    ("post", "/v1/keys/{id}/rotate"): Answer(
        good={201: "The new key; its secret is shown this once."},
        example=_KEY | {"key": "pck_…"},
        bad=(404, 409, 422),
    ),
    ("get", "/v1/keys/self"): Answer(good={200: "The key without its secret."}, example=_KEY),
}
