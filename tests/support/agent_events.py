"""Sessions of Claude Managed Agents, with hand-made events in the API's form."""

from __future__ import annotations

import json
from typing import Any

from support.recorded_server import RecordedAnswer, RecordedServer

MODEL = "claude-sonnet-4-5"
JSON = "application/json"


class Story:
    """The events of a session, in the API's form; an event a second."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []

    def tell(self, kind: str, **fields: Any) -> str:
        """Add an event; its id."""
        number = len(self.events)
        identity = f"sevt_{number}"
        when = f"2026-11-20T10:00:{number:02d}Z"
        self.events.append({"id": identity, "type": kind, "processed_at": when, **fields})
        return identity

    def say(self, text: str) -> None:
        """The user says it."""
        self.tell("user.message", content=[{"type": "text", "text": text}])
        self.events[-1]["processed_at"] = "2026-11-20T10:30:00Z"  # once it is answered

    def request(self, *said: tuple[str, dict[str, Any]], error: bool = False) -> list[str]:
        """The agent's model is asked, and answers with these events; their ids."""
        start = self.tell("span.model_request_start")
        ids = [self.tell(kind, **fields) for kind, fields in said]
        usage = {
            "input_tokens": 10,
            "output_tokens": 5,
            "cache_read_input_tokens": 100,
            "cache_creation_input_tokens": 0,
        }
        self.tell(
            "span.model_request_end",
            model_request_start_id=start,
            model_usage=usage,
            is_error=error,
        )
        return ids


def text(said: str) -> tuple[str, dict[str, Any]]:
    """The agent says it."""
    return "agent.message", {"content": [{"type": "text", "text": said}]}


def use(kind: str = "agent.tool_use", **fields: Any) -> tuple[str, dict[str, Any]]:
    """The agent uses a tool."""
    return kind, {"name": "bash", "input": {"command": "ls"}, **fields}


def two_turns() -> Story:
    """A turn with two tools, one of which fails, and a turn that only says something."""
    story = Story()
    story.say("what is there?")
    story.tell("session.status_running")
    first, second = story.request(
        text("I look."), use(), use("agent.mcp_tool_use", name="find", mcp_server_name="m")
    )[1:]
    content = [{"type": "text", "text": "a.txt"}]
    story.tell("agent.tool_result", tool_use_id=first, content=content, is_error=False)
    story.tell("agent.mcp_tool_result", mcp_tool_use_id=second, content=[], is_error=True)
    story.request(text("There is a.txt."))
    story.tell("session.status_idle", stop_reason={"type": "end_turn"})
    story.say("thanks")
    story.request(text("My pleasure."))
    story.tell("session.status_idle", stop_reason={"type": "end_turn"})
    return story


def serve(
    server: RecordedServer, session: str, story: Story, *, newest_first: bool = False
) -> None:
    """Serve the story of a session by all ways to it."""
    model = {"id": MODEL, "effort": {"type": "high"}, "speed": "standard"}
    agent = {"id": "agent_1", "type": "agent", "name": "helper", "version": 1, "model": model}
    agent |= {"system": "Be kind.", "tools": [], "mcp_servers": [], "skills": []}
    made = json.dumps({"id": session, "type": "session", "agent": agent}).encode()
    server.answers["POST /v1/sessions"] = RecordedAnswer(200, JSON, made)
    server.answers[f"GET /v1/sessions/{session}"] = RecordedAnswer(200, JSON, made)
    path = f"/v1/sessions/{session}/events"
    events = story.events
    sent = [event for event in events if event.get("type") == "user.message"][:1]
    body = json.dumps({"data": [{**event, "processed_at": None} for event in sent]}).encode()
    server.answers[f"POST {path}"] = RecordedAnswer(200, JSON, body)
    stream = b"".join(
        b"event: %b\ndata: %b\n\n" % (event.get("type", "").encode(), json.dumps(event).encode())
        for event in events
    )
    server.answers[f"GET {path}/stream"] = RecordedAnswer(200, "text/event-stream", stream, 37)
    listed = events[::-1] if newest_first else events
    page = json.dumps({"data": listed, "next_page": None}).encode()
    server.answers[f"GET {path}"] = RecordedAnswer(200, JSON, page)
