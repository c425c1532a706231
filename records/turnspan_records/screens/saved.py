"""A session, a call and a comparison as HTML: a fragment for a notebook, or a complete page.

There is no script in it and no address that is asked for: its policy allows its own style sheet
and nothing more. Recorded text is escaped, and what hides in it is marked.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Iterator
from typing import Any

from turnspan.content.model import dumps_text
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.html_text import escaped
from turnspan_records.conversation import (
    Call,
    Conversation,
    Message,
    Step,
    ToolExecution,
    ToolRequest,
    Turn,
)
from turnspan_records.messages import (
    ContentMissingError,
    load_definitions,
    load_messages,
    prompt_text,
)
from turnspan_records.screens.call import CallScreen, Fact, call_screen
from turnspan_records.screens.difference_types import Difference, MessageChange
from turnspan_records.screens.request import exact_request

_STYLE = """
.turnspan { font: 14px/1.45 system-ui, sans-serif; max-width: 100ch; }
.turnspan pre { font: 13px/1.45 ui-monospace, monospace; white-space: pre-wrap;
  overflow-wrap: anywhere; margin: 0; }
.turnspan section { border-inline-start: 2px solid #8886; padding-inline-start: 10px;
  margin: 10px 0; }
.turnspan .role { font-weight: 600; }
.turnspan .faint { color: light-dark(#5a6470, #98a2ae); }
.turnspan .bad { color: light-dark(#b3261e, #ff938a); }
.turnspan mark { font: 11px ui-monospace, monospace; border: 1px dashed; background: none;
  color: light-dark(#b3261e, #ff938a); }
"""
_PAGE_STYLE = (
    ":root { color-scheme: light dark; }"
    "body { margin: 16px; background: light-dark(#fff, #14171b);"
    " color: light-dark(#1b2026, #dfe3e8); }"
)


def document(title: str, fragment: str) -> str:
    """A page of a fragment: complete in itself, for an issue tracker or a mail."""
    style = _PAGE_STYLE + _STYLE
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="referrer" content="no-referrer">'
        f"<title>{escaped(title)}</title><style>{style}</style></head>\n"
        f"<body><h1>{escaped(title)}</h1>\n{fragment}</body></html>\n"
    )


def in_notebook(fragment: str) -> str:
    """A fragment with the style that it needs."""
    return f"<style>{_STYLE}</style>{fragment}"


def conversation_html(conversation: Conversation) -> str:
    """A session as a fragment: every message once, tools with their results, how turns ended."""
    name = conversation.session_id or conversation.trace_id
    steps = "".join(_steps(conversation.steps))
    about = f'<p class="faint">{escaped(conversation.project)} · {escaped(name)}</p>'
    return f'<div class="turnspan">{about}{steps or "<p>Nothing is recorded.</p>"}</div>'


def turn_html(turn: Turn) -> str:
    """A turn as a fragment."""
    return f'<div class="turnspan">{_turn(turn)}</div>'


def _steps(steps: Iterable[Step]) -> Iterator[str]:
    for step in steps:
        if isinstance(step, Turn):
            yield _turn(step)
        elif isinstance(step, Call):
            yield _call(step)
        else:
            yield _ran(step)


def _turn(turn: Turn) -> str:
    bad = "" if turn.ended_how in ("completed", "running") else ' class="bad"'
    ended = f"<strong{bad}>{escaped(turn.ended_how)}</strong> {escaped(turn.stop_detail)}"
    facts = f"{turn.rounds} rounds, {turn.tool_call_count} tools, {turn.duration:.1f} s"
    cost = "" if turn.cost_usd is None else f", ${turn.cost_usd:f}"
    return (
        f"<section><h3>Turn {escaped(turn.agent_name)}"
        f' <span class="faint">{turn.start_time:%Y-%m-%d %H:%M:%S} UTC</span></h3>'
        f'{"".join(_steps(turn.steps))}<p>{ended} <span class="faint">{facts}{cost}</span></p>'
        "</section>"
    )


def _call(call: Call) -> str:
    tokens = "" if call.input_tokens is None else f", {call.input_tokens} → {call.output_tokens}"
    line = f'<p class="faint">● {escaped(call.model)}, {call.duration:.2f} s{tokens}</p>'
    prompt = "" if not call.system_prompt else _folded("system prompt", call.system_prompt)
    dropped = f'<p class="bad">{call.dropped} messages dropped</p>' if call.dropped else ""
    new = "".join(_message(one) for one in call.new_messages)
    replies = "".join(_message(one, asked=False) for one in call.replies)
    if not any(one.recorded for one in call.replies) and call.response_text:
        replies = _said("assistant", call.response_text)
    error = f"{call.error_type}: {call.error_message}" if call.error_type else ""
    failed = f'<p class="bad">✗ {escaped(error)}</p>' if error else ""
    asked = "".join(_request(one) for one in call.requests)
    return f"{prompt}{dropped}{new}{line}{replies}{failed}{asked}"


def _message(message: Message, *, asked: bool = True) -> str:
    if not message.recorded:
        return f'<p class="faint">a message that is not recorded: {escaped(message.hash)}</p>'
    parts = [part for part in message.parts if asked or part.get("type") != "tool_call"]
    return "".join(_part(message.role, part) for part in parts)


def _part(role: str, part: dict[str, Any]) -> str:
    kind = part.get("type")
    if kind == "text":
        return _said(role, _text(part.get("content")))
    if kind == "reasoning":
        return _folded("thinking", _text(part.get("content")))
    if kind == "tool_call_response":
        return _folded("result, as the model was given it", _text(part.get("response")))
    return _folded(str(kind or "part"), dumps_text(part))


def _request(request: ToolRequest) -> str:
    name = f"⚒ {request.name}"
    if request.execution is not None:
        return _ran(request.execution)
    return f"{_said(name, _text(request.arguments))}"


def _ran(tool: ToolExecution) -> str:
    failed = f"{tool.error_type}: {tool.error_message}" if tool.failed else ""
    error = f'<p class="bad">✗ {escaped(failed)}</p>' if failed else ""
    result = _folded(f"result, {tool.duration:.2f} s", tool.result) if tool.result else ""
    return f"{_said(f'⚒ {tool.name}', tool.arguments)}{error}{result}"


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
    messages = [known.get(one, Message(one, recorded=False)) for one in hashes]
    sent, replies = messages[: len(call.inputs)], messages[len(call.inputs) :]
    defined = load_definitions(store, project, [one for one in (call.system, call.tools) if one])
    answer = "".join(_message(one) for one in replies)
    if not known.keys() & {one.hash for one in call.outputs} and call.response_text:
        answer = _folded("thinking", call.response_thoughts) + _said(
            "assistant", call.response_text
        )
    about = f'<p class="faint">{escaped(project)} · {escaped(call.session_id)}</p>'
    error = f"{call.error_type}: {call.error_message}" if call.error_type else ""
    failed = f'<p class="bad">✗ {escaped(error)}</p>' if error else ""
    return (
        f'<div class="turnspan">{about}{_call_line(call)}{failed}'
        f"<section><h3>Request</h3>{_folded('parameters', call.request_parameters)}"
        f"{_folded('tools', defined.get(call.tools, ''))}"
        f"{_folded('system prompt', prompt_text(defined.get(call.system, '')))}"
        f"{''.join(_message(one) for one in sent)}</section>"
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
        Fact(f"cost of {one.kind}", f"{one.count}: ${one.cost_usd:f}") for one in call.cost.parts
    ]
    finish = Fact("finish", ", ".join(call.finish_reasons))
    told = [finish, *cost, *call.facts, *call.attributes]
    return _folded("facts", "\n".join(f"{one.name}: {one.value}" for one in told))


def _exact(store: Store, project: str, span_id: str) -> str:
    try:
        told = exact_request(store, project, span_id)
    except ContentMissingError as missing:
        return f'<p class="faint">{escaped(str(missing))}</p>'
    altered = f"{len(told.altered)} parts not as sent" if told.altered else "as its span has it"
    label = f"request, {'exact' if told.exact else altered}"
    return _folded(label, json.dumps(told.body, ensure_ascii=False, indent=2))


def _said(who: str, text: str) -> str:
    return f'<div><span class="role">{escaped(who)}</span><pre>{escaped(text)}</pre></div>'


def _folded(label: str, text: str) -> str:
    if not text.strip():
        return ""
    head = f'<summary class="faint">{escaped(label)}</summary>'
    return f"<details>{head}<pre>{escaped(text)}</pre></details>"


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else dumps_text(value)


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
    marked = [(mark, name) for mark, names in (("+", tools.added), ("-", tools.removed),
              ("~", tools.changed)) for name in names]  # fmt: skip
    return escaped(", ".join(f"{mark}{name}" for mark, name in marked)) or "changed"


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
