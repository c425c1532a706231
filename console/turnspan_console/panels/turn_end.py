"""Why a turn stopped, on the screen: the rule, what shows it, and what it did last."""

from __future__ import annotations

from typing import Final

from turnspan_console import styles, values
from turnspan_console.output import Output
from turnspan_console.page import Page
from turnspan_records.screens.turn_end import LastCall, TurnEnd

_LINES: Final = 6
"""Lines of a text, unless all are asked for."""


def print_turn_end(end: TurnEnd, output: Output, *, full: bool = False) -> None:
    """Write why a turn stopped, for a person."""
    page = Page(output, full=full)
    stop = end.stop
    page.line(
        ("Turn ", styles.TITLE),
        (values.one_line(end.turn_id), styles.ID),
        (f"  {values.one_line(stop.ended_how)}", styles.stop_reason(stop.ended_how)),
    )
    page.line((f"because {stop.rule}", ""))
    if stop.detail or end.error_message:
        page.line((values.one_line(stop.detail or end.error_message), styles.BAD))
    for name, value in stop.facts:
        page.line((f"{name:<26}", styles.FAINT), values.one_line(value))
    for row in stop.rows:
        page.line(
            (f"{row.kind:<26}", styles.FAINT),
            (f"{row.span_id}  ", styles.ID),
            values.one_line(row.says),
        )
    page.section("user", end.user_message, limit=_LINES)
    page.section("answer", end.response_text, limit=_LINES)
    if end.calls:
        page.heading("last model calls")
        for call in end.calls:
            _call(call, page)
    if end.tools:
        page.heading("last tool calls")
        for tool in end.tools:
            again = f"  {tool.same} alike" if tool.same > 1 else ""
            error = tool.error_type or ("failed" if tool.failed else "")
            page.line(
                (f"  {tool.span_id}  ", styles.ID),
                values.one_line(f"round {tool.round}  {tool.name} {tool.arguments}"[:120]),
                (again, styles.WARN),
                (f"  {values.one_line(error)}", styles.BAD),
            )
    for nested in end.nested:
        said = f"{nested.agent_name} {nested.stop_reason} {nested.stop_detail}"
        page.line(("nested turn  ", styles.FAINT), f"{nested.turn_id}  {values.one_line(said)}")


def _call(call: LastCall, page: Page) -> None:
    finish = ", ".join(call.finish_reasons)
    said = f"round {call.round}  {call.model}  {finish}"
    page.line(
        (f"  {call.span_id}  ", styles.ID),
        values.one_line(said),
        (f"  {values.one_line(call.error_type)}", styles.BAD),
    )
