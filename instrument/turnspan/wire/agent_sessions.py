"""Sessions of Claude Managed Agents: what their events tell of the calls that the agent made.

A session's events tell what the user and the agent said, which tools were used, and when a request
to the model began and ended, with its tokens
(https://platform.claude.com/docs/en/api/beta/sessions/events). So each request is a call whose
messages are those before it; turns and tool executions are found in these messages as in those of
any other conversation.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any, Final

from turnspan import semconv
from turnspan.providers.anthropic.messages import Messages
from turnspan.runtime.forks import in_child
from turnspan.runtime.guard import guard
from turnspan.runtime.type_guards import is_dict, is_list
from turnspan.tracing.endpoint import fields_of
from turnspan.tracing.state import State, current
from turnspan.wire.past_calls import Newest, failure, nanoseconds, record_call

_EVENT: Final = guard("wire.session_event")
_MAX_SESSIONS: Final = 500
_MAX_EVENTS: Final = 20_000
_MAX_MESSAGES: Final = 2_000
_USES: Final = frozenset({"agent.tool_use", "agent.mcp_tool_use", "agent.custom_tool_use"})
_RESULTS: Final = {
    "agent.tool_result": "tool_use_id",
    "agent.mcp_tool_result": "mcp_tool_use_id",
    "user.custom_tool_result": "custom_tool_use_id",
    "user.tool_result": "tool_use_id",
}
_SAID: Final = frozenset({*_USES, "agent.message", "agent.thinking"})
_START: Final = "span.model_request_start"
_END: Final = "span.model_request_end"
_ENDPOINT: Final = Messages()


class ThreadMessages:
    """What one thread of a session has come to."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []
        self.blocks: list[dict[str, Any]] = []
        """Blocks of the answer that is being made."""
        self.starts: Newest[str, Any] = Newest(100)
        """When requests to the model began, by the ids of these events."""
        self.ended: dict[str, Any] | None = None
        """The end of the last request, until all of its answer is there."""
        self.error: Any = None
        self.target: Mapping[str, Any] = {}
        self.seen: Newest[str, bool] = Newest(_MAX_EVENTS)

    def add(self, role: str, blocks: list[Any]) -> None:
        """Something was said; results of tools that were used at once are one message."""
        last = self.messages[-1]["content"] if self.messages else ()
        if all(_is_result(block) for block in (*last[:1], *blocks)) and last:
            blocks = [*last, *blocks]  # anew: calls before it have the old one
            self.messages.pop()
        self.messages.append({"role": role, "content": blocks})
        del self.messages[:-_MAX_MESSAGES]


class SessionMemory:
    """What this process knows of sessions."""

    def __init__(self) -> None:
        self._agents: Newest[str, dict[str, Any]] = Newest(_MAX_SESSIONS)
        self._threads: Newest[tuple[State, str], ThreadMessages] = Newest(_MAX_SESSIONS)
        self.lock = threading.RLock()
        in_child(self._after_fork)

    def _after_fork(self) -> None:
        self.lock = threading.RLock()

    def learn(self, document: Any) -> bool:
        """A session, as the API tells it: whose agent it is of, with which model."""
        fields = fields_of(document)
        identity, agent = fields.get("id"), fields.get("agent")
        if isinstance(identity, str) and is_dict(agent):
            with self.lock:
                self._agents[identity] = agent
        return False

    def agent_of(self, session: str) -> dict[str, Any]:
        """The agent of a session; empty: it is not known."""
        return self._agents.get(session) or {}

    def thread(self, session: str, thread: str) -> ThreadMessages:
        """What a thread of a session has come to, as the current recorder knows it."""
        key = (current(), f"{session}/{thread}")
        with self.lock:
            found = self._threads.get(key)
            if found is None:
                found = self._threads[key] = ThreadMessages()
            return found


agent_sessions = SessionMemory()
"""The process's."""


