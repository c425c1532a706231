"""Codex's transcripts: lines of JSON in ``~/.codex/sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl``.

Learned from files of versions 0.50 to 0.171 and from the fixtures of other readers (there is no
public description; the types are those of openai/codex, ``codex-rs/protocol``). What has to be
known:

- What is said stands twice: as a ``response_item`` and as an ``event_msg`` for the screen. That
  is a ``user_message``, in newer versions an ``item_completed``.
- ``token_count`` comes when a reply is over, mostly after its tools have run, and often twice: it
  tells of a call where the total has changed. Its input has cached tokens in it, its output those
  of reasoning; ``info`` may be null.
- Only the first ``session_meta`` is the file's own: a resumed file has it again, a fork and a
  subagent have their parent's, with all that the parent had said.
- A session of a subagent has a file of its own.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

from turnspan import semconv
from turnspan.content.media import digest_media
from turnspan.content.model import Message, Part, as_list, as_text, dumps_text
from turnspan.dialects import openai_responses
from turnspan.dialects.convert import convert_message
from turnspan.turn.turn import TokenUsage
from turnspan_records.coding.transcripts.content_parts import parts_of, texts_of
from turnspan_records.coding.transcripts.events import (
    AgentCall,
    HistoryCompaction,
    Interruption,
    SessionStart,
    ToolEnd,
    UserMessage,
)
from turnspan_records.coding.transcripts.reader import TranscriptReader
from turnspan_records.coding.transcripts.wire_values import (
    WireFields,
    count_of,
    fields_of,
    is_small,
    own_note,
    result_of,
    unknown,
)

_OUTPUTS: Final = ("function_call_output", "custom_tool_call_output", "tool_search_output")
_ENDS: Final = {
    "patch_apply_end": ("success", "status", "changes"),
    "exec_command_end": ("exit_code", "duration", "parsed_cmd", "cwd"),
    "mcp_tool_call_end": ("invocation", "duration"),
    "web_search_end": ("query", "action"),
    "dynamic_tool_call_response": ("success", "error"),
}
"""Events of tools' ends, and what they say that the result does not."""
_AGAIN: Final = ("agent_message", "agent_reasoning", "agent_reasoning_raw_content")
_OF_TURN: Final = ("task_started", "task_complete", "turn.completed", "thread_settings_applied")
_NOTES: Final = (
    *("context_compacted", "view_image_tool_call", "image_generation_end", "undo_completed"),
    *("dynamic_tool_call_request", "guardian_assessment", "sub_agent_activity"),
    *("entered_review_mode", "exited_review_mode", "thread_goal_updated", "collab_close_end"),
    *("collab_waiting_end", "collab_agent_interaction_end", "account/rateLimits/updated"),
    *("world_state", "inter_agent_communication_metadata", "ghost_snapshot", "plan_update"),
)
_META: Final = (
    *("id", "timestamp", "cwd", "cli_version", "git", "base_instructions", "instructions"),
)
_BESIDE: Final = ("internal_chat_message_metadata_passthrough", "metadata", "phase", "id")
_USAGE: Final = (
    *("input_tokens", "output_tokens", "cached_input_tokens", "cache_write_input_tokens"),
    "reasoning_output_tokens",
)
"""In the order of ``TokenUsage``."""
_INJECTED: Final = ("<", "# AGENTS.md")
_EXIT: Final = re.compile(r"(?:Exit code:|[Pp]rocess exited with code) (-?\d+)")


