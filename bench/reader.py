"""The strict reader beside a bare tokeniser and lxml's parser, on the documents of every workload."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from bench.harness.answers import WrongAnswerError
from bench.harness.columns import BESIDE, Form
from bench.harness.kept import Kept, Row
from bench.harness.turns import in_turns
from bench.plan import Plan
from bench.workloads import WORKLOADS
from pathcast import _core

SIZE = 200  # documents of a round
TASKS: dict[str, Form] = {"strict": lambda documents: _core.strict_elements(list(documents)), **BESIDE}


def table(kept: Kept, plan: Plan) -> Iterator[Row]:
    """Megabytes a second, and the strict reader's rate beside a bare tokeniser's and lxml's."""
    for name in plan.workloads:
        if kept.has(name):
            continue
        stream = WORKLOADS[name].documents(1)
        some = list(islice(stream, SIZE))
        if _core.bare_elements(some) != _core.strict_elements(some):
            raise WrongAnswerError(f"the two readers count different elements in {name}")
        times = in_turns(TASKS, stream, size=SIZE, warm=SIZE)
        megabytes = sum(map(len, some)) / len(some) / 1e6
        yield Row(
            name,
            {
                "KB": megabytes * 1e3,
                "tokeniser MB/s": megabytes / times["tokeniser"].best,
                "strict MB/s": megabytes / times["strict"].best,
                "lxml MB/s": megabytes / times["lxml"].best,
                "strict / tokeniser": times["tokeniser"].best / times["strict"].best,
                "strict / lxml": times["lxml"].best / times["strict"].best,
            },
        )