class SessionEvents:
    """The events of a session, as they are streamed or listed; a recorder takes each once."""

    def __init__(self, session: str, target: Mapping[str, Any], thread: str = "") -> None:
        self._session = session
        self._thread = agent_sessions.thread(session, thread)
        if target:
            self._thread.target = target

    def take(self, document: Any) -> bool:
        """An event, or a page of them."""
        fields = fields_of(document)
        listed = fields.get("data")
        events = _dicts(listed) if is_list(listed) else [fields]
        # A page may be newest first; the time of what a user says is that of its answer.
        by_agent = [event for event in events if not str(event.get("type")).startswith("user.")]
        times = [str(event["processed_at"]) for event in by_agent if event.get("processed_at")]
        if times and times[0] > times[-1]:
            events.reverse()
        for event in events:
            with _EVENT, agent_sessions.lock:
                self._take(event, str(event.get("type")), str(event.get("id")))
        return True

    def ended(self, complete: bool) -> None:
        """No more come."""
        with agent_sessions.lock:
            self._finish()

    def _take(self, event: dict[str, Any], kind: str, identity: str) -> None:
        thread = self._thread
        if event.get("session_thread_id") or identity in thread.seen:
            return  # a subagent's, told here as well; or known
        if kind not in _SAID and kind != _END and not kind.startswith("session.error"):
            self._finish()
        if kind == "agent.message":
            thread.blocks += _dicts(event.get("content"))
        elif kind in _USES:
            use = {"id": identity, "name": event.get("name"), "input": event.get("input")}
            thread.blocks.append({"type": "tool_use", **use})
        elif kind == _START:
            thread.starts[identity] = event.get("processed_at")
        elif kind == _END:
            self._finish()
            thread.ended = event
        elif kind == "user.message":
            thread.add("user", _dicts(event.get("content")))
        elif kind in _RESULTS:
            thread.add("user", [_result(event, event.get(_RESULTS[kind]))])
        elif kind == "session.error":
            thread.error = event.get("error")
        elif kind == "session.updated":
            agent_sessions.learn({"id": self._session, "agent": event.get("agent")})
        else:
            return
        thread.seen[identity] = True

    def _finish(self) -> None:
        """The last request's answer is complete: record the call."""
        thread = self._thread
        end, thread.ended = thread.ended, None
        if end is None:
            return
        said, thread.blocks = thread.blocks, []
        error, thread.error = thread.error, None
        messages = list(thread.messages)
        if said:
            thread.add("assistant", said)
        agent = agent_sessions.agent_of(self._session)
        model = fields_of(agent.get("model")).get("id")
        request: dict[str, Any] = {"messages": messages}
        if isinstance(model, str):
            request["model"] = model
        if agent.get("system"):
            request["system"] = agent["system"]
        tools = [tool for tool in _dicts(agent.get("tools")) if tool.get("name")]
        if tools:
            request["tools"] = tools
        uses = any(block.get("type") == "tool_use" for block in said)
        response = {
            "id": end.get("id"),
            "model": model,
            "role": "assistant",
            "content": said,
            "stop_reason": "tool_use" if uses else "end_turn",
            "usage": end.get("model_usage"),
        }
        failed = None
        if end.get("is_error"):
            failed = failure(error or {"type": "model_request_failed"}, "the request failed")
        target = {**thread.target, semconv.CONVERSATION_ID: self._session}
        if isinstance(agent.get("name"), str):
            target[semconv.AGENT_NAME] = agent["name"]
        start = thread.starts.pop(str(end.get("model_request_start_id")), None)
        times = nanoseconds(start), nanoseconds(end.get("processed_at"))
        record_call(_ENDPOINT, target, request, response, failed, times)


def _dicts(values: Any) -> list[dict[str, Any]]:
    return [value for value in values if is_dict(value)] if is_list(values) else []


def _is_result(block: Any) -> bool:
    return bool(fields_of(block).get("type") == "tool_result")


def _result(event: dict[str, Any], tool_use: Any) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "tool_result", "tool_use_id": tool_use}
    block["content"] = _dicts(event.get("content"))
    return {**block, "is_error": True} if event.get("is_error") else block


def observer_of(path: str) -> Callable[[Mapping[str, Any], Mapping[str, Any]], object]:
    """What remembers, of a request to this path, whose session it is or what the user says."""
    before, _, last = path.partition("/sessions")
    session = last.strip("/").removesuffix("/events")

    def observe(request: Mapping[str, Any], answer: Mapping[str, Any]) -> None:
        if not before.endswith("/v1"):
            return
        if session and last.endswith("/events"):
            SessionEvents(session, {}).take(answer)
        else:
            agent_sessions.learn(answer)

    return observe
