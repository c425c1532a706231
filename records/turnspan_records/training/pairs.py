"""Pairs of a better and a worse answer to one prompt. None is made across prompts."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from turnspan_records.training import judging
from turnspan_records.training.counts import Counts
from turnspan_records.training.wanted import TrainingSet
from turnspan_records.training.workbench import Row, Workbench

_SUBJECT = {"turn": "turn", "call": "call", "session": "session"}


@dataclass(frozen=True, slots=True)
class Pair:
    """A sample that was chosen over another one."""

    chosen: Row
    rejected: Row
    source: str
    margin: float | None = None
    author: str = ""


def make(work: Workbench, wanted: TrainingSet, counts: Counts) -> None:
    """Find every pair and keep it on the workbench; what people preferred goes before scores."""
    if "preferences" in wanted.pairs:
        for pair in _preferred(work, wanted, counts):
            _keep(work, pair, counts)
    if "scores" in wanted.pairs or "best" in wanted.pairs:
        for group in work.prompts():
            for pair in _scored(group, wanted, counts):
                _keep(work, pair, counts)


def by_prompt(work: Workbench) -> Iterator[list[Pair]]:
    """The pairs of each prompt, in the order in which they are written."""
    for _, group in groupby(_kept(work), key=lambda pair: pair.chosen.prompt_hash):
        yield list(group)


def distinct(group: Sequence[Pair], counts: Counts) -> Iterator[Pair]:
    """Those of a prompt whose texts differ from the ones before, and say nothing else than others:
    of two that do, what somebody preferred goes before scores, and else neither is written."""
    sources: dict[tuple[bytes, bytes], set[str]] = {}
    for pair in group:
        sources.setdefault(_texts(pair), set()).add(pair.source)
    seen: set[tuple[bytes, bytes]] = set()
    for pair in group:
        texts = _texts(pair)
        against = sources.get((texts[1], texts[0]), set())
        if against and ("preference" not in sources[texts] or "preference" in against):
            counts.dropped["pair_contradicted"] += 1
        elif texts in seen:
            counts.dropped["duplicate"] += 1
        else:
            seen.add(texts)
            yield pair


def _texts(pair: Pair) -> tuple[bytes, bytes]:
    return pair.chosen.completion_hash, pair.rejected.completion_hash


def _kept(work: Workbench) -> Iterator[Pair]:
    found = work.database.execute(
        "SELECT p.chosen, p.rejected, p.source, p.margin, p.author FROM pair AS p"
        " JOIN sample AS c ON c.number = p.chosen JOIN sample AS r ON r.number = p.rejected"
        " ORDER BY p.prompt_hash, c.project, c.unit, r.project, r.unit"
    )
    for chosen, rejected, source, margin, author in found:
        yield Pair(work.row(chosen), work.row(rejected), source, margin, author)


def number(work: Workbench) -> int:
    """How many pairs there are."""
    return int(work.database.execute("SELECT count(*) FROM pair").fetchone()[0])


def _preferred(work: Workbench, wanted: TrainingSet, counts: Counts) -> Iterator[Pair]:
    """Of what was said of a pair both ways, ``annotation_current`` has the newest."""
    waiting: list[tuple[str, str, str, str]] = []
    for project, kind, chosen, rejected, author in judging.preferences(work.database):
        if kind != _SUBJECT[wanted.unit]:
            counts.dropped["pair_of_another_unit"] += 1
        elif chosen == rejected:
            counts.dropped["pair_with_itself"] += 1
        else:
            waiting.append((project, chosen, rejected, author))
    for project, chosen, rejected, author in waiting:
        one, other = work.find(project, chosen), work.find(project, rejected)
        if one is None or other is None:
            counts.dropped["pair_without_sample"] += 1
        else:
            yield Pair(one, other, "preference", _margin(one, other), author)


def _scored(group: Sequence[Row], wanted: TrainingSet, counts: Counts) -> Iterator[Pair]:
    """Pairs of one prompt by score, those of the greatest difference first."""
    known = [(row.score, row) for row in group if row.score is not None]
    known.sort(key=lambda each: each[0])
    if "scores" not in wanted.pairs:
        known = _against_best(known, counts)
        if not known:
            return
    scores = [score for score, _ in known]
    _count_ties(scores, wanted, counts)
    yield from _widest(known, scores, wanted, counts)


def _against_best(known: list[tuple[float, Row]], counts: Counts) -> list[tuple[float, Row]]:
    """The best and everything below it; none where several are best."""
    if len(known) > 1 and known[-1][0] == known[-2][0]:
        counts.dropped["pair_tied"] += 1
        return []
    return known


def _count_ties(scores: Sequence[float], wanted: TrainingSet, counts: Counts) -> None:
    if "scores" not in wanted.pairs:
        best = scores[-1]
        near = sum(best - score < wanted.margin for score in scores[:-1])
        counts.dropped["pair_within_margin"] += near
        return
    tied = sum(n * (n - 1) // 2 for n in Counter(scores).values())
    wide = sum(bisect_right(scores, score - wanted.margin) for score in scores)
    counts.dropped["pair_tied"] += tied
    counts.dropped["pair_within_margin"] += len(scores) * (len(scores) - 1) // 2 - tied - wide


def _widest(
    known: Sequence[tuple[float, Row]], scores: Sequence[float], wanted: TrainingSet, counts: Counts
) -> Iterator[Pair]:
    chosen = range(len(known)) if "scores" in wanted.pairs else range(len(known) - 1, len(known))
    reach = {at: bisect_right(scores, scores[at] - wanted.margin) for at in chosen}
    eligible = sum(reach.values())
    if eligible > wanted.pairs_a_prompt:
        counts.dropped["pair_over_the_limit"] += eligible - wanted.pairs_a_prompt
    left = wanted.pairs_a_prompt
    for at in sorted(chosen, reverse=True):
        for below in range(reach[at]):
            if not left:
                return
            left -= 1
            margin = known[at][0] - known[below][0]
            yield Pair(known[at][1], known[below][1], "score", margin)


def _margin(one: Row, other: Row) -> float | None:
    if one.score is None or other.score is None:
        return None
    return one.score - other.score


def _keep(work: Workbench, pair: Pair, counts: Counts) -> None:
    if pair.chosen.prompt_hash != pair.rejected.prompt_hash:
        counts.dropped["pair_of_two_prompts"] += 1
        return
    if pair.chosen.completion_hash == pair.rejected.completion_hash:
        counts.dropped["pair_of_equal_texts"] += 1
        return
    again = work.database.execute(
        "SELECT chosen FROM pair WHERE chosen IN (?1, ?2) AND rejected IN (?1, ?2)",
        (pair.chosen.number, pair.rejected.number),
    ).fetchone()
    if again is not None:
        same = again[0] == pair.chosen.number
        counts.dropped["pair_twice" if same else "pair_contradicted"] += 1
        return
    work.database.execute(
        "INSERT INTO pair VALUES (?, ?, ?, ?, ?, ?)",
        (
            *(pair.chosen.prompt_hash, pair.chosen.number, pair.rejected.number),
            *(pair.source, pair.margin, pair.author),
        ),
    )
