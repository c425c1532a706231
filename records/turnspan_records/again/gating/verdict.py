"""The comparison of two versions with what each may be worse by, and its verdict."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal, cast

from turnspan.runtime.type_guards import is_dict
from turnspan_clickhouse.files.toml_file import read_toml
from turnspan_clickhouse.store.client import Store
from turnspan_records.access.window import Window
from turnspan_records.again.gating import measures as m
from turnspan_records.again.gating.estimates import Estimate, holm, paired, unpaired
from turnspan_records.again.gating.figures import RunFigures, VersionFigures, figures, read_figures

ALARM_RATE: Final = 0.05
"""How often equal versions may be called worse."""
FEWEST: Final = 10
"""Units of each version without which a measure is not tested: of five pairs none can alarm."""
LISTED: Final = 10
"""Cases that are named of a measure."""
DETECT: Final = {m.COMPLETION: "20%"}
"""The worsening that a gate must be able to find, else it has too little data."""
_AMOUNT: Final = re.compile(r"(\d+(?:\.\d+)?)(%?)")


State = Literal["worse", "better", "no_difference", "not_tested"]


@dataclass(frozen=True, slots=True)
class GateLimits:
    """Amounts by the measure's name: ``5%`` (of the base's mean; of a share, points) or ``0.2`` in
    the measure's unit. Raises ``ValueError``."""

    max_worse: Mapping[str, str] = field(default_factory=dict[str, str])
    """How much worse the head may be; of other measures: not at all."""
    detect: Mapping[str, str] = field(default_factory=lambda: dict(DETECT))
    """The worsening that the comparison must be able to find."""
    only: Sequence[str] = ()
    """The measures that are compared; empty for all."""

    def __post_init__(self) -> None:
        for name in (*self.max_worse, *self.detect, *self.only):
            if not m.known(name):
                raise ValueError(f"There is no measure {name!r}; there are: {', '.join(m.NAMES)}.")
        for name, amount in (*self.max_worse.items(), *self.detect.items()):
            if not read_amount(name, amount)[0] and self.detect.get(name) == amount:
                raise ValueError(f"{name} cannot be worse by {amount}: a detect is above 0.")


@dataclass(frozen=True, slots=True)
class ChangedCase:
    """A case in which a measure is worse, with the run of each version that shows it most."""

    case: str
    base: float
    head: float
    kind: str
    project: str
    base_id: str
    head_id: str


@dataclass(frozen=True, slots=True)
class MeasureChange:
    """What became of a measure."""

    name: str
    unit: m.Unit
    state: State
    units: int
    """Cases if paired, else sessions of the version that has fewer."""
    estimate: Estimate | None = None
    max_worse: str = ""
    detectable: float | None = None
    """The worsening, beyond what is allowed, that is found in 80 % of comparisons."""
    detect: str = ""
    more: int = 0
    """Units of each version that are missing to find ``detect``."""
    cases: list[ChangedCase] = field(default_factory=list[ChangedCase])
    """Of a worse measure, paired: the ten cases that changed most."""


@dataclass(frozen=True, slots=True)
class GateReport:
    """Whether the head is worse than the base."""

    verdict: Literal["passed", "worse", "too_little_data"]
    base: str
    head: str
    base_runs: int
    head_runs: int
    paired: bool
    cases: int
    """Cases that both have."""
    left_out: int
    """Runs of cases that only one has; 0 if not paired."""
    measures: list[MeasureChange]

    @property
    def worse(self) -> list[MeasureChange]:
        """The measures that are worse."""
        return [one for one in self.measures if one.state == "worse"]

    @property
    def more(self) -> int:
        """How many more units of each version are needed."""
        return max((one.more for one in self.measures), default=0)


def gate(
    store: Store | None,
    base: str = "",
    head: str = "",
    *,
    base_where: str = "",
    head_where: str = "",
    project: str = "",
    window: Window | None = None,
    limits: GateLimits | None = None,
) -> GateReport:
    """Compare two versions of an agent, as ``turnspan gate`` does.

    A version is an ``agent_version``, ``LINEAGE@VERSION``, ``experiment:NAME@VERSION``, a file that
    ``write_figures`` wrote (``*.json``), or a filter of turns (``base_where``).

    Raises:
        ValueError: a version, a filter or a limit is not valid; or a store is needed.
        OSError: a file cannot be read.
        StoreError: as ``Store.query``.
    """
    before = version_figures(store, base, base_where, project, window)
    return compared(before, version_figures(store, head, head_where, project, window), limits)


def version_figures(
    store: Store | None, version: str, where: str, project: str, window: Window | None
) -> VersionFigures:
    """The figures of a version, or of a file. Raises as ``gate``."""
    if is_file(version) and where:
        raise ValueError(f"{version} is a file, which has no filter: leave one out.")
    if is_file(version):
        return read_figures(Path(version))
    if store is None:
        raise ValueError(f"{version or where} needs a store: only files have figures without one.")
    return figures(store, version, where=where, project=project, window=window)


def is_file(version: str) -> bool:
    """Whether a version is named by a file of figures."""
    return version.endswith(".json")


