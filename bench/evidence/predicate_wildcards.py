"""Figure 8 of "Predicate-based Filtering of XPath Expressions", and the same with descendants."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from bench.evidence import chart
from bench.evidence.exhibit import (
    Check,
    Exhibit,
    NotTakenError,
    Results,
    Verdict,
    figure,
    judged,
    listed,
    times,
)
from bench.evidence.predicate_rows import IDS, MICROSECONDS, PC_AP, row_of, wide
from bench.predicate import OPEN_ENGINES, WILD, WILD_ENGINES, WILD_EXPRESSIONS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FILE = "predicate-wildcards"
ENGINES = {"wildcard": WILD_ENGINES, "descendant": OPEN_ENGINES}
ALONE = "without ids µs"
MANY = 0.5


def _row(parameter: str, share: float, engine: str) -> str:
    return row_of(f"{parameter} {share:g}", WILD_EXPRESSIONS, engine)


def _shares(results: Results, parameter: str, engine: str = PC_AP) -> list[float]:
    """The shares at which an engine was measured."""
    rows = {row.subject for row in results.rows(FILE)}
    return [share for share in WILD if _row(parameter, share, engine) in rows]


def _engines(results: Results, parameter: str) -> list[str]:
    """Those that were measured at every share that was taken; the paper's and YFilter at least."""
    shares = _shares(results, parameter)
    found = [name for name in ENGINES[parameter] if _shares(results, parameter, name) == shares]
    if len(shares) < 3 or not {PC_AP, "yfilter"} <= {*found}:
        raise NotTakenError(f"`python -m bench {FILE}` has not taken {parameter}s yet")
    return found


def _column(results: Results, parameter: str, engine: str, column: str) -> list[float]:
    return [
        results.value(FILE, _row(parameter, share, engine), column) for share in _shares(results, parameter)
    ]


def _curves(
    results: Results, parameter: str, column: str = MICROSECONDS
) -> dict[str, list[tuple[float, float]]]:
    shares = _shares(results, parameter)
    return {
        engine: [
            (share, value / 1e3)
            for share, value in zip(shares, _column(results, parameter, engine, column), strict=True)
        ]
        for engine in _engines(results, parameter)
    }


def _shown(parameter: str) -> Callable[[Results], str]:
    def shown(results: Results) -> str:
        shares = _shares(results, parameter)
        curves = _curves(results, parameter)
        missing = [name for name in ENGINES[parameter] if name not in curves]
        curves |= {
            f"{name} without ids": points for name, points in _curves(results, parameter, ALONE).items()
        }
        for title, column in (("predicates", "predicates"), ("expressions", "distinct")):
            found = _column(results, parameter, PC_AP, column)
            curves[f"distinct {title}"] = list(zip(shares, found, strict=True))
        told = wide(curves, f"ms a document by the probability of {parameter}s")
        return told + "".join(f"\n\n`{name}` has not been taken at all of these." for name in missing)

    return shown


def _verdict(parameter: str, *turning: float) -> Callable[[Results], Verdict]:
    """`turning` is where the paper's number of predicates begins to fall."""

    def verdict(results: Results) -> Verdict:
        shares = _shares(results, parameter)
        predicates = _column(results, parameter, PC_AP, "predicates")
        peak = max(range(len(shares)), key=lambda at: predicates[at])
        turns = f"most at {shares[peak]:g}: {predicates[peak]:,.0f}"
        ends = {
            column: {
                name: points[-1][1] / max(value for _, value in points)
                for name, points in _curves(results, parameter, column).items()
            }
            for column in (MICROSECONDS, ALONE)
        }
        ours = ends[MICROSECONDS][PC_AP]
        because = (
            f"{IDS}; without ids basic-pc-ap falls to {times(ends[ALONE][PC_AP])} of its highest point and "
            f"YFilter to {times(ends[ALONE]['yfilter'])}"
        )
        others = {"yfilter": "YFilter's", "index-filter": "Index-Filter's"}
        curves = _curves(results, parameter)
        many = [
            curve / other
            for (share, curve), (_, other) in zip(curves[PC_AP], curves["yfilter"], strict=True)
            if share >= MANY
        ]
        return judged(
            [
                Check("The number of predicates first grows, then falls", 0 < peak < len(shares) - 1, turns),
                *(
                    Check(
                        f"it turns at {at:g} (a tenth more or less counts)",
                        abs(shares[peak] - at) < 0.15,
                        turns,
                        "from 0.3 to 0.7 there are nearly as many here "
                        f"({figure(min(predicates[3:8]))} to {figure(max(predicates[3:8]))})",
                    )
                    for at in turning
                ),
                Check(
                    "time falls towards 0.9 for basic-pc-ap (a tenth counts)",
                    ours < 0.9,
                    f"{times(ours)} of the highest point",
                    because,
                ),
                *(
                    Check(
                        f"{others[name]} falls less than half as much",
                        ours < 0.9 and 1 - end <= (1 - ours) / 2,
                        f"{times(end)} of the highest point",
                        because,
                    )
                    for name, end in ends[MICROSECONDS].items()
                    if name in others
                ),
                Check(
                    f"where there are many (from {MANY:g} on) basic-pc-ap is ahead of YFilter",
                    max(many) < 1,
                    listed(many, times),
                    because,
                ),
            ]
        )

    return verdict


def _chart(parameter: str, across: str) -> Callable[[Results], Figure]:
    return lambda results: chart.lines(
        {
            "NITF, with all ids": _curves(results, parameter),
            "NITF, without ids": _curves(results, parameter, ALONE),
        },
        across,
        "ms a document",
    )


FIGURE_8 = Exhibit(
    "Figure 8",
    "With more wildcards the number of predicates grows and then falls, and so does the time of "
    "basic-pc-ap; YFilter's does not fall.",
    "2,000,000 expressions over NITF, wildcards from 0 to 0.9; the turning point is 0.3. Where there are "
    "many `*` and `//`, the conclusions add, basic-pc-ap is ahead of all others.",
    (FILE,),
    _shown("wildcard"),
    _verdict("wildcard", 0.3),
    _chart("wildcard", "probability of *"),
)
DESCENDANTS = Exhibit(
    "More descendants",
    "What holds for wildcards holds for `//`, and Index-Filter is no more sensitive to it than YFilter.",
    "In the text of section 6.3: 2,000,000 expressions, `//` from 0 to 0.9, similar results, no figure. "
    "Of Index-Filter, which the paper leaves out where wildcards vary, it says that it is no more "
    "sensitive than YFilter.",
    (FILE,),
    _shown("descendant"),
    _verdict("descendant"),
    _chart("descendant", "probability of //"),
)