class CodexReader(TranscriptReader):
    """Reads one file."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.start = SessionStart("")
        self._origin = ""
        """The session whose beginning the file has: its ids are made of it."""
        self._turn = self._model = self._reply_id = ""
        self._time = self._reply_time = 0
        self._prompts = self._replies = 0
        """In the file, and in this turn, so far."""
        self._prompt = self._said = self._response = ""
        """The text of the last prompt, which comes twice: before its item, and after it. The id of
        the reply whose tokens come next."""
        self._message: tuple[UserMessage, str] | None = None
        """A user's item that is a prompt if the next event says so."""
        self._parts: list[Part] = []
        self._runs: list[ToolEnd] = []
        self._asked: dict[str, int] = {}
        self._ends: dict[str, tuple[bool, dict[str, Any]]] = {}
        self._total: Any = None
        self._last = WireFields()
        self._context = WireFields()

    def take(self, line: WireFields) -> str:
        """As ``TranscriptReader``."""
        types = {
            "session_meta": self._meta,
            "turn_context": self._turn_context,
            "response_item": self._item,
            "event_msg": self._event,
            "compacted": self._compacted,
            "token_usage_record": self._response_of,
        }
        kind, payload = line.text("type"), line.maybe("payload")
        known = types.get(kind)
        self._time = line.time("timestamp") or self._time
        if known is None or payload is None:
            return own_note(kind) if kind in _NOTES else unknown(kind or "no type")
        beside = payload.object("internal_chat_message_metadata_passthrough")
        turn = payload.get("turn_id") or beside.get("turn_id")
        if turn and turn != self._turn:
            self._turn, self._replies = as_text(turn), 0
        return known(payload)

    def release(self) -> None:
        """As ``TranscriptReader``."""
        self._settle(prompt=False)
        self._flush()

    # -- the session ------------------

    def _meta(self, payload: WireFields) -> str:
        session_id, start = payload.text("id"), self.start
        if start.session_id:
            own = session_id == start.session_id
            return "part of a session" if own else "part of the session before"
        git, parent = payload.object("git"), spawn_of(payload).text("parent_thread_id")
        instructions = payload.get("base_instructions") or payload.get("instructions")
        instructions = fields_of(instructions).get("text") or instructions
        self.start = start = SessionStart(
            session_id or self.path.stem,
            payload.text("cli_version"),
            payload.text("cwd"),
            git.text("repository_url"),
            git.text("branch"),
            git.text("commit_hash"),
            parent_session=payload.text("forked_from_id") or parent,
            instructions=as_text(instructions),
            attributes=payload.others(*_META),
        )
        start.agent_name = spawn_of(payload).text("agent_role")
        if parent:
            start.agent_name, start.agent_id = start.agent_name or "codex subagent", session_id
        self._origin = start.parent_session or start.session_id
        return self.emit(start)

    def _own(self, **changes: Any) -> None:
        self.emit(SessionStart(self.start.session_id, agent_id=self.start.agent_id, **changes))

    def _turn_context(self, payload: WireFields) -> str:
        self._model = payload.text("model") or self._model
        names = ("effort", "summary", "personality", "approval_policy", "sandbox_policy")
        given = {name: payload[name] for name in names if payload.get(name) is not None}
        self._context = WireFields(given)
        folder = payload.text("cwd")
        if folder and folder != self.start.folder and self.start.session_id:
            self.start.folder = folder
            self._own(folder=folder)
        return "part of a turn"

    # -- what was said ------------------

    def _item(self, payload: WireFields) -> str:
        kind, role = payload.text("type"), payload.text("role")
        if kind in _NOTES:
            return own_note(kind)
        if kind in _OUTPUTS:
            return self._output(payload)
        message = convert_message(openai_responses.NAME, _bare(payload))
        if kind == "message" and role != "assistant":
            self.release()
            return self._user(message, role)
        if kind not in ("message", "reasoning") and not kind.endswith("_call"):
            return unknown(f"response_item {kind}".rstrip())
        self._settle(prompt=False)
        if self._runs:  # the reply before had no count of its tokens
            self._flush()
        word = "part of a model call" if self._parts else "a model call"
        call_id = payload.text("call_id")
        if not self._parts:
            self._replies += 1
            made = self._made_id("reply", str(self._replies))
            self._reply_id = payload.text("id") or call_id or made
        if call_id:
            self._asked[call_id] = self._time
        self._parts += message["parts"]
        self._reply_time = self._time
        return word

    def _user(self, message: Message, role: str) -> str:
        text = texts_of(message["parts"])
        if role == "user" and text and text == self._prompt:
            self._prompt = ""
            return "a user's message, once more"
        id_ = self._made_id("said", f"{role}:{text}")
        event = UserMessage(id_, self._time, message["parts"], injected=True, role=role)
        if role == "user":
            self._message = event, text
        else:
            self.emit(event)
        own = role == "user" and not text.startswith(_INJECTED)
        return "a user's message" if own else "what the tool put in"

    def _prompted(self, payload: WireFields) -> str:
        text, held = payload.text("message"), self._message
        if held is not None and held[1].strip() == text.strip():
            self._message, self._said = None, held[1]
            self._begin(held[0])
            return "a user's message, once more"
        if text and text == self._said:
            return "a user's message, once more"
        self.release()
        self._prompt = text
        urls = as_list(payload.get("images")) or []
        images = [{"type": "input_image", "image_url": url} for url in urls]
        item = {"role": "user", "content": [{"type": "input_text", "text": text}, *images]}
        parts = convert_message(openai_responses.NAME, item)["parts"]
        return self._begin(UserMessage("", self._time, parts))

    def _completed(self, item: WireFields) -> str:
        kind = item.text("type")
        if kind == "UserMessage" and self._message is not None:
            text = texts_of(parts_of(item.get("content")))
            return self._prompted(WireFields(message=text or self._message[1]))
        if item.get("exit_code") not in (None, 0) or item.get("status") in ("failed", "declined"):
            self._ends[item.text("id")] = True, {}
            return "part of a tool's result"
        return "what was said, once more: item_completed"

    def _begin(self, event: UserMessage) -> str:
        self._prompts += 1
        self._replies = 0
        event.injected = False
        event.message_id = self._made_id("prompt", texts_of(event.parts))
        return self.emit(event)

    def _settle(self, *, prompt: bool) -> None:
        """What was held back was no prompt, or (where none of them has an event) was one."""
        held, self._message = self._message, None
        if held is None:
            pass
        elif prompt or not (self._prompts or held[1].startswith(_INJECTED)):
            self._begin(held[0])
        else:
            self.emit(held[0])

    def _made_id(self, kind: str, text: str) -> str:
        """An id where the tool gives none: the same in a file that repeats another's beginning."""
        turn = self._turn or f"{self._origin}:{self._prompts}"
        digest = blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()
        return f"{turn}:{kind}:{digest}"

    # -- replies and their tokens ------------------

    def _tokens(self, payload: WireFields) -> str:
        info = payload.object("info")
        total, last = info.maybe("total_token_usage"), info.object("last_token_usage")
        if total is None:
            return unknown("token_count") if info else own_note("rate limits")
        if total == self._total:
            return "a count of tokens, once more"
        self._total, self._last = total, last
        self._flush(last)
        return "part of a model call"

    def _response_of(self, payload: WireFields) -> str:
        self._response = payload.text("response_id")
        return "part of a model call"

    def _flush(self, usage: WireFields | None = None) -> None:
        """A reply is whole."""
        parts, self._parts = self._parts, []
        runs, self._runs = self._runs, []
        if parts or usage is not None:
            id_ = self._reply_id if parts else self._made_id("usage", repr(self._total))
            call = AgentCall(id_, self._reply_time if parts else self._time, model=self._model)
            call.provider = fields_of(self.start.attributes).text("model_provider") or "openai"
            call.parts, call.parameters = parts, dict(self._context)
            call.usage = TokenUsage(*((usage or WireFields()).count(name) for name in _USAGE))
            if effort := self._context.text("effort"):
                call.attributes[semconv.REQUEST_REASONING_LEVEL] = effort
            if not parts:
                call.attributes[semconv.CODING_REPLY_UNKNOWN] = True
            if self._response:
                call.attributes[semconv.RESPONSE_ID], self._response = self._response, ""
            self.emit(call)
        self.events += runs

    # -- tools ------------------

    def _output(self, payload: WireFields) -> str:
        call_id = payload.text("call_id")
        result = payload["output"] if "output" in payload else payload.get("tools")
        failed, attributes = self._ends.pop(call_id, (False, dict[str, Any]()))
        code, start = _EXIT.search(as_text(result)[:400]), self._asked.get(call_id, 0)
        run = ToolEnd(call_id, f"{call_id}:result", self._time, result_of(result), start)
        run.attributes = attributes
        success = fields_of(result).get("success")
        run.failed = failed or success is False or (code is not None and code[1] != "0")
        (self._runs if self._parts else self.events).append(run)
        return "a tool's result"

    def _tool_end(self, kind: str, payload: WireFields) -> str:
        """What an event says of a tool's end, for the result that follows, or has just come."""
        said = {name: payload[name] for name in _ENDS[kind] if payload.get(name) is not None}
        failed = said.get("success") is False or said.get("exit_code") not in (None, 0)
        failed = failed or "Err" in payload.object("result")
        short = {k: v for k, v in said.items() if is_small(v)}
        attributes = {kind: dumps_text(digest_media(short))} if short else {}
        call_id = payload.text("call_id")
        self._ends[call_id] = failed, attributes
        for run in self._runs:
            if run.call_id == call_id:
                run.attributes.update(attributes)
                run.failed = run.failed or failed
        return "part of a tool's result"

    # -- events ------------------

    def _event(self, payload: WireFields) -> str:
        kind = payload.text("type")
        if kind == "user_message":
            return self._prompted(payload)
        if kind == "token_count":
            return self._tokens(payload)
        if kind == "item_completed":
            return self._completed(payload.object("item"))
        if kind in _ENDS:
            return self._tool_end(kind, payload)
        if kind in ("turn_aborted", "error"):
            self._settle(prompt=True)
            self._flush()
            said, stopped = payload.object("error") or payload, kind == "turn_aborted"
            text = said.text("message") or payload.text("reason") or kind
            word = self.emit(Interruption(self._time, "user" if stopped else "error", text))
            return word if stopped else "an error, as the tool shows it"
        if kind == "collab_agent_spawn_end":
            child, call_id = payload.text("new_thread_id"), payload.text("call_id")
            self.emit(SessionStart(child, agent_id=child, parent_call=call_id))
            self._own()
            return "part of a subagent's session"
        if kind == "thread_name_updated":
            self._own(title=payload.text("thread_name"))
            return "part of a session: its title"
        if kind in _OF_TURN:
            return "part of a turn"
        if kind in _AGAIN:
            return f"what was said, once more: {kind}"
        return own_note(kind) if kind in _NOTES else unknown(f"event_msg {kind}")

    def _compacted(self, payload: WireFields) -> str:
        self.release()
        items = [fields_of(item) for item in as_list(payload.get("replacement_history")) or []]
        id_ = payload.text("window_id") or self._made_id("compaction", repr(self._total))
        parts, before = parts_of(payload.text("message")), self._last.get("total_tokens")
        event = HistoryCompaction(f"{id_}:compaction", self._time, parts, "", count_of(before))
        event.messages = [convert_message(openai_responses.NAME, _bare(item)) for item in items]
        return self.emit(event)


def _bare(item: WireFields) -> dict[str, Any]:
    """An item as the API has it: what Codex writes beside is in the events."""
    return {key: value for key, value in item.items() if key not in _BESIDE and value is not None}


def spawn_of(meta: WireFields) -> WireFields:
    """What began a subagent's session."""
    return meta.object("source").object("subagent").object("thread_spawn")
