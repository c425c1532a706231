"""One record on the screen: its facts, its texts, its messages and what is below it."""

from __future__ import annotations

import json
from typing import Any, cast

from rich.cells import cell_len
from rich.text import Text

from turnspan_clickhouse.store.client import Result
from turnspan_console import styles, values
from turnspan_console.output import Output
from turnspan_console.page import Page
from turnspan_console.panels.results import as_json as rows_as_json
from turnspan_console.panels.results import print_result
from turnspan_console.panels.tables import heading
from turnspan_console.panels.transcript import as_text, print_part
from turnspan_records.conversation import MessageRecord
from turnspan_records.detail import Detail, SpanNode
from turnspan_records.judging.history import JudgmentRecord

_LATER = ("attributes", "resource", "writer", "written_at", "scope_name", "scope_version")
"""Facts that come after the others."""

_TITLES = {"call": "Model call", "tool": "Tool call"}
_SHOWN_MESSAGES = 6
_SECONDS = frozenset({"duration", "time_to_first_chunk"})


def print_detail(detail: Detail, output: Output, *, full: bool = False) -> None:
    """Write a record for a person."""
    page = Page(output, full=full)
    title = _TITLES.get(detail.kind, detail.kind.capitalize())
    page.line((f"{title} ", styles.TITLE), (detail.id, styles.TITLE))
    _facts(detail, page)
    for name, text in detail.texts.items():
        page.section(heading(name), _pretty(text), limit=12)
    if detail.input_messages:
        page.heading(f"input: {len(detail.input_messages):,} messages")
        _messages(detail.input_messages, page)
    if detail.output_messages:
        page.heading("output")
        _messages(detail.output_messages, page)
    if detail.spans:
        page.heading("spans")
        total = max(0.0, *(_end(root, detail.spans[0]) for root in detail.spans))
        for root in detail.spans:
            _span(root, detail.spans[0], total, page, 1)
    print_judgments(detail.judgments, page)
    for name, result in detail.tables.items():
        if result.rows:
            page.heading(f"{name}: {len(result.rows):,}")
            print_result(_without_known(result), "table", output, indent=2)


def as_json(detail: Detail) -> dict[str, Any]:
    """A record for a program: the facts and texts at the top, then lists."""
    made: dict[str, Any] = {"kind": detail.kind, "id": detail.id}
    made.update(values.plain({**detail.facts, **detail.texts}))
    if detail.kind == "call":
        made["input_messages"] = [*map(_message_json, detail.input_messages)]
        made["output_messages"] = [*map(_message_json, detail.output_messages)]
    for name, result in detail.tables.items():
        made[name.replace(" ", "_")] = rows_as_json(result)
    told = "spans" if detail.kind == "trace" else "judgments"
    return {**made, told: values.plain(getattr(detail, told))}


def _message_json(message: MessageRecord) -> dict[str, Any]:
    made: dict[str, Any] = {"hash": message.hash, "recorded": message.recorded}
    if message.recorded:
        made.update(role=message.role, name=message.name, parts=values.plain(message.parts))
    return made


def _facts(detail: Detail, page: Page) -> None:
    shown = {name: value for name, value in detail.facts.items() if not _blank(value)}
    names = [name for name in shown if name not in _LATER]
    names += [name for name in _LATER if name in shown]
    width = max((cell_len(heading(name)) for name in names), default=0)
    for name in names:
        value = shown[name]
        if isinstance(value, dict):
            page.line((heading(name), styles.FAINT))
            for key, one in sorted(cast("dict[str, Any]", value).items()):
                page.line(f"  {key}  ", (values.one_line(as_text(one)), styles.FAINT))
            continue
        text = _fact(name, value)
        style = styles.BY_COLUMN.get(name)
        page.line(
            (f"{heading(name):{width}}  ", styles.FAINT),
            (text, style(text) if style and name not in ("session", "turn") else ""),
        )


def _fact(name: str, value: Any) -> str:
    if name in _SECONDS:
        return values.seconds(value)
    if isinstance(value, (list, tuple)):
        return ", ".join(values.raw(one) for one in cast("list[Any]", value))
    return values.one_line(values.human(value, name))


