"""Every input that is kept in `fuzz/corpus`, and some damage to each, against the laws."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.fuzz.laws import LAWS

CORPUS = Path(__file__).parents[2] / "fuzz" / "corpus"


def kept(law: str) -> list[bytes]:
    """The inputs of a law, in the order of their names."""
    return [path.read_bytes() for path in sorted((CORPUS / law).iterdir())]


@pytest.mark.parametrize("law", LAWS)
def test_kept_inputs(law: str) -> None:
    inputs = kept(law)
    assert len(inputs) > 5
    assert sum(map(LAWS[law], inputs)) > 0, "everything is refused"


@pytest.mark.parametrize("law", LAWS)
def test_damaged_inputs(law: str) -> None:
    """A short run without guidance; `python -m tests.fuzz` is the long one."""
    inputs = kept(law)
    for seed in range(1000):
        chance = random.Random(seed)
        data = bytearray(chance.choice(inputs))
        for _ in range(chance.randint(1, 4)):
            at = chance.randrange(len(data) + 1)
            match chance.randrange(4):
                case 0:
                    data[at : at + 1] = bytes([chance.randrange(256)])
                case 1:
                    other = chance.choice(inputs)
                    start = chance.randrange(len(other) + 1)
                    data[at:at] = other[start : start + chance.randint(1, 20)]
                case 2:
                    del data[at : at + chance.randint(1, 8)]
                case _:
                    data[at:at] = chance.choice(
                        [b"<", b">", b'"', b"\\ud800", b"\x00", b"\xff", b"xmlns:p='u'", b"{", b"]"]
                    )
        LAWS[law](bytes(data))
