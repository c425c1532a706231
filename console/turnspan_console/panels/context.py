"""One context assembly on the screen: budget, steps, what was kept and dropped, text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple

from rich.cells import cell_len

from turnspan_clickhouse.store.client import Result
from turnspan_console import styles, values
from turnspan_console.output import Output
from turnspan_console.page import Page
from turnspan_console.panels.results import print_result, print_rows
from turnspan_console.values import counted
from turnspan_records.contexts import AssembledContext, ContextItem, ContextSection

_BAR = 24
_STATUS = {"running": styles.BUSY, "interrupted": styles.BAD}


def print_context(context: AssembledContext, output: Output, *, full: bool = False) -> None:
    """Write an assembly for a person."""
    page = Page(output, full=full)
    page.line(("Context ", styles.TITLE), (context.id, styles.TITLE), f"  {context.task_type}")
    _facts(context, page)
    if context.budget is not None or any(section.kept for section in context.sections):
        _budget(context, page)
    if context.steps:
        page.heading("steps")
        steps = [(step.name, step.duration, step.error_type) for step in context.steps]
        print_rows(("step", "duration_seconds", "error"), steps, output)
    _items("kept", [item for item in context.items if item.kept], page)
    _items("dropped", [item for item in context.items if not item.kept], page)
    page.section("text", context.text or "", limit=12)


def _facts(context: AssembledContext, page: Page) -> None:
    where = [f"project {context.project}"] if context.project else []
    where += [f"session {context.session_id}"] if context.session_id else []
    where += [f"turn {values.short_id(context.turn_id)}"] if context.turn_id else []
    where += [values.moment(context.start_time), values.seconds(context.duration)]
    page.line((" · ".join(where), styles.FAINT))
    if context.entities:
        page.line((f"about {', '.join(context.entities)}", ""))
    if context.status in _STATUS:
        page.line((context.status, _STATUS[context.status]))
    if context.error_type:
        page.line((f"ended with {context.error_type}", styles.BAD))
    if context.bypassed:
        page.line((f"bypassed: {context.bypass_reason or 'no reason given'}", styles.WARN))
    if context.calls:
        calls = ", ".join(values.short_ids(context.calls))
        page.line((f"used by {counted(len(context.calls), 'model call')}: {calls}", styles.FAINT))


def _budget(context: AssembledContext, page: Page) -> None:
    page.heading("budget")
    with page.deeper():
        page.line(_used(context))
        sections = [section for section in context.sections if any(astuple(section)[1:])]
        whole = max(context.budget or 0, sum(section.tokens for section in sections), 1)
        width = max((cell_len(values.one_line(one.name or "-")) for one in sections), default=0)
        for section in sections:
            name = values.one_line(section.name or "-")
            filled = max(0, min(_BAR, -(-section.tokens * _BAR // whole)))
            page.line(
                (name + " " * (width - cell_len(name)), ""),
                f"  {section.tokens:>9,} {section.tokens / whole:>6.1%} ",
                ("█" * filled, styles.BUSY),
                ("░" * (_BAR - filled), styles.FAINT),
                (f"  {_counts(section)}", styles.FAINT),
            )


def _used(context: AssembledContext) -> tuple[str, str]:
    if context.used is None:
        used = "nothing used"
    else:
        about = "about " if context.used_estimated else ""
        used = f"{about}{counted(context.used, 'token')} used"
    if context.budget is None:
        return f"{used}, without a budget", ""
    spent = context.used or 0
    told = f"{used} of {context.budget:,}"
    if spent > context.budget:
        return f"{told}: {spent - context.budget:,} too many", styles.BAD
    return f"{told}, {context.budget - spent:,} free", styles.GOOD


def _counts(section: ContextSection) -> str:
    told = f"{section.kept:,} kept"
    if section.dropped:
        told += f", {section.dropped:,} dropped ({counted(section.dropped_tokens, 'token')})"
    return told


def _items(title: str, items: Sequence[ContextItem], page: Page) -> None:
    if not items:
        return
    page.heading(f"{title}: {len(items):,}")
    names = ("item", "section", "reason", "tokens", "score", "hop", "depth", "source")
    types = ("String", "String", "String", "UInt64", "Float64", "UInt32", "UInt32", "String")
    rows = [
        (i.id, i.section, _reason(i), i.tokens, _score(i), i.hop, i.requires_depth, i.source)
        for i in items
    ]
    print_result(Result(names, types, rows), "table", page.output, indent=2)


def _reason(item: ContextItem) -> str:
    return item.reason if item.kept or item.reason else "not decided"


def _score(item: ContextItem) -> str | None:
    return None if item.score is None else f"{item.score:.3g}"
