"""The statistics of a gate, in closed form: the same values give the same figures everywhere.

A p-value is that of a permutation test: were the two versions equal, the labels of a pair (or of
all units) could be exchanged. Its distribution is not drawn but computed by a saddlepoint (J.
Robinson, "Saddlepoint approximations for permutation tests", JRSS B 44, 1982; I. Skovgaard,
"Saddlepoint expansions for conditional distributions", J. Appl. Prob. 24, 1987).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean, variance
from typing import Final

NORMAL: Final = NormalDist()
_SIDES: Final = NORMAL.inv_cdf(0.975)
_POWER: Final = NORMAL.inv_cdf(0.8)
_STEPS: Final = 200
"""Newton steps at most; ten are usual."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a measure is of each version. ``change`` is the head less the base, with its 95 %
    interval; ``p`` is the chance of so much worsening, beyond the tolerance, by luck."""

    base: float
    head: float
    change: float
    low: float
    high: float
    error: float
    """The standard error of ``change``."""
    p: float

    def detectable(self, level: float) -> float:
        """The change that a one-sided test of this level finds in 80 % of all comparisons."""
        return (NORMAL.inv_cdf(1 - level) + _POWER) * self.error


def paired(
    pairs: Sequence[tuple[float, float]], worse: int, tolerance: Callable[[float], float]
) -> Estimate:
    """The estimate of pairs of base and head, at least two. ``worse`` is 1 where a greater value is
    worse, else -1; ``tolerance`` is how much worse than a base's value a head may be."""
    changes = [head - base for base, head in pairs]
    size, change = len(pairs), fmean(changes)
    bases, heads = fmean(base for base, _ in pairs), fmean(head for _, head in pairs)
    p = sign_flips([worse * (head - base) - tolerance(base) for base, head in pairs])
    kinds = Counter(pairs)
    if all(value in (0, 1) for pair in kinds for value in pair):
        cells = (kinds[1, 1], kinds[1, 0], kinds[0, 1], kinds[0, 0])
        low, high = _newcombe(heads, size, bases, size, _phi(*cells))
        # Half a pair more in each cell: A. Agresti, Y. Min, Statistics in Medicine 24, 2005.
        gained, lost, all_ = cells[2] + 0.5, cells[1] + 0.5, size + 2
        error = math.sqrt(gained + lost - (gained - lost) ** 2 / all_) / all_
        return Estimate(bases, heads, change, low, high, error, round(p, 9))
    error = math.sqrt(variance(changes) / size)
    half = _student(size - 1) * error
    return Estimate(bases, heads, change, change - half, change + half, error, round(p, 9))


def unpaired(
    base: Sequence[float], head: Sequence[float], worse: int, tolerance: Callable[[float], float]
) -> Estimate:
    """The estimate of units that have no partner, at least two of each version. Else as
    ``paired``."""
    bases, heads, sizes = fmean(base), fmean(head), (len(base), len(head))
    change = heads - bases
    p = exchanges([worse * one + tolerance(one) for one in base], [worse * one for one in head])
    if all(value in (0, 1) for value in {*base, *head}):
        low, high = _newcombe(heads, sizes[1], bases, sizes[0])
        # Two units more of each: A. Agresti, B. Caffo, The American Statistician 54, 2000.
        more = [((sum(each) + 1) / (len(each) + 2), len(each) + 2) for each in (base, head)]
        error = math.sqrt(sum(share * (1 - share) / size for share, size in more))
        return Estimate(bases, heads, change, low, high, error, round(p, 9))
    parts = [variance(each) / len(each) for each in (base, head)]
    error = math.sqrt(sum(parts))
    freedom = [part**2 / (size - 1) for part, size in zip(parts, sizes, strict=True)]
    half = _student(sum(parts) ** 2 / sum(freedom)) * error if error else 0.0
    return Estimate(bases, heads, change, change - half, change + half, error, round(p, 9))


def holm(chances: Sequence[float], level: float) -> list[bool]:
    """Which tests of several alarm, if equal versions may give any alarm at this rate (S. Holm,
    Scand. J. Stat. 6, 1979)."""
    alarms = [False] * len(chances)
    for place, at in enumerate(sorted(range(len(chances)), key=chances.__getitem__)):
        if chances[at] > level / (len(chances) - place):
            break
        alarms[at] = True
    return alarms


def sign_flips(changes: Sequence[float]) -> float:
    """The chance of a sum at least as great as this one, were each sign as likely as the other; 1
    where the sum is not above that chance's middle."""
    sizes = Counter(abs(one) for one in changes if one)
    most, step = math.fsum(sizes.elements()), _step(sizes)
    total = math.fsum(changes)
    above = (total - step) / 2
    if above <= 0:
        return 1.0
    if total >= most:  # as great as can be
        return 0.5 ** sizes.total()
    return _tail(sizes, above + most / 2, None)