def compared(
    base: VersionFigures, head: VersionFigures, limits: GateLimits | None = None
) -> GateReport:
    """Compare figures. By case where at least half of each version's runs have a case that the
    other has too, else as a whole."""
    limits = limits or GateLimits()
    both = [one for one in m.cases(base.runs, head.runs) if one.base and one.head]
    left = [len(base.runs) - sum(len(one.base) for one in both)]
    left.append(len(head.runs) - sum(len(one.head) for one in both))
    by_case = bool(both) and 2 * left[0] <= len(base.runs) and 2 * left[1] <= len(head.runs)
    wanted = [
        one
        for one in m.measures([*base.runs, *head.runs], {*limits.only, *limits.detect})
        if not limits.only or one.name in limits.only
    ]
    estimates: list[tuple[int, Estimate | None]] = []
    for one in wanted:
        bound = one.bound(*read_amount(one.name, limits.max_worse.get(one.name, "0")))
        if by_case:
            pairs = [pair for case in both if (pair := case.pair(one)) is not None]
            size, test = len(pairs), partial(paired, pairs)
        else:
            before, after = m.units(one, base.runs), m.units(one, head.runs)
            size, test = min(len(before), len(after)), partial(unpaired, before, after)
        estimates.append((size, test(one.worse, bound) if size >= FEWEST else None))
    tested = [at for at, one in enumerate(wanted) if _is_tested(one, estimates[at][1], limits)]
    chances = [estimate.p for at in tested if (estimate := estimates[at][1]) is not None]
    worse = {at for at, alarm in zip(tested, holm(chances, ALARM_RATE), strict=True) if alarm}
    scores = Counter(f"{m.SCORE}{name}" for run in base.runs for name in run.scores)
    needed = {*limits.only, *limits.detect, *(name for name, n in scores.items() if n >= FEWEST)}
    changes = [
        _change(one, *estimates[at], limits, len(tested), at in tested, at in worse, needed)
        for at, one in enumerate(wanted)
    ]
    if by_case:
        for at in worse:
            changes[at].cases.extend(_worst(wanted[at], both))
    missing = any(one.more for one in changes)
    sizes, out = (len(base.runs), len(head.runs)), sum(left) if by_case else 0
    return GateReport(
        "worse" if worse else "too_little_data" if missing else "passed",
        *(base.name, head.name, *sizes, by_case, len(both), out, changes),
    )


def _is_tested(measure: m.Measure, estimate: Estimate | None, limits: GateLimits) -> bool:
    """Tool orders may differ and be no worse, and seconds are also those of the machine: both are
    tested only where they are named. What never happened cannot alarm, and costs the others nothing
    (R. Tarone, Biometrics 46, 1990)."""
    if estimate is None:
        return False
    if measure.name in (*limits.max_worse, *limits.detect, *limits.only):
        return True
    return measure.name not in m.IF_NAMED and bool(estimate.base or estimate.head)


def _change(
    measure: m.Measure, units: int, estimate: Estimate | None, limits: GateLimits, tests: int,
    tested: bool, worse: bool, needed: Set[str],
) -> MeasureChange:  # fmt: skip
    detect, detectable = limits.detect.get(measure.name, ""), None
    # What is named, or is known of the base, must not pass because the head lacks it.
    more = FEWEST - units if measure.name in needed else 0
    if estimate is not None:
        detectable, more = estimate.detectable(ALARM_RATE / max(tests, 1)), 0
        if detect and not worse:
            seen = measure.bound(*read_amount(measure.name, detect))(estimate.base)
            more = max(math.ceil(units * (detectable / seen) ** 2 - units), 0) if seen else 1
    better = estimate is not None and max(
        measure.worse * estimate.low, measure.worse * estimate.high
    ) < 0  # fmt: skip
    state: State = "worse" if worse else "better" if better else "no_difference"
    allowed = limits.max_worse.get(measure.name, "")
    return MeasureChange(
        measure.name, measure.unit, state if tested else "not_tested", units, estimate, allowed,
        detectable, detect, more,
    )  # fmt: skip


def _worst(measure: m.Measure, both: Sequence[m.CaseRuns]) -> list[ChangedCase]:
    """The cases that are worse, those with most first; of each the runs that show it most."""

    def run(runs: Sequence[RunFigures], way: int) -> RunFigures:
        return max(runs, key=lambda one: way * measure.worse * (measure.value(one) or 0.0))

    found: list[tuple[float, ChangedCase]] = []
    for one in both:
        pair = one.pair(measure)
        if pair is not None and measure.worse * (pair[1] - pair[0]) > 0:
            base, head = run(one.base, -1), run(one.head, 1)
            named = (head.asked or head.case, *pair, head.kind, head.project, base.id, head.id)
            found.append((measure.worse * (pair[0] - pair[1]), ChangedCase(*named)))
    return [made for _, made in sorted(found, key=lambda each: (each[0], each[1].case))[:LISTED]]


def read_amount(name: str, text: str) -> tuple[float, bool]:
    """An amount, and whether it is a part. Raises ``ValueError``."""
    found = _AMOUNT.fullmatch(str(text).strip())
    if found is None:
        raise ValueError(f"{name}={text} is no amount: write {name}=5% or {name}=0.2.")
    return float(found[1]) / (100 if found[2] else 1), bool(found[2])


def project_limits(path: Path) -> GateLimits:
    """The limits of a project: of ``[tool.turnspan.gate]`` in a TOML file, the tables ``max-worse``
    and ``detect``, and the list ``measures``. Raises ``ValueError``."""
    found: Any = read_toml(path)
    for name in ("tool", "turnspan", "gate"):
        found = found.get(name, {}) if is_dict(found) else None
    found = found if is_dict(found) else {"": None}
    parts: list[Any] = [found.get("max-worse", {}), found.get("detect", {})]
    only: Any = found.get("measures", [])
    if not all(map(is_dict, parts)) or not isinstance(only, list):
        raise ValueError(f"{path}: tool.turnspan.gate has tables max-worse, detect; list measures.")
    if unknown := found.keys() - {"max-worse", "detect", "measures"}:
        raise ValueError(f"{path}: tool.turnspan.gate has no {', '.join(sorted(unknown))}.")
    max_worse, detect = ({str(k): str(v) for k, v in one.items()} for one in parts)
    return GateLimits(
        max_worse, {**DETECT, **detect}, [str(one) for one in cast("list[object]", only)]
    )
