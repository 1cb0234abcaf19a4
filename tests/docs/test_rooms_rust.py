"""The rooms of the Rust crates import in one direction; files of a room do not import each other in a circle.

`CORE` and `PAPERS` are the order that ARCHITECTURE.md draws: a room uses only rooms before it.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CRATES = ROOT / "crates"

CORE = (
    *("cancel", "limits", "hashing", "image", "packed", "interner", "chars", "names", "values", "xpath"),
    *("reader", "pattern", "schema", "engine", "twig", "tree_automaton", "index", "cover", "relational"),
    *("select", "explain"),
)
PAPERS = ("hops", "branches", "xfilter", "pma", "predicate", "index_filter", "xtrie")
ORDERS = {"pathcast-core": CORE, "pathcast-papers": PAPERS}
USES = {
    "pathcast-core": set(),
    "pathcast-fuzz": {"pathcast_core"},
    "pathcast-papers": {"pathcast_core"},
    "pathcast-python": {"pathcast_core", "pathcast_papers"},
}
WITHOUT_CIRCLES = (
    *(f"pathcast-core/src/{room}" for room in ("index", "pattern")),
    *(f"pathcast-papers/src/{room}" for room in ("predicate", "xtrie")),
)

Graph = dict[str, set[str]]


def code(source: Path) -> str:
    """What of a file is compiled into the product: no comments, no unit tests."""
    text = re.sub(r"//.*", "", source.read_text(encoding="utf-8"))
    return re.split(r"#\[cfg\(test\)\]\s*mod \w+ \{", text)[0]


def sources(folder: Path) -> list[Path]:
    """The files of a folder, those left out that are unit tests as a whole."""
    found = []
    for source in sorted(folder.rglob("*.rs")):
        parent = source.parent / "mod.rs"
        declared = parent.read_text(encoding="utf-8") if parent.exists() else ""
        if not re.search(rf"#\[cfg\(test\)\]\s*mod {source.stem};", declared):
            found.append(source)
    assert found, folder
    return found


def first_names(path: str) -> list[str]:
    """The first parts of what a `use` names: `{a::b, c}` are `a` and `c`."""
    if not path.startswith("{"):
        return re.findall(r"^\w+", path)
    flat = re.sub(r"\{[^{}]*\}", "", path[1:-1])
    return [item.strip().partition("::")[0].split(" ")[0] for item in flat.split(",") if item.strip()]


def imported(text: str, prefix: str) -> set[str]:
    """The names that follow `prefix::` anywhere in the text."""
    found = re.findall(rf"\b{prefix}::(\{{(?:[^{{}}]|\{{[^{{}}]*\}})*\}}|\w+)", text)
    return {name for path in found for name in first_names(path)}


def circles(graph: Graph) -> list[list[str]]:
    """The strongly connected components of more than one node."""

    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        todo = list(graph[start])
        while todo:
            node = todo.pop()
            if node not in seen:
                seen.add(node)
                todo += graph.get(node, ())
        return seen

    reach = {node: reached(node) for node in graph}
    groups = {
        tuple(sorted(other for other in graph if node in reach[other] and other in reach[node]))
        for node in graph
    }
    return [list(group) for group in sorted(groups) if len(group) > 1]


def rooms(crate: str) -> Graph:
    """Which room of a crate uses which."""
    folder = CRATES / crate / "src"
    graph: Graph = {room: set() for room in ORDERS[crate]}
    for source in sources(folder):
        room = source.relative_to(folder).parts[0].removesuffix(".rs")
        if room != "lib":
            graph[room] |= imported(code(source), "crate") & set(graph) - {room}
    return graph


@pytest.mark.parametrize("crate", ORDERS)
def test_every_room_has_its_place_in_the_order(crate: str) -> None:
    folder = CRATES / crate / "src"
    there = {path.name.removesuffix(".rs") for path in folder.iterdir()} - {"lib"}
    assert there == set(ORDERS[crate])


@pytest.mark.parametrize("crate", ORDERS)
def test_rooms_use_only_rooms_before_them(crate: str) -> None:
    order = ORDERS[crate]
    graph = rooms(crate)
    assert any(graph.values())
    back = [
        f"{room} uses {other}"
        for room, used in graph.items()
        for other in sorted(used)
        if order.index(other) > order.index(room)
    ]
    assert not back
    assert not circles(graph)


@pytest.mark.parametrize("crate", USES)
def test_crates_use_only_crates_before_them(crate: str) -> None:
    ours = {name.replace("-", "_") for name in USES}
    used = {
        name for source in sources(CRATES / crate / "src") for name in ours if f"{name}::" in code(source)
    }
    assert used == USES[crate]


@pytest.mark.parametrize("room", WITHOUT_CIRCLES)
def test_files_of_a_room_do_not_import_in_a_circle(room: str) -> None:
    folder = CRATES / room
    files = {source.stem for source in sources(folder)}
    graph: Graph = {name: set() for name in files}
    for source in sources(folder):
        text = code(source)
        name = source.stem
        if name == "mod":
            graph[name] |= set(re.findall(r"^(?:pub(?:\(\w+\))? )?use (\w+)::", text, re.M)) & files
            continue
        # What is not a file of the room is defined, or handed on, by its `mod.rs`.
        siblings = imported(text, "super") | imported(text, f"crate::{folder.name}")
        graph[name] |= {each if each in files else "mod" for each in siblings} - {name}
    assert any(graph.values())
    assert not circles(graph)


def test_the_order_is_the_one_that_is_drawn() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    assert " · ".join(CORE) in page


def walk(title: str) -> list[str]:
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    section = page.split(f"## {title}\n")[1].split("\n## ")[0]
    return re.findall(r"^\| `([\w/]+\.rs)` \|", section, re.M)


@pytest.mark.parametrize("title", ["One subscription", "One document"])
def test_the_walks_name_each_file_once(title: str) -> None:
    files = walk(title)
    assert len(files) > 5
    assert len(set(files)) == len(files)
    missing = [name for name in files if not (CRATES / "pathcast-core/src" / name).exists()]
    assert not missing


def test_circles_are_found() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [["a", "b", "c"]]
    assert circles({"a": {"b"}, "b": set()}) == []
    assert imported("use crate::{names::Names, pattern::{and, or}};", "crate") == {"names", "pattern"}
