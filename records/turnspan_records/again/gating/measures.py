"""What a gate measures of runs, and how it puts those of two versions together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache
from itertools import combinations, product
from statistics import fmean
from typing import Final, Literal

from turnspan_records.again.gating.figures import RunFigures

Unit = Literal["share", "usd", "seconds", "count", "score", "distance"]
COMPLETION: Final = "completion"
TOOL_ORDER: Final = "tool_order"
_DURATION: Final = "duration"
IF_NAMED: Final = (TOOL_ORDER, _DURATION)
"""Measures that are shown, and tested only for who names them."""
STOP: Final = "stop:"
SCORE: Final = "score:"
_TRIES: Final = 5
"""Runs of a case whose tools are compared."""


@dataclass(frozen=True, slots=True)
class Measure:
    """One figure of a run; ``worse`` is 1 where a greater value is worse, else -1."""

    name: str
    unit: Unit
    worse: int
    value: Callable[[RunFigures], float | None]

    def bound(self, amount: float, relative: bool) -> Callable[[float], float]:
        """How much worse a head may be than a base's value, for an amount or a part of it. Of
        shares and distances a part is of the whole: points."""
        if relative and self.unit not in ("share", "distance"):
            return lambda base: amount * abs(base)
        return lambda _base: amount


_USUAL: Final = (
    Measure(COMPLETION, "share", -1, lambda run: float(run.end == "completed")),
    Measure("tool_failures", "count", 1, lambda run: float(run.tool_failures)),
    Measure("loops", "share", 1, lambda run: float(run.loops)),
    Measure("rounds", "count", 1, lambda run: float(run.rounds)),
    Measure("cost", "usd", 1, lambda run: run.cost_usd),
    Measure(_DURATION, "seconds", 1, lambda run: run.seconds),
    Measure(TOOL_ORDER, "distance", 1, lambda _run: None),
)
NAMES: Final = (*(one.name for one in _USUAL), f"{STOP}REASON", f"{SCORE}NAME")
"""The measures by name."""


def known(name: str) -> bool:
    """Whether a measure can have this name."""
    named = name.startswith((STOP, SCORE)) and name not in (STOP, SCORE, f"{STOP}completed")
    return named or name in NAMES[:-2]


def measures(runs: Sequence[RunFigures], named: Set[str] = frozenset()) -> list[Measure]:
    """The measures of these runs: with each stop reason but ``completed``, each score, and those
    that are named."""
    ends = {f"{STOP}{run.end}" for run in runs if run.end != "completed"}
    scores = {f"{SCORE}{name}" for run in runs for name in run.scores}
    ends |= {name for name in named if name.startswith(STOP)}
    scores |= {name for name in named if name.startswith(SCORE)}
    return [
        *_USUAL,
        *(Measure(end, "share", 1, _ended(end.removeprefix(STOP))) for end in sorted(ends)),
        *(Measure(s, "score", -1, _scored(s.removeprefix(SCORE))) for s in sorted(scores)),
    ]


def _ended(end: str) -> Callable[[RunFigures], float]:
    return lambda run: float(run.end == end)


def _scored(name: str) -> Callable[[RunFigures], float | None]:
    return lambda run: run.scores.get(name)


@dataclass(frozen=True, slots=True)
class CaseRuns:
    """The runs of one case: of both versions, or of one alone."""

    base: list[RunFigures]
    head: list[RunFigures]

    def pair(self, measure: Measure) -> tuple[float, float] | None:
        """The means of both versions' runs; ``None`` where the measure is not known of one."""
        if measure.name == TOOL_ORDER:
            return self._distances()
        base, head = _known(measure, self.base), _known(measure, self.head)
        return (fmean(base), fmean(head)) if base and head else None

    def _distances(self) -> tuple[float, float] | None:
        """How far the base's tools are from each other, and the head's from the base's."""
        base, head = ([(*run.tools,) for run in each[:_TRIES]] for each in (self.base, self.head))
        if not base or not head or not any((*base, *head)):
            return None
        among = [distance(one, other) for one, other in combinations(base, 2)]
        return fmean(among or [0.0]), fmean(distance(*each) for each in product(base, head))


def cases(base: Iterable[RunFigures], head: Iterable[RunFigures]) -> list[CaseRuns]:
    """The runs by their case, in the order of cases; runs without one are left out."""
    found: dict[str, CaseRuns] = defaultdict(lambda: CaseRuns([], []))
    for run in base:
        found[run.case].base.append(run)
    for run in head:
        found[run.case].head.append(run)
    return [found[case] for case in sorted(found) if case]


def units(measure: Measure, runs: Iterable[RunFigures]) -> list[float]:
    """One value a session: turns of one are not independent. Of sessions with several runs, values
    that have the mean of all runs, and the variance of its estimate as a ratio (W. Cochran,
    Sampling Techniques, 1977, chapter 6)."""
    sessions: dict[tuple[str, str], list[float]] = defaultdict(list)
    for run in runs:
        value = measure.value(run)
        if value is not None:
            sessions[run.project, run.session or f" {run.id}"].append(value)
    if all(len(each) == 1 for each in sessions.values()):
        return [each[0] for each in sessions.values()]
    mean = fmean(value for each in sessions.values() for value in each)
    usual = fmean(map(len, sessions.values()))
    return [mean + (sum(each) - mean * len(each)) / usual for each in sessions.values()]


def _known(measure: Measure, runs: Iterable[RunFigures]) -> list[float]:
    return [value for run in runs if (value := measure.value(run)) is not None]


@cache
def distance(one: tuple[str, ...], other: tuple[str, ...]) -> float:
    """How far two orders of tools are apart, from 0 (equal) to 1 (nothing in common): the share of
    tools outside their longest common subsequence (H. Hyyrö, "Bit-parallel LCS-length computation
    revisited", AWOCA 2004)."""
    if not one and not other:
        return 0.0
    places: Mapping[str, int] = defaultdict(int)
    for at, name in enumerate(one):
        places[name] |= 1 << at  # type: ignore[index]
    all_ = (1 << len(one)) - 1
    left = all_
    for name in other:
        hit = left & places[name]
        left = ((left + hit) | (left - hit)) & all_
    return 1 - 2 * (len(one) - left.bit_count()) / (len(one) + len(other))
