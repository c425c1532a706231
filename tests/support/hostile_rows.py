"""Records whose every text wants to be more than text: HTML, scripts, escapes, marks that hide."""

from __future__ import annotations

from typing import Any

import orjson

from support.rows import T0, asked, call, message, said, tool, turn
from turnspan_clickhouse.rows.tables import Record

PROJECT = "<b>hostile</b>"
MARKUP = "<img src=x onerror=alert(1)><script>alert(2)</script><svg onload=alert(3)>"
HIDDEN = "\x1b[31mred\x1b[0m \u202egnp.exe\u202c zero\u200bwidth \x07bell \x00nul \ufeffbom"
REMOTE = "![x](http://127.0.0.1:9/steal.png) <link rel=stylesheet href=http://127.0.0.1:9/x.css>"
CLOSING = "</script></textarea></title>--><h1>out</h1>"
TEXTS = (MARKUP, HIDDEN, REMOTE, CLOSING, "{{7*7}} ${7*7} javascript:alert(4)")
SESSIONS = ("..", ".", "~x", "a/b?c=d#e%2e%2e", MARKUP, HIDDEN, " ", "%", "x\ny", "ü\u202e")


def hostile_rows() -> list[Record]:
    """A turn with a call and a tool for each of the sessions."""
    return [row for at, session in enumerate(SESSIONS) for row in _of(at, session)]


def _of(at: int, session: str) -> list[Record]:
    text = TEXTS[at % len(TEXTS)]
    ids: dict[str, Any] = {"project": PROJECT, "session_id": session, "trace_id": f"{at:032x}"}
    turn_id, call_id, tool_id = (f"{kind}{at:015x}" for kind in "abc")
    asking = message("user", scope=session, project=PROJECT, parts=_parts(said(text)))
    answer = message(
        "assistant", scope=session, project=PROJECT, parts=_parts(asked("k", text, q=text))
    )
    start: dict[str, Any] = {"start_time": T0 + at * 10**9}
    return [
        asking,
        answer,
        turn(turn_id, **ids, **start, user_message=text, response_text=text, agent_name=text,
             agent_version=text, stop_reason="error", stop_detail=text, error_type=text,
             error_message=text, models=[text], attributes={text: text}, tool_call_count=1,
             tool_error_count=1),
        call(call_id, **ids, **start, turn_id=turn_id, request_model=text, response_text=text,
             error_type=text, error_message=text, input_messages=[asking.hash],
             output_messages=[answer.hash]),
        tool(tool_id, **ids, **start, turn_id=turn_id, name=text, arguments=text, result=text,
             failed=True, error_type=text, error_message=text),
    ]  # fmt: skip


def _parts(*parts: object) -> str:
    return orjson.dumps(parts).decode()
