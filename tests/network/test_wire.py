"""Messages as bytes: what was written is read, and nothing else is."""

from __future__ import annotations

import re
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
    m.Publish("b/c/1", b"<a/>", 7, True),
    m.Sync(3),
    m.Sync(3, through=True),
    m.Synced(3),
    m.Unrest(4, "b"),
    m.Settle(4, "b", 1),
    m.Settled(4, "b", 2),
    m.Visited(4, "b", 1),
    m.Bye(),
    m.Heartbeat(True),
    m.ClientSubscribe("s", Filter("/a")),
    m.ClientUnsubscribe("s"),
    m.ClientAdvertise("k", Advertised(("/a",))),
    m.ClientUnadvertise("k"),
    m.ClientPublish("1", b"\xff\x00\n"),
    m.ClientLeave(),
    m.ClientDepart(),
    m.ClientStay(),
    m.ClientArrive(3),
    m.ClientArrived(("b1/a/1", "b1/a/2"), is_last=False),
    m.ClientArrived((), unrest="3 b1"),
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
        (b"\xff\xfe\n", "not JSON"),
        (b"[1]\n", "not a JSON object"),
        (b"[" * 100_000 + b"\n", "not JSON"),
        (b'{"v":2,"kind":"reset","epoch":1}\n', "version 2"),
        (b'{"v":true,"kind":"reset","epoch":1}\n', "version True"),
        (b'{"v":1}\n', "no message of kind None"),
        (b'{"v":1,"kind":["reset"]}\n', "no message of kind"),
        (b'{"v":1,"kind":"reset","epoch":-1}\n', "out of range"),
        (b'{"v":1,"kind":"reset","epoch":1e3}\n', "whole number"),
        (b'{"v":1,"kind":"reset","epoch":true}\n', "whole number"),
        (b'{"v":1,"kind":"reset","epoch":1,"more":2}\n', "'more'"),
        (b'{"v":1,"kind":"reset","epoch":1,"epoch":2}\n', "given twice"),
        (b'{"v":1,"kind":"reset","epoch":1}\n<a/>', "no body"),
        (b'{"v":1,"kind":"subscribe","filter":{"xpath":""}}\n', "empty"),
        (b'{"v":1,"kind":"subscribe","filter":{"xpath":"/a","namespaces":{"n":1}}}\n', "namespaces"),
        (b'{"v":1,"kind":"subscribe","filter":{"xpath":"/a","py":1}}\n', "'py'"),
        (b'{"v":1,"kind":"unadvertise","id":"\\ud800"}\n', "surrogate"),
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
def test_bytes_that_cannot_be_read(data: bytes, reason: str) -> None:
    with pytest.raises(WireError, match=reason):
        decode(data)


BAD_TEXTS = ["\\ud800", "\\udfff", "\\ud800\\uffff", "\\uffff\\udc00x", "\\u0000", "a\\u0000b"]
PLACES = [
    '{"v":1,"kind":"client-subscribe","id":"TEXT","filter":{"xpath":"//a"}}',
    '{"v":1,"kind":"client-subscribe","id":"1","filter":{"xpath":"//a[. = \'TEXT\']"}}',
    '{"v":1,"kind":"client-subscribe","id":"1","filter":{"xpath":"//a","namespaces":{"n":"TEXT"}}}',
    '{"v":1,"kind":"client-subscribe","id":"1","filter":{"xpath":"//a","namespaces":{"TEXT":"u"}}}',
    '{"v":1,"kind":"client-advertise","id":"1","advertised":{"texts":["/a","/TEXT"]}}',
    '{"v":1,"kind":"client-advertise","id":"1","advertised":{"texts":["/a"],"namespaces":{"n":"TEXT"}}}',
    '{"v":1,"kind":"hello","path":["b","TEXT"],"epoch":1}',
    '{"v":1,"kind":"publish","document":"TEXT"}',
    '{"v":1,"kind":"TEXT"}',
    '{"v":1,"kind":"reset","epoch":1,"TEXT":1}',
]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("text", BAD_TEXTS)
def test_text_that_could_not_be_written_again_is_refused_in_every_field(place: str, text: str) -> None:
    with pytest.raises(WireError, match=r"surrogate|U\+0000") as caught:
        decode(place.replace("TEXT", text).encode() + b"\n")
    assert str(caught.value).isascii()


def test_every_message_that_is_read_can_be_written_and_read_again() -> None:
    """Random values in random fields: surrogates in pairs and alone, odd numbers, long texts."""
    random = Random(7)
    texts = ["a", "\\ud83d\\ude00", "\\ud800", "\\u0000", "\\uffff", "é", "\\n", "x" * 2000, "", "\\\\u0041"]
    values = ["1", "-1", "1e9", "true", "null", "[]", "{}", "9" * 30, "NaN"]
    read = 0
    for _ in range(20_000):
        message = encode(random.choice(MESSAGES)).split(b"\n", 1)[0].decode()
        parts = message.split('"')
        for _ in range(random.randint(1, 2)):
            place = random.randrange(1, len(parts), 2)
            parts[place] = random.choice(texts)
        text = '"'.join(parts)
        if random.random() < 0.2:
            text = re.sub(r":\d+", lambda _: ":" + random.choice(values), text)
        try:
            made = decode(text.encode() + b"\n")
        except WireError:
            continue
        read += 1
        assert decode(encode(made)) == made
    assert read > 900


def test_what_cannot_be_written_is_an_error_for_the_writer() -> None:
    with pytest.raises(WireError, match="surrogate"):
        encode(m.ClientPublish("\ud800", b"<a/>"))
    with pytest.raises(WireError, match="surrogate"):
        encode_delivery(m.Delivery("\udfff", "d", ("1",), b"<a/>"))


def test_size_limits() -> None:
    limits = WireLimits(header_bytes=100, body_bytes=10)
    decode(encode(m.Publish("d", b"x" * 10)), limits)
    for body in (b"x" * 11, b"x" * 1_000):
        with pytest.raises(WireError, match="bytes"):
            decode(encode(m.Publish("d", body)), limits)
    with pytest.raises(WireError, match="too long"):
        decode(encode(m.Publish("d" * 70, b"")), limits)


def test_damaged_messages_are_refused_or_can_be_read() -> None:
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
