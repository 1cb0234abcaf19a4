"""Efficient filtering of XML documents with XPath expressions: its tables and figures.

The paper's ten DTDs are not named; ten of ours stand in, with fewer element names. It ran C++ on a Pentium
4 of 1.5 GHz, where parsing alone took 6 ms a document; so what can be compared are curves and ratios, not
milliseconds. Two things differ by design. XTrie keeps what expressions share once, where the paper tries
row by row, and XFilter keeps its candidates by name and distance and drops what cannot be met.
`xfilter-trees` is XFilter on trees as the paper's authors had to add it: an automaton for each branch, and
every instance kept, as long as they take less than the cache has. Expressions are distinct, since equal
ones are one in every engine here; the paper does not say whether its are. All times are processor time on
documents that no engine has seen, the best of some rounds, until all expressions that match are found; their
ids are not named. What is called linear is off a straight line by a tenth of the last value at most, and has
not grown by half more than what varies. What takes longer takes a twentieth more at least, what slows down a
tenth more, and slightly is a third at most, or half for wildcards.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from bench.claims import verdicts
from bench.evidence import chart
from bench.evidence.exhibit import (
    Check,
    Exhibit,
    NotTakenError,
    Results,
    Verdict,
    figure,
    judged,
    rows_table,
    table,
)
from bench.xtrie import EXAMPLE, SWEEPS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLE = "Efficient filtering of XML documents with XPath expressions"
PANELS = {"ten": "ten DTDs", "nitf": "NITF"}
TABLE_3 = {"ten": (120.3, 85, 180, 16.65, 5, 36), "nitf": (108.5, 45, 132, 18.11, 7, 24)}
"""By data set: tags on average, fewest, most; levels on average, fewest, most."""
TABLE_3_COLUMNS = ("tags", "fewest tags", "most tags", "levels", "fewest levels", "most levels")
_BY_FIGURE = {sweep.figure: sweep for sweep in SWEEPS}


LEAST = 3  # points of a curve


def _curves(results: Results, name: str) -> chart.Curves:
    """The curves of a figure at the points that all of them have."""
    sweep = _BY_FIGURE[name]
    rows = {row.subject: row for row in results.rows("xtrie")}
    # The label says where a row stands: at the scale of 1, these are the sweep's values.
    found = {
        each: [
            (at, rows[label].values.get("µs / document", rows[label].values["MB"]))
            for at in sweep.values
            if (label := sweep.label(at, each)) in rows
        ]
        for each in sweep.subjects
    }
    points = [{at for at, _ in found[each]} for each in sweep.subjects]
    common = set.intersection(*points)
    if len(common) < LEAST:
        raise NotTakenError(f"`python -m bench xtrie` has not taken Figure {name}")
    factor = 1.0 if sweep.measure == "memory" else 1e-3
    return {
        each: sorted((at, value * factor) for at, value in found[each] if at in common)
        for each in sweep.subjects
    }


def _taken(results: Results, names: Sequence[str]) -> dict[str, chart.Curves]:
    """Those of a figure's parts that were taken; at least one."""
    found: dict[str, chart.Curves] = {}
    missing = None
    for name in names:
        try:
            found[name] = _curves(results, name)
        except NotTakenError as error:
            missing = error
    if missing is not None and not found:
        raise missing
    return found


def _lacking(results: Results, names: Sequence[str]) -> list[str]:
    """What of a figure was not taken, in words."""
    taken = _taken(results, names)
    found = []
    for name in names:
        sweep = _BY_FIGURE[name]
        if name not in taken:
            found.append(f"{_title(name)} has not been taken.")
        elif len(next(iter(taken[name].values()))) < len(sweep.values):
            last = max(at for at, _ in next(iter(taken[name].values())))
            found.append(f"{_title(name)} has been taken up to {figure(last)} of {figure(sweep.values[-1])}.")
    return found


def _title(name: str) -> str:
    return f"{name}: {PANELS[_BY_FIGURE[name].data]}"


