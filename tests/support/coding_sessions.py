"""Sessions of a coding agent as the store has them, in the contract of ``docs/coding``.

``session()``: the user asks for a fix, the agent reads, edits, and has a subagent look; the user
complains, and the agent edits the same lines again.
"""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

from support.rows import answered, asked, call, message, said, tool, turn
from turnspan_clickhouse.rows.tables import MessageRow, Record, TurnSummary

PROJECT = "parser"
FACTS = {
    "process.working_directory": "/home/ana/parser",
    "vcs.repository.url.full": "https://example.org/ana/parser.git",
    "vcs.repository.name": "parser",
    "vcs.ref.head.name": "main",
    "vcs.ref.head.revision": "0123456789abcdef0123456789abcdef01234567",
    "turnspan.coding.tool": "claude-code",
}
MODEL = "claude-opus-4-5"
OLD = "def parse(text):\n    return text\n"
NEW = "def parse(text):\n    return text.strip()\n"
BETTER = "    return text.strip(' ')\n"
PATCH = [" def parse(text):", "-    return text.strip()", "+    return text.strip(' ')"]
EDIT = {"file_path": "/home/ana/parser/src/parse.py", "old_string": OLD, "new_string": NEW}
AGAIN = {**EDIT, "old_string": "    return text.strip()\n", "new_string": BETTER}


def coding_turn(id_: str, at: float, prompt: str, **values: Any) -> TurnSummary:
    """A turn of the tool itself."""
    known: dict[str, Any] = {
        "project": PROJECT,
        "user_message": prompt,
        "agent_name": "claude-code",
        "agent_version": "2.1.0",
        "models": [MODEL],
        "attributes": FACTS,
        "duration": 5.0,
    }
    return turn(id_, at, **{**known, **values})


def _said(role: str, *parts: dict[str, Any], scope: str = "s1") -> MessageRow:
    return message(role, *parts, scope=scope, project=PROJECT)


def hashes(*messages: MessageRow) -> list[bytes]:
    """What a call has of these messages."""
    return [one.hash for one in messages]


def session(scope: str = "s1") -> list[Record]:
    """Two turns, the first with a subagent; ids begin with the session's."""

    def id_(name: str) -> str:
        return f"{scope}{name}"

    common: dict[str, Any] = {"project": PROJECT, "session_id": scope}
    calls: dict[str, Any] = {
        **common,
        "response_model": MODEL,
        "agent_name": "claude-code",
        "provider": "anthropic",
        "input_tokens": 100,
        "output_tokens": 20,
        "cache_read_tokens": 60,
        "cost_usd": Decimal("0.5"),
        "duration": 1.0,
        "finish_reasons": ["tool_use"],
    }
    fix = _said("user", said("Fix the parser: it keeps blanks."), scope=scope)
    reads = asked("c1", "Read", file_path="/home/ana/parser/src/parse.py")
    thinks = {"type": "reasoning", "content": "First read it."}
    look = _said("assistant", thinks, said("I look."), reads, scope=scope)
    seen = _said("tool", answered("c1", OLD), scope=scope)
    edits = _said(
        "assistant", asked("c2", "Edit", **EDIT), asked("c3", "Task", prompt="Check"), scope=scope
    )
    sub = _said("user", said("Check"), {"type": "blob", "content": "x"}, scope=scope)
    fine = _said("assistant", said("It is fine."), scope=scope)
    done = _said("tool", answered("c2", "ok"), answered("c3", "It is fine."), scope=scope)
    end = _said("assistant", said("Fixed."), scope=scope)
    no = _said("user", said("No, that is wrong: strip blanks only."), scope=scope)
    edits_again = _said("assistant", asked("c4", "Edit", **AGAIN), scope=scope)
    done_again = _said("tool", answered("c4", "Error: not found"), scope=scope)
    sorry = _said("assistant", said("Now only blanks."), scope=scope)
    edit = {**common, "name": "Edit", "agent_name": "claude-code", "duration": 0.1}
    first, second = [fix, look, seen], [fix, look, seen, edits, done]
    third = [*second, end, no]
    return [
        *(fix, look, seen, edits, sub, fine, done, end, no, edits_again, done_again, sorry),
        coding_turn(id_("t1"), 0, "Fix the parser: it keeps blanks.", session_id=scope,
                    cost_usd=Decimal(2), input_tokens=400, output_tokens=80, tool_call_count=3),
        call(id_("l1"), 1, turn_id=id_("t1"), round=1, input_messages=hashes(fix),
             output_messages=hashes(look), **calls),
        tool(id_("x1"), 2, turn_id=id_("t1"), round=1, call_id="c1", result=OLD,
             **{**edit, "name": "Read"}, arguments=json.dumps({"file_path": "src/parse.py"})),
        call(id_("l2"), 3, turn_id=id_("t1"), round=2, input_messages=hashes(*first),
             output_messages=hashes(edits), **calls),
        tool(id_("x2"), 4, turn_id=id_("t1"), round=2, call_id="c2", result="ok", **edit,
             arguments=json.dumps(EDIT)),
        tool(id_("x3"), 4.5, turn_id=id_("t1"), round=2, call_id="c3", result="It is fine.",
             **{**edit, "name": "Task", "duration": 2.0}, arguments='{"prompt": "Check"}'),
        coding_turn(id_("t2"), 5, "Check", session_id=scope, parent_turn_id=id_("t1"),
                    agent_name="reviewer", cost_usd=Decimal("0.5")),
        call(id_("l3"), 5.5, turn_id=id_("t2"), round=1, input_messages=hashes(sub),
             output_messages=hashes(fine), **{**calls, "agent_name": "reviewer"}),
        call(id_("l4"), 7, turn_id=id_("t1"), round=3, input_messages=hashes(*second),
             output_messages=hashes(end), **{**calls, "finish_reasons": ["end_turn"]}),
        coding_turn(id_("t3"), 20, "No, that is wrong: strip blanks only.", session_id=scope,
                    cost_usd=Decimal(1), tool_call_count=1, tool_error_count=1),
        call(id_("l5"), 21, turn_id=id_("t3"), round=1, input_messages=hashes(*third),
             output_messages=hashes(edits_again), **calls),
        tool(id_("x4"), 22, turn_id=id_("t3"), round=1, call_id="c4", **edit, failed=False,
             result="ok", arguments=json.dumps(AGAIN), attributes={
                 "turnspan.import.toolUseResult": json.dumps({"structuredPatch": [
                     {"oldStart": 4, "oldLines": 2, "newStart": 5, "newLines": 2, "lines": PATCH}
                 ]})
             }),
        call(id_("l6"), 23, turn_id=id_("t3"), round=2,
             input_messages=hashes(*third, edits_again, done_again),
             output_messages=hashes(sorry), **calls),
    ]  # fmt: skip
