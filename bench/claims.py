"""What the paper on XTrie says of its figures, held against measured curves: so here, or not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf

Curves = Mapping[str, Sequence[tuple[float, float]]]
"""By name: points, with what varies and what was measured."""


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, and how the curves tell whether it is so, with the figures for it."""

    says: str
    told: Callable[[Curves], tuple[bool, str]]
    because: str = ""
    """What is different here, as the end of a sentence; used where it is not so."""


@dataclass(frozen=True)
class Verdict:
    """A claim beside what was measured."""

    says: str
    reproduces: bool
    measured: str
    because: str = ""

    def __str__(self) -> str:
        word = "Reproduces" if self.reproduces else "Does not reproduce"
        return f"{word}: {self.says} ({self.measured})."


def verdicts(figure: str, curves: Curves) -> list[Verdict]:
    """The paper's claims on a figure, each told from its curves; what has no curve is not told.

    >>> curves = {"xtrie": [(10, 2.0), (20, 4.2)], "xtrie-lazy": [(10, 1.0), (20, 1.9)],
    ...           "xfilter": [(10, 9.0), (20, 30.0)], "xfilter-lb": [(10, 9.0), (20, 17.0)]}
    >>> print(*verdicts("13b", curves), sep="\\n")
    Does not reproduce: linear in the number of tags (×2: xfilter ×3.3, xfilter-lb ×1.9, xtrie ×2.1, \
xtrie-lazy ×1.9; 0 % off).
    Does not reproduce: list balancing is of no use in long documents (xfilter-lb takes 0.57 times as much \
as xfilter).
    """
    found = []
    curves = {name: sorted(points) for name, points in curves.items()}
    for claim in CLAIMS.get(figure, ()):
        try:
            reproduces, measured = claim.told(curves)
        except KeyError:  # a curve has not been measured yet
            continue
        found.append(Verdict(claim.says, reproduces, measured, claim.because))
    return found


def _rise(curves: Curves, name: str) -> float:
    """How the last point stands to the first."""
    return curves[name][-1][1] / curves[name][0][1]


def _beside(curves: Curves, name: str, other: str) -> float:
    """How two curves stand at the last point."""
    return curves[name][-1][1] / curves[other][-1][1]


def off_line(points: Sequence[tuple[float, float]]) -> float:
    """How far the points are off the straight line that fits them best, as a share of the last.

    >>> off_line([(1, 3.0), (2, 5.0), (4, 9.0)])
    0.0
    """
    count = len(points)
    mean_at, mean = sum(at for at, _ in points) / count, sum(value for _, value in points) / count
    spread = sum((at - mean_at) ** 2 for at, _ in points)
    slope = sum((at - mean_at) * (value - mean) for at, value in points) / spread
    return max(abs(value - mean - slope * (at - mean_at)) for at, value in points) / points[-1][1]


def _steep(points: Sequence[tuple[float, float]]) -> bool:
    """Whether the last point stands to the first by half more than what varies: faster than linearly."""
    return points[-1][1] / points[0][1] > 1.5 * points[-1][0] / points[0][0]


def is_straight(points: Sequence[tuple[float, float]]) -> bool:
    """On a line, give or take a tenth of the last value, that may start above nothing but not far below.

    >>> is_straight([(1, 3.0), (2, 5.0), (4, 9.0)]), is_straight([(1, 1.0), (2, 4.0), (4, 10.0)])
    (True, False)
    """
    return off_line(points) <= 0.1 and not _steep(points)


def _linear(*names: str) -> Callable[[Curves], tuple[bool, str]]:
    """All are straight."""

    def told(curves: Curves) -> tuple[bool, str]:
        ends = [at for at, _ in curves[names[0]]]
        rises = {name: _rise(curves, name) for name in names}
        text = ", ".join(f"{name} ×{rise:.1f}" for name, rise in rises.items())
        off = max(off_line(curves[name]) for name in names)
        so = all(is_straight(curves[name]) for name in names)
        return so, f"×{ends[-1] / ends[0]:.3g}: {text}; {100 * off:.0f} % off"

    return told


def _rises(bounds: Mapping[str, tuple[float, float]]) -> Callable[[Curves], tuple[bool, str]]:
    """From the first point to the last by a factor within bounds."""

    def told(curves: Curves) -> tuple[bool, str]:
        rises = {name: _rise(curves, name) for name in bounds}
        so = all(low <= rises[name] <= high for name, (low, high) in bounds.items())
        return so, ", ".join(f"{name} ×{rise:.2f}" for name, rise in rises.items())

    return told


