"""The lines of Codex's transcripts -> events."""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

from turnspan import semconv
from turnspan.content.media import digest_media
from turnspan.content.model import (
    TEXT,
    Message,
    Part,
    as_dict,
    as_list,
    as_text,
    dumps_text,
    text_part,
)
from turnspan.dialects import openai_responses
from turnspan.dialects.convert import convert_message
from turnspan.turn.turn import TokenUsage
from turnspan_records.coding.transcripts.events import (
    AgentCall,
    CodingEvent,
    HistoryCompaction,
    Interruption,
    SessionStart,
    ToolEnd,
    UserMessage,
)
from turnspan_records.coding.transcripts.wire_values import (
    count_of,
    is_small,
    object_in,
    other_fields,
    own_note,
    result_of,
    text_in,
    time_of,
    unknown,
)

KIND: Final = "codex"
_OUTPUTS: Final = frozenset(
    {"function_call_output", "custom_tool_call_output", "tool_search_output"}
)
_ENDS: Final = {
    "patch_apply_end": ("success", "status", "changes"),
    "exec_command_end": ("exit_code", "duration", "parsed_cmd", "cwd"),
    "mcp_tool_call_end": ("invocation", "duration"),
    "web_search_end": ("query", "action"),
    "dynamic_tool_call_response": ("success", "error"),
}
"""Events of tools' ends, and what they say that the result does not."""
_AGAIN: Final = frozenset(
    {"agent_message", "agent_reasoning", "agent_reasoning_raw_content", "item_completed"}
)
_OF_TURN: Final = frozenset(
    {"task_started", "task_complete", "turn.completed", "thread_settings_applied"}
)
_NOTES: Final = frozenset(
    {
        *("context_compacted", "view_image_tool_call", "image_generation_end", "undo_completed"),
        *("dynamic_tool_call_request", "guardian_assessment", "sub_agent_activity"),
        *("entered_review_mode", "exited_review_mode", "thread_goal_updated", "collab_close_end"),
        *("collab_waiting_end", "collab_agent_interaction_end", "account/rateLimits/updated"),
        *("world_state", "inter_agent_communication_metadata", "ghost_snapshot", "plan_update"),
    }
)
_META: Final = frozenset(
    {"id", "timestamp", "cwd", "cli_version", "git", "base_instructions", "instructions"}
)
_BESIDE: Final = ("internal_chat_message_metadata_passthrough", "metadata", "phase", "id")
_USAGE: Final = (
    *("input_tokens", "output_tokens", "cached_input_tokens", "cache_write_input_tokens"),
    "reasoning_output_tokens",
)
"""In the order of ``TokenUsage``."""
_INJECTED: Final = ("<", "# AGENTS.md")
_EXIT: Final = re.compile(r"(?:Exit code:|[Pp]rocess exited with code) (-?\d+)")


