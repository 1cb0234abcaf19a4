"""The rooms of the Python package import one another in one direction.

A room is a folder of `python/pathcast`, or a file beside them. `ORDER` reads as data flows: a room may import
the rooms before it and none behind it. ARCHITECTURE.md draws the same order.
"""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "python/pathcast"

ORDER = [
    "types",
    "errors",
    "limits",
    "_core",
    "schema",
    "arguments",
    "explanation",
    "streaming",
    "index",
    "aio",
    "pathcast",  # what `import pathcast` gives; the rooms behind it use it as users do
    "subscriptions",
    "tar",
    "reference",
    "draw",
    "generate",
    "network",
    "relational",
    "spark",
    "service",
    "cli",
    "__main__",
]


def room(module: str) -> str:
    """The room of a module; `pathcast` itself is the front door."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "pathcast"


def imports(source: Path) -> set[str]:
    """The modules of this package that a file imports, also inside functions, but not for types alone."""
    tree = ast.parse(source.read_text(encoding="utf-8"))
    typing = {
        each
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for each in ast.walk(node)
    }
    found = set()
    for node in ast.walk(tree):
        if node in typing:
            continue
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            if node.module == "pathcast":
                found |= {f"pathcast.{name.name}" for name in node.names if _is_room(name.name)}
                found |= {"pathcast" for name in node.names if not _is_room(name.name)}
            else:
                found.add(node.module)
    return {name for name in found if name.partition(".")[0] == "pathcast"}


def _is_room(name: str) -> bool:
    return name == "_core" or (PACKAGE / name).is_dir() or (PACKAGE / f"{name}.py").exists()


def sources() -> dict[str, list[Path]]:
    rooms: dict[str, list[Path]] = {}
    for source in sorted(PACKAGE.rglob("*.py")):
        relative = source.relative_to(PACKAGE)
        name = (
            "pathcast" if relative.name == "__init__.py" and len(relative.parts) == 1 else relative.parts[0]
        )
        rooms.setdefault(name.removesuffix(".py"), []).append(source)
    return rooms


def test_every_room_is_in_the_order() -> None:
    assert set(sources()) <= set(ORDER)


def test_the_order_is_the_one_that_is_drawn() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    assert " · ".join(name for name in ORDER if name != "__main__") in page


def test_rooms_import_only_rooms_before_them() -> None:
    back = []
    for name, files in sources().items():
        for source in files:
            for module in imports(source):
                to = room(module)
                if to != name and ORDER.index(to) > ORDER.index(name):
                    back.append(f"{source.relative_to(PACKAGE)} ({name}) imports {module} ({to})")
    assert not back, "\n".join(back)
