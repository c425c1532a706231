"""How often ``turnspan gate`` calls equal versions worse, and how often it finds a regression.

    .venv/bin/python benchmarks/gate_power.py            1,000 pairs of each kind
    .venv/bin/python benchmarks/gate_power.py 100        fewer

Versions are simulated: cases differ in difficulty, costs are lognormal, failures and loops are
rare, scores are whole numbers. Every run has a seed: the same figures every time.
"""

from __future__ import annotations

import argparse
import math
import random
import time
from dataclasses import dataclass

from turnspan_records.again.gating.figures import RunFigures, VersionFigures
from turnspan_records.again.gating.verdict import GateLimits, compared

LIMITS = GateLimits(max_worse={"duration": "0"})  # else seconds are not tested
ENDS = ("tool_failure", "round_cap", "error", "max_tokens")
TOOLS = ("search", "read", "write", "test")


@dataclass(frozen=True, slots=True)
class Change:
    """What is worse in a head: added to a probability or a score, or a factor."""

    completion: float = 0.0
    failures: float = 0.0
    loops: float = 0.0
    cost: float = 1.0
    seconds: float = 1.0
    rounds: float = 1.0
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class Design:
    """How many runs there are: ``tries`` of each case, or so many of other cases."""

    name: str
    base: int
    head: int
    tries: int = 1
    paired: bool = True


@dataclass(frozen=True, slots=True)
class Regression:
    """A change, and the sample that finds it in 95 % of comparisons."""

    measure: str
    meaning: str
    change: Change
    design: Design


EQUAL = (
    Design("30 cases", 30, 30),
    Design("100 cases", 100, 100),
    Design("40 cases, 3 tries", 40, 40, 3),
    Design("200 and 200 turns", 200, 200, paired=False),
    Design("60 and 400 turns", 60, 400, paired=False),
    Design("400 and 60 turns", 400, 60, paired=False),
)
_CASES = Design("150 cases", 150, 150)
_MORE = Design("200 cases", 200, 200)
_MANY = Design("300 cases", 300, 300)
_TURNS = Design("400 and 400 turns", 400, 400, paired=False)
REGRESSIONS = (
    Regression("completion", "88 % to 68 %", Change(completion=-0.2), _MORE),
    Regression("completion", "88 % to 73 %", Change(completion=-0.15), _TURNS),
    Regression("tool_failures", "0.2 to 0.5 a run", Change(failures=0.3), _CASES),
    Regression("loops", "3 % to 18 %", Change(loops=0.15), _CASES),
    Regression("rounds", "25 % more", Change(rounds=1.25), _CASES),
    Regression("cost", "20 % more", Change(cost=1.2), _MANY),
    Regression("cost", "35 % more", Change(cost=1.35), _TURNS),
    Regression("duration", "25 % more", Change(seconds=1.25), _MANY),
    Regression("score:style", "0.5 of 5 less", Change(score=-0.5), _CASES),
)


def simulated(
    seed: str, name: str, count: int, tries: int, paired: bool, change: Change
) -> VersionFigures:
    """The runs of a version: its cases are those of the seed if ``paired``."""
    draw, runs = random.Random(f"{seed}/{name}"), list[RunFigures]()
    for number in range(count):
        case = random.Random(f"{seed if paired else f'{seed}/{name}'}/{number}")
        ease, size, quality = case.gauss(2.4, 1), case.lognormvariate(0, 0.6), case.gauss(3.5, 0.8)
        for attempt in range(tries):
            good = min(max(1 / (1 + math.exp(-ease)) + change.completion, 0.0), 1.0)
            end = "completed" if draw.random() < good else draw.choice(ENDS)
            rounds = max(1, round((1 + size * draw.uniform(2, 4)) * change.rounds))
            failed = sum(draw.random() < (0.2 + change.failures) / 4 for _ in range(4))
            style = min(max(round(quality + change.score + draw.gauss(0, 0.6)), 1), 5)
            runs.append(
                RunFigures(
                    kind="turn",
                    id=f"{name}-{number}-{attempt}",
                    session=f"{name}-{number}-{attempt}",
                    case=f"case-{number:05}" if paired else f"{name}-{number:05}",
                    end=end,
                    tool_failures=failed,
                    loops=draw.random() < 0.03 + change.loops,
                    rounds=rounds,
                    cost_usd=0.01 * size * draw.lognormvariate(0, 0.4) * change.cost,
                    seconds=3 * size * draw.lognormvariate(0, 0.5) * change.seconds,
                    tools=[draw.choice(TOOLS) for _ in range(rounds)],
                    scores={"style": float(style)},
                )
            )
    return VersionFigures(name, runs)


def pair(seed: str, design: Design, change: Change) -> tuple[VersionFigures, VersionFigures]:
    """A base, and a head with a change."""
    base = simulated(seed, "base", design.base, design.tries, design.paired, Change())
    return base, simulated(seed, "head", design.head, design.tries, design.paired, change)


def alarms(design: Design, pairs: int) -> int:
    """How many of so many pairs of equal versions are called worse."""
    every = (compared(*pair(f"{design.name}/{n}", design, Change()), LIMITS) for n in range(pairs))
    return sum(report.verdict == "worse" for report in every)


def hits(regression: Regression, pairs: int) -> int:
    """In how many of so many pairs the gate finds the regression in its own measure."""
    seeds = (f"{regression.measure}/{regression.design.name}/{n}" for n in range(pairs))
    every = (compared(*pair(seed, regression.design, regression.change), LIMITS) for seed in seeds)
    return sum(any(one.name == regression.measure for one in report.worse) for report in every)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pairs", nargs="?", type=int, default=1_000)
    pairs = parser.parse_args().pairs
    print(f"{'equal versions':<28} {'pairs':>6} {'alarms':>7}")
    for design in EQUAL:
        print(f"{design.name:<28} {pairs:>6} {alarms(design, pairs) / pairs:>7.1%}", flush=True)
    print(f"\n{'regression':<46} {'sample':<18} {'found':>6}")
    for one in REGRESSIONS:
        name = f"{one.measure}: {one.meaning}"
        print(f"{name:<46} {one.design.name:<18} {hits(one, pairs) / pairs:>6.1%}", flush=True)
    both = pair("size", Design("5,000 cases", 5_000, 5_000), Change(cost=1.1))
    begun, again = time.perf_counter(), compared(*both)
    taken = time.perf_counter() - begun
    same = all(compared(*both) == again for _ in range(2))
    seen = compared(*both, GateLimits(max_worse={"cost": "20%"})).verdict
    print(f"\n10,000 runs: {taken:.1f} s, {again.verdict}, same again: {same}, 20% allowed: {seen}")


if __name__ == "__main__":
    main()