def _shown(*names: str) -> Callable[[Results], str]:
    def shown(results: Results) -> str:
        parts = []
        for name, curves in _taken(results, names).items():
            sweep = _BY_FIGURE[name]
            points = [at for at, _ in next(iter(curves.values()))]
            unit = "MB" if sweep.measure == "memory" else "ms a document"
            cells = (
                (figure(at), *(figure(points[place][1]) for points in curves.values()))
                for place, at in enumerate(points)
            )
            head = f"{_title(name)}, {unit} by {sweep.axis}:"
            parts.append(f"{head}\n\n{table(('', *curves), cells)}")
        return "\n\n".join([*parts, *_lacking(results, names)])

    return shown


def _verdict(*names: str) -> Callable[[Results], Verdict]:
    def verdict(results: Results) -> Verdict:
        checks = []
        for name, curves in _taken(results, names).items():
            many = f"{_title(name)}: " if len(names) > 1 else ""
            checks += [
                Check(f"{many}{told.says}", told.reproduces, told.measured, told.because)
                for told in verdicts(name, curves)
            ]
        return judged(checks)

    return verdict


def _memory_verdict(results: Results) -> Verdict:
    """The claims on each part, and the one on forms: what is made for single paths needs less for them."""
    told = _verdict("18a", "18b")(results)
    sweep = _BY_FIGURE["15b"]
    less = []
    for engine, name in (("xtrie", "eager"), ("xtrie-lazy", "lazy")):
        paths, trees = (
            results.value("xtrie", sweep.label(sweep.values[-1], f"{engine} {form}"), "MB")
            for form in ("single paths", "trees")
        )
        less.append(
            Check(
                f"the form for single paths needs less than that for trees, {name}",
                paths < trees,
                f"{figure(paths)} and {figure(trees)} MB for the same single paths",
            )
        )
    return judged((*told.checks, *less))


def _paths_verdict(results: Results) -> Verdict:
    """The claims on each part of Figure 11, and the one on both: list balancing is worth more on NITF."""
    told = _verdict("11a", "11b")(results)
    gains = {}
    for name in ("11a", "11b"):
        curves = _curves(results, name)
        gains[name] = curves["xfilter"][-1][1] / curves["xfilter-lb"][-1][1]
    more = Check(
        "list balancing is worth more on NITF than on ten DTDs",
        gains["11b"] > gains["11a"],
        ", ".join(f"{PANELS[_BY_FIGURE[name].data]} {gain:.2f} times" for name, gain in gains.items()),
    )
    return judged((*told.checks, more))


def _chart(*names: str, logarithmic: bool = False) -> Callable[[Results], Figure]:
    def drawn(results: Results) -> Figure:
        up = "MB" if _BY_FIGURE[names[0]].measure == "memory" else "ms a document"
        taken = _taken(results, names)
        panels = {_title(name): curves for name, curves in taken.items()}
        across = [_BY_FIGURE[name].axis for name in taken]
        return chart.lines(panels, across, up, logarithmic=logarithmic)

    return drawn


def _exhibit(
    label: str,
    claim: str,
    paper: str,
    names: Sequence[str],
    *,
    verdict: Callable[[Results], Verdict] | None = None,
    logarithmic: bool = False,
) -> Exhibit:
    return Exhibit(
        label,
        claim,
        paper,
        ("xtrie",),
        _shown(*names),
        verdict or _verdict(*names),
        _chart(*names, logarithmic=logarithmic),
    )


def _table_3_paper() -> str:
    return table(
        ("100 documents", *TABLE_3_COLUMNS),
        ((PANELS[name], *(f"{value:g}" for value in values)) for name, values in TABLE_3.items()),
    ) + (
        "\n\nNITF has 123 elements with 513 attributes. Of the ten DTDs the smallest has 77 elements with "
        "1,377 attributes and the largest 2,727 with 8,512; together they have more than 5,000 names."
    )


def _table_3(results: Results) -> str:
    rows = [results.row("xtrie-sets", f"documents: {name}") for name in TABLE_3]
    return rows_table(rows, (*TABLE_3_COLUMNS, "element names", "attributes"))