def _more(name: str, *others: str, most: float = inf) -> Callable[[Curves], tuple[bool, str]]:
    """One rises, and more than others do, by a factor of at most so much."""

    def told(curves: Curves) -> tuple[bool, str]:
        rises = {each: _rise(curves, each) for each in (name, *others)}
        so = rises[name] >= SLOWER[0] and all(1 < rises[name] / rises[other] <= most for other in others)
        return so, ", ".join(f"{each} ×{rise:.2f}" for each, rise in rises.items())

    return told


def _times(name: str, other: str, least: float, most: float = inf) -> Callable[[Curves], tuple[bool, str]]:
    """One stands to another at the last point by a factor within bounds."""

    def told(curves: Curves) -> tuple[bool, str]:
        factor = _beside(curves, name, other)
        return least <= factor <= most, f"{name} takes {factor:.2f} times as much as {other}"

    return told


def _slightly(name: str, other: str) -> Callable[[Curves], tuple[bool, str]]:
    """One takes less than another at the last point, but no less than two thirds of it."""
    return _times(name, other, 2 / 3, 1.0)


def _steeper(name: str) -> Callable[[Curves], tuple[bool, str]]:
    """It rises by half more than what varies."""

    def told(curves: Curves) -> tuple[bool, str]:
        span = curves[name][-1][0] / curves[name][0][0]
        return _steep(curves[name]), f"×{span:.3g}: {name} ×{_rise(curves, name):.1f}"

    return told


def _less(*names: str) -> Callable[[Curves], tuple[bool, str]]:
    """They change by a smaller factor than XFilter does, up or down."""

    def told(curves: Curves) -> tuple[bool, str]:
        rises = {name: _rise(curves, name) for name in ("xfilter", *names)}
        factors = {name: max(rise, 1 / rise) for name, rise in rises.items()}
        so = all(factors[name] < factors["xfilter"] for name in names)
        return so, ", ".join(f"{name} ×{rise:.2f}" for name, rise in rises.items())

    return told


def _levels_off(*names: str) -> Callable[[Curves], tuple[bool, str]]:
    """The last stretch is at most half as steep as the first; a logarithm's would be a seventh as steep."""

    def told(curves: Curves) -> tuple[bool, str]:
        shares = {}
        for name in names:
            slopes = [
                (after[1] - before[1]) / (after[0] - before[0]) for before, after in pairwise(curves[name])
            ]
            shares[name] = slopes[-1] / slopes[0]
        text = ", ".join(f"{name} ×{share:.2f}" for name, share in shares.items())
        return all(share <= 0.5 for share in shares.values()), f"from the first slope to the last {text}"

    return told


def _exponential(name: str) -> Callable[[Curves], tuple[bool, str]]:
    """Each further stretch of the same length multiplies it by no less than the one before, give or take a "
    "tenth."""

    def told(curves: Curves) -> tuple[bool, str]:
        points = curves[name][1:]  # the first point stands nearer to the second than those to each other
        if len(points) < 3:
            raise KeyError(name)
        factors = [after[1] / before[1] for before, after in pairwise(points)]
        step = points[1][0] - points[0][0]
        shown = ", ".join(f"×{factor:.2f}" for factor in factors)
        return factors[-1] >= 0.9 * factors[0] > 0.9, f"{shown} for each further {step:,.0f}"

    return told


def _faster(curves: Curves) -> tuple[bool, str]:
    factor = _beside(curves, "xtrie", "xtrie-lazy")
    return 1.5 <= factor <= 4, f"{factor:.1f} times"


def _order(name: str) -> Callable[[Curves], tuple[bool, str]]:
    """XFilter takes five times as much or more."""

    def told(curves: Curves) -> tuple[bool, str]:
        plain, balanced = (_beside(curves, each, name) for each in ("xfilter", "xfilter-lb"))
        return plain >= 5, f"{plain:.1f} times, with list balancing {balanced:.1f}"

    return told


def _gains(curves: Curves) -> tuple[bool, str]:
    eager, lazy = (_beside(curves, f"{name} maximal", f"{name} simple") for name in ("xtrie", "xtrie-lazy"))
    return eager > lazy, f"eager {eager:.1f} times, lazy {lazy:.1f}"


