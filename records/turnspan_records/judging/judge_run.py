"""A judge over recorded turns. Its judgments are also what it is not asked again: each is on disk
as soon as it is made, under the hash of all that was sent for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Final, Protocol

from turnspan.annotations.comparisons import preferred
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.client import Store
from turnspan_records.access.fields import of_row
from turnspan_records.access.questions import ask
from turnspan_records.judging.annotation import unsaid, write_judgments
from turnspan_records.judging.judge_model import Judge, JudgeStoppedError, ModelJudge
from turnspan_records.judging.judge_prompt import JudgeError, JudgeItem, JudgeVerdict
from turnspan_records.lookup import RecordRef
from turnspan_records.sql import statement

SOURCE: Final = "machine:judge"
"""The source of a judge's judgments: a person's take precedence."""
PARALLEL: Final = 4

Pair = tuple[JudgeItem, JudgeItem | None]


class WantedTurns(Protocol):
    """Which turns are judged: a ``TurnListFilter``."""

    @property
    def where(self) -> str:
        """The conditions on ``turn_summary AS t``."""
        ...

    @property
    def parameters(self) -> Mapping[str, object]:
        """What the conditions are given."""
        ...


@dataclass(slots=True)
class JudgeReport:
    """What a judge did."""

    name: str
    version: str
    turns: int = 0
    """Turns, or pairs of them, that it was to judge."""
    judged: int = 0
    """Of them those that were judged now."""
    known: int = 0
    """Those judged before, with the same content: nothing was asked."""
    by_position: int = 0
    """Pairs of which it chose the same place in both orders: ties."""
    labels: Counter[str] = field(default_factory=Counter[str])
    score: float | None = None
    """The mean of all verdicts with a score."""
    errors: Counter[str] = field(default_factory=Counter[str])
    """Verdicts that failed, by reason."""
    stopped: str = ""
    """Why not all were judged."""
    cost_usd: float = 0.0


def judge_turns(
    store: Store,
    spool: Spool,
    judge: Judge,
    wanted: WantedTurns,
    *,
    against: WantedTurns | None = None,
    limit: int = 100,
    parallel: int = PARALLEL,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> JudgeReport:
    """Judge the newest turns that have an answer. A pairwise judge compares each with the newest
    turn of ``against`` that has the same user message.

    Raises:
        ValueError: a pairwise judge has nothing to compare with, or another one has.
        SpoolError: the spool cannot be written.
        StoreError: as ``Store.query``.
    """
    pairwise = isinstance(judge, ModelJudge) and judge.prompt.pairwise
    if pairwise is not (against is not None):
        raise ValueError("--against is needed by a pairwise judge, and only by one.")
    pairs: list[Pair] = [(item, None) for item in _items(store, wanted, limit)]
    if against is not None:
        others = {(one.project, one.input): one for one in reversed(_items(store, against, limit))}
        pairs = [(a, others.get((a.project, a.input))) for a, _ in pairs if a.input]
        pairs = [(a, b) for a, b in pairs if b is not None and a.id != b.id]
    report = JudgeReport(judge.name, judge.version, len(pairs))
    groups: dict[str, list[Pair]] = {}
    for pair in pairs:
        groups.setdefault(judge.key(*pair), []).append(pair)
    kind = f"evaluation:{judge.name}"
    given = {"kind": kind, "source": SOURCE, "keys": list(groups)}
    said: dict[str, JudgeVerdict] = {}
    for row in ask(store, "judging/judge_known", **given).dicts():
        key, judged = str(row["annotation_id"]), {(str(p), str(i)) for p, i in row["subjects"]}
        said[key] = JudgeVerdict(*row["said"])
        new = [one for one in groups[key] if (one[0].project, one[0].id) not in judged]
        _write(spool, judge, key, new, said[key])
        report.known += len(groups[key])
    left = {key: each for key, each in groups.items() if key not in said}
    for key, verdict in _asked(judge, left, parallel, report):
        _write(spool, judge, key, left[key], verdict)
        report.judged += len(left[key])
        report.by_position += verdict.by_position * len(left[key])
        said[key] = verdict
        progress(report.known + report.judged, report.turns)
    each = [verdict for key, verdict in said.items() for _ in groups[key]]
    report.labels.update(one.label for one in each if one.label)
    numbers = [one.score for one in each if one.score is not None]
    report.score = fmean(numbers) if numbers else None
    report.cost_usd = judge.cost_usd
    return report


def _asked(
    judge: Judge, groups: Mapping[str, Sequence[Pair]], parallel: int, report: JudgeReport
) -> Iterator[tuple[str, JudgeVerdict]]:
    """Ask of each group once, so many at a time; what fails is counted."""
    left = list(groups)[::-1]
    running: dict[Future[JudgeVerdict], str] = {}
    with ThreadPoolExecutor(parallel) as pool:
        while left or running:
            while left and len(running) < parallel and not report.stopped:
                key = left.pop()
                item, other = groups[key][0]
                running[pool.submit(judge.verdict, item, other)] = key
            for done in wait(running, return_when=FIRST_COMPLETED).done:
                key = running.pop(done)
                try:
                    yield key, done.result()
                except JudgeError as error:
                    report.errors[str(error)] += len(groups[key])
                except JudgeStoppedError as error:
                    report.stopped = str(error)
                    left.clear()


def _write(
    spool: Spool, judge: Judge, key: str, pairs: Sequence[Pair], verdict: JudgeVerdict
) -> None:
    """Write a verdict of each; of a pair that is no tie, also the preference."""
    for item, other in pairs:
        made = replace(
            unsaid(RecordRef(item.kind, item.id, item.project), "", None, SOURCE, verdict.reason),
            author=f"{judge.name}@{judge.version}",
        )
        said = replace(
            made, kind=f"evaluation:{judge.name}", annotation_id=key, score=verdict.score,
            outcome=verdict.label,
        )  # fmt: skip
        each = [said]
        if other is not None and verdict.score in (0, 1):
            better, worse = (item, other) if verdict.score else (other, item)
            each.append(preferred(replace(made, subject_id=better.id), worse.id))
        write_judgments(spool, item.project, each)


def _items(store: Store, wanted: WantedTurns, limit: int) -> list[JudgeItem]:
    sql = statement("judging/judge_turns", where=wanted.where)
    rows = store.query(sql, {**wanted.parameters, "limit": limit}).dicts()
    return [of_row(JudgeItem, row) for row in rows]
