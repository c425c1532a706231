"""Forms of Codex's transcripts, in small."""

from __future__ import annotations

from typing import Any

from support.coding_transcripts import CODEX, calls, of_type, read, tokens
from turnspan_records.coding.transcripts.events import SessionStart, ToolEnd, UserMessage

_NUMBERS = ("input_tokens", "cached_input_tokens", "output_tokens", "total_tokens")


def line(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": "2026-11-27T14:11:31.216Z", "type": kind, "payload": payload}


def event(kind: str, **more: Any) -> dict[str, Any]:
    return line("event_msg", type=kind, **more)


def completed(kind: str, **more: Any) -> dict[str, Any]:
    return event("item_completed", thread_id="s", item={"type": kind, **more})


def said(role: str, text: str) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    content = [{"type": kind, "text": text}]
    return line("response_item", type="message", id=f"msg_{text}", role=role, content=content)


def counted(number: int, total: int) -> list[dict[str, Any]]:
    """What a reply cost, twice: with the reply's id, and as the sum so far."""
    usage = dict(zip(_NUMBERS, (10 * number, 5, 3, 10 * number + 3), strict=True))
    so_far = dict(zip(_NUMBERS, (total, 5, 3, total + 3), strict=True))
    info = {"total_token_usage": so_far, "last_token_usage": usage}
    return [
        line("token_usage_record", response_id=f"resp_{number}", usage=usage),
        event("token_count", info=info),
    ]


def prompt(text: str, turn: str, *told: str) -> list[dict[str, Any]]:
    """A turn's beginning; ``told``: the events that tell the screen of it, in their order."""
    events = {
        "new": completed("UserMessage", content=[{"type": "text", "text": text}]),
        "old": event("user_message", message=text),
    }
    begun = [event("task_started", turn_id=turn), line("turn_context", turn_id=turn, model="m")]
    return [*begun, said("user", text), *(events[one] for one in told)]


def session(*told: str) -> list[dict[str, Any]]:
    """Two turns; the first runs a command that fails."""
    command = {"call_id": "call_1", "name": "exec_command", "arguments": "{}"}
    return [
        line("session_meta", id="s", cwd="/w", cli_version="0.171.0"),
        said("user", "<environment_context>"),
        *prompt("Write", "t1", *told),
        line("response_item", type="function_call", id="fc_1", **command),
        completed("CommandExecution", id="call_1", status="failed", exit_code=3),
        line("response_item", type="function_call_output", call_id="call_1", output="hello"),
        *counted(1, 10),
        completed("AgentMessage", id="a", content=[{"type": "Text", "text": "Done"}]),
        said("assistant", "Done"),
        *counted(2, 30),
        event("task_complete", turn_id="t1"),
        *prompt("Write", "t2", *told),
        said("assistant", "Again"),
        *counted(3, 60),
        event("task_complete", turn_id="t2"),
    ]


def test_each_prompt_begins_a_turn_whichever_event_tells_of_it() -> None:
    """Codex 0.171 tells of a prompt by another event than 0.50; between them some told by both. The
    same words twice are two prompts. A reply has its id, a tool's failure is its own event's."""
    for told in (("new",), ("old",), ("new", "old"), ("old", "new")):
        events, seen = read(CODEX, session(*told))
        assert not [word for word in seen if "unknown" in word]
        prompts = [one for one in of_type(UserMessage, events) if not one.injected]
        assert [one.parts[0].get("content") for one in prompts] == ["Write", "Write"]
        assert len({one.message_id for one in prompts}) == 2
        assert tokens(events) == 10 + 3 + 20 + 3 + 30 + 3
        ids = [one.attributes.get("gen_ai.response.id") for one in calls(events)]
        assert ids == ["resp_1", "resp_2", "resp_3"]
        assert [one.failed for one in of_type(ToolEnd, events)] == [True]
        assert len(of_type(SessionStart, events)) == 1
