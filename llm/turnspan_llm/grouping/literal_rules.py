"""The rules that people tried before, for comparison: what stands next to what.

The row just before a consortium's output is its final arbiter; members are the rows of the last
hour whose text equals a snippet of that arbiter's prompt; rows of the arbiter's model in that hour
that were asked with a template are intermediate arbiters. They are wrong as soon as an answer
contains a tag, a model answers twice alike, or two runs overlap.
"""

from __future__ import annotations

from collections.abc import Iterator

from turnspan_llm.grouping.assembly import at
from turnspan_llm.grouping.model import (
    ARBITER,
    FINAL_ARBITER,
    MEMBER,
    AttachedRow,
    Grouping,
    IterationFound,
    MatchKey,
    ReviewRow,
    RowPlace,
    RunFound,
    Why,
    run_id,
)
from turnspan_llm.grouping.prompts import is_arbiter_prompt
from turnspan_llm.grouping.rows import Kind, LogRow, LogRows, began_between
from turnspan_llm.grouping.texts import KnownText, known
from turnspan_llm.logs.responses import OpenedLog

_OPEN, _CLOSE = "<response>", "</response>"


def literal_runs(source: OpenedLog, rows: LogRows, window: int) -> Grouping:
    """The runs by the two phases of the literal rules; all rows have to have been kept."""
    ordered = sorted(rows.by_id.values(), key=lambda row: (row.table, row.position))
    by_text: dict[KnownText, list[LogRow]] = {}
    for row in ordered:
        by_text.setdefault(row.answer, []).append(row)
    arbiters = [row for row in ordered if row.kind is Kind.ARBITER]
    arbiters.sort(key=lambda row: row.began)
    runs: list[RunFound] = []
    review: list[ReviewRow] = []
    places: dict[str, RowPlace] = {}
    for before, output in zip([None, *ordered], ordered, strict=False):
        if output.kind is not Kind.OUTPUT:
            continue
        if before is None or output.id in places or before.id in places:
            why = "the row before it is no arbiter, or has a run already"
            review.append(ReviewRow(at(output), Why.UNPAIRED, why))
            continue
        run = _run(
            output, before, _within_the_hour(source, arbiters, by_text, before, window), places
        )
        runs.append(run)
        places.update(run.places())
    return Grouping(tuple(runs), tuple(review), places, rows.seen)


def _within_the_hour(
    source: OpenedLog,
    arbiters: list[LogRow],
    by_text: dict[KnownText, list[LogRow]],
    arbiter: LogRow,
    window: int,
) -> list[tuple[LogRow, int]]:
    logged = source.response(arbiter.table, arbiter.position)
    found: dict[LogRow, int] = {}
    for text in _snippets(logged.prompt if logged is not None else ""):
        for row in by_text.get(text, ()):
            if 0 <= arbiter.began - row.began <= window:
                found[row] = MEMBER
    for row in began_between(arbiters, arbiter.began - window, arbiter.began):
        if row.model == arbiter.model and row is not arbiter:
            found[row] = ARBITER
    return list(found.items())


def _snippets(prompt: str) -> Iterator[KnownText]:
    if not is_arbiter_prompt(prompt):
        return
    start = prompt.find(_OPEN)
    while start >= 0:
        start += len(_OPEN)
        end = prompt.find(_CLOSE, start)
        if end < 0:
            return
        yield known(prompt[start:end])
        start = prompt.find(_OPEN, end)


def _run(
    output: LogRow, arbiter: LogRow, others: list[tuple[LogRow, int]], places: dict[str, RowPlace]
) -> RunFound:
    made = [
        AttachedRow(at(row), role, 1, (MatchKey.TEXT,))
        for row, role in others
        if row.id not in places and row is not output and row is not arbiter
    ]
    final = AttachedRow(at(arbiter), FINAL_ARBITER, 1, (MatchKey.INTERVAL,))
    return RunFound(
        run_id(output.id, output.began),
        output.model,
        AttachedRow(at(output), MEMBER, 0, (MatchKey.MODELS,)),
        (IterationFound(1, final, tuple(made), 0),),
        complete=False,
    )
