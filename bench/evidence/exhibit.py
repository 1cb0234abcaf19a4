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

    def __str__(self) -> str:
        return f"{self.says}: {'yes' if self.holds else 'no'} ({self.measured})"


@dataclass(frozen=True)
class Verdict:
    """The word, a sentence with the reason, and the single checks it was told from."""

    word: Word
    sentence: str
    checks: tuple[Check, ...] = ()

    @property
    def share(self) -> str:
        """How many of several checks hold, behind the word.

        >>> judged([Check("faster", True, "2 times"), Check("smaller", False, "3 times as large")]).share
        ' (1 of 2 claims holds)'
        """
        if not self.checks:
            return ""
        holding = sum(check.holds for check in self.checks)
        return f" ({holding} of {len(self.checks)} claims hold{'s' if holding == 1 else ''})"


def judged(checks: Iterable[Check], because: str = "") -> Verdict:
    """Reproduced where every check holds; `because` explains, where one does not.

    >>> judged([Check("Lazy is faster", True, "2.1 times")])
    Verdict(word='reproduced', sentence='Lazy is faster: yes (2.1 times).', checks=())
    >>> found = judged([Check("faster", True, "2 times"), Check("smaller", False, "3 times as large")], "No.")
    >>> print(found.word, found.sentence, *found.checks, sep="; ")
    not reproduced; 1 of 2 claims does not hold. No.; faster: yes (2 times); smaller: no (3 times as large)
    """
    found = tuple(checks)
    wrong = [check for check in found if not check.holds]
    word: Word = "not reproduced" if wrong else "reproduced"
    if len(found) == 1:
        reason = f" {because}" if wrong and because else ""
        return Verdict(word, f"{found[0]}.{reason}")
    if wrong:
        does = "does" if len(wrong) == 1 else "do"
        said = f"{len(wrong)} of {len(found)} claims {does} not hold."
        return Verdict(word, f"{said} {because}".strip(), found)
    return Verdict(word, f"All {len(found)} claims hold.", found)


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
            return untold(f"The rows are not taken yet: {missing}.")


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