def exchanges(base: Sequence[float], head: Sequence[float]) -> float:
    """The chance of a sum of the head's units at least as great as this one, were any choice of as
    many of all units as likely as another; else as ``sign_flips``."""
    every, total = sorted((*base, *head)), math.fsum(head)
    centre, values = fmean(every), Counter(every)
    step = _step(values)
    above = total - step / 2 - len(head) * centre
    if above <= 0:
        return 1.0
    if total >= math.fsum(every[len(base) :]):  # as great as can be
        least = every[len(base)]
        taken = math.comb(values[least], sum(1 for one in head if one == least))
        return taken / math.comb(len(every), len(head))
    centred = Counter({value - centre: n for value, n in values.items()})
    return _tail(centred, above, len(head))


def _tail(values: Counter[float], wanted: float, chosen: int | None) -> float:
    """The chance that chosen values have at least this sum: so many of all, or each with even
    chance. By the formula of R. Lugannani and S. Rice, Adv. Appl. Prob. 12, 1980."""
    size = values.total()
    share = 0.5 if chosen is None else chosen / size
    odds, none = math.log(share / (1 - share)), math.log1p(-share)

    def exponent(t: float, u: float) -> tuple[float, ...]:
        """The exponent, its slopes by t and u, its curvatures tt, tu and uu."""
        value, by_t, by_u, tt, tu, uu = -t * wanted - u * size * share, -wanted, 0.0, 0.0, 0.0, 0.0
        for one, n in values.items():
            at = odds + u + t * one
            value += n * (none + max(at, 0.0) + math.log1p(math.exp(-abs(at))))
            part = 0.5 * (1 + math.tanh(at / 2))
            by_t, by_u, spread = by_t + n * one * part, by_u + n * part, n * part * (1 - part)
            tt, tu, uu = tt + spread * one * one, tu + spread * one, uu + spread
        if chosen is None:
            return value, by_t, 0.0, tt, 0.0, 1.0
        return value, by_t, by_u - chosen, tt, tu, uu

    t = u = 0.0
    start = here = exponent(t, u)
    if not start[3]:
        return 1.0  # all values are the same
    for _ in range(_STEPS):
        value, by_t, by_u, tt, tu, uu = here
        if (area := tt * uu - tu * tu) <= 0:
            break
        step_t, step_u, part = (uu * by_t - tu * by_u) / area, (tt * by_u - tu * by_t) / area, 1.0
        # Halved until it leads down: the exponent is convex.
        while (there := exponent(t - part * step_t, u - part * step_u))[0] > value and part > 1e-9:
            part /= 2
        if value - there[0] < 1e-12:
            break
        t, u, here = t - part * step_t, u - part * step_u, there
    value, _, _, tt, tu, uu = here
    distance = math.copysign(math.sqrt(max(-2 * value, 0.0)), t)
    scaled = t * math.sqrt(max(tt * uu - tu * tu, 0.0) / start[5])
    if abs(distance) < 1e-3 or not scaled:
        return 0.5
    upper = NORMAL.cdf(-distance) + NORMAL.pdf(distance) * (1 / scaled - 1 / distance)
    return min(max(upper, 0.0), 1.0)


def _step(values: Counter[float]) -> float:
    """The distance of neighbouring sums: that of whole numbers; of others it is nearly nothing."""
    if not all(float(one).is_integer() for one in values):
        return 0.0
    first = next(iter(values), 0)
    return float(math.gcd(*(int(one - first) for one in values), int(first)))


def _student(freedom: float) -> float:
    """Student's t for a 95 % interval (D. Wallace, Ann. Math. Stat. 30, 1959)."""
    scaled = _SIDES * (8 * freedom + 3) / (8 * freedom + 1)
    return math.sqrt(freedom * math.expm1(scaled**2 / freedom))


def _wilson(share: float, size: int) -> tuple[float, float]:
    """The 95 % interval of a share (E. Wilson, J. Amer. Stat. Assoc. 22, 1927)."""
    z = _SIDES**2 / size
    half = math.sqrt(z * share * (1 - share) + z * z / 4)
    return (share + z / 2 - half) / (1 + z), (share + z / 2 + half) / (1 + z)


def _newcombe(
    head: float, heads: int, base: float, bases: int, phi: float = 0.0
) -> tuple[float, float]:
    """The 95 % interval of a difference of shares, paired if ``phi`` is their correlation (R.
    Newcombe, Statistics in Medicine 17, 1998: method 10 of each of the two articles)."""
    (low1, high1), (low2, high2) = _wilson(head, heads), _wilson(base, bases)
    down, up = (head - low1, high2 - base), (high1 - head, base - low2)
    below, above = (
        math.sqrt(max(one * one - 2 * phi * one * other + other * other, 0.0))
        for one, other in (down, up)
    )
    return head - base - below, head - base + above


def _phi(both: int, base: int, head: int, neither: int) -> float:
    """The correlation of pairs, corrected for continuity as Newcombe does."""
    sides = (both + base) * (head + neither) * (both + head) * (base + neither)
    if not sides:
        return 0.0
    size, found = both + base + head + neither, both * neither - base * head
    return (max(found - size / 2, 0.0) if found > 0 else found) / math.sqrt(sides)
