"""Predicate-based Filtering of XPath Expressions: its figures.

The paper's PSD, the protein sequences, is not to be had: NCBI BLAST stands in, of the same size and shape.
Its documents match more of their expressions (see Figure 6), and so do NITF's. The paper ran C on a Xeon of
2.4 GHz; so what can be compared are curves and ratios, not milliseconds. `predicate` is its *basic*,
`predicate-pc-longest` its *basic-pc* and `predicate-pc-ap-first` its *basic-pc-ap*: of all expressions to
be tried on a path the longest goes first, and clusters have the first predicate in common. `predicate-pc`
and `predicate-pc-ap` are Pathcast's own forms. In all of them occurrence determination is a few machine
operations where the paper searches with backtracking, and a path that the document had before is not matched
again, where the paper matches each. Equal expressions are one in every engine, YFilter and Index-Filter
included. As in the paper, expressions have at most six levels with a fifth of `*` and of `//`. Documents
have about 145 tags over NITF and 185 over BLAST, six levels and 5 KB; the paper's have 140, six to ten and
8.77 KB. Times of Figures 6 and 9 and of nested paths end when all expressions that match are found,
those of Figures 7, 8 and 10 when their ids are named.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from math import nan
from typing import TYPE_CHECKING

from bench.claims import is_straight, off_line
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
    table,
    times,
)
from bench.evidence.predicate_filters import FIGURE_9, NESTED_PATHS
from bench.evidence.predicate_rows import IDS, MICROSECONDS, PANELS, PC_AP, row_of, wide
from bench.evidence.predicate_wildcards import DESCENDANTS, FIGURE_8
from bench.predicate import DISTINCT, MILLIONS, OTHERS, OURS, PAPERS, STAGE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLE = "Predicate-based Filtering of XPath Expressions"
PREDICATES = {1_000_000: 4_019, 2_000_000: 4_593, 3_000_000: 5_150, 4_000_000: 5_521, 5_000_000: 5_843}


def _taken(
    results: Results, experiment: str, name: str, counts: Sequence[int], engines: Sequence[str]
) -> list[int]:
    """The sizes at which all engines were measured; at least two."""
    rows = {row.subject for row in results.rows(experiment)}
    found = [count for count in counts if all(row_of(name, count, engine) in rows for engine in engines)]
    if len(found) < 2:
        raise NotTakenError(f"`python -m bench {experiment}` has not taken {PANELS[name]} yet")
    return found


def _lacking(found: Sequence[int], counts: Sequence[int]) -> str:
    return f" (taken up to {found[-1]:,} of {counts[-1]:,})" if found[-1] < counts[-1] else ""


def _curves(
    results: Results, experiment: str, name: str, counts: Sequence[int], engines: Sequence[str]
) -> chart.Curves:
    return {
        engine: [
            (count, results.value(experiment, row_of(name, count, engine), MICROSECONDS) / 1e3)
            for count in _taken(results, experiment, name, counts, engines)
        ]
        for engine in engines
    }


def _beside(curves: chart.Curves, one: str, other: str) -> list[float]:
    """One time by the other, at each size."""
    return [a / b for (_, a), (_, b) in zip(curves[one], curves[other], strict=True)]


def _last(curves: chart.Curves, one: str, other: str) -> float:
    return _beside(curves, one, other)[-1]


FEW = "with few expressions there is little to cover, and sorting the candidates by length has its cost"
FIRST = (
    "clusters by the first predicate rule out little here, where it is true for most of the "
    "expressions tried, and occurrence determination is a few machine operations, which leaves "
    "little to be saved"
)
REPEATED = (
    "more than half of the paths in a document are repeated ones here, and predicates match a path once, "
    "where YFilter moves at every tag"
)
JOINS = (
    "a wildcard is part of a distance in our Index-Filter, where the paper's matches it with a stream of all "
    "elements, so it is not the slowest"
)
CACHES = "what one expression costs changes with the size of the set here, so curves bend"


def _straight(panel: str, curves: chart.Curves, because: str = CACHES) -> Check:
    worst = max(curves, key=lambda name: (not is_straight(curves[name]), off_line(curves[name])))
    first, *_, last = curves[worst]
    return Check(
        f"{panel}: all grow on a straight line",
        all(map(is_straight, curves.values())),
        f"{worst} rises {times(last[1] / first[1])} for {times(last[0] / first[0])} and is off a line by "
        f"{100 * off_line(curves[worst]):.0f} % of its last value",
        because,
    )


# Figure 6

SIX = (*PAPERS, *OURS, *OTHERS)
BASIC_PC = "predicate-pc-longest"


def _six(results: Results, name: str) -> chart.Curves:
    return _curves(results, "predicate-distinct", name, DISTINCT[name], SIX)


def _matched(results: Results, experiment: str, name: str, count: int) -> float:
    return results.value(experiment, row_of(name, count, PC_AP), "matched %")


def _six_shown(results: Results) -> str:
    parts = []
    for name, panel in PANELS.items():
        sizes = _taken(results, "predicate-distinct", name, DISTINCT[name], SIX)
        share = _matched(results, "predicate-distinct", name, sizes[-1])
        tags = results.value("predicate-distinct", row_of(name, sizes[-1], PC_AP), "tags")
        head = f"{panel}, ms a document of {tags:.0f} tags; {figure(share)} % of the expressions match"
        parts.append(f"{head}:\n\n{wide(_six(results, name), 'distinct expressions')}")
    return "\n\n".join(parts)


def _six_verdict(results: Results) -> Verdict:
    checks = []
    for name, panel in PANELS.items():
        curves = _six(results, name)
        covering = _beside(curves, BASIC_PC, "predicate")
        access = _beside(curves, PC_AP, BASIC_PC)
        checks += [
            _straight(panel, curves),
            Check(f"{panel}: covering beats basic", max(covering) < 1, listed(covering, times), FEW),
            Check(f"{panel}: access predicates beat covering", max(access) < 1, listed(access, times), FIRST),
        ]
    nitf, blast = _six(results, "nitf"), _six(results, "blast")
    gains = [_last(curves, BASIC_PC, "predicate") for curves in (nitf, blast)]
    twice = _last(nitf, "index-filter", "yfilter")
    checks += [
        Check(
            "covering gains more over PSD, where more expressions match",
            gains[1] < gains[0],
            f"{times(gains[1])} over BLAST and {times(gains[0])} over NITF",
            FEW,
        ),
        Check(
            "NITF: YFilter is ahead of basic-pc-ap at 125,000",
            _last(nitf, PC_AP, "yfilter") > 1,
            f"basic-pc-ap takes {times(_last(nitf, PC_AP, 'yfilter'))}",
            REPEATED,
        ),
        *(
            Check(
                f"{panel}: Index-Filter is slowest",
                all(_last(curves, "index-filter", other) > 1 for other in SIX if other != "index-filter"),
                f"{times(_last(curves, 'index-filter', 'yfilter'))} of YFilter",
                JOINS,
            )
            for panel, curves in ((PANELS["nitf"], nitf), (PANELS["blast"], blast))
        ),
        Check(
            "NITF: Index-Filter takes almost twice as long as YFilter (1.5 to 2.2 times count)",
            1.5 <= twice <= 2.2,
            times(twice),
            JOINS,
        ),
        Check(
            f"{PANELS['blast']}: basic-pc-ap is ahead of YFilter",
            _last(blast, PC_AP, "yfilter") < 1,
            times(_last(blast, PC_AP, "yfilter")),
            FIRST,
        ),
    ]
    return judged(checks)


# Figure 7

SEVEN = (PC_AP, "predicate-pc-ap", *OTHERS)


DUPLICATES = "predicate-duplicates"
PAPER_SEVEN = {"basic-pc-ap": 121.5, "YFilter": 137.3}
"""Milliseconds at five million expressions over NITF."""
DISTINCT_ENDS = {"nitf": (55_000, 167_000), "blast": (5_500, 10_000)}
"""How many of the fewest and of the most expressions are distinct in the paper."""


def _sizes(results: Results, name: str) -> list[int]:
    return _taken(results, DUPLICATES, name, MILLIONS, (*SEVEN, STAGE))


def _seven(results: Results) -> dict[str, chart.Curves]:
    """By data set, those that were taken; NITF at least."""
    found = {"nitf": _curves(results, DUPLICATES, "nitf", _sizes(results, "nitf"), SEVEN)}
    with suppress(NotTakenError):
        found["blast"] = _curves(results, DUPLICATES, "blast", _sizes(results, "blast"), SEVEN)
    return found


def _distinct(results: Results, name: str, count: int) -> float:
    return results.value(DUPLICATES, row_of(name, count, PC_AP), "distinct")


def _naming(results: Results, name: str) -> list[float]:
    """What naming one id takes, in nanoseconds, by number of expressions."""
    found = []
    for count in _sizes(results, name):
        row = row_of(name, count, PC_AP)
        whole, alone, share = (
            results.value(DUPLICATES, row, column) for column in (MICROSECONDS, "without ids µs", "matched %")
        )
        found.append(1e3 * (whole - alone) / (count * share / 100))
    return found


def _uneven(results: Results) -> str:
    """Why the curves are not straight: naming an id takes much longer at one size than at another, if so."""
    ranges = {name: _naming(results, name) for name in _seven(results)}
    if all(max(each) <= 1.5 * min(each) for each in ranges.values()):
        return CACHES
    shown = " and ".join(
        f"{min(each):.1f} to {max(each):.1f} ns ({PANELS[name]})" for name, each in ranges.items()
    )
    return f"naming an id takes {shown} by the size of the set, in all engines alike"


def _seven_shown(results: Results) -> str:
    parts = []
    for name, curves in _seven(results).items():
        sizes = _sizes(results, name)
        few, many = (_distinct(results, name, count) for count in (sizes[0], sizes[-1]))
        share = _matched(results, DUPLICATES, name, sizes[-1])
        head = (
            f"{PANELS[name]}, ms a document with all ids{_lacking(sizes, MILLIONS)}; "
            f"{few:,.0f} to {many:,.0f} are distinct, {figure(share)} % match"
        )
        shown = dict(curves)
        if name == "nitf":
            shown |= {
                f"{chart.PAPER}{engine}": [(at, value if at == MILLIONS[-1] else nan) for at in sizes]
                for engine, value in PAPER_SEVEN.items()
            }
        parts.append(f"{head}:\n\n{wide(shown, 'expressions')}")
    return "\n\n".join(parts)


def _seven_chart(results: Results) -> Figure:
    papers = {f"{chart.PAPER}{engine}": [(MILLIONS[-1], value)] for engine, value in PAPER_SEVEN.items()}
    panels = {
        PANELS[name]: {**curves, **(papers if name == "nitf" else {})}
        for name, curves in _seven(results).items()
    }
    return chart.lines(panels, "expressions", "ms a document", logarithmic=True)


def _seven_verdict(results: Results) -> Verdict:
    checks = []
    for name, curves in _seven(results).items():
        checks.append(_straight(PANELS[name], curves, _uneven(results)))
        ahead = _last(curves, PC_AP, "yfilter")
        slightly = name == "nitf"
        says = "slightly (up to a third counts)" if slightly else "by more than half of its own time"
        holds = 0.67 <= ahead < 1 if slightly else ahead < 0.67
        checks.append(
            Check(f"{PANELS[name]}: basic-pc-ap is ahead of YFilter {says}", holds, times(ahead), IDS)
        )
    for name, ends in DISTINCT_ENDS.items():
        found = [_distinct(results, name, count) for count in (MILLIONS[0], MILLIONS[-1])]
        checks.append(
            Check(
                f"{PANELS[name]}: {ends[0]:,} of half a million and {ends[1]:,} of five are distinct, within "
                "a fifth",
                all(abs(ours / theirs - 1) <= 0.2 for ours, theirs in zip(found, ends, strict=True)),
                " and ".join(f"{each:,.0f}" for each in found),
                "over BLAST there are more different expressions of six levels than over PSD",
            )
        )
    return judged(checks)


# Figure 10


def _stages(results: Results, name: str, count: int) -> dict[str, float]:
    def value(engine: str, column: str) -> float:
        return results.value(DUPLICATES, row_of(name, count, engine), column) / 1e3

    reading = value(STAGE, "reading µs")
    alone = value(STAGE, "without ids µs")
    found = value(PC_AP, "without ids µs")
    return {
        "reading": reading,
        "predicates": max(alone - reading, 0.0),
        "expressions": max(found - alone, 0.0),
        "collecting": max(value(PC_AP, MICROSECONDS) - found, 0.0),
    }


def _all_stages(results: Results, name: str) -> dict[int, dict[str, float]]:
    return {count: _stages(results, name, count) for count in _sizes(results, name)}


def _ten_shown(results: Results) -> str:
    parts = []
    for name, panel in PANELS.items():
        stages = _all_stages(results, name)
        columns = list(next(iter(stages.values())))
        cells = (
            (f"{count:,}", *(figure(some[column]) for column in columns)) for count, some in stages.items()
        )
        parts.append(table((f"{panel}, ms a document", *columns), cells))
    return "\n\n".join(parts)


def _ten_chart(results: Results) -> Figure:
    panels = {}
    for name, panel in PANELS.items():
        stages = _all_stages(results, name)
        panels[panel] = {
            column: [(count, some[column]) for count, some in stages.items()]
            for column in next(iter(stages.values()))
        }
    return chart.lines(panels, "expressions", "ms a document")


NAMING = (
    "what the paper calls other computations is naming the ids of equal expressions, and most of "
    "five million are equal, while occurrence determination is cheap here"
)


def _hardly_more(results: Results, name: str) -> str:
    """Why matching expressions rises little: it tries those that are different."""
    sizes = _sizes(results, name)
    rise = _distinct(results, name, sizes[-1]) / _distinct(results, name, sizes[0])
    return (
        f"only different expressions are tried, and {sizes[-1] / sizes[0]:.0f} times the expressions over "
        f"{PANELS[name]} have {rise:.2f} times as many different ones"
    )


def _ten_verdict(results: Results) -> Verdict:
    checks = []
    for name, panel in PANELS.items():
        stages = _all_stages(results, name)
        (few, first), (many, last) = next(iter(stages.items())), list(stages.items())[-1]
        rises = {
            each: last[each] / first[each] if first[each] else float("inf")
            for each in ("predicates", "expressions")
        }
        whole = sum(last.values())
        checks += [
            Check(
                f"{panel}: expression matching takes most of the time",
                last["expressions"] > whole / 2,
                f"{figure(last['expressions'])} of {figure(whole)} ms",
                NAMING,
            ),
            Check(
                f"{panel}: predicate matching takes less",
                last["predicates"] < last["expressions"],
                f"{figure(last['predicates'])} ms",
            ),
            Check(
                f"{panel}: and rises less",
                rises["predicates"] < rises["expressions"],
                f"{times(rises['predicates'])} and {times(rises['expressions'])} from {few:,} to {many:,}",
                _hardly_more(results, name),
            ),
            Check(
                f"{panel}: reading is negligible (a tenth counts)",
                last["reading"] < 0.1 * whole,
                f"{100 * last['reading'] / whole:.1f} %",
            ),
        ]
    return judged(checks)


def _counts(results: Results) -> dict[int, float]:
    return {
        count: results.value(DUPLICATES, row_of("nitf", count, PC_AP), "predicates")
        for count in _sizes(results, "nitf")
    }


def _counts_shown(results: Results) -> str:
    return table(
        ("expressions over NITF", "the paper", "here"),
        (
            (f"{count:,}", figure(PREDICATES.get(count, nan)), f"{ours:,.0f}")
            for count, ours in _counts(results).items()
        ),
    )


def _counts_verdict(results: Results) -> Verdict:
    counts = {count: ours for count, ours in _counts(results).items() if count in PREDICATES}
    sizes, ours = list(counts), list(counts.values())
    rise, span = ours[-1] / ours[0], sizes[-1] / sizes[0]
    beside = [count / PREDICATES[size] for size, count in counts.items()]
    return judged(
        [
            Check(
                "Predicates grow by less than half as much as expressions",
                rise < span / 2,
                f"{times(rise)} for {times(span)}; {times(5_843 / 4_019)} for ×5 in the paper",
            ),
            Check(
                "there are as many as in the paper, within a fifth",
                all(abs(each - 1) <= 0.2 for each in beside),
                f"{listed(beside, times)} of the paper's",
                "expressions are drawn by another generator",
            ),
        ]
    )


def _lines(
    panels: Callable[[Results], Mapping[str, chart.Curves]], across: str
) -> Callable[[Results], Figure]:
    return lambda results: chart.lines(panels(results), across, "ms a document")


UNMEASURED = {
    "Table 1": "the elements of a path that make predicates true, for an expression that matches and one "
    "that does not; `crates/pathcast-papers/src/predicate/tests.rs` has both.",
    "Figures 1 and 2": "the index of predicates, and expressions that begin alike.",
    "Figures 3 to 5": "an example of nested paths, which are measured [above](#nested-paths).",
}
EXHIBITS: tuple[Exhibit, ...] = (
    Exhibit(
        "Figure 6",
        "All grow linearly with the number of distinct expressions; basic-pc-ap beats basic-pc, which beats "
        "basic; YFilter is ahead from 100,000 on where few match (NITF), and behind where most do (PSD); "
        "Index-Filter is slowest.",
        "25,000 to 125,000 expressions over NITF, of which 6 % match, and 1,000 to 10,000 over PSD, of "
        "which 75 % match; Index-Filter takes almost twice as long as YFilter on NITF. Covering contributes "
        "little on NITF and significantly on PSD.",
        ("predicate-distinct",),
        _six_shown,
        _six_verdict,
        _lines(lambda results: {panel: _six(results, name) for name, panel in PANELS.items()}, "expressions"),
    ),
    Exhibit(
        "Figure 7",
        "With equal expressions among them, all grow linearly up to five million; basic-pc-ap is slightly "
        "ahead of YFilter on NITF, and by more than half of its own time on PSD.",
        "121.5 ms for basic-pc-ap and 137.3 ms for YFilter at 5,000,000 over NITF; 55,000 to 167,000 are "
        "distinct, and 5,500 to 10,000 over PSD.",
        ("predicate-duplicates",),
        _seven_shown,
        _seven_verdict,
        _seven_chart,
    ),
    FIGURE_8,
    DESCENDANTS,
    FIGURE_9,
    Exhibit(
        "Figure 10",
        "Expression matching dominates and rises faster than predicate matching; parsing is negligible.",
        "Drawn for 1,000,000 to 5,000,000 expressions over NITF, and similar over PSD; parsing takes 314 µs "
        "a document of NITF and 355 µs of PSD.",
        ("predicate-duplicates",),
        _ten_shown,
        _ten_verdict,
        _ten_chart,
    ),
    Exhibit(
        "Distinct predicates",
        "There are few distinct predicates, and hardly more for many more expressions.",
        "4,019, 4,593, 5,150, 5,521 and 5,843 for one to five million expressions over NITF.",
        ("predicate-duplicates",),
        _counts_shown,
        _counts_verdict,
    ),
    NESTED_PATHS,
)
