"""The documentation shows the figures that are kept, and names only files that are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bench import headline
from bench.corpus import ROOT
from bench.harness.kept import Kept, Row
from tests.bench import keep_all

PAGES = headline.pages()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_shows_what_is_kept(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert headline.filled(text, headline.RESULTS) == text, "run `python -m bench --draw`"


def test_every_kept_file_is_shown_and_every_name_exists() -> None:
    # A page without tables that are put there may show figures as well.
    pages = sorted({*PAGES, *(ROOT / "docs").glob("*.md"), *(ROOT / "docs/evidence").glob("*.md")})
    text = "".join(page.read_text(encoding="utf-8") for page in pages)
    named = set(re.findall(r"benchmarks/results/([a-z-]+)\.json", text))
    kept = {path.stem for path in headline.RESULTS.glob("*.json")}
    assert kept <= named
    assert len(named - kept) == text.count(headline.NOT_TAKEN)


@pytest.mark.parametrize("path", sorted(headline.RESULTS.glob("*.json")), ids=lambda path: path.stem)
def test_a_result_names_its_machine_and_its_commit(path: Path) -> None:
    kept = Kept.read(path)
    assert kept.machine["processor"]
    for row in kept.rows:
        assert re.fullmatch(r"[0-9a-f]{10}", row.commit), row.subject
        assert row.when
        assert row.load >= 0


def test_a_table_is_filled_in_between_its_marks(tmp_path: Path) -> None:
    row = Row("nitf", {"KB": 4.0, "strict MB/s": 150.0})
    keep_all([row], tmp_path / "reader.json")
    text = "a\n<!-- table reader -->\nold\n<!-- end -->\nb\n"
    filled = headline.filled(text, tmp_path)
    assert "| nitf | 4 | — | 150 | — | — | — |" in filled
    assert "old" not in filled
    assert filled.startswith("a\n")
    assert filled.endswith("<!-- end -->\nb\n")
    assert headline.filled(filled, tmp_path) == filled
