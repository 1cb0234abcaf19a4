"""A table or figure of a paper, held against rows that were measured: claim, both numbers, verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import isnan, nan
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from bench.harness.kept import Kept, Row

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NEAR = 0.25
"""By which two times may differ and still be much the same."""
Word: TypeAlias = Literal["reproduced", "not reproduced", "cannot be told here"]


class NotTakenError(LookupError):
    """A row that an exhibit rests on is not in its file."""


class Results:
    """The files of a folder of figures, each read once.

    >>> Results(Path("nowhere")).rows("pruning")
    Traceback (most recent call last):
    bench.evidence.exhibit.NotTakenError: `python -m bench pruning` has not been run
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._files: dict[str, Kept] = {}

    def kept(self, experiment: str) -> Kept:
        """All that a file holds; without rows where there is no file."""
        if experiment not in self._files:
            self._files[experiment] = Kept.read(self.folder / f"{experiment}.json")
        return self._files[experiment]

    def rows(self, experiment: str) -> list[Row]:
        """The rows of an experiment, at least one."""
        found = self.kept(experiment).rows
        if not found:
            raise NotTakenError(f"`python -m bench {experiment}` has not been run")
        return found

    def row(self, experiment: str, subject: str) -> Row:
        """The row of that subject."""
        found = next((row for row in self.rows(experiment) if row.subject == subject), None)
        if found is None:
            raise NotTakenError(f"`python -m bench {experiment}` has no row “{subject}” yet")
        return found

    def value(self, experiment: str, subject: str, column: str) -> float:
        """One figure."""
        found = self.row(experiment, subject).values.get(column, nan)
        if isnan(found):
            raise NotTakenError(f"`python -m bench {experiment}` has no “{column}” of “{subject}” yet")
        return found


@dataclass(frozen=True)
class Check:
    """One thing that a paper says, whether the rows bear it out, and the figures that tell so."""

    says: str
    holds: bool
    measured: str
    because: str = ""
    """What is different here, as the end of a sentence; used where it does not hold."""

    def __str__(self) -> str:
        return f"{self.says}: {'yes' if self.holds else 'no'} ({self.measured})"

    @property
    def reason(self) -> str:
        """Why it does not hold; without a known reason, the figures.

        >>> Check("Lazy is faster", False, "0.5 times").reason
        'it was measured otherwise (lazy is faster: 0.5 times)'
        >>> Check("BLAST: reading is negligible", False, "30 %").reason
        'it was measured otherwise (BLAST: reading is negligible: 30 %)'
        """
        if self.because:
            return self.because
        # The name of a data set or an engine keeps its capitals.
        says = self.says if self.says[1:2].isupper() else self.says[0].lower() + self.says[1:]
        return f"it was measured otherwise ({says}: {self.measured})"


@dataclass(frozen=True)
class Verdict:
    """The word, why, and the single checks it was told from."""

    word: Word
    why: str = ""
    """As the end of the sentence that the word starts."""
    checks: tuple[Check, ...] = ()

    @property
    def sentence(self) -> str:
        """The word, the reason and how many of several checks hold, in one sentence.

        >>> checks = Check("faster", True, "2 times"), Check("smaller", False, "3 times", "it keeps more")
        >>> judged(checks).sentence
        '**Not reproduced**, because it keeps more (1 of 2 claims holds).'
        """
        why = f", because {self.why}" if self.why else ""
        return f"**{self.word.capitalize()}**{why}{self.share}."

    @property
    def share(self) -> str:
        """How many of several checks hold."""
        if len(self.checks) < 2:
            return ""
        holding, claims = sum(check.holds for check in self.checks), len(self.checks)
        if holding == claims:
            return f" ({'both' if claims == 2 else f'all {claims}'} claims hold)"
        if not holding:
            return f" ({'neither claim' if claims == 2 else f'none of {claims} claims'} holds)"
        return f" ({holding} of {claims} claims {'holds' if holding == 1 else 'hold'})"


