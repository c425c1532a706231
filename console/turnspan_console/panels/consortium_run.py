"""A consortium run on the screen: the members' answers side by side, and what the arbiter made of
them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.text import Text

from turnspan_console import styles, values
from turnspan_console.output import Output
from turnspan_console.page import Page, block
from turnspan_console.panels.details import print_judgments
from turnspan_console.panels.layout import GAP, beside
from turnspan_records.consortium.run_detail import (
    ConsortiumRun,
    Decision,
    MemberAnswer,
)

NARROWEST: Final = 32
"""Answers that would have fewer columns stand one below the other."""
_LINES: Final = 16
"""Lines of an answer, unless all are asked for."""
_STATUS: Final = {
    "finished": styles.GOOD,
    "running": styles.BUSY,
    **dict.fromkeys(("failed", "interrupted"), styles.BAD),
}


def print_run(run: ConsortiumRun, output: Output, *, full: bool = False) -> None:
    """Write a run for a person."""
    page = Page(output, full=full)
    page.line(
        (values.one_line(f"Consortium {run.name} ".replace("  ", " ")), styles.TITLE),
        (f" {run.consortium_id}", styles.ID),
        (f"  {run.status}", _STATUS.get(run.status, styles.WARN)),
    )
    for name, said in _facts(run):
        page.line((f"{name:<15}", styles.FAINT), said)
    if run.error_type or run.error_message:
        _error(run.error_type, run.error_message, page)
    page.section("prompt", run.prompt, limit=_LINES)
    for iteration in run.iterations:
        page.heading(f"Iteration {iteration.number}")
        cells = [_member(one) for one in iteration.members]
        width = (page.width - GAP * (len(cells) - 1)) // len(cells) if cells else 0
        if page.output.terminal and len(cells) > 1 and width >= NARROWEST:
            _beside(iteration.members, cells, width, page)
        else:
            for member, head in zip(iteration.members, cells, strict=True):
                page.blank()
                page.line(*[(text.plain, str(text.style)) for text in head])
                with page.deeper():
                    page.text(member.answer or values.UNKNOWN, limit=_LINES)
        for decision in iteration.decisions:
            _decision(decision, page)
    if run.other_calls:
        page.blank()
        calls = values.counted(len(run.other_calls), "other model call")
        page.line((f"and {calls}", styles.FAINT))
    page.section("final", run.final_text, limit=_LINES)
    print_judgments(run.judgments, page)


def _facts(run: ConsortiumRun) -> list[tuple[str, str]]:
    tokens = f"{_count(run.input_tokens)} in, {_count(run.output_tokens)} out"
    cost = "" if run.cost_usd is None else f", {values.dollars(run.cost_usd)}"
    missing = f"; {values.counted(run.missing, 'row')} not found" if run.missing else ""
    found = [
        ("strategy", values.one_line(run.strategy)),
        ("began", f"{values.moment(run.started_at)}, took {values.seconds(run.duration)}"),
        ("winner", values.one_line(run.winner)),
        ("confidence", _number(run.confidence)),
        ("agreement", _number(run.agreement)),
        ("grouped by", values.one_line(", ".join(run.grouped_by)) + missing),
        ("calls", f"{run.calls:,}: {tokens}{cost}" if run.calls else "none"),
    ]
    if run.longest_member:
        took = values.seconds(run.longest_member_seconds)
        found.append(("longest member", f"{values.one_line(run.longest_member)}, {took}"))
    ids = (("session", run.session_id), ("turn", run.turn_id), ("part of", run.outer_id))
    found += [(name, values.one_line(id_)) for name, id_ in ids]
    return [(name, said) for name, said in found if said]


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _count(value: int | None) -> str:
    return values.UNKNOWN if value is None else f"{value:,}"


def _member(member: MemberAnswer) -> list[Text]:
    """What stands over an answer."""
    head = [Text(values.one_line(member.label) or "member", styles.TITLE)]
    head.append(Text(f"  {values.seconds(member.duration)}", styles.FAINT))
    if member.cost_usd is not None:
        head.append(Text(f"  {values.dollars(member.cost_usd)}", styles.FAINT))
    if member.won:
        head.append(Text("  won", styles.GOOD))
    if member.error_type:
        said = values.error_line(member.error_type, member.error_message)
        head.append(Text(f"  {said}", styles.BAD))
    if member.inner_run:
        head.append(Text(f"  is run {member.inner_run}", styles.FAINT))
    return head


def _beside(
    members: Sequence[MemberAnswer], heads: Sequence[list[Text]], width: int, page: Page
) -> None:
    columns = [
        [
            Text.assemble(*head),
            *block(member.answer or values.UNKNOWN, width, None if page.full else _LINES),
        ]
        for member, head in zip(members, heads, strict=True)
    ]
    for column in columns:
        column[0].truncate(width, overflow="ellipsis")
    page.output.lines(beside(columns, width))


def _decision(decision: Decision, page: Page) -> None:
    page.blank()
    said = [("Arbiter ", styles.HEADING), (values.one_line(decision.model), styles.TITLE)]
    if decision.confidence is not None:
        said.append((f"  confidence {decision.confidence:.2f}", ""))
    if decision.needs_iteration:
        said.append(("  wants another iteration", styles.WARN))
    said.append((f"  {values.seconds(decision.duration)}", styles.FAINT))
    page.line(*said)
    with page.deeper():
        if decision.error_type:
            _error(decision.error_type, decision.error_message, page)
        if decision.ranking:
            ranked = " > ".join(map(values.one_line, decision.ranking))
            page.line(("ranking  ", styles.FAINT), ranked)
        for area in decision.refinement_areas:
            page.line(("refine  ", styles.FAINT), values.one_line(area))
        for text, style in ((decision.reasoning, styles.FAINT), (decision.synthesis, "")):
            if text:
                page.text(text, style=style, limit=_LINES)


def _error(kind: str, message: str, page: Page) -> None:
    page.line((values.error_line(kind, message), styles.BAD))
