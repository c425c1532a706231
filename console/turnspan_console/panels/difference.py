"""What changed between two model calls, as text."""

from __future__ import annotations

from collections.abc import Iterator

from turnspan_console import styles
from turnspan_console.output import Output
from turnspan_console.page import Page
from turnspan_console.values import counted, one_line
from turnspan_records.screens.difference import CacheBreak, Difference, MessageChange

_MARKS = {"same": ("=", styles.FAINT), "edited": ("~", styles.WARN), "dropped": ("-", styles.BAD),
          "added": ("+", styles.GOOD)}  # fmt: skip


def print_difference(difference: Difference, output: Output) -> None:
    """Print it: what is set up, then the messages in the order of the second request."""
    page = Page(output)
    for call in (difference.before, difference.after):
        tokens = "" if call.input_tokens is None else f", {call.input_tokens:,} tokens in"
        page.line(f"{call.span_id}  {call.model}, {counted(call.messages, 'message')}{tokens}")
    page.blank()
    for label, text, style in _set_up(difference):
        page.line((f"{label:<12}", styles.FAINT), (text, style))
    for change in difference.messages:
        mark, style = _MARKS[change.kind]
        page.line((f"{mark} ", style), (f"{_places(change):<10}", styles.FAINT), _said(change))
        if change.kind == "edited" and change.was is not None and change.now is not None:
            with page.deeper():
                page.text(change.was.text, mark="- ", style=styles.BAD, limit=3)
                page.text(change.now.text, mark="+ ", style=styles.GOOD, limit=3)
    page.blank()
    page.line(cache_sentence(difference.cache))


def _set_up(difference: Difference) -> Iterator[tuple[str, str, str]]:
    for change in difference.parameters:
        was, now = (one_line(text) or "(not given)" for text in (change.before, change.after))
        yield "parameter", f"{change.name}: {was} -> {now}", styles.WARN
    if difference.tools_same:
        yield "tools", "the same", styles.FAINT
    else:
        tools = difference.tools
        named = [f"+ {one}" for one in tools.added] + [f"- {one}" for one in tools.removed]
        named += [f"~ {one}" for one in tools.changed]
        yield "tools", one_line(", ".join(named)) or "in another order or not recorded", styles.WARN
    same = difference.system.same
    yield "system", "the same" if same else "changed", styles.FAINT if same else styles.WARN


def _places(change: MessageChange) -> str:
    at = (change.after if change.after >= 0 else change.before) + 1
    return f"{at}-{at + change.count - 1}" if change.count > 1 else str(at)


def _said(change: MessageChange) -> str:
    if change.kind == "same":
        return f"{counted(change.count, 'message')} the same"
    if change.kind == "edited":
        return f"{change.now.role if change.now else ''}: edited in place"
    head = change.now or change.was
    if head is None:
        return ""
    if not head.recorded:
        return f"not recorded, {head.hash}"
    return f"{head.role}: {one_line(head.text) or ', '.join(head.kinds)}"


def cache_sentence(cache: CacheBreak) -> str:
    """Where what both share ends, and what the provider read of it."""
    where = {
        "": "Nothing before the end of the first request changed: a cache can hold all of it",
        "model": "Another model: no cache holds",
        "tools": "The tools come first and changed: no cache holds",
        "system": "The system prompt changed: a cache can hold the tools at most",
        "message": f"Message {cache.message + 1} is the first that changed: a cache can hold "
        "what is before it",
    }[cache.place]
    tokens = "" if not cache.shared_tokens else f", about {cache.shared_tokens:,} tokens"
    read = "" if cache.read is None else f"; {cache.read:,} were read from it"
    lost = f", {cache.lost:,} fewer than had been in it" if cache.lost else ""
    return f"{where}{tokens}{read}{lost}."