def _near(results: Results, name: str, column: str, paper: float, share: float) -> Check:
    ours = results.value("xtrie-sets", f"documents: {name}", column)
    return Check(
        f"{PANELS[name]}: {column} within {100 * share:.0f} %",
        abs(ours / paper - 1) <= share,
        f"{figure(ours)} beside {paper:g}",
        "documents are drawn by another generator, from other DTDs",
    )


def _table_3_verdict(results: Results) -> Verdict:
    checks = [
        _near(results, name, column, values[at], 0.2)
        for name, values in TABLE_3.items()
        for column, at in (("tags", 0), ("levels", 3))
    ]
    return judged(checks)


def _depths(results: Results) -> Mapping[str, float]:
    return {
        f"{PANELS[name]}, at most {most} levels": results.value(
            "xtrie-sets", f"expressions: {name}, {most} levels", "average depth"
        )
        / most
        for name in PANELS
        for most in (8, 12, 16, 20)
    }


def _table_4(results: Results) -> str:
    return table(
        ("expressions", "average depth / most"),
        ((name, f"{share:.2f}") for name, share in _depths(results).items()),
    )


def _table_4_verdict(results: Results) -> Verdict:
    shares = _depths(results)
    deeper = [share for name, share in shares.items() if "at most 8 levels" not in name]
    return judged(
        [
            Check(
                "The average depth is about half of the most (0.4 to 0.65 count)",
                all(0.4 <= share <= 0.65 for share in shares.values()),
                f"{min(shares.values()):.2f} to {max(shares.values()):.2f} of the most",
                "expressions here are distinct, and of at most 8 levels over NITF the short "
                "ones are soon used up; from 12 levels on the average is "
                f"{min(deeper):.2f} to {max(deeper):.2f} of the most",
            )
        ]
    )


def _substrings(results: Results) -> str:
    return rows_table(
        results.rows("xtrie-substrings"), ("minimal", "simple", "maximal"), "substrings an expression"
    )


def _substrings_verdict(results: Results) -> Verdict:
    def value(subject: str, column: str) -> float:
        return results.value("xtrie-substrings", subject, column)

    example = [value(EXAMPLE, way) for way in ("minimal", "simple")]
    checks = [Check("the example has 5 and 6", example == [5, 6], " and ".join(map(figure, example)))]
    for name, panel in PANELS.items():
        paths = [value(f"{name}, single paths", way) for way in ("minimal", "simple")]
        trees = [value(f"{name}, trees", way) for way in ("minimal", "simple", "maximal")]
        numbers = " and ".join(f"{each:.3f}" for each in paths)
        checks += [
            Check(f"{panel}: for single paths both are the same", paths[0] == paths[1], numbers),
            Check(
                f"{panel}: for trees the minimal one has the fewest, and the maximal the most",
                trees[0] < trees[1] < trees[2],
                ", ".join(map(figure, trees)),
            ),
        ]
    return judged(checks)