def judged(checks: Iterable[Check]) -> Verdict:
    """Reproduced where every check holds; otherwise why those that do not hold do not, each reason once.

    >>> judged([Check("Lazy is faster", True, "2.1 times")]).sentence
    '**Reproduced**.'
    >>> same = "it keeps more"
    >>> judged([Check("smaller", False, "3 times", same), Check("faster", False, "half", same),
    ...         Check("lighter", False, "twice", "it is Rust")]).sentence
    '**Not reproduced**, because it keeps more, and because it is Rust (none of 3 claims holds).'
    """
    found = tuple(checks)
    reasons = dict.fromkeys(check.reason for check in found if not check.holds)
    return Verdict("not reproduced" if reasons else "reproduced", ", and because ".join(reasons), found)


def untold(reason: str) -> Verdict:
    """What cannot be told here, and why."""
    return Verdict("cannot be told here", reason)


@dataclass(frozen=True)
class Exhibit:
    """A table or figure; `chart` is drawn below what `shown` gives."""

    label: str
    """As the paper has it: "Figure 11", "Table 2", or where in the text."""
    claim: str
    """What the paper claims with it, in our words."""
    paper: str
    """Its numbers, as far as its text gives them: a table or a sentence."""
    experiments: tuple[str, ...]
    """The files in `benchmarks/results` it rests on, without their ending."""
    shown: Callable[[Results], str]
    """Our rows as MyST."""
    verdict: Callable[[Results], Verdict]
    """Told from the rows, and from nothing else."""
    chart: Callable[[Results], Figure] | None = None
    below: str = ""
    """What has to be known of our rows, below them."""

    @property
    def slug(self) -> str:
        """The name in addresses, by the rule by which headings get theirs.

        >>> Exhibit("Figure 16 (a)", "", "", (), str, lambda _: untold("")).slug
        'figure-16-a'
        >>> Exhibit("Figure 6.1", "", "", (), str, lambda _: untold("")).slug
        'figure-61'
        """
        kept = "".join(each for each in self.label.lower() if each.isalnum() or each in " -")
        return kept.replace(" ", "-")

    def told(self, results: Results) -> Verdict:
        """The verdict; rows that are missing leave it open."""
        try:
            return self.verdict(results)
        except NotTakenError as missing:
            return untold(f"rows are missing: {missing}")


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Cells under their columns; all but the first stand on the right.

    >>> print(table(("", "ms"), [("paper", "7")]))
    |  | ms |
    | --- | ---: |
    | paper | 7 |
    """
    lines = [columns, ["---"] + ["---:"] * (len(columns) - 1), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def figure(value: float) -> str:
    """Three digits, or all of a whole number.

    >>> [figure(value) for value in (0.01234, 1.234, 12.34, 123.4, 1234.5, 15823, 0.0, nan)]
    ['0.0123', '1.23', '12.3', '123', '1,234', '15,823', '0', '—']
    """
    if isnan(value):
        return "—"
    if value == 0:
        return "0"
    size = abs(value)
    places = 4 if size < 0.1 else 3 if size < 1 else 2 if size < 10 else 1 if size < 100 else 0
    text = f"{value:,.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text and value == int(value) else text


def times(value: float) -> str:
    """A factor.

    >>> times(1.234), times(12.34)
    ('×1.23', '×12.3')
    """
    return f"×{value:.2f}" if value < 10 else f"×{value:.1f}"


def listed(values: Iterable[float], shown: Callable[[float], str] = figure) -> str:
    """Figures in a row.

    >>> listed([1, 2.5])
    '1, 2.50'
    """
    return ", ".join(map(shown, values))


def rows_table(rows: Iterable[Row], columns: Sequence[str], subject: str = "") -> str:
    """Some columns of some rows as they are kept; a `*` in a subject is no emphasis.

    >>> print(rows_table([Row("blast", {"ms": 1.5, "MB": 2})], ("ms", "KB")))
    |  | ms | KB |
    | --- | ---: | ---: |
    | blast | 1.50 | — |
    """
    return table(
        (subject, *columns),
        (
            (row.subject.replace("*", "\\*"), *(figure(row.values.get(column, nan)) for column in columns))
            for row in rows
        ),
    )


def picked(experiment: str, columns: Sequence[str], *subjects: str) -> Callable[[Results], str]:
    """Shows some columns of the rows of an experiment: of these, or of all where none is named."""

    def shown(results: Results) -> str:
        rows = [results.row(experiment, each) for each in subjects] or results.rows(experiment)
        return rows_table(rows, columns)

    return shown
