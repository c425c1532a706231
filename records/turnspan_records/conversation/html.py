"""A conversation as HTML: a fragment for a notebook, or a complete page.

There is no script in it and no address that is asked for: its policy allows its own style sheet
and nothing more. Recorded text is escaped, and what hides in it is marked.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator
from typing import Any

from turnspan.content.model import dumps_text
from turnspan_clickhouse.store.html_text import escaped
from turnspan_records.conversation import (
    CallRecord,
    Conversation,
    MessageRecord,
    Step,
    ToolExecutionRecord,
    ToolRequestRecord,
    TurnRecord,
)

_STYLE = """
.turnspan { font: 14px/1.45 system-ui, sans-serif; max-width: 100ch; }
.turnspan pre { font: 13px/1.45 ui-monospace, monospace; white-space: pre-wrap;
  overflow-wrap: anywhere; margin: 0; }
.turnspan section { border-inline-start: 2px solid #8886; padding-inline-start: 10px;
  margin: 10px 0; }
.turnspan .role { font-weight: 600; }
.turnspan table { border-collapse: collapse; display: block; overflow-x: auto;
  width: max-content; max-width: calc(100vw - 32px); }
.turnspan :is(th, td) { text-align: start; vertical-align: top; padding: 3px 12px 3px 0;
  border-bottom: 1px solid #8886; font-variant-numeric: tabular-nums; white-space: nowrap; }
.turnspan td.long { min-width: 30ch; white-space: normal; overflow-wrap: anywhere; }
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


def turn_html(turn: TurnRecord) -> str:
    """A turn as a fragment."""
    return f'<div class="turnspan">{_turn(turn)}</div>'


def _steps(steps: Iterable[Step]) -> Iterator[str]:
    for step in steps:
        if isinstance(step, TurnRecord):
            yield _turn(step)
        elif isinstance(step, CallRecord):
            yield _call(step)
        else:
            yield _ran(step)


def _turn(turn: TurnRecord) -> str:
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


def _call(call: CallRecord) -> str:
    tokens = "" if call.input_tokens is None else f", {call.input_tokens} → {call.output_tokens}"
    far = f", {call.unended}" if call.unended else ""
    line = f'<p class="faint">● {escaped(call.model)}, {call.duration:.2f} s{tokens}{far}</p>'
    prompt = "" if not call.system_prompt else folded_html("system prompt", call.system_prompt)
    dropped = f'<p class="bad">{call.dropped} messages dropped</p>' if call.dropped else ""
    new = "".join(message_html(one) for one in call.new_messages)
    replies = "".join(message_html(one, asked=False) for one in call.replies)
    if not any(one.recorded for one in call.replies) and call.response_text:
        replies = said_html("assistant", call.response_text)
    error = f"{call.error_type}: {call.error_message}" if call.error_type else ""
    failed = f'<p class="bad">✗ {escaped(error)}</p>' if error else ""
    asked = "".join(_request(one) for one in call.requests)
    return f"{prompt}{dropped}{new}{line}{replies}{failed}{asked}"


def message_html(message: MessageRecord, *, asked: bool = True) -> str:
    """A message; without the tool calls it asks for, where they are shown beside it."""
    if not message.recorded:
        return f'<p class="faint">a message that is not recorded: {escaped(message.hash)}</p>'
    parts = [part for part in message.parts if asked or part.get("type") != "tool_call"]
    return "".join(_part(message.role, part) for part in parts)


def _part(role: str, part: dict[str, Any]) -> str:
    kind = part.get("type")
    if kind == "text":
        return said_html(role, _text(part.get("content")))
    if kind == "reasoning":
        return folded_html("thinking", _text(part.get("content")))
    if kind == "tool_call_response":
        return folded_html("result, as the model was given it", _text(part.get("response")))
    return folded_html(str(kind or "part"), dumps_text(part))


def _request(request: ToolRequestRecord) -> str:
    if request.execution is not None:
        return _ran(request.execution)
    return said_html(f"⚒ {request.name}", _text(request.arguments))


def _ran(tool: ToolExecutionRecord) -> str:
    failed = f"{tool.error_type}: {tool.error_message}" if tool.failed else ""
    error = f'<p class="bad">✗ {escaped(failed)}</p>' if failed else ""
    result = folded_html(f"result, {tool.duration:.2f} s", tool.result) if tool.result else ""
    return f"{said_html(f'⚒ {tool.name}', tool.arguments)}{error}{result}"


def said_html(who: str, text: str) -> str:
    """A text under the name of who said it."""
    return f'<div><span class="role">{escaped(who)}</span><pre>{escaped(text)}</pre></div>'


def folded_html(label: str, text: str) -> str:
    """A text that opens under its label; nothing for a blank one."""
    if not text.strip():
        return ""
    head = f'<summary class="faint">{escaped(label)}</summary>'
    return f"<details>{head}<pre>{escaped(text)}</pre></details>"


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else dumps_text(value)
