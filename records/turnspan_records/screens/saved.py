"""A call and a comparison as HTML, as ``conversation.html`` has a session."""

from __future__ import annotations

import json

from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.html_text import escaped
from turnspan_records.conversation import MessageRecord
from turnspan_records.conversation.html import folded_html, message_html, said_html
from turnspan_records.messages import (
    ContentMissingError,
    load_definitions,
    load_messages,
    prompt_text,
)
from turnspan_records.screens.call import CallScreen, NamedValue, call_screen
from turnspan_records.screens.difference import Difference, MessageChange
from turnspan_records.screens.request import exact_request


def call_html(store: Store, project: str, span_id: str) -> str:
    """A model call as a fragment: what was sent, every message whole, what came back, what it cost,
    every recorded fact, and the request in its provider's form.

    Raises:
        KeyError: there is no such call.
        StoreError: as ``Store.query``.
    """
    call = call_screen(store, project, span_id)
    hashes = [head.hash for head in (*call.inputs, *call.outputs)]
    known = load_messages(store, project, call.session_id or call.trace_id, hashes)
    messages = [known.get(one, MessageRecord(one, recorded=False)) for one in hashes]
    sent, replies = messages[: len(call.inputs)], messages[len(call.inputs) :]
    defined = load_definitions(store, project, [one for one in (call.system, call.tools) if one])
    answer = "".join(message_html(one) for one in replies)
    if not known.keys() & {one.hash for one in call.outputs} and call.response_text:
        answer = folded_html("thinking", call.response_thoughts) + said_html(
            "assistant", call.response_text
        )
    about = f'<p class="faint">{escaped(project)} · {escaped(call.session_id)}</p>'
    error = f"{call.error_type}: {call.error_message}" if call.error_type else ""
    failed = f'<p class="bad">✗ {escaped(error)}</p>' if error else ""
    return (
        f'<div class="turnspan">{about}{_call_line(call)}{failed}'
        f"<section><h3>Request</h3>{folded_html('parameters', call.request_parameters)}"
        f"{folded_html('tools', defined.get(call.tools, ''))}"
        f"{folded_html('system prompt', prompt_text(defined.get(call.system, '')))}"
        f"{''.join(message_html(one) for one in sent)}</section>"
        f"<section><h3>Answer</h3>{answer or '<p>Nothing is recorded.</p>'}</section>"
        f"{_facts(call)}{_exact(store, project, span_id)}</div>"
    )


def _call_line(call: CallScreen) -> str:
    known = call.input_tokens is not None
    tokens = f", {call.input_tokens} → {call.output_tokens} tokens" if known else ""
    cost = "" if call.cost_usd is None else f", ${call.cost_usd:f}"
    return (
        f"<p>● {escaped(call.model)}, call {call.number} of {call.calls}, {call.duration:.2f} s"
        f'{tokens}{cost} <span class="faint">{call.start_time:%Y-%m-%d %H:%M:%S} UTC</span></p>'
    )


def _facts(call: CallScreen) -> str:
    cost = [
        NamedValue(f"cost of {one.kind}", f"{one.count}: ${one.cost_usd:f}")
        for one in call.cost.parts
    ]
    finish = NamedValue("finish", ", ".join(call.finish_reasons))
    told = [finish, *cost, *call.facts, *call.attributes]
    return folded_html("facts", "\n".join(f"{one.name}: {one.value}" for one in told))


def _exact(store: Store, project: str, span_id: str) -> str:
    try:
        told = exact_request(store, project, span_id)
    except ContentMissingError as missing:
        return f'<p class="faint">{escaped(str(missing))}</p>'
    altered = f"{len(told.altered)} parts not as sent" if told.altered else "as its span has it"
    label = f"request, {'exact' if told.exact else altered}"
    return folded_html(label, json.dumps(told.body, ensure_ascii=False, indent=2))


def difference_html(difference: Difference) -> str:
    """What changed between two calls as a fragment; of messages how they begin."""
    before, after = difference.before, difference.after
    rows = [f"<p>{escaped(before.span_id)} → {escaped(after.span_id)}</p>"]
    rows += [
        f"<p>parameter {escaped(one.name)}: <del>{escaped(one.before)}</del>"
        f" <ins>{escaped(one.after)}</ins></p>"
        for one in difference.parameters
    ]
    rows.append(f"<p>tools: {'the same' if difference.tools_same else _tools(difference)}</p>")
    rows.append(f"<p>system prompt: {'the same' if difference.system.same else 'changed'}</p>")
    rows += [_change(one) for one in difference.messages]
    return f'<div class="turnspan">{"".join(rows)}</div>'


def _tools(difference: Difference) -> str:
    tools = difference.tools
    by_mark = {"+": tools.added, "-": tools.removed, "~": tools.changed}
    marked = (f"{mark}{name}" for mark, names in by_mark.items() for name in names)
    return escaped(", ".join(marked)) or "changed"


def _change(change: MessageChange) -> str:
    at = (change.after if change.after >= 0 else change.before) + 1
    if change.kind == "same":
        return f'<p class="faint">= {at}: {change.count} the same</p>'
    shown = "".join(
        f"<{tag}><pre>{escaped(head.text if head.recorded else head.hash)}</pre></{tag}>"
        for tag, head in (("del", change.was), ("ins", change.now))
        if head is not None
    )
    return f"<section>{escaped(change.kind)} {at}{shown}</section>"
