"""Writes `docs/evidence`: an index of all verdicts and a page for each paper, from kept figures alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType

from bench.corpus import ROOT
from bench.evidence import predicate, relational, routing, schema, xtrie
from bench.evidence.exhibit import Exhibit, NotTakenError, Results, table
from bench.page import svg

PAPERS: Mapping[str, ModuleType] = {
    "routing": routing,
    "xtrie": xtrie,
    "relational": relational,
    "predicate": predicate,
    "schema": schema,
}
"""By the name of the page: a module with `TITLE`, `EXHIBITS`, and what is `UNMEASURED`, by label."""
SHORT = {
    "routing": "Routing in networks",
    "xtrie": "XTrie",
    "relational": "Non-recursive SQL",
    "predicate": "Predicates",
    "schema": "Schemas",
}
"""By the name of the page: a title that leaves room for figures on a telephone."""
RESULTS = ROOT / "benchmarks/results"
PAGES = ROOT / "docs/evidence"
IMAGES = ROOT / "docs/images/evidence"
SETUP = "> Commands on this page run in a checkout after `make setup`, with `.venv/bin` on the `PATH`."


def experiments() -> list[str]:
    """What the exhibits rest on, each once."""
    return list(
        dict.fromkeys(
            name for paper in PAPERS.values() for exhibit in paper.EXHIBITS for name in exhibit.experiments
        )
    )


def write(results: Path = RESULTS, pages: Path = PAGES, images: Path = IMAGES) -> list[Path]:
    """Writes pages and charts anew; the files that have changed."""
    changed = []
    for path, text in drawn(results, pages, images).items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            changed.append(path)
    return changed


def drawn(results: Path = RESULTS, pages: Path = PAGES, images: Path = IMAGES) -> dict[Path, str]:
    """By file: what belongs into it."""
    found = Results(results)
    files = {pages / "index.md": _index(found)}
    for name, paper in PAPERS.items():
        files[pages / f"{name}.md"] = _page(name, paper, found)
        files |= {images / f"{chart}.svg": text for chart, text in _charts(name, paper.EXHIBITS, found)}
    return files


def _charts(name: str, exhibits: Sequence[Exhibit], results: Results) -> Iterator[tuple[str, str]]:
    for exhibit in exhibits:
        if exhibit.chart is not None:
            try:
                figure = exhibit.chart(results)
            except NotTakenError:
                continue
            chart = f"{name}-{exhibit.slug}"
            # Its ink is dark: on a dark page it needs a ground of its own.
            head = f'<svg width="{int(figure.get_figwidth() * 90)}" style="background: #fff" '
            yield chart, svg(figure, chart).replace("<svg ", head, 1)


def _index(results: Results) -> str:
    parts = [
        "# Evidence",
        SETUP,
        "Pathcast rests on five papers. Each page below takes every table and figure of one of them, and "
        "what its text alone says was measured: what it claims, its numbers as far as its text gives them, "
        "ours on the same kind of workload, and a verdict in one sentence. Whether a claim holds is told by "
        "code from the rows that were measured; the reason why one does not is ours. What has no claim, as "
        "drawings and pseudocode, is named at the end of each page.",
        "`make evidence` runs all experiments (hours; a run that was cut goes on where it was), "
        "`make evidence-draw` writes these pages from the figures that are kept in `benchmarks/results` "
        "(seconds).",
    ]
    counts = table(
        ("paper", "reproduced", "not", "cannot be told"),
        (
            (
                f"[{SHORT[name]}]({name}.md)",
                *(
                    str(sum(exhibit.told(results).word == word for exhibit in paper.EXHIBITS))
                    for word in ("reproduced", "not reproduced", "cannot be told here")
                ),
            )
            for name, paper in PAPERS.items()
        ),
    )
    parts.append(counts)
    for name, paper in PAPERS.items():
        parts += [f"## {paper.TITLE}", _verdicts(name, paper.EXHIBITS, results)]
    return "\n\n".join(parts) + "\n"


def _verdicts(name: str, exhibits: Sequence[Exhibit], results: Results) -> str:
    lines = []
    for exhibit in exhibits:
        link = f"[{exhibit.label}]({name}.md#{exhibit.slug})"
        lines.append(f"- {link}: {exhibit.claim} {exhibit.told(results).sentence}")
    return "\n".join(lines)


def _page(name: str, paper: ModuleType, results: Results) -> str:
    parts = [f"# {paper.TITLE}", SETUP, (paper.__doc__ or "").partition("\n\n")[2].strip()]
    for exhibit in paper.EXHIBITS:
        parts += [f"## {exhibit.label}", *_exhibit(name, exhibit, results)]
    parts += [
        "## Without measurements",
        "\n".join(f"- {label}: {says}" for label, says in paper.UNMEASURED.items()),
        "## Machine, commits and load",
        *_provenance(paper.EXHIBITS, results),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _exhibit(name: str, exhibit: Exhibit, results: Results) -> Iterator[str]:
    yield f"*Claim.* {exhibit.claim}"
    yield _apart("In the paper", exhibit.paper)
    try:
        yield _apart("Measured here", exhibit.shown(results))
        yield exhibit.below
        if exhibit.chart is not None:
            exhibit.chart(results)
            yield f"![{exhibit.label}, drawn from our rows](../images/evidence/{name}-{exhibit.slug}.svg)"
    except NotTakenError as missing:
        yield f"*Measured here.* Not taken yet: {missing}."
    verdict = exhibit.told(results)
    yield verdict.sentence
    if verdict.checks:
        yield "\n".join(f"- {check}" for check in verdict.checks)
    if exhibit.experiments:
        taken = [each for each in exhibit.experiments if results.kept(each).rows]
        files = ", ".join(f"`benchmarks/results/{each}.json`" for each in taken)
        command = f"`python -m bench {' '.join(exhibit.experiments)}`"
        yield f"From {files}; {command} takes it again." if taken else f"{command} takes it."


def _apart(word: str, text: str) -> str:
    """A table needs an empty line before it."""
    return f"*{word}.*\n\n{text}" if text.startswith("|") else f"*{word}.* {text}"


def _word(value: object) -> str:
    """What is known of a machine, as people say it.

    >>> _word(True), _word(1)
    ('yes', '1')
    """
    return str(value) if not isinstance(value, bool) else "yes" if value else "no"


def _provenance(exhibits: Sequence[Exhibit], results: Results) -> Iterator[str]:
    cells, machines = [], []
    for name in dict.fromkeys(name for exhibit in exhibits for name in exhibit.experiments):
        kept = results.kept(name)
        if not kept.rows:
            cells.append((f"`{name}`", "not taken yet", "", ""))
            continue
        words = [f"{key}: {_word(value)}" for key, value in kept.machine.items() if value is not None]
        machines.append("; ".join(words))
        commits = " ".join(f"`{each}`" for each in dict.fromkeys(row.commit for row in kept.rows))
        days = sorted({row.when[:10] for row in kept.rows})
        loads = [row.load for row in kept.rows]
        when = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
        cells.append((f"`{name}`", commits, when, f"{min(loads):.1f} to {max(loads):.1f}"))
    if machines:
        yield "\n".join(f"- {each}" for each in dict.fromkeys(machines))
    yield table(("experiment", "commits of what was measured", "taken", "load"), cells).replace("---:", "---")
    yield (
        "The load is that of the whole machine when a row was kept; times are processor time. "
        "`python -m bench NAME` takes an experiment again, `make evidence-draw` writes this page."
    )
