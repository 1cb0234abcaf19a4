"""The tables and charts of the documentation, from the figures that are kept and nothing else.

Pages are written by hand; what stands between ``<!-- table NAME -->`` and ``<!-- end -->`` is put there by
``python -m bench --draw``. A test holds the pages to the files. `docs/performance.md` has the headlines,
design notes have what belongs to them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from math import isnan, nan
from pathlib import Path

from bench import paper_figures, scale_page
from bench.corpus import ROOT
from bench.harness.kept import Kept, Row
from bench.page import svg
from bench.workloads import WORKLOADS

PAGES = ("docs/performance.md", "docs/production.md", "docs/scale.md", "docs/spark.md", "docs/design/*.md")
RESULTS = ROOT / "benchmarks/results"
CHART = ROOT / "docs/images/performance.svg"
PAPER_CHART = ROOT / "docs/images/relational.svg"
COLOURS = dict(zip(WORKLOADS, ("#1f6f8b", "#c4661f", "#7a4fa3", "#1f7a4d", "#a33b20"), strict=True))
NEAR = 0.2  # by which an engine may be ahead of `auto` without being said to be
NOT_TAKEN = "*Not taken yet on documents that are seen once; the command takes it.*"
Table = Callable[[Path], str]
FILES = {
    "auto": "engines",
    "losses": "engines",
    "xfilter": "engines",
    "service-size": "service",
    "relational-claims": "relational-paper",
    "spark-arithmetic": "spark-placement",
    "spark-shares": "spark-ways",
}
"""The files of tables that are named otherwise."""


def write(results: Path = RESULTS) -> list[Path]:
    """Puts the present figures into the pages, and draws the chart; the pages that have changed."""
    CHART.write_text(drawn(results), encoding="utf-8")
    if rows := _rows(results, "relational-paper"):
        PAPER_CHART.write_text(_wide(paper_figures.drawn(rows)), encoding="utf-8")
    changed = []
    for page in pages():
        before = page.read_text(encoding="utf-8")
        after = filled(before, results)
        if after != before:
            page.write_text(after, encoding="utf-8")
            changed.append(page)
    return changed


def pages() -> list[Path]:
    """The pages that show figures."""
    return sorted(
        page
        for pattern in PAGES
        for page in ROOT.glob(pattern)
        if "<!-- table " in page.read_text(encoding="utf-8")
    )


def filled(text: str, results: Path) -> str:
    """The page with its tables as the files have them."""

    def table(found: re.Match[str]) -> str:
        name = FILES.get(found[2], found[2])
        known = (results / f"{name}.json").exists()
        return f"{found[1]}\n\n{TABLES[found[2]](results) if known else NOT_TAKEN}\n\n{found[3]}"

    return re.sub(r"(<!-- table ([a-z-]+) -->).*?(<!-- end -->)", table, text, flags=re.DOTALL)


def milliseconds(microseconds: float) -> str:
    """Three digits.

    >>> milliseconds(12.345), milliseconds(1234.5), milliseconds(nan)
    ('0.0123', '1.23', '—')
    """
    if isnan(microseconds):
        return "—"
    value = microseconds / 1e3
    places = 4 if value < 0.1 else 3 if value < 1 else 2 if value < 10 else 1 if value < 100 else 0
    return f"{value:,.{places}f}"


def _times(value: float) -> str:
    return "—" if isnan(value) else f"{value:,.1f}" if value < 100 else f"{value:,.0f}"


def _count(value: float) -> str:
    return "—" if isnan(value) else f"{value:,.0f}" if value >= 10 else f"{value:,.1f}"


def _markdown(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [columns, ["---"] + ["---:"] * (len(columns) - 1), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _value(row: Row, name: str) -> float:
    return row.values.get(name, nan)


def _rows(results: Path, name: str) -> list[Row]:
    return Kept.read(results / f"{name}.json").rows


def _split(row: Row) -> tuple[str, int, str]:
    """Workload, number of subscriptions, and the rest of a subject.

    >>> _split(Row("nitf 1,000: auto", {}))
    ('nitf', 1000, 'auto')
    """
    where, _, what = row.subject.partition(": ")
    workload, _, size = where.partition(" ")
    return workload, int(size.replace(",", "")), what


def auto(results: Path) -> str:
    """`auto` with defaults on every workload and size."""
    columns = (
        "workload",
        "matches",
        "first",
        "unseen, no ids",
        "**unseen, Arrow**",
        "unseen, lists",
        "repeated",
    )
    cells = []
    for row in _rows(results, "engines"):
        workload, size, engine = _split(row)
        if engine == "auto":
            times = ("first arrow", "unseen match", "unseen arrow", "unseen lists", "repeated arrow")
            arrow = _value(row, "unseen arrow µs")
            cells.append(
                (
                    f"`{workload}` {size:,}",
                    _count(_value(row, "matches / document")),
                    *(milliseconds(_value(row, f"{name} µs")) for name in times),
                    _times(arrow / _value(row, "unseen tokeniser µs")),
                    _times(arrow / _value(row, "unseen lxml µs")),
                )
            )
    return _markdown((*columns, "× tokeniser", "× lxml's parse"), cells)


def engines(results: Path) -> str:
    """Every engine, unseen documents, ids in Arrow, by workload and size."""
    found: dict[str, dict[tuple[str, int], str]] = {}
    sets: dict[tuple[str, int], None] = {}
    for row in _rows(results, "engines"):
        workload, size, engine = _split(row)
        if size in (1_000, 10_000, 100_000):
            sets[workload, size] = None
            mark = " ¹" if row.note.startswith("slow") else ""
            text = "cut" if row.note.startswith("cut") else milliseconds(row.values["unseen arrow µs"]) + mark
            found.setdefault(engine, {})[workload, size] = text
    tables = []
    for name in dict.fromkeys(workload for workload, _ in sets):
        sizes = [size for workload, size in sets if workload == name]
        cells = [
            (f"`{engine}`", *(times.get((name, size), "—") for size in sizes))
            for engine, times in found.items()
            if any((name, size) in times for size in sizes)
        ]
        tables.append(_markdown((f"`{name}`", *(f"{size:,}" for size in sizes)), cells))
    return "\n\n".join(tables)


def peers(results: Path) -> str:
    """Others beside `auto`, ids in Arrow and in lists."""
    cells = []
    for row in _rows(results, "peers"):
        workload, size, peer = _split(row)
        if not row.values:
            cells.append((f"`{workload}` {size:,}", f"{peer}: {row.note}", "", "", "", "", ""))
            continue
        value = row.values
        cells.append(
            (
                f"`{workload}` {size:,}",
                peer,
                _count(value["matches / document"]),
                f"{milliseconds(value['peer µs'])} ({milliseconds(value['peer median µs'])})",
                f"{milliseconds(value['Pathcast µs'])} ({milliseconds(value['Pathcast median µs'])})",
                milliseconds(value["Pathcast in lists µs"]),
                _times(value["×"]),
            )
        )
    columns = ("workload", "peer", "matches", "peer, best (median)", "Pathcast, Arrow", "lists", "× Pathcast")
    return _markdown(columns, cells)


def losses(results: Path) -> str:
    """Where somebody else is faster, and how cost grows: a list, from the tables above."""
    lines = []
    for row in _rows(results, "peers"):
        if row.values.get("×", nan) < 1:
            workload, size, peer = _split(row)
            lines.append(f"`{workload}` {size:,}: {peer} takes {row.values['×']:.2f} of Pathcast's time.")
    sets: dict[tuple[str, int], dict[str, float]] = {}
    for row in _rows(results, "engines"):
        workload, size, engine = _split(row)
        if "unseen arrow µs" in row.values:
            ratio = row.values["unseen arrow µs"] / row.values["unseen tokeniser µs"]
            sets.setdefault((workload, size), {})[engine] = ratio
    for (workload, size), ratios in sets.items():
        best = min(ratios, key=lambda engine: ratios[engine])
        share = ratios[best] / ratios.get("auto", nan)
        if share < 1 - NEAR:
            lines.append(f"`{workload}` {size:,}: `{best}` takes {share:.2f} of the time of `auto`.")
    for workload in dict.fromkeys(workload for workload, _ in sets):
        costs = {
            size: ratios["auto"]
            for (name, size), ratios in sets.items()
            if name == workload and "auto" in ratios
        }
        few, many = min(costs, default=0), max(costs, default=0)
        if few < many:
            lines.append(
                f"`{workload}`: {many // few:,} times the subscriptions ({few:,} to {many:,}) cost "
                f"{_times(costs[many] / costs[few])} times as much a document."
            )
    return "\n".join(f"- {line}" for line in lines)


def claims(results: Path) -> str:
    """What the paper on XTrie says of its figures, and whether the curves bear it out."""
    from bench.claims import verdicts
    from bench.curves import gathered

    curves = gathered(_rows(results, "xtrie"))
    cells = [
        (figure, verdict.says, "yes" if verdict.reproduces else "**no**", verdict.measured)
        for figure in sorted(curves)
        for verdict in verdicts(figure, curves[figure])
    ]
    return _markdown(("figure", "the paper", "here", "measured"), cells).replace("---:", "---")


def plain(name: str, *columns: str) -> Table:
    """Some columns of a file as they are, of the rows that have one of them."""

    def table(results: Path) -> str:
        cells = [
            (row.subject, *(_shown(column, row.values.get(column, nan)) for column in columns))
            for row in _rows(results, name)
            if not row.values.keys().isdisjoint(columns)
        ]
        return _markdown((name, *columns), cells)

    return table


def _shown(column: str, value: float) -> str:
    if column.endswith("ms") or column == "ms":
        return milliseconds(value * 1e3)
    if isnan(value):
        return "—"
    if column.endswith("µs"):
        return f"{value:,.1f}" if value < 100 else f"{value:,.0f}"
    return f"{value:,.2f}" if abs(value) < 10 and value % 1 else f"{value:,.0f}"


def xfilter(results: Path) -> str:
    """XFilter as a multiple of YFilter on NITF, by number of subscriptions."""
    found: dict[int, dict[str, float]] = {}
    for row in _rows(results, "engines"):
        workload, size, engine = _split(row)
        if workload == "nitf":
            found.setdefault(size, {})[engine] = _value(row, "unseen arrow µs")
    names = ("xfilter", "xfilter-lb")
    cells = [
        (f"{size:,}", *(_times(times.get(name, nan) / times["yfilter"]) for name in names))
        for size, times in found.items()
        if "yfilter" in times
    ]
    return _markdown(("distinct queries", *(f"`{name}` / `yfilter`" for name in names)), cells)


TABLES: dict[str, Table] = {
    "auto": auto,
    "losses": losses,
    "xfilter": xfilter,
    "xtrie": claims,
    "engines": engines,
    "peers": peers,
    "reader": plain(
        "reader", "KB", "tokeniser MB/s", "strict MB/s", "lxml MB/s", "strict / tokeniser", "strict / lxml"
    ),
    "registration": plain("registration", "distinct", "per second", "MB", "bytes / distinct"),
    "spark": plain(
        "spark", "matches / document", "core/s", "Spark/s", "share of 2 cores", "share, median", "compile s"
    ),
    "spark-ways": plain(
        "spark-ways",
        "matches / document",
        "one thread/s",
        "one thread from files/s",
        "data source, lists/s",
        "data source, lists, LZ4/s",
        "data source, rows/s",
        "DataFrame/s",
        "DataFrame, LZ4/s",
    ),
    "spark-shares": plain(
        "spark-ways",
        "data source, lists, share of 2 cores",
        "data source, lists, share of 2 cores from files",
        "data source, lists, LZ4, share of 2 cores",
        "data source, rows, share of 2 cores",
        "DataFrame, share of 2 cores",
        "DataFrame, LZ4, share of 2 cores",
    ),
    "spark-peers": plain(
        "spark-peers", "xpath_boolean/s", "lxml/s", "Pathcast/s", "× xpath_boolean", "× lxml"
    ),
    "spark-memory": plain(
        "spark-memory",
        "subscriptions",
        "MB of the host",
        "MB of the shared index",
        "MB of the driver's helpers",
        "first job s",
        "last job s",
        "µs / document",
    ),
    "shard-sizes": plain(
        "shard-sizes",
        "build s",
        "open s",
        "open image s",
        "µs / document",
        "MB in memory",
        "MB on disk",
        "image MB",
    ),
    "shard-ways": plain("shard-ways", "subscriptions", "µs / document", "shards a document concerns"),
    "spark-placement": plain(
        "spark-placement",
        "shards",
        "requirements",
        "routing MB",
        "shards a document concerns",
        "largest shard / mean",
    ),
    "spark-millions": plain(
        "spark-millions",
        "shards",
        "compile s",
        "compile, processor s",
        "driver Python MB",
        "driver Java MB",
        "folder MB",
        "matches / document",
        "match s",
        "µs / document",
    ),
    "spark-shards": plain(
        "spark-shards",
        "subscriptions",
        "µs / document",
        "against one index",
        "largest shard MB",
        "compile s",
    ),
    "spark-updates": plain(
        "spark-updates",
        "subscriptions",
        "update, processor s",
        "update, median",
        "job with the new version, processor s",
        "the same job again, processor s",
    ),
    "spark-arithmetic": lambda results: _markdown(
        ("what", "from", "amounts to"), scale_page.arithmetic(results)
    ),
    "filters": plain("filters", "matches / document", "unseen match µs", "median µs", "× tokeniser"),
    "values": plain(
        "values",
        "cheap µs",
        "other µs",
        "lxml µs",
        "× cheap",
        "× lxml's parse",
        "matches / document",
        "MB",
        "MB beyond the index",
    ),
    "states": plain("states", "elements / document", "states met %", "names met %"),
    "worst-cases": plain(
        "worst-cases",
        "auto",
        "yfilter",
        "lazy-dfa",
        "xfilter",
        "xfilter-lb",
        "xtrie",
        "xtrie-lazy",
        "predicate",
        "predicate-pc-ap",
        "index-filter",
    ),
    "interrupts": plain("interrupts", "whole", "late"),
    "service": plain(
        "service",
        "documents / s",
        "documents / processor s",
        "p50 ms",
        "p99 ms",
        "matches / document",
        "matching share",
        "match call share",
        "match call processor share",
    ),
    "service-size": plain(
        "service", "bulk s", "MB", "restart s", "restart processor s", "restart MB", "streams", "streams MB"
    ),
    "playground": plain("playground", "KB", "p50 ms", "p95 ms", "server processor ms", "page processor ms"),
    "twig-sets": plain("twig-sets", "matches / document", "unseen match µs", "× auto", "MB"),
    "pruning": plain(
        "pruning",
        "pruned filters",
        "time / registering",
        "unseen plain µs",
        "unseen pruned µs",
        "yfilter speed-up",
    ),
    "pruning-auto": plain(
        "pruning-auto",
        "distinct",
        "distinct pruned",
        "unseen plain µs",
        "unseen pruned µs",
        "auto speed-up",
    ),
    "network-tables": plain(
        "network-tables", "no covering", "covering", "covered %", "perfect merging", "merging 10 %"
    ),
    "network-insertion": plain(
        "network-insertion",
        "set A / s",
        "set A, of the first",
        "set B / s",
        "set B, of the first",
        "twigs / s",
        "twigs, of the first",
    ),
    "network-traffic": plain("network-traffic", "messages", "% of first", "paper", "paper %", "false %"),
    "network-growth": plain(
        "network-growth",
        "table at the publisher",
        "all tables",
        "messages / subscription",
        "hops / document",
        "ms / document",
        "subscriptions / s",
        "messages / change",
        "messages / fault",
        "MB at the publisher",
        "MB in the middle",
        "MB at a leaf",
    ),
    "network-restart": plain(
        "network-restart",
        "records",
        "restart s",
        "µs / filter",
        "first change ms",
        "longest step ms",
        "until all is covered s",
    ),
    "network-advertisements": plain(
        "network-advertisements", "advertisements", "first tenth ms", "last tenth ms", "last / first"
    ),
    "relational": plain(
        "relational",
        "matches / document",
        "cold ms",
        "batch ms",
        "batch median ms",
        "single ms",
        "auto ms",
        "tokeniser ms",
        "subscribe s",
    ),
    "relational-paper": plain(
        "relational-paper",
        "nodes",
        "matches / document",
        "edges",
        "edges without cutting",
        "paper ms",
        "paper without cutting ms",
        "DuckDB ms",
        "DuckDB, first document ms",
        "auto ms",
        "tokeniser ms",
    ),
    "relational-claims": lambda results: _markdown(
        ("the paper says", "schema", "measured with its matcher", "reproduced"),
        paper_figures.claims(_rows(results, "relational-paper")),
    ),
    "relational-workloads": plain(
        "relational-workloads",
        "bytes",
        "matches / document",
        "best ms",
        "median ms",
        "auto ms",
        "tokeniser ms",
    ),
    "relational-spark": plain(
        "relational-spark",
        "steps",
        "matches / document",
        "first s",
        "first processor s",
        "match s",
        "match processor s",
        "ms / document",
        "auto ms",
        "subscribe s",
    ),
    "network-routing": plain(
        "network-routing", "no covering µs", "covering µs", "saving %", "paper saving %"
    ),
}


def drawn(results: Path) -> str:
    """How cost grows with the number of subscriptions: dots on logarithmic axes, as SVG."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.6), layout="constrained")
    axes = figure.add_subplot()
    curves: dict[str, list[tuple[int, float]]] = {}
    for row in _rows(results, "engines"):
        workload, size, engine = _split(row)
        if engine == "auto" and "unseen arrow µs" in row.values:
            ratio = row.values["unseen arrow µs"] / row.values["unseen tokeniser µs"]
            curves.setdefault(workload, []).append((size, ratio))
    for workload, points in curves.items():
        across, up = zip(*sorted(points), strict=True)
        axes.plot(across, up, "o:", lw=0.8, ms=5, color=COLOURS[workload], label=workload)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.set_xlabel("subscriptions")
    axes.set_ylabel("× bare tokeniser, unseen, every id in Arrow")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="#e4e7eb")
    axes.legend(frameon=False)
    return _wide(svg(figure, "performance"))


def _wide(text: str) -> str:
    return text.replace("<svg ", '<svg width="720" ', 1)
