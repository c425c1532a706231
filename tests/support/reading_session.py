"""A session to be read closely: parallel tools, a pause, a nested turn, edits, commands, a tool
that is asked the same again, JSON that is deep and long, Markdown that is hostile."""

from __future__ import annotations

import json
from typing import Any

from support.hostile_session import HIDDEN, MARKUP
from support.rows import answered, asked, call, message, said, tool, turn
from support.shop_session import hashes
from turnspan_clickhouse.rows.tables import MessageRow, Record

SESSION = "reading"
PARALLEL, EDITING, NESTED = (f"4ead{at:012x}" for at in range(3))
DEEP = 200
LONG = 5_000_000
"""Bytes of the longest message, which comes in pieces."""
MARKDOWN = f"""# A title

Some **strong** words, `code{HIDDEN}`, and [a link](https://example.com/a?b=c).
[run](javascript:alert(1)) ![pixel](http://127.0.0.1:9/x.png) <b onclick=alert(2)>html</b>

- one
  - [x] two

| a | b |
|---|---|
| 1 | {MARKUP.replace("|", "")} |

| c |
|---|
| 2 | a third cell |

[ref]: https://example.com/hidden
[titled](https://example.com "a title of a link")
"""


PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ"
    "AAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
"""A PNG of one pixel, in base64."""


def deep_json() -> str:
    """Objects in each other, and a list of 3,000."""
    value: Any = {"bottom": "reached"}
    for _ in range(DEEP):
        value = {"in": value}
    return json.dumps({"deep": value, "list": list(range(3_000)), "text": "two\nlines"})


def long_json() -> str:
    """A list of texts, 5 MB long."""
    return json.dumps([f"item {at} " + "é" * 240 for at in range(LONG // 500)], ensure_ascii=False)


def _said(role: str, *parts: dict[str, Any]) -> MessageRow:
    return message(role, *parts, scope=SESSION)


def reading_session() -> list[Record]:
    """One turn of two calls; the second asks for edits, and a nested turn runs in the end."""
    kept = {"type": "blob", "modality": "image", "mime_type": "image/png", "content": PIXEL}
    elsewhere = {"type": "uri", "modality": "image", "uri": "http://127.0.0.1:9/y.png"}
    drawing = {**kept, "mime_type": "image/svg+xml"}
    user = _said("user", said(MARKDOWN), kept, elsewhere, drawing)
    source = {"type": "base64", "media_type": "image/png", "data": PIXEL}
    seen = [{"type": "text", "text": "total 0"}, {"type": "image", "source": source}]
    both = _said(
        "assistant",
        asked("c1", "search", query="shoes"),
        asked("c2", "search", query="boots"),
        asked("c3", "bash", command="cd /tmp &&\n  ls -l | head"),
    )
    given = [
        _said("tool", answered("c1", deep_json())),
        _said("tool", answered("c2", long_json())),
        _said("tool", answered("c3", seen)),
    ]
    edits = _said(
        "assistant",
        asked("e1", "edit", file_path="a.py", old_string="one\ntwo\n", new_string="one\n2\n"),
        asked("e2", "apply_patch", patch="*** Begin Patch\n@@ def f @@\n-old\n+new\n*** End Patch"),
        asked("e3", "search", query="shoes"),
        asked("e4", "search", query="shoes"),
    )
    others = _said(
        "assistant",
        asked("n1", "str_replace_editor", command="str_replace", path="b.py", old_str="x\ny",
              new_str="x\nz"),
        asked("n2", "shell", command=["bash", "-lc", "ls -l"]),
        asked("n6", "exec", command=["apply_patch", "*** Begin Patch\n-up\n+down"]),
        asked("n3", "replace_in_file", path="c.py",
              diff="<<<<<<< SEARCH\nfar\n=======\nnear\n>>>>>>> REPLACE"),
        asked("n4", "MultiEdit", file_path="d.py", edits=[
            {"old_string": "p", "new_string": "q"}, {"old_string": "r", "new_string": "s"}]),
        asked("n5", "Write", file_path="e.py", content="def f():\n    pass\n"),
    )  # fmt: skip
    here: dict[str, Any] = {"session_id": SESSION, "turn_id": "4ead0000000000aa"}
    inner: dict[str, Any] = {"session_id": SESSION, "turn_id": "4ead0000000000bb"}
    ran = {"session_id": SESSION, "turn_id": here["turn_id"]}
    shoes = json.dumps({"query": "shoes"})
    return [
        turn("4ead0000000000cc", 90, session_id="waiting", status="running", agent_name="reader",
             user_message="What is **left**?"),
        *(user, both, *given, edits, others),
        turn(here["turn_id"], 0, session_id=SESSION, agent_name="reader", duration=60.0),
        call(PARALLEL, 0.5, **here, round=1, input_messages=hashes(user), duration=1.0,
             output_messages=hashes(both)),
        tool("4ead0000000000c1", 2, **ran, name="search", call_id="c1", arguments=shoes,
             result=deep_json(), duration=2.0),
        tool("4ead0000000000c2", 2.5, **ran, name="search", call_id="c2",
             arguments=json.dumps({"query": "boots"}), result=long_json(), duration=1.0),
        tool("4ead0000000000c3", 2.6, **ran, name="bash", call_id="c3", arguments="{}",
             result="total 0", duration=0.1),
        call(EDITING, 34, **here, round=2, duration=1.0,
             input_messages=hashes(user, both, *given), output_messages=hashes(edits)),
        *(tool(f"4ead0000000000e{at + 1}", 36 + at, **ran, name=name, call_id=f"e{at + 1}",
               arguments=shoes if name == "search" else "{}", result="none", duration=0.5)
          for at, name in enumerate(("edit", "apply_patch", "search", "search"))),
        turn(inner["turn_id"], 41, session_id=SESSION, agent_name="helper", duration=4.0,
             parent_turn_id=here["turn_id"]),
        call(NESTED, 41.5, **inner, round=1, duration=3.0, output_messages=hashes(others)),
    ]  # fmt: skip
