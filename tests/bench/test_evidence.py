"""Every table and figure of the papers has an exhibit that rests on a file, and its verdict on rows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random

import pytest

pytest.importorskip("matplotlib", reason="matplotlib is not installed")

from bench.__main__ import EXPERIMENTS
from bench.corpus import corpus_schema
from bench.evidence import pages
from bench.evidence.exhibit import Exhibit, NotTakenError, Results
from bench.harness.kept import Kept, Row

NUMBERED = {
    "routing": {"Table": 3, "Figure": 5},
    "xtrie": {"Table": 4, "Figure": 24},
    "relational": {"Table": 4, "Figure": 6},
    "predicate": {"Table": 1, "Figure": 10},
    "schema": {"Table": 5, "Figure": 5},
}
"""By paper: how many tables and figures it has, those that measure nothing included."""
PAPERS: dict[str, list[str]] = {
    "routing": ["Table 1", "Figure 3", "Figure 4", "Table 2", "Figure 5", "Table 3", "Covering example"],
    "xtrie": ["Figure 2", "Table 3", "Table 4", *(f"Figure {number}" for number in range(11, 19))],
    "relational": ["Figure 6.1", "Figure 6.2"],
    "predicate": [
        *(f"Figure {number}" for number in range(6, 11)),
        "Distinct predicates",
        "More descendants",
        "Nested paths",
    ],
    "schema": [
        "Table 1",
        "Table 2",
        "Table 3",
        "Size of the PMA",
        "Figure 5",
        "Table 4",
        "Table 5",
        "Leading descendants",
        "Unpruned filters",
        "Filters that are too deep",
        "Value predicates",
        "Throughput on large documents",
        "Lazy DFA",
        "Bounds on pruning",
        "Two passes",
    ],
}
"""By paper: tables and figures of its experimental section, as it numbers them, and what its text adds."""
ALL = [(name, exhibit) for name, paper in pages.PAPERS.items() for exhibit in paper.EXHIBITS]
each_exhibit = pytest.mark.parametrize(
    "exhibit", [exhibit for _, exhibit in ALL], ids=[f"{name}-{exhibit.slug}" for name, exhibit in ALL]
)


TAKEN = Results(pages.RESULTS)


class Distorted(Results):
    """The same rows with figures up to a thousand times smaller or larger; no becomes yes, and yes no."""

    def __init__(self, seed: int) -> None:
        super().__init__(TAKEN.folder)
        self._seed = seed

    def kept(self, experiment: str) -> Kept:
        if experiment not in self._files:
            found = TAKEN.kept(experiment)
            random = Random(f"{self._seed} {experiment}")

            def other(value: float) -> float:
                factor = 10 ** random.uniform(-3, 3)
                return random.choice((0.0, 1.0, factor)) if value in {0.0, 1.0} else value * factor

            rows = [
                Row(row.subject, {name: other(value) for name, value in row.values.items()})
                for row in found.rows
            ]
            self._files[experiment] = Kept(found.path, rows, found.machine)
        return self._files[experiment]


OTHERS = [Distorted(seed) for seed in range(60)]


def told(exhibit: Exhibit, results: Results) -> tuple[object, ...]:
    verdict = exhibit.told(results)
    return verdict.word, verdict.why, verdict.checks


def others(exhibit: Exhibit) -> Iterator[tuple[object, ...]]:
    for results in OTHERS:
        yield told(exhibit, results)


@pytest.mark.parametrize("paper", PAPERS)
def test_every_table_and_figure_is_there(paper: str) -> None:
    labels = [exhibit.label for exhibit in pages.PAPERS[paper].EXHIBITS]
    assert [label for label in PAPERS[paper] if label not in labels] == []
    assert len(set(labels)) == len(labels)


@pytest.mark.parametrize("paper", NUMBERED)
def test_every_number_is_an_exhibit_or_has_no_measurements(paper: str) -> None:
    module = pages.PAPERS[paper]
    wanted = [(kind, number) for kind, most in NUMBERED[paper].items() for number in range(1, most + 1)]
    labels = [
        *dict.fromkeys(exhibit.label.partition(".")[0] for exhibit in module.EXHIBITS),
        *module.UNMEASURED,
    ]
    assert sorted(each for label in labels for each in numbered(label)) == sorted(wanted)


def numbered(label: str) -> Iterator[tuple[str, int]]:
    kind = label.partition(" ")[0].removesuffix("s")
    for first, last in re.findall(r"(\d+)(?: to (\d+))?", label):
        yield from ((kind, number) for number in range(int(first), int(last or first) + 1))


@each_exhibit
def test_an_exhibit_rests_on_experiments(exhibit: Exhibit) -> None:
    assert exhibit.claim.endswith(".")
    assert exhibit.paper
    assert set(exhibit.experiments) <= set(EXPERIMENTS)
    verdict = exhibit.told(TAKEN)
    if verdict.word != "cannot be told here":
        assert exhibit.experiments
    assert all((pages.RESULTS / f"{name}.json").is_file() for name in exhibit.experiments)
    assert not verdict.why.startswith("rows are missing")


@each_exhibit
def test_a_verdict_is_one_sentence_with_a_reason(exhibit: Exhibit) -> None:
    verdict = exhibit.told(TAKEN)
    sentence = verdict.sentence
    assert sentence.startswith(f"**{verdict.word.capitalize()}**")
    assert sentence.endswith(".")
    assert ". " not in sentence, "more than one sentence"
    if verdict.word == "reproduced":
        assert "because" not in sentence
        assert verdict.checks
    else:
        assert f"**{verdict.word.capitalize()}**, because " in sentence
    silent = [check.says for check in verdict.checks if not check.holds and not check.because]
    assert silent == [], "a claim that does not hold, without a reason"


@each_exhibit
def test_a_verdict_is_told_from_rows(exhibit: Exhibit, tmp_path: Path) -> None:
    """Without rows it is open, and with other figures it is another one."""
    found = told(exhibit, TAKEN)
    assert exhibit.told(Results(tmp_path)).word == "cannot be told here"
    if found[0] != "cannot be told here":
        assert any(other != found for other in others(exhibit))
        assert {word for word, *_ in others(exhibit)} != {"cannot be told here"}


@each_exhibit
def test_a_claim_that_holds_may_fail(exhibit: Exhibit) -> None:
    """No claim is true whatever was measured: each that holds does not with some other figures."""
    holding = {check.says for check in exhibit.told(TAKEN).checks if check.holds}
    failing = {check.says for some in OTHERS for check in exhibit.told(some).checks if not check.holds}
    assert holding - failing == set()


@each_exhibit
def test_what_is_shown_is_what_is_kept(exhibit: Exhibit, tmp_path: Path) -> None:
    if exhibit.experiments:
        with pytest.raises(NotTakenError):
            exhibit.shown(Results(tmp_path))


@pytest.mark.skipif(corpus_schema("xmark") is None, reason="the DTDs are not beside the checkout")
def test_a_page_says_how_large_its_schemas_are() -> None:
    said = " ".join((pages.PAPERS["schema"].__doc__ or "").split())
    for name, words, cycles in (("blast", "NCBI BLAST", ","), ("xmark", "XMark", ", 5 of them in cycles,")):
        schema = corpus_schema(name)
        assert schema is not None
        arcs = sum(len(schema.children(each)) for each in schema.elements)
        assert f"{words} ({len(schema.elements)} elements with {arcs} arcs{cycles}" in said
        assert len(schema.recursive) == (5 if "cycles" in cycles else 0)


@cache
def drawn() -> dict[Path, str]:
    return pages.drawn()


@pytest.mark.parametrize("paper", pages.PAPERS)
def test_a_page_says_machine_commit_load_and_how_to_run_it_again(paper: str) -> None:
    text = drawn()[pages.PAGES / f"{paper}.md"]
    assert re.search(r"^- processor: .+; cores: \d+; system: .+; python: ", text, re.MULTILINE)
    commits, day = r"`[0-9a-f]{10}`(?: `[0-9a-f]{10}`)*", r"\d{4}-\d\d-\d\d"
    load = r"\d+\.\d to \d+\.\d"
    for name in {name for exhibit in pages.PAPERS[paper].EXHIBITS for name in exhibit.experiments}:
        assert re.search(
            rf"^\| `{name}` \| {commits} \| {day}(?: to {day})? \| {load} \|$", text, re.MULTILINE
        )
        assert re.search(rf"`python -m bench [^`]*\b{name}\b", text)


def test_the_pages_are_what_the_figures_give() -> None:
    for path, text in drawn().items():
        assert path.read_text(encoding="utf-8") == text, "run `make evidence-draw`"
    kept = {*pages.PAGES.glob("*"), *pages.IMAGES.glob("*")}
    assert kept == set(drawn()), "a page or chart that nothing draws"
