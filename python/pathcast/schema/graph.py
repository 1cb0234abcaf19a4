"""The graph of a schema: which element may stand in which. All algorithms are iterative and linear.

Nodes are dense numbers. A DTD may chain 100,000 elements, so nothing here recurses.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pathcast.schema.model import Choice, Model, Name, Optional, Plus, Star, parts

SATURATED = 2**63 - 1
"""What a count stays at when it is larger, or infinite."""


def reachable(start: int, children: Sequence[Sequence[int]]) -> list[int]:
    """The nodes below and with ``start``, nearest first.

    >>> reachable(0, [[1, 2], [2], [0], [0]])
    [0, 1, 2]
    """
    seen = {start}
    order = [start]
    for node in order:
        for child in children[node]:
            if child not in seen:
                seen.add(child)
                order.append(child)
    return order


def components(children: Sequence[Sequence[int]]) -> list[list[int]]:
    """Strongly connected components, children before parents (Tarjan's algorithm with a stack of its own).

    >>> components([[1], [2], [1, 3], []])
    [[3], [2, 1], [0]]
    """
    found: list[list[int]] = []
    index = [-1] * len(children)
    low = [0] * len(children)
    on_stack = [False] * len(children)
    stack: list[int] = []
    count = 0
    for start in range(len(children)):
        if index[start] >= 0:
            continue
        work = [(start, 0)]
        while work:
            node, at = work.pop()
            if at == 0:
                index[node] = low[node] = count
                count += 1
                stack.append(node)
                on_stack[node] = True
            else:
                low[node] = min(low[node], low[children[node][at - 1]])
            for place in range(at, len(children[node])):
                child = children[node][place]
                if index[child] < 0:
                    work.append((node, place + 1))
                    work.append((child, 0))
                    break
                if on_stack[child]:
                    low[node] = min(low[node], index[child])
            else:
                if low[node] == index[node]:
                    component: list[int] = []
                    while not component or component[-1] != node:
                        component.append(stack.pop())
                        on_stack[component[-1]] = False
                    found.append(component)
    return found


def cyclic(children: Sequence[Sequence[int]], found: Iterable[Sequence[int]]) -> list[list[int]]:
    """The components that hold a cycle: more than one node, or one that is its own child."""
    return [list(one) for one in found if len(one) > 1 or one[0] in children[one[0]]]


def depth(start: int, children: Sequence[Sequence[int]], order: Iterable[int]) -> int:
    """The number of nodes on the longest path from ``start``; ``order`` has children first and no cycle.

    >>> depth(0, [[1, 2], [2], []], [2, 1, 0])
    3
    """
    longest = [0] * len(children)
    for node in order:
        longest[node] = 1 + max((longest[child] for child in children[node]), default=0)
    return longest[start]


def count_paths(start: int, children: Sequence[Sequence[int]], levels: int) -> list[int]:
    """For each node the number of paths from ``start`` to it with at most ``levels`` nodes, saturating.

    >>> count_paths(0, [[1, 1], [2], []], 3), count_paths(0, [[0]], 5)
    ([1, 2, 2], [5])
    """
    total = [0] * len(children)
    now = {start: 1}
    for _ in range(levels):
        if not now:
            break
        below: dict[int, int] = {}
        for node, count in now.items():
            total[node] = min(SATURATED, total[node] + count)
            for child in children[node]:
                below[child] = min(SATURATED, below.get(child, 0) + count)
        now = below
    return total


def count_all_paths(
    start: int, children: Sequence[Sequence[int]], found: Sequence[Sequence[int]]
) -> list[int]:
    """For each node the number of paths from ``start``, saturated below a cycle; ``found``: the components.

    >>> children = [[1, 2], [2, 3], [], [3, 2]]
    >>> count_all_paths(0, children, components(children)) == [1, 1, SATURATED, SATURATED]
    True
    """
    total = [0] * len(children)
    total[start] = 1
    for component in reversed(found):
        if total[component[0]] or any(total[node] for node in component):
            if len(component) > 1 or component[0] in children[component[0]]:
                for node in component:
                    total[node] = SATURATED
            for node in component:
                for child in children[node]:
                    total[child] = min(SATURATED, total[child] + total[node])
    return total


def heights(models: Sequence[Model], number: dict[str, int]) -> list[int | None]:
    """For each element the levels of its shallowest valid tree; None when it has no finite one.

    An element needs one level more than the parts of its model that it cannot leave out: a sequence waits
    for all of its parts, a choice for the first. Elements are settled level by level, each part of a model is
    passed once, so the cost is the length of all models together.

    >>> from pathcast.schema.model import Empty
    >>> models = [Name("b"), Choice((Name("a"), Name("c"))), Empty(), Name("d")]
    >>> heights(models, {"a": 0, "b": 1, "c": 2, "d": 3})
    [3, 2, 1, None]
    """
    waiting: dict[str, list[int]] = {}  # name to the parts that wait for it
    parent: list[int] = []  # of each part; an element's own model has -1 - element
    missing: list[int] = []  # how many parts must still be settled
    ready: list[int] = []

    def register(root: Model, above: int) -> None:
        pending: list[tuple[Model, int]] = [(root, above)]
        while pending:
            item, up = pending.pop()
            node = len(parent)
            parent.append(up)
            inner = parts(item)
            if isinstance(item, Name):
                missing.append(1)
                waiting.setdefault(item.name, []).append(node)
            elif isinstance(item, (Optional, Star)) or not inner:
                missing.append(0)
                ready.append(node)
            else:
                missing.append(1 if isinstance(item, (Choice, Plus)) else len(inner))
                pending.extend((part, node) for part in inner)

    for element, model in enumerate(models):
        register(model, -1 - element)
    height: list[int | None] = [None] * len(models)
    names = {place: name for name, place in number.items()}
    level = 0
    while ready:
        level += 1
        settled: list[int] = []
        while ready:
            up = parent[ready.pop()]
            if up < 0:
                settled.append(-1 - up)
                continue
            missing[up] -= 1
            if missing[up] == 0:
                ready.append(up)
        for element in settled:
            height[element] = level
            for node in waiting.get(names[element], ()):
                missing[node] -= 1
                ready.append(node)
    return height
