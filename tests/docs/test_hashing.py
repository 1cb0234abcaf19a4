"""Tables whose keys a stranger chooses are hashed with a seed: a list of colliding keys cannot be prepared.

Fx is quick, and anybody can compute it. It is for our own numbers only: a key made of text, of a list or of a
value is somebody else's choice.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

CRATES = Path(__file__).parents[2] / "crates"
FX = re.compile(r"\bFxHash(?:Map|Set)\s*<\s*(\([^()]*\)|[^,<>]*(?:<[^<>]*>)?)")
CHOSEN = re.compile(r"\bstr\b|\bString\b|\bVec\b|\[|\bValue\b|\bchar\b|\bId\b|\bname::Name\b")
HASHERS = re.compile(r"\bFx(?:Hasher|BuildHasher)\b")
# Where Fx hashes something itself: our own numbers, or a summary that is looked at again before it counts.
HASH_THEMSELVES = {
    "pathcast-papers/src/xtrie/gist.rs",
    "pathcast-papers/src/xtrie/lineage.rs",
    "pathcast-papers/src/xtrie/subtree.rs",
}


def chosen_keys(text: str) -> list[str]:
    """The keys of Fx tables in a source that a stranger may choose."""
    return [key for key in FX.findall(text) if CHOSEN.search(key)]


@pytest.mark.parametrize(
    "key",
    [
        "Box<str>",
        "&str",
        "(u32, Vec<u32>)",
        "Box<[PathId]>",
        "(NodeId, Value)",
        "char",
        "(Box<str>, Box<str>)",
    ],
)
def test_a_chosen_key_is_recognised(key: str) -> None:
    assert chosen_keys(f"known: FxHashMap<{key}, u32>") == [key]
    assert not chosen_keys("known: FxHashMap<(u32, u8), Vec<u32>>, more: FxHashMap<NameId, Box<str>>")


def test_no_stranger_chooses_the_keys_of_an_unseeded_table() -> None:
    sources = sorted(CRATES.rglob("src/**/*.rs"))
    assert len(sources) > 100
    for source in sources:
        text = source.read_text(encoding="utf-8")
        name = str(source.relative_to(CRATES))
        assert not chosen_keys(text), f"{name}: use hashbrown::HashMap or crate::hashing::hash"
        if HASHERS.search(text):
            assert name in HASH_THEMSELVES, f"{name}: use crate::hashing::hash"
