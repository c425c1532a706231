"""Pairs of a better and a worse answer to one prompt. None is made across prompts."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from turnspan_records.sql import statement
from turnspan_records.training import artifacts, judgments, locked
from turnspan_records.training.artifacts import ArtifactText, TextComparison
from turnspan_records.training.counts import Counts
from turnspan_records.training.export_request import TrainingSet
from turnspan_records.training.workbench import SampleRow, Workbench

_STRENGTH = {"preference": 2, "correction": 2, "locked": 1, "edit": 1, "score": 0}
"""Of the sources of pairs: a person's word of this very pair is the strongest."""


@dataclass(frozen=True, slots=True)
class SamplePair:
    """A sample that was chosen over another one."""

    chosen: SampleRow
    rejected: SampleRow
    source: str
    margin: float | None = None
    author: str = ""


def make(work: Workbench, wanted: TrainingSet, counts: Counts) -> None:
    """Find every pair and keep it on the workbench: what people preferred goes before locked
    lineages, and these go before scores."""
    for pair in _preferred(work, wanted, counts):
        _keep(work, pair, counts)
    if "locked" in wanted.pairs:
        for pair in _locked(work, wanted, counts):
            _keep(work, pair, counts)
    for project, chosen, rejected in work.edits:
        one, other = work.find(project, chosen), work.find(project, rejected)
        if one is not None and other is not None:
            _keep(work, SamplePair(one, other, "edit"), counts)
    if "scores" in wanted.pairs or "best" in wanted.pairs:
        for group in work.prompts():
            for pair in _scored(group, wanted, counts):
                _keep(work, pair, counts)


def by_prompt(work: Workbench) -> Iterator[list[SamplePair]]:
    """The pairs of each prompt, in the order in which they are written."""
    found = work.database.execute(statement("training/kept_pairs"))
    pairs = (SamplePair(work.row(one), work.row(other), *said) for one, other, *said in found)
    for _, group in groupby(pairs, key=lambda pair: pair.chosen.prompt_hash):
        yield list(group)


def distinct(group: Sequence[SamplePair], counts: Counts) -> Iterator[SamplePair]:
    """Those of a prompt whose texts differ from the ones before, and say nothing else than others:
    of two that do, the one of the stronger source is written, and else neither."""
    sources: dict[tuple[bytes, bytes], set[str]] = {}
    for pair in group:
        sources.setdefault(_texts(pair), set()).add(pair.source)
    seen: set[tuple[bytes, bytes]] = set()
    for pair in group:
        texts = _texts(pair)
        against = sources.get((texts[1], texts[0]), set())
        if against and _strength(against) >= _strength(sources[texts]):
            counts.dropped["pair_contradicted"] += 1
        elif texts in seen:
            counts.dropped["duplicate"] += 1
        else:
            seen.add(texts)
            yield pair


def _strength(sources: set[str]) -> int:
    return max(_STRENGTH[one] for one in sources)


def _texts(pair: SamplePair) -> tuple[bytes, bytes]:
    return pair.chosen.completion_hash, pair.rejected.completion_hash


def number(work: Workbench) -> int:
    """How many pairs there are."""
    return int(work.database.execute("SELECT count(*) FROM pair").fetchone()[0])


def _preferred(work: Workbench, wanted: TrainingSet, counts: Counts) -> Iterator[SamplePair]:
    """Of what was said of a pair both ways, the newest was loaded."""
    for found in list(judgments.preferences(work.database)):
        project, kind, chosen, rejected, author = found
        source = "preference"
        if kind == "artifact":
            of_texts = _of_texts(work, wanted, project, chosen, rejected)
            if of_texts is None:
                continue
            chosen, rejected, source = of_texts
        elif "preferences" not in wanted.pairs:
            continue
        elif kind != wanted.unit:
            counts.dropped["pair_of_another_unit"] += 1
            continue
        if chosen == rejected:
            counts.dropped["pair_with_itself"] += 1
            continue
        one, other = work.find(project, chosen), work.find(project, rejected)
        if one is None or other is None:
            counts.dropped["pair_without_sample"] += 1
        else:
            yield SamplePair(one, other, source, _margin(one, other), author)


def _of_texts(
    work: Workbench, wanted: TrainingSet, project: str, chosen: str, rejected: str
) -> tuple[str, str, str] | None:
    """What the samples of two artifacts are found by, and the pair's source: the texts' own where
    one is a correction, else those of what wrote them. ``None``: not asked for."""
    one = artifacts.find(work.database, project, chosen)
    other = artifacts.find(work.database, project, rejected)
    if one is not None and other is not None and artifacts.is_corrected(one, other):
        if "corrections" not in wanted.pairs or not TextComparison(one, other).of_one_place:
            return None  # where it is asked for, it has been counted
        source = "correction" if one.kind == artifacts.CORRECTION else "preference"
        return artifacts.unit_of(chosen), artifacts.unit_of(rejected), source
    if "preferences" not in wanted.pairs:
        return None
    names = (_wrote(one, wanted), _wrote(other, wanted))
    return (*names, "preference") if all(names) else (chosen, rejected, "preference")


def _wrote(artifact: ArtifactText | None, wanted: TrainingSet) -> str:
    if artifact is None:
        return ""
    by_unit = {"turn": artifact.turn_id, "call": artifact.call_id, "session": artifact.session_id}
    return by_unit[wanted.unit]


def _locked(work: Workbench, wanted: TrainingSet, counts: Counts) -> Iterator[SamplePair]:
    """A locked lineage's result over those of the unlocked ones in its cycle."""
    counts.dropped["pair_of_two_prompts"] += locked.across_prompts(work.database)
    for _, group in groupby(locked.pairs(work.database), key=itemgetter(0)):
        for at, (_, chosen, rejected) in enumerate(group):
            if at >= wanted.pairs_a_prompt:
                counts.dropped["pair_over_the_limit"] += 1
                continue
            one, other = work.row(chosen), work.row(rejected)
            yield SamplePair(one, other, "locked", _margin(one, other))


def _scored(
    group: Sequence[SampleRow], wanted: TrainingSet, counts: Counts
) -> Iterator[SamplePair]:
    """Pairs of one prompt by score, those of the greatest difference first."""
    known = [(row.score, row) for row in group if row.score is not None]
    known.sort(key=lambda each: each[0])
    if "scores" not in wanted.pairs:
        if len(known) > 1 and known[-1][0] == known[-2][0]:
            counts.dropped["pair_tied"] += 1  # several are best
            return
        if not known:
            return
    scores = [score for score, _ in known]
    _count_ties(scores, wanted, counts)
    yield from _widest(known, scores, wanted, counts)


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
    known: Sequence[tuple[float, SampleRow]],
    scores: Sequence[float],
    wanted: TrainingSet,
    counts: Counts,
) -> Iterator[SamplePair]:
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
            yield SamplePair(known[at][1], known[below][1], "score", margin)


def _margin(one: SampleRow, other: SampleRow) -> float | None:
    if one.score is None or other.score is None:
        return None
    return one.score - other.score


def _keep(work: Workbench, pair: SamplePair, counts: Counts) -> None:
    if pair.chosen.prompt_hash != pair.rejected.prompt_hash:
        counts.dropped["pair_of_two_prompts"] += 1
        return
    if pair.chosen.cut:
        counts.dropped["pair_chosen_cut"] += 1
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
