"""A session in which every recorded text is hostile: markup, marks that hide, addresses."""

from __future__ import annotations

import json

from support.rows import answered, asked, call, message, said, tool, turn
from support.shop_session import hashes
from turnspan_clickhouse.rows.tables import Definition, Record

SESSION = "../<b>s</b>/%2e?#'\"\u202e"
MARKUP = (
    "<script>alert(1)</script><img src=x onerror=alert(2)><svg onload=alert(3)>"
    "</pre></textarea><style>*{display:none}</style>![x](http://127.0.0.1:9/x.png)"
    "<a href=javascript:alert(4)>x</a>{{7*7}}${7*7}"
)
HIDDEN = "\x1b[31mred\x00\x07 \u202egnp.exe\u2066\u200b\ufeff \ud7ff\U000e0041 "
TEXT = MARKUP + HIDDEN
SPANS = ("bad0000000000001", "bad0000000000002")


def hostile_session() -> list[Record]:
    """A turn of two calls with a tool; the second call has changed everything."""
    system = message("system", said(f"one {TEXT}"), scope=SESSION)
    user = message("user", said(f"hello {TEXT}"), scope=SESSION)
    edited = message("user", said(f"hello you {TEXT}"), scope=SESSION)
    asks = message("assistant", asked("c1", f"t{MARKUP}", **{TEXT: TEXT}), scope=SESSION)
    gives = message("tool", answered("c1", f"given {TEXT}"), scope=SESSION)
    image = {"type": "uri", "modality": "image", "uri": "http://127.0.0.1:9/x.png"}
    reply = message("assistant", {"type": "reasoning", "content": TEXT}, said(TEXT), image,
                    {"type": TEXT, "value": TEXT}, scope=SESSION)  # fmt: skip
    here = {"session_id": SESSION, "turn_id": "bad00000000000aa", "agent_name": f"agent{TEXT}"}
    calls = [
        call(SPANS[0], 1, **here, input_messages=hashes(system, user), round=1,
             output_messages=hashes(asks), request_model=TEXT, finish_reasons=[TEXT],
             system_prompt=b"\5" * 16, tool_definitions=b"\6" * 16, attributes={TEXT: TEXT},
             request_parameters=json.dumps({TEXT: TEXT})),
        call(SPANS[1], 5, **here, input_messages=hashes(system, edited, asks, gives), round=2,
             output_messages=hashes(reply), error_type=TEXT, error_message=TEXT,
             system_prompt=b"\7" * 16, tool_definitions=b"\x08" * 16, response_text=TEXT,
             request_parameters=json.dumps({TEXT: MARKUP})),
    ]  # fmt: skip
    definitions = [
        Definition(project="shop", hash=bytes([at]) * 16, kind=kind, body=body)
        for at, kind, body in (
            (5, "system_prompt", TEXT),
            (6, "tool_definitions", json.dumps([{"name": TEXT, "description": TEXT}])),
            (7, "system_prompt", f"other {TEXT}"),
            (8, "tool_definitions", json.dumps([{"name": f"x{TEXT}"}])),
        )
    ]
    ran = tool("bad00000000000bb", 2, session_id=SESSION, turn_id="bad00000000000aa", round=1,
               name=f"t{MARKUP}", call_id="c1", arguments=TEXT, result=f"own {TEXT}", failed=True,
               error_type=TEXT, error_message=TEXT)  # fmt: skip
    ended = turn("bad00000000000aa", 0, session_id=SESSION, agent_name=f"agent{TEXT}",
                 agent_version=TEXT, user_message=TEXT, response_text=TEXT, stop_reason=TEXT,
                 stop_detail=TEXT, error_message=TEXT)  # fmt: skip
    return [system, user, edited, asks, gives, reply, *calls, *definitions, ran, ended]
