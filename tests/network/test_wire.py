"""Messages as bytes: what was written is read, and nothing else is."""

from __future__ import annotations

from random import Random

import pytest

from pathcast.network import message as m
from pathcast.network.message import Advertised, Filter
from pathcast.network.wire import (
    WireError,
    WireLimits,
    decode,
    decode_delivery,
    encode,
    encode_delivery,
)

MESSAGES: list[m.Message] = [
    m.Hello(("b", "a"), 3),
    m.Reset(2),
    m.Advertise("b/0", Advertised(("/a(/b)+", "{#=a;a!=}"), (("n", "urn:n"),))),
    m.Unadvertise("b/0"),
    m.Subscribe(Filter("//ä[. = '\U0001f600']", True, (("", "urn:d"), ("n", "urn:n")))),
    m.Unsubscribe(Filter("/a")),
    m.Publish("b/c/1", b"<a>\n</a>\n\n"),
    m.Publish("b/c/1", b"<a/>", 7),
    m.ClientSubscribe("s", Filter("/a")),
    m.ClientUnsubscribe("s"),
    m.ClientAdvertise("k", Advertised(("/a",))),
    m.ClientUnadvertise("k"),
    m.ClientPublish("1", b"\xff\x00\n"),
    m.ClientLeave(),
]


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: type(message).__name__)
def test_round_trip(message: m.Message) -> None:
    assert decode(encode(message)) == message


def test_deliveries() -> None:
    delivery = m.Delivery("ann", "b/c/1", ("s1", "s2"), b"<a/>\n")
    assert decode_delivery(encode_delivery(delivery)) == delivery


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "no header line"),
        (b"{}", "no header line"),
        (b"\xff\xfe\n", "no JSON"),
        (b"[1]\n", "no JSON object"),
        (b"[" * 100_000 + b"\n", "no JSON"),
        (b'{"v":2,"kind":"reset","epoch":1}\n', "version 2"),
        (b'{"v":true,"kind":"reset","epoch":1}\n', "version True"),
        (b'{"v":1}\n', "no message of kind None"),
        (b'{"v":1,"kind":["reset"]}\n', "no message of kind"),
        (b'{"v":1,"kind":"reset","epoch":-1}\n', "out of range"),
        (b'{"v":1,"kind":"reset","epoch":1e3}\n', "no int"),
        (b'{"v":1,"kind":"reset","epoch":true}\n', "no int"),
        (b'{"v":1,"kind":"reset","epoch":1,"more":2}\n', "'more'"),
        (b'{"v":1,"kind":"reset","epoch":1,"epoch":2}\n', "given twice"),
        (b'{"v":1,"kind":"reset","epoch":1}\n<a/>', "no body"),
        (b'{"v":1,"kind":"subscribe","filter":{"xpath":""}}\n', "empty"),
        (b'{"v":1,"kind":"subscribe","filter":{"xpath":"/a","namespaces":{"n":1}}}\n', "namespaces"),
        (b'{"v":1,"kind":"subscribe","filter":{"xpath":"/a","py":1}}\n', "'py'"),
        (b'{"v":1,"kind":"unadvertise","id":"\\ud800"}\n', "no text"),
        (b'{"v":1,"kind":"unadvertise","id":"' + b"x" * 10_000 + b'"}\n', "too long"),
        (b'{"v":1,"kind":"hello","path":[1],"epoch":1}\n', "'path'"),
        (
            b'{"v":1,"kind":"hello","path":'
            + str(["x"] * 5000).replace("'", '"').encode()
            + b',"epoch":1}\n',
            "many",
        ),
    ],
)
def test_what_is_no_message(data: bytes, reason: str) -> None:
    with pytest.raises(WireError, match=reason):
        decode(data)


def test_size_limits() -> None:
    limits = WireLimits(header_bytes=100, body_bytes=10)
    decode(encode(m.Publish("d", b"x" * 10)), limits)
    for body in (b"x" * 11, b"x" * 1_000):
        with pytest.raises(WireError, match="bytes"):
            decode(encode(m.Publish("d", body)), limits)
    with pytest.raises(WireError, match="too long"):
        decode(encode(m.Publish("d" * 70, b"")), limits)


def test_damaged_messages_are_refused_or_are_messages() -> None:
    """One flipped bit, a torn end, two messages mixed; never another error."""
    random = Random(1)
    read = 0
    for _ in range(20_000):
        data = bytearray(encode(random.choice(MESSAGES)))
        match random.randrange(3):
            case 0:
                data[random.randrange(len(data))] ^= 1 << random.randrange(8)
            case 1:
                del data[random.randrange(len(data)) :]
            case _:
                data[random.randrange(len(data)) :] = encode(random.choice(MESSAGES))
        try:
            message = decode(bytes(data))
        except WireError:
            continue
        read += 1
        assert decode(encode(message)) == message
    assert read