def _balanced(curves: Curves) -> tuple[bool, str]:
    factor = _beside(curves, "xfilter", "xfilter-lb")
    return factor >= 1.1, f"{factor:.1f} times"


SLOWER, BETTER, LESS = (1.1, inf), (0.5, 1.0), (0.0, 0.99)
BOTH = ("xtrie", "xtrie-lazy")
FILTERS = ("xfilter", "xfilter-lb")
ALL = (*FILTERS, *BOTH)
SHARED = (
    "expressions share here what the paper keeps for each, so eager has less to do, and lazy, which asks "
    "upwards from each leaf, loses its lead"
)
BOUNDED = "our XFilter tries no candidate that cannot match, so long lists cost it less than the paper's"
CACHES = "what one expression costs changes with the size of the set here, so curves bend"
FOUND = "long documents repeat paths, and what was found once is not followed again, so curves bend down"
SUBTREES = (
    "in any order equal subtrees of all patterns are one here, while in the given order each pattern has "
    "states of its own, which reverses the paper's comparison"
)
NAMES = (
    "our ten DTDs have some 850 element names where the paper's have more than 5,000, and the candidates "
    "that a document meets grow with the expressions"
)
PIVOTS = "with more wildcards a path has fewer names, among which list balancing has less to choose"
INSTANCES = (
    "the lists of our XFilter grow only in proportion to the expressions, and a branch or pattern that was "
    "found in a document is not tried again there"
)
UNEVEN = (
    "single documents of SMIL, one of the ten DTDs, take our XFilter many times as long as all others, and a "
    "round has only a few of them"
)
TABLES = "eager and lazy keep the same trie and tables here, which are nearly all of their memory"
MET = "deeper expressions are met more rarely, and engines here follow only what is met"
CHAINS = "XTrie's chains and lineages, which make it fast here, are paid for with memory"
PATHS = (
    Claim("XTrie is linear in the number of expressions", _linear(*BOTH), CACHES),
    Claim("lazy is 2 to 3 times faster than eager (1.5 to 4 count)", _faster, SHARED),
    Claim("XFilter is almost an order slower than eager (5 times count)", _order("xtrie"), BOUNDED),
    Claim("XFilter is almost an order slower than lazy (5 times count)", _order("xtrie-lazy"), SHARED),
)
EAGER, LAZY = ("xtrie", "xtrie ordered"), ("xtrie-lazy", "xtrie-lazy ordered")
TREES = (
    Claim("XTrie is linear in the number of expressions", _linear(*EAGER, *LAZY), CACHES),
    Claim("any order takes longer than in order, eager", _times(*EAGER, 1.05), SUBTREES),
    Claim("any order takes longer than in order, lazy", _times(*LAZY, 1.05), SUBTREES),
    Claim("XFilter takes longer", _times("xfilter-trees", "xtrie", 1.05)),
)
STARS_ON_TREES = (
    Claim("XTrie slows down", _rises(dict.fromkeys((*EAGER, *LAZY), SLOWER)), SHARED),
    Claim("eager more than lazy, in any order", _more("xtrie", "xtrie-lazy"), SHARED),
    Claim("eager more than lazy, in order", _more("xtrie ordered", "xtrie-lazy ordered"), SHARED),
)
TAGS = (
    Claim("linear in the number of tags", _linear(*ALL), FOUND),
    Claim("list balancing is of no use in long documents", _times("xfilter-lb", "xfilter", 0.95)),
)
CLAIMS: Mapping[str, Sequence[Claim]] = {
    "11a": (*PATHS, Claim("XFilter's time grows logarithmically", _levels_off(*FILTERS), NAMES)),
    "11b": (
        *PATHS,
        Claim("XFilter is linear in the number of expressions", _linear(*FILTERS), CACHES),
        Claim("list balancing makes XFilter faster", _balanced, BOUNDED),
    ),
    "12a": (
        *TREES,
        Claim(
            "eager is slightly ahead of lazy, in order",
            _slightly("xtrie ordered", "xtrie-lazy ordered"),
            SHARED,
        ),
        Claim("eager is slightly ahead of lazy, in any order", _slightly("xtrie", "xtrie-lazy"), SHARED),
        Claim("XFilter is linear in the number of expressions", _linear("xfilter-trees"), UNEVEN),
    ),
    "12b": (
        *TREES,
        Claim(
            "lazy is slightly ahead of eager, in order",
            _slightly("xtrie-lazy ordered", "xtrie ordered"),
            SHARED,
        ),
        Claim("lazy is slightly ahead of eager, in any order", _slightly("xtrie-lazy", "xtrie"), SHARED),
        Claim("XFilter's time grows faster than linearly", _steeper("xfilter-trees")),
        Claim("XFilter's time grows exponentially", _exponential("xfilter-trees"), INSTANCES),
        Claim(
            "XFilter is two orders slower (50 times count)", _times("xfilter-trees", "xtrie", 50), INSTANCES
        ),
    ),
    "13a": TAGS,
    "13b": TAGS,
    "14a": (
        Claim("XTrie is linear in the number of tags", _linear(*EAGER, *LAZY), FOUND),
        Claim("XFilter is linear in the number of tags", _linear("xfilter-trees"), UNEVEN),
    ),
    "14b": (
        Claim("XTrie is linear in the number of tags", _linear(*EAGER, *LAZY), FOUND),
        Claim(
            "XFilter is off the chart (10 times as slow as XTrie count)",
            _times("xfilter-trees", "xtrie", 10),
            INSTANCES,
        ),
    ),
    "15a": (
        Claim("long substrings win, eager", _times("xtrie maximal", "xtrie simple", 1.1), SHARED),
        Claim("long substrings win, lazy", _times("xtrie-lazy maximal", "xtrie-lazy simple", 1.1), SHARED),
        Claim(
            "they win more for eager than for lazy",
            _gains,
            "eager tries a substring that many expressions share once for all of them, while "
            "lazy asks upwards from each leaf, through more substrings when each is a single element",
        ),
    ),
    "15b": (
        Claim(
            "the form for single paths wins, eager", _times("xtrie trees", "xtrie single paths", 1.1), SHARED
        ),
        Claim("it wins, lazy", _times("xtrie-lazy trees", "xtrie-lazy single paths", 1.1), SHARED),
    ),
    "16a": (
        Claim("XTrie slows down with more wildcards", _rises(dict.fromkeys(BOTH, SLOWER)), SHARED),
        Claim("eager more than lazy", _more(*BOTH), SHARED),
        Claim("XFilter gets slightly faster", _rises({"xfilter": BETTER}), BOUNDED),
        Claim("XFilter with list balancing gets slightly faster", _rises({"xfilter-lb": BETTER}), PIVOTS),
    ),
    "16b": (
        Claim("all slow down with more //", _rises(dict.fromkeys(ALL, SLOWER)), BOUNDED),
        Claim(
            "XTrie a little more than XFilter (up to 1.5 times count)",
            _more("xtrie", "xfilter", most=1.5),
            "without `//` XTrie is an order ahead of XFilter, so it has more to lose",
        ),
        Claim("eager more than lazy", _more(*BOTH), SHARED),
    ),
    "16c": STARS_ON_TREES,
    "16d": STARS_ON_TREES,
    "17a": (
        Claim("all slow down with depth", _rises(dict.fromkeys(ALL, SLOWER)), MET),
        Claim("XFilter most", _more("xfilter", *BOTH), MET),
        Claim("list balancing makes that less", _more("xfilter", "xfilter-lb"), MET),
    ),
    "17b": (
        Claim(
            "XFilter gains sharply with skew (half the time counts)", _rises({"xfilter": (0.0, 0.5)}), BOUNDED
        ),
        Claim("with list balancing and in XTrie it changes less", _less("xfilter-lb", "xtrie"), SHARED),
        Claim("lazy gains", _rises({"xtrie-lazy": (0.0, 0.9)}), SHARED),
    ),
    "18a": (
        Claim("XTrie needs less memory than XFilter", _times("xtrie", "xfilter", 0, 1), CHAINS),
        Claim("lazy needs less than eager", _times("xtrie-lazy", "xtrie", *LESS), TABLES),
        Claim("XFilter needs less with list balancing", _times("xfilter-lb", "xfilter", *LESS), BOUNDED),
    ),
    "18b": (
        Claim("XTrie needs less memory than XFilter", _times("xtrie", "xfilter-trees", 0, 1), CHAINS),
        Claim("lazy needs less than eager", _times("xtrie-lazy", "xtrie", *LESS), TABLES),
    ),
}