UNMEASURED = {
    "Table 1": "the paper's symbols.",
    "Figure 1": "an expression and a document that it matches.",
    "Table 2": "what changes while these two are matched; `crates/pathcast-papers/src/xtrie/paper.rs` holds "
    "XTrie to it, change by change.",
    "Figures 3 and 4": "matches that are redundant, and others that are not.",
    "Figure 5": "the XTrie of four expressions; the same file holds ours to it, row by row.",
    "Figure 6": "how the match of a subtree is passed upwards.",
    "Figures 7 to 10 and 19 to 24": "the algorithms; [the design of XTrie](../design/xtrie.md) says what is "
    "different here.",
}
EXHIBITS: tuple[Exhibit, ...] = (
    Exhibit(
        "Table 3",
        "The two data sets have documents of about 100 tags and 17 to 18 levels.",
        _table_3_paper(),
        ("xtrie-sets",),
        _table_3,
        _table_3_verdict,
        below="Documents are drawn here with 24 levels at most.",
    ),
    Exhibit(
        "Table 4",
        "Expressions are drawn with at most 8 to 20 levels, and average half of that.",
        "10,000 to 200,000 expressions, 8 to 20 levels, up to 0.5 of `*` and of `//`, up to 0.1 of branches, "
        "skew up to 5; “the average depth is approximately equal to half the maximal depth”.",
        ("xtrie-sets",),
        _table_4,
        _table_4_verdict,
    ),
    Exhibit(
        "Figure 2",
        "The minimal decomposition has the fewest substrings, and the simple one adds those of branching "
        "nodes.",
        "Its example, `/a/b[c/d//e][g//e/f]//*/*/*/e/f`, has 5 and 6 substrings. The minimal one “can result "
        "in problems when checking for an unordered match”, so neither the paper nor Pathcast matches trees "
        "with it; an XTrie that is told to use it takes only single paths, for which both are the same.",
        ("xtrie-substrings",),
        _substrings,
        _substrings_verdict,
    ),
    _exhibit(
        "Figure 11",
        "On single paths XTrie grows linearly with the number of expressions, lazy is 2 to 3 times faster "
        "than eager, and both are almost an order of magnitude ahead of XFilter, which grows linearly on "
        "NITF and logarithmically on ten DTDs, and gains much more by list balancing on NITF.",
        "Curves up to 200,000 expressions, without numbers in the text; lazy 2 to 3 times faster than eager.",
        ("11a", "11b"),
        verdict=_paths_verdict,
    ),
    _exhibit(
        "Figure 12",
        "On trees XTrie grows linearly, lazy is slightly behind eager on ten DTDs and barely ahead on NITF, "
        "matching in any order costs more than in the given order, and XFilter gets slower: linearly on ten "
        "DTDs, exponentially on NITF.",
        "Curves up to 200,000 expressions; lazy has “a thin edge” with NITF; XFilter on NITF “degrades "
        "exponentially” and is off the chart by two orders of magnitude.",
        ("12a", "12b"),
        logarithmic=True,
    ),
    _exhibit(
        "Figure 13",
        "On single paths all grow linearly with the tags of a document, and list balancing is of no use to "
        "XFilter in large documents.",
        "Curves, 100,000 expressions.",
        ("13a", "13b"),
    ),
    _exhibit(
        "Figure 14",
        "On trees all grow linearly with the tags of a document.",
        "Curves, 50,000 expressions; XFilter on NITF is off the chart.",
        ("14a", "14b"),
        logarithmic=True,
    ),
    _exhibit(
        "Figure 15",
        "Long substrings beat single elements, for eager by more than for lazy, and the forms for single "
        "paths beat those for trees.",
        "Curves, single paths on NITF.",
        ("15a", "15b"),
    ),
    Exhibit(
        "Figure 16",
        "More `*` slow XTrie down and make XFilter slightly faster; more `//` slow all down, XTrie a little "
        "more; lazy is less affected than eager. What is so of XTrie is so on trees too, in the given order "
        "and in any order.",
        "Curves, 100,000 single paths on NITF, 0 to 0.5. Trees only in the text of section 7.2.4, without a "
        "figure or numbers; 16c and 16d here have 50,000, as Figure 14 has.",
        ("xtrie",),
        _shown("16a", "16b", "16c", "16d"),
        _verdict("16a", "16b", "16c", "16d"),
        _chart("16a", "16b"),
    ),
    _exhibit(
        "Figure 17",
        "All slow down with depth, XFilter most; skewed names make XFilter much faster, affect XFilter "
        "with list balancing and XTrie less, and make lazy faster.",
        "Curves, 100,000 single paths on NITF, 8 to 20 levels and a skew of 0 to 5.",
        ("17a", "17b"),
    ),
    Exhibit(
        "Figure 18",
        "XTrie needs less memory than XFilter, the forms for single paths less than those for trees, and the "
        "faster variants less.",
        "Curves; what XFilter's lists take while a document runs is counted.",
        ("xtrie",),
        _shown("18a", "18b"),
        _memory_verdict,
        _chart("18a", "18b"),
    ),
)
