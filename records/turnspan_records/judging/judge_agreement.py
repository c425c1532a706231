"""How far a judge agrees with people on what both judged."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final

from turnspan_clickhouse.store.client import Store
from turnspan_records.access.questions import ask
from turnspan_records.judging.judge_run import SOURCE

FEWEST_JUDGED: Final = 30
"""Records that people must have judged before an agreement says much."""
_SIDES: Final = NormalDist().inv_cdf(0.975)
_SCALE: Final = (1.0, 10.0)
"""People's scores."""

Word = float | str
Cells = Counter[tuple[Word, Word]]
"""How often a judge said the first and people the second."""


@dataclass(frozen=True, slots=True)
class JudgeAgreement:
    """The agreement of a judge with people. ``None`` is not known: they never differ by chance."""

    name: str
    people: str
    """The kind of people's judgments: ``evaluation:NAME``, ``score`` or ``outcome``."""
    records: int
    """Judged by both."""
    kappa: float | None
    """Cohen's kappa; of scores with quadratic weights."""
    low: float | None
    high: float | None
    """Its 95 % interval, by the jackknife."""
    weighted: bool
    table: list[tuple[Word, Word, int]]
    """What the judge said, what people said, and of how many records."""

    @property
    def too_few(self) -> bool:
        """Whether people judged fewer than 30."""
        return self.records < FEWEST_JUDGED


def judge_agreement(
    store: Store,
    name: str,
    *,
    version: str = "",
    people: str = "",
    scale: tuple[float, float] | None = None,
    project: str = "",
) -> JudgeAgreement:
    """Compare the newest judgments of a judge with people's, of the same name, else their scores or
    outcomes. People's scores, from 1 to 10, are brought onto the judge's ``scale``.

    Raises ``StoreError`` as ``Store.query``."""
    kind = f"evaluation:{name}"
    found: Cells = Counter()
    chosen = people or kind
    for chosen in [people] if people else [kind, "score", "outcome"]:
        author = f"{name}@{version}" if version else ""
        given = {"kind": kind, "people": chosen, "author": author, "project": project}
        for row in ask(store, "judging/judge_agreement", source=SOURCE, **given).dicts():
            judge = row["judge_label"] or row["judge_score"]
            person = row["label"] if row["judge_label"] else row["score"]
            if judge is None or person is None or person == "":
                continue
            if chosen == "score" and scale is not None:
                low, high = scale
                person = low + (person - _SCALE[0]) * (high - low) / (_SCALE[1] - _SCALE[0])
            found[judge, person] += 1
        if found:
            break
    weighted = all(isinstance(one, float) for cell in found for one in cell)
    value, half = _interval(found, weighted)
    low_high = (None, None) if value is None or half is None else (value - half, value + half)
    bounds = [None if one is None else min(max(one, -1.0), 1.0) for one in low_high]
    table = [(*cell, n) for cell, n in sorted(found.items(), key=lambda one: str(one[0]))]
    return JudgeAgreement(name, chosen, found.total(), value, bounds[0], bounds[1], weighted, table)


def kappa(cells: Cells, weighted: bool) -> float | None:
    """Cohen's kappa (Educ. Psychol. Meas. 20, 1960), or with quadratic weights (Psychol. Bull. 70,
    1968); ``None`` where chance alone would give no difference."""
    size = cells.total()
    judges: Counter[Word] = Counter()
    persons: Counter[Word] = Counter()
    for (judge, person), n in cells.items():
        judges[judge] += n
        persons[person] += n

    def apart(one: Word, other: Word) -> float:
        if weighted and not isinstance(one, str) and not isinstance(other, str):
            return (one - other) ** 2
        return float(one != other)

    differ = sum(n * apart(*cell) for cell, n in cells.items())
    chance = sum(m * n * apart(a, b) for a, m in judges.items() for b, n in persons.items())
    return 1 - size * differ / chance if chance else None


def _interval(cells: Cells, weighted: bool) -> tuple[float | None, float | None]:
    """Kappa and half its 95 % interval (B. Efron, The Jackknife, 1982): that of all samples with
    one record less."""
    value, size = kappa(cells, weighted), cells.total()
    if value is None or size < 3:
        return value, None
    less = [(kappa(cells - Counter([cell]), weighted), n) for cell, n in cells.items()]
    known = [(one, n) for one, n in less if one is not None]
    if len(known) < len(less):
        return value, None
    mean = sum(one * n for one, n in known) / size
    spread = sum(n * (one - mean) ** 2 for one, n in known) * (size - 1) / size
    return value, _SIDES * math.sqrt(spread)