class CodexReader:
    """Reads one file."""

    def __init__(self, path: Path) -> None:
        self._name = path.stem
        self._session = SessionStart("")
        self._origin = ""
        """The session whose beginning the file has: its ids are made of it."""
        self._turn = ""
        self._prompts = 0
        self._prompt = ""
        """The text of the last one, which comes twice."""
        self._held: tuple[UserMessage, str] | None = None
        """A user's item that is a prompt if the next event says so."""
        self._parts: list[Part] = []
        self._reply_id = ""
        self._replies = 0
        """Of this turn, so far."""
        self._reply_time = 0
        self._runs: list[ToolEnd] = []
        self._asked: dict[str, int] = {}
        self._ends: dict[str, tuple[bool, dict[str, Any]]] = {}
        self._total: Any = None
        self._last: dict[str, Any] = {}
        self._context: dict[str, Any] = {}
        self._model = ""
        self._time = 0
        self._words = {
            "session_meta": self._meta,
            "turn_context": self._turn_context,
            "response_item": self._item,
            "event_msg": self._event,
            "compacted": self._compacted,
        }

    def read(self, value: Any, events: list[CodingEvent]) -> str:
        """As ``TranscriptReader``."""
        line = as_dict(value) or {}
        kind, payload = text_in(line, "type"), as_dict(line.get("payload"))
        known = self._words.get(kind)
        self._time = time_of(line.get("timestamp")) or self._time
        if known is None or payload is None:
            return own_note(kind) if kind in _NOTES else unknown(kind or "no type")
        beside = object_in(payload, "internal_chat_message_metadata_passthrough")
        turn = payload.get("turn_id") or beside.get("turn_id")
        if turn and turn != self._turn:
            self._turn, self._replies = as_text(turn), 0
        return known(payload, events)

    def end(self, events: list[CodingEvent]) -> None:
        """As ``TranscriptReader``."""
        self._release(events, prompt=False)
        self._flush(events)

    # -- the session ------------------

    def _meta(self, payload: dict[str, Any], events: list[CodingEvent]) -> str:
        session_id = text_in(payload, "id")
        if self._session.session_id:
            own = session_id == self._session.session_id
            return "part of a session" if own else "part of the session before"
        git, source = object_in(payload, "git"), object_in(payload, "source")
        spawn = as_dict(object_in(source, "subagent").get("thread_spawn")) or {}
        parent = text_in(spawn, "parent_thread_id")
        instructions = payload.get("base_instructions") or payload.get("instructions")
        instructions = (as_dict(instructions) or {}).get("text") or instructions
        self._session = SessionStart(
            session_id or self._name,
            text_in(payload, "cli_version"),
            text_in(payload, "cwd"),
            text_in(git, "repository_url"),
            text_in(git, "branch"),
            text_in(git, "commit_hash"),
            agent_name=text_in(spawn, "agent_role") or ("codex subagent" if parent else ""),
            agent_id=session_id if parent else "",
            parent_session=text_in(payload, "forked_from_id") or parent,
            instructions=as_text(instructions),
            attributes=other_fields(payload, _META),
        )
        self._origin = self._session.parent_session or self._session.session_id
        events.append(self._session)
        return "a session"

    def _own(self, **changes: Any) -> SessionStart:
        own = self._session
        return SessionStart(own.session_id, agent_id=own.agent_id, **changes)

    def _turn_context(self, payload: dict[str, Any], events: list[CodingEvent]) -> str:
        self._model = text_in(payload, "model") or self._model
        names = ("effort", "summary", "personality", "approval_policy", "sandbox_policy")
        self._context = {name: payload[name] for name in names if payload.get(name) is not None}
        folder = text_in(payload, "cwd")
        if folder and folder != self._session.folder and self._session.session_id:
            self._session.folder = folder
            events.append(self._own(folder=folder))
        return "part of a turn"

    # -- what was said ------------------

    def _item(self, payload: dict[str, Any], events: list[CodingEvent]) -> str:
        kind, role = text_in(payload, "type"), text_in(payload, "role")
        if kind in _NOTES:
            return own_note(kind)
        if kind in _OUTPUTS:
            return self._output(payload, events)
        message = convert_message(openai_responses.NAME, _bare(payload))
        if kind == "message" and role != "assistant":
            self._release(events, prompt=False)
            self._flush(events)
            return self._user(message, role, events)
        if kind not in ("message", "reasoning") and not kind.endswith("_call"):
            return unknown(f"response_item {kind}".rstrip())
        self._release(events, prompt=False)
        if self._runs:  # the reply before had no count of its tokens
            self._flush(events)
        word = "part of a model call" if self._parts else "a model call"
        call_id = text_in(payload, "call_id")
        if not self._parts:
            self._replies += 1
            made = self._made_id("reply", str(self._replies))
            self._reply_id = text_in(payload, "id") or call_id or made
        if call_id:
            self._asked[call_id] = self._time
        self._parts += message["parts"]
        self._reply_time = self._time
        return word

    def _user(self, message: Message, role: str, events: list[CodingEvent]) -> str:
        text = _text(message["parts"])
        if role == "user" and text and text == self._prompt:
            self._prompt = ""
            return "a user's message, once more"
        event = UserMessage("", self._time, message["parts"], injected=True, role=role)
        event.message_id = self._made_id("said", f"{role}:{text}")
        if role == "user":
            self._held = event, text
        else:
            events.append(event)
        own = role == "user" and not text.startswith(_INJECTED)
        return "a user's message" if own else "what the tool put in"

    def _prompted(self, payload: dict[str, Any], events: list[CodingEvent]) -> str:
        text = text_in(payload, "message")
        held = self._held
        if held is not None and held[1].strip() == text.strip():
            self._held = None
            self._begin(held[0], events)
            return "a user's message, once more"
        self._release(events, prompt=False)
        self._flush(events)
        self._prompt = text
        images = [
            {"type": "input_image", "image_url": u} for u in as_list(payload.get("images")) or ()
        ]
        item = {"role": "user", "content": [{"type": "input_text", "text": text}, *images]}
        parts = convert_message(openai_responses.NAME, item)["parts"]
        self._begin(UserMessage("", self._time, parts), events)
        return "a user's message"

    def _begin(self, event: UserMessage, events: list[CodingEvent]) -> None:
        self._prompts += 1
        self._replies = 0
        event.injected = False
        event.message_id = self._made_id("prompt", _text(event.parts))
        events.append(event)

    def _release(self, events: list[CodingEvent], *, prompt: bool) -> None:
        """What was held back was no prompt, or (where none of them has an event) was one."""
        held, self._held = self._held, None
        if held is None:
            pass
        elif prompt or not (self._prompts or held[1].startswith(_INJECTED)):
            self._begin(held[0], events)
        else:
            events.append(held[0])

    def _made_id(self, kind: str, text: str) -> str:
        """An id where the tool gives none: the same in a file that repeats another's beginning."""
        turn = self._turn or f"{self._origin}:{self._prompts}"
        digest = blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()
        return f"{turn}:{kind}:{digest}"

    # -- replies and their tokens ------------------

    def _tokens(self, payload: dict[str, Any], events: list[CodingEvent]) -> str:
        info = object_in(payload, "info")
        total, last = as_dict(info.get("total_token_usage")), as_dict(info.get("last_token_usage"))
        if total is None:
            return unknown("token_count") if info else own_note("rate limits")
        if total == self._total:
            return "a count of tokens, once more"
        self._total, self._last = total, last or {}
        self._flush(events, self._last)
        return "part of a model call"

    def _flush(self, events: list[CodingEvent], usage: dict[str, Any] | None = None) -> None:
        """A reply is whole."""
        parts, self._parts = self._parts, []
        runs, self._runs = self._runs, []
        if parts or usage is not None:
            attributes: dict[str, Any] = {}
            if effort := text_in(self._context, "effort"):
                attributes[semconv.REQUEST_REASONING_LEVEL] = effort
            if not parts:
                attributes[semconv.CODING_REPLY_UNKNOWN] = True
            provider = text_in(self._session.attributes, "model_provider")
            events.append(
                AgentCall(
                    self._reply_id if parts else self._made_id("usage", repr(self._total)),
                    self._reply_time if parts else self._time,
                    0,
                    provider or "openai",
                    self._model,
                    parts,
                    TokenUsage(*(count_of((usage or {}).get(name)) for name in _USAGE)),
                    parameters=self._context,
                    attributes=attributes,
                )
            )
        events += runs

    # -- tools ------------------

    def _output(self, payload: dict[str, Any], events: list[CodingEvent]) -> str:
        call_id = text_in(payload, "call_id")
        result = payload["output"] if "output" in payload else payload.get("tools")
        beside, attributes = self._ends.pop(call_id, (False, {}))
        code = _EXIT.search(as_text(result)[:400])
        failed = beside or (code is not None and code[1] != "0")
        success = (as_dict(result) or {}).get("success")
        run = ToolEnd(
            call_id,
            f"{call_id}:result",
            self._time,
            result_of(result),
            start=self._asked.get(call_id, 0),
            failed=failed or success is False,
            attributes=attributes,
        )
        if self._parts:
            self._runs.append(run)
        else:
            events.append(run)
        return "a tool's result"

    def _tool_end(self, kind: str, payload: dict[str, Any]) -> str:
        """What an event says of a tool's end, for the result that follows, or has just come."""
        said = {name: payload[name] for name in _ENDS[kind] if payload.get(name) is not None}
        failed = said.get("success") is False or said.get("exit_code") not in (None, 0)
        failed = failed or "Err" in object_in(payload, "result")
        short = {k: v for k, v in said.items() if is_small(v)}
        attributes = {kind: dumps_text(digest_media(short))} if short else {}
        call_id = text_in(payload, "call_id")
        self._ends[call_id] = failed, attributes
        for run in self._runs:
            if run.call_id == call_id:
                run.attributes.update(attributes)
                run.failed = run.failed or failed
        return "part of a tool's result"

    # -- events ------------------

    def _event(self, payload: dict[str, Any], events: list[CodingEvent]) -> str:
        kind = text_in(payload, "type")
        if kind == "user_message":
            return self._prompted(payload, events)
        if kind == "token_count":
            return self._tokens(payload, events)
        if kind in _ENDS:
            return self._tool_end(kind, payload)
        if kind in ("turn_aborted", "error"):
            self._release(events, prompt=True)
            self._flush(events)
            said, stopped = object_in(payload, "error") or payload, kind == "turn_aborted"
            text = text_in(said, "message") or text_in(payload, "reason") or kind
            events.append(Interruption(self._time, "user" if stopped else "error", text))
            return "an interruption" if stopped else "an error, as the tool shows it"
        if kind == "collab_agent_spawn_end":
            child, call_id = text_in(payload, "new_thread_id"), text_in(payload, "call_id")
            events += SessionStart(child, agent_id=child, parent_call=call_id), self._own()
            return "part of a subagent's session"
        if kind == "thread_name_updated":
            events.append(self._own(title=text_in(payload, "thread_name")))
            return "part of a session: its title"
        if kind in _OF_TURN:
            return "part of a turn"
        if kind in _AGAIN:
            return f"what was said, once more: {kind}"
        return own_note(kind) if kind in _NOTES else unknown(f"event_msg {kind}")

    def _compacted(self, payload: dict[str, Any], events: list[CodingEvent]) -> str:
        self._release(events, prompt=False)
        self._flush(events)
        items = [as_dict(item) or {} for item in as_list(payload.get("replacement_history")) or []]
        messages = [convert_message(openai_responses.NAME, _bare(item)) for item in items]
        text = text_in(payload, "message")
        known = text_in(payload, "window_id") or self._made_id("compaction", repr(self._total))
        before = count_of(self._last.get("total_tokens"))
        parts = [text_part(text)] if text else []
        events.append(
            HistoryCompaction(
                f"{known}:compaction", self._time, parts, "", before, messages=messages
            )
        )
        return "a compaction"


def _bare(item: dict[str, Any]) -> dict[str, Any]:
    """An item as the API has it: what Codex writes beside is in the events."""
    return {key: value for key, value in item.items() if key not in _BESIDE and value is not None}


def _text(parts: Sequence[Part]) -> str:
    return "\n".join(text_in(p, "content") for p in parts if p.get("type") == TEXT)
