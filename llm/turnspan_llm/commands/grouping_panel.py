"""Runs that were found in a log, and the rows for a person to look at, as text and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timezone
from typing import Any

from rich.text import Text

from turnspan_console import styles
from turnspan_console.output import Output
from turnspan_console.panels.layout import Column
from turnspan_console.panels.tables import print_table
from turnspan_llm.grouping.log_writer import WrittenRows
from turnspan_llm.grouping.model import (
    AttachedRow,
    Grouping,
    ReviewRow,
    RowAt,
    RunFound,
)

_ROLES = {0: "member", 1: "final arbiter", 2: "arbiter"}


def print_grouping(grouping: Grouping, written: Mapping[str, WrittenRows], output: Output) -> None:
    """The runs, what is left to a person, and the sums."""
    if grouping.runs:
        print_table(_runs(grouping.runs), output)
        output.line()
    if grouping.review:
        output.line(Text("For a person to look at", styles.HEADING))
        print_table(_reviews(grouping.review), output)
        output.line()
    output.lines(_sums(grouping))
    for path, done in written.items():
        output.line(_done(path, done))


def _runs(listed: Sequence[RunFound]) -> list[Column]:
    missing = [sum(iteration.missing for iteration in run.iterations) for run in listed]
    return [
        _column("run", (run.consortium_id for run in listed), kept=True, ids=True),
        _column("consortium", (run.name for run in listed)),
        _column("began", (_time(run.output.row) for run in listed), whole=True),
        _column("iterations", (str(len(run.iterations)) for run in listed), right=True),
        _column("rows", (str(len(run.rows())) for run in listed), right=True),
        _column("missing", (str(number or "") for number in missing), right=True),
        _column("output", (run.output.row.id for run in listed), ids=True),
        _column("part of", (run.parent or "" for run in listed), ids=True),
    ]


def _reviews(listed: Sequence[ReviewRow]) -> list[Column]:
    return [
        _column("row", (each.row.id for each in listed), kept=True, ids=True),
        _column("model", (each.row.model for each in listed)),
        _column("began", (_time(each.row) for each in listed), whole=True),
        _column("why", (each.why.value for each in listed), whole=True),
        _column("reason", (each.reason for each in listed), long=True),
        _column("may belong to", (_candidates(each) for each in listed), long=True),
    ]


def _column(name: str, cells: Iterable[str], **how: bool) -> Column:
    return Column(name, [Text(cell) for cell in cells], **how)


def _candidates(review: ReviewRow) -> str:
    return ", ".join(
        f"{each.output} ({_ROLES[each.role]}, iteration {each.iteration})"
        for each in review.candidates
    )


def _time(row: RowAt) -> str:
    if row.began < 0:
        return ""
    return f"{datetime.fromtimestamp(row.began // 1_000_000, timezone.utc):%Y-%m-%d %H:%M:%S}"


def _sums(grouping: Grouping) -> list[str]:
    attached = sum(len(run.rows()) for run in grouping.runs)
    whole = sum(run.complete for run in grouping.runs)
    why = Counter(each.why.value for each in grouping.review)
    left = ", ".join(f"{count} {name}" for name, count in sorted(why.items())) or "none"
    return [
        f"{grouping.seen} rows read: {len(grouping.runs)} runs of {attached} rows, {whole} of them "
        "whole",
        f"for a person to look at: {left}",
    ]


def _done(path: str, done: WrittenRows) -> str:
    if not done.rows:
        return f"{path}: nothing to write, every row found has its run already"
    gone = f"; {done.gone} rows had changed and were left alone" if done.gone else ""
    return (
        f"{path}: wrote {done.rows} rows of {', '.join(done.tables)}; as it was before: "
        f"{done.backup}{gone}"
    )


def as_json(grouping: Grouping, written: Mapping[str, WrittenRows]) -> dict[str, Any]:
    """All that was found, for programs."""
    told: dict[str, Any] = {
        "rows_read": grouping.seen,
        "runs": [_run(run) for run in grouping.runs],
        "review": [_review(each) for each in grouping.review],
    }
    if written:
        told["written"] = {
            path: {
                "rows": done.rows,
                "backup": None if done.backup is None else str(done.backup),
                "tables": list(done.tables),
                "changed_meanwhile": done.gone,
            }
            for path, done in written.items()
        }
    return told


def _run(run: RunFound) -> dict[str, Any]:
    return {
        "consortium_id": run.consortium_id,
        "name": run.name,
        "parent": run.parent,
        "source_id": run.source_id,
        "complete": run.complete,
        "output": _attached(run.output),
        "iterations": [
            {
                "number": iteration.number,
                "arbiter": None if iteration.arbiter is None else _attached(iteration.arbiter),
                "members": [_attached(member) for member in iteration.members],
                "missing": iteration.missing,
            }
            for iteration in run.iterations
        ],
    }


def _attached(attached: AttachedRow) -> dict[str, Any]:
    return {
        **_row(attached.row),
        "role": attached.role,
        "iteration": attached.iteration,
        "keys": [key.value for key in attached.keys],
    }


def _row(row: RowAt) -> dict[str, Any]:
    database = "log" if row.database == 0 else "consortium"
    return {"row": row.id, "database": database, "table": row.table, "model": row.model}


def _review(review: ReviewRow) -> dict[str, Any]:
    return {
        **_row(review.row),
        "why": review.why.value,
        "reason": review.reason,
        "candidates": [asdict(each) for each in review.candidates],
    }


def explained(grouping: Grouping, row: str) -> dict[str, Any] | None:
    """What is known of a row; ``None`` where nothing is."""
    for run in grouping.runs:
        for each in run.rows():
            if each.row.id == row:
                what = "output" if each is run.output else _ROLES[each.role]
                told = {"consortium_id": run.consortium_id, "output": run.output.row.id, "is": what}
                return {**told, **_attached(each), "review": _reasons(grouping, row)}
    place = grouping.places.get(row)
    if place is not None:
        run_id, role, iteration = place
        told = {"row": row, "consortium_id": run_id, "is": _ROLES.get(role, str(role))}
        return {**told, "iteration": iteration, "keys": ["assigned"], "review": []}
    reasons = _reasons(grouping, row)
    return {"row": row, "consortium_id": None, "review": reasons} if reasons else None


def _reasons(grouping: Grouping, row: str) -> list[dict[str, Any]]:
    return [_review(each) for each in grouping.review if each.row.id == row]


def print_explained(told: Mapping[str, Any], output: Output) -> None:
    """The same as sentences."""
    if told["consortium_id"] is None:
        output.line(f"{told['row']}: in no run")
    else:
        where = f", iteration {told['iteration']}" if told["iteration"] else ""
        output.line(f"{told['row']}: {told['is']} of run {told['consortium_id']}{where}")
        output.line(f"  attached by: {', '.join(told['keys'])}")
    for each in told["review"]:
        output.line(f"  {each['why']}: {each['reason']}")
        for candidate in each["candidates"]:
            output.line(
                f"    may be {_ROLES[candidate['role']]} of iteration {candidate['iteration']} in "
                f"the run of {candidate['output']}"
            )
