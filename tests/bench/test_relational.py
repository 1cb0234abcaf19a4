"""The report on databases, drawn from figures that are made up; the experiments themselves need servers."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from xml.etree import ElementTree

import pytest

pytest.importorskip("matplotlib", reason="matplotlib is not installed")
pytest.importorskip("pyarrow", reason="pyarrow is not installed")

from bench import paper_figures, relational_paper, relational_report
from bench.harness.kept import Row
from bench.relational import DATABASES, KINDS, NUMBERS, SCHEMAS
from pathcast import Index
from tests.bench import keep_all


def made_up() -> dict[str, list[Row]]:
    times = {"batch ms": 1.0, "single ms": 2.0, "auto ms": 0.01}
    rows = {
        "relational": [
            (f"{name}, {number:,}, {schema} {kind}", times)
            for schema in SCHEMAS
            for kind in KINDS
            for number in NUMBERS
            for name in DATABASES
        ],
        "relational-paper": [
            (
                relational_paper.subject(schema, number, size),
                {"subscriptions": number, "KB": size / 1e3, "matches / document": number / 10}
                | dict.fromkeys(paper_figures.CURVES, number / 10),
            )
            for schema in SCHEMAS
            for number, size in [(1_000, 15_000), *((10_000, size) for size in relational_paper.LEVELS)]
        ],
        "relational-workloads": [
            (name, {"best ms": 7.0, "median ms": 8.0, "auto ms": 0.1}) for name in ("nitf", "alerts")
        ],
        "relational-spark": [("1,000 × 1,000,000", {"ms / document": 80.0, "auto ms": 0.1})],
    }
    return {name: [Row(subject, dict(values)) for subject, values in some] for name, some in rows.items()}


def test_one_report_has_what_every_experiment_has_kept(tmp_path: Path) -> None:
    rows = made_up()
    assert set(rows) == set(relational_report.SECTIONS)
    for name, some in rows.items():
        keep_all(some, tmp_path / f"{name}.json")
    path = relational_report.write_report(tmp_path / "relational-workloads.json", tmp_path)
    assert path == tmp_path / "relational.html"
    text = path.read_text(encoding="utf-8")
    assert text.count("<svg") == text.count("<table") == len(rows)
    assert text.count("python: 3.") == len(rows)  # each with its own machine
    for drawing in text.split("<svg")[1:]:
        ElementTree.fromstring("<svg" + drawing[: drawing.index("</svg>") + 6])


def test_curves_and_dots_are_what_was_measured() -> None:
    rows = made_up()
    curves = relational_report.lines(rows["relational"])
    assert set(curves) == {"auto"} | {f"{name}{how}" for name in DATABASES for how in ("", ", alone")}
    assert [at for at, _ in curves["PostgreSQL, alone"]] == list(NUMBERS)
    assert {value for _, value in curves["PostgreSQL, alone"]} == {2.0}
    found = relational_report.dots("relational-workloads", rows["relational-workloads"])
    assert found[:2] == [("nitf", 7.0, "DuckDB"), ("nitf, auto", 0.1, "auto")]
    assert len(found) == 4


def test_the_claims_of_the_paper_are_told_from_the_rows() -> None:
    rows = made_up()["relational-paper"]
    assert paper_figures.schemas(rows) == list(SCHEMAS)
    for schema in SCHEMAS:
        numbers, sizes = paper_figures.by_number(rows, schema), paper_figures.by_size(rows, schema)
        assert [row.values["subscriptions"] for row in numbers] == [1_000, 10_000]
        assert [row.values["KB"] for row in sizes] == [3, 15, 40, 100]
    # All documents take as long: nothing is saved, and no KB takes longer than another.
    told = [reproduced for *_, reproduced in paper_figures.claims(rows)]
    assert told == ["no", "no", "yes", "yes", "yes", "yes"]
    for row in rows:
        row.values["paper ms"] /= 2
    told = [reproduced for *_, reproduced in paper_figures.claims(rows)]
    assert told[:2] == ["yes", "yes"]


@pytest.mark.parametrize("cutting", [True, False])
def test_the_matcher_of_the_paper_answers_as_the_index_does(cutting: bool) -> None:
    pytest.importorskip("duckdb", reason="duckdb is not installed")
    pytest.importorskip("lxml", reason="lxml is not installed")
    from bench.paper_matcher import PaperMatcher
    from bench.relational import drawn_documents, drawn_subscriptions

    apart = ["/a/b[c][d]", "/a[.//d]", "//b/*/e", "/*", "//a", "/b"]
    expressions = [*apart, *drawn_subscriptions(300)]
    index = Index()
    index.add_many(enumerate(expressions))
    matcher = PaperMatcher(expressions)
    texts = [
        b"<a><b><c/></b><b><d/></b></a>",
        b"<x><a><b><c><e/></c></b></a></x>",
        *islice(drawn_documents(3_000), 2),
    ]
    for text in texts:
        matcher.publish(text)
        assert matcher.match(cutting=cutting) == sorted(index.match(text))