def _blank(value: Any) -> bool:
    return value is None or value is False or (hasattr(value, "__len__") and len(value) == 0)


def _pretty(text: str) -> str:
    if text[:1] not in "{[":
        return text
    try:
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    except ValueError:
        return text


def _messages(messages: list[MessageRecord], page: Page) -> None:
    left = 0 if page.full else max(0, len(messages) - _SHOWN_MESSAGES - 1)
    if left:
        page.line((f"  … {left:,} earlier messages (--full)", styles.FAINT))
    for message in messages[left:]:
        with page.deeper():
            name = f" {message.name}" if message.name else ""
            page.line((message.role + name or "message", styles.SYSTEM))
            with page.deeper():
                if not message.recorded:
                    page.line((f"(content not in the store, {message.hash})", styles.FAINT))
                for part in message.parts:
                    print_part(part, page, limit=12)


def print_judgments(told: list[JudgmentRecord], page: Page) -> None:
    """Write what was said of a record, the oldest first, after an empty line; nothing of none."""
    if told:
        page.heading(f"judgments: {len(told):,}")
    for one in told:
        _judgment(one, page)


def _judgment(one: JudgmentRecord, page: Page) -> None:
    """One line: when, who, what; faint where it does not hold."""
    style = "" if one.holds else styles.FAINT
    sure = "" if one.confidence is None else f", {one.confidence:.0%} sure"
    page.line(
        (f"  {values.moment(one.created_at)}  ", styles.FAINT),
        (f"{one.kind} ", style),
        (values.one_line(one.verdict), style or styles.TITLE),
        (f"  {_by(one.author, one.source)}{sure}  {values.short_id(one.id)}", styles.FAINT),
    )
    if one.ranking_id:
        page.line((f"    of ranking {values.one_line(one.ranking_id)}", styles.FAINT))
    if one.comment and one.comment != one.verdict:
        page.line((f"    {values.one_line(one.comment)}", style))
    if one.withdrawn_at is not None:
        why = f": {one.reason}" if one.reason else ""
        by = f" by {one.withdrawn_by}" if one.withdrawn_by else ""
        told = values.one_line(f"withdrawn {values.moment(one.withdrawn_at)}{by}{why}")
        page.line((f"    {told}", styles.WARN))


def _by(author: str, source: str) -> str:
    told = f"by {author}" if author else "by somebody"
    return f"{told} ({source})" if source else told


def _span(node: SpanNode, first: SpanNode, total: float, page: Page, depth: int) -> None:
    failed = node.status_code == "ERROR"
    bar = _bar((node.start_time - first.start_time).total_seconds(), node.duration, total)
    width = max(20, page.width - 26) if page.output.terminal else 60
    label = Text("  " * depth + values.one_line(node.name), style=styles.BAD if failed else "")
    label.truncate(width, overflow="ellipsis", pad=True)
    page.line(
        (label.plain, styles.BAD if failed else ""),
        (f"{values.seconds(node.duration):>9} ", ""),
        (bar, styles.BAD if failed else styles.BUSY),
    )
    if failed and node.status_message:
        page.line(("  " * (depth + 1) + values.one_line(node.status_message), styles.FAINT))
    for child in node.children:
        _span(child, first, total, page, depth + 1)


def _end(node: SpanNode, first: SpanNode) -> float:
    return (node.start_time - first.start_time).total_seconds() + node.duration


_BAR = 14


def _bar(start: float, duration: float, total: float) -> str:
    if total <= 0:
        return ""
    begin = min(_BAR - 1, max(0, int(start / total * _BAR)))
    length = max(1, min(_BAR - begin, round(duration / total * _BAR)))
    return " " * begin + "━" * length


def _without_known(result: Result) -> Result:
    """The result without its project column: the record's own facts say it."""
    keep = [at for at, name in enumerate(result.names) if name != "project"]
    return Result(
        tuple(result.names[at] for at in keep),
        tuple(result.types[at] for at in keep),
        [[row[at] for at in keep] for row in result.rows],
    )
