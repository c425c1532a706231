"""A conversation as a person reads it: who said what, which tools ran, why each turn stopped."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from turnspan.semconv import OUTSIDE_ROUNDS
from turnspan_console import styles, values
from turnspan_console.output import Output
from turnspan_console.page import Page
from turnspan_console.values import counted
from turnspan_records.conversation import (
    CallRecord,
    Conversation,
    MessageRecord,
    Step,
    ToolExecutionRecord,
    ToolRequestRecord,
    TurnRecord,
)

_ROLES = {
    "user": styles.USER,
    "assistant": styles.ASSISTANT,
    "system": styles.SYSTEM,
    "developer": styles.SYSTEM,
    "tool": styles.TOOL,
}


class Transcript:
    """Prints a conversation. ``full`` shows long texts whole."""

    def __init__(self, output: Output, *, full: bool = False) -> None:
        self._page = Page(output, full=full)
        self._answered: set[str] = set()

    def print(self, conversation: Conversation) -> None:
        """The whole conversation with its heading."""
        self._heading(conversation)
        number = 0
        for step in conversation.steps:
            number += isinstance(step, TurnRecord)
            self._step(step, f"Turn {number}")

    def _heading(self, conversation: Conversation) -> None:
        calls = list(conversation.calls())
        what, id_ = "Session", conversation.session_id
        if not id_:
            what, id_ = "Trace", conversation.trace_id
        turns = sum(isinstance(step, TurnRecord) for step in conversation.steps)
        self._page.line((f"{what} ", styles.TITLE), (id_, styles.TITLE))
        facts = [
            f"project {conversation.project}" if conversation.project else "",
            counted(turns, "turn"),
            counted(len(calls), "model call"),
            _tokens(_sum(calls, "input_tokens"), _sum(calls, "output_tokens")),
            _cost(calls),
        ]
        self._page.line((_joined(facts), styles.FAINT))

    # -- steps ---------------------------------------------------------------------------------

    def _step(self, step: Step, title: str = "") -> None:
        if isinstance(step, TurnRecord):
            self.print_turn(step, title)
        elif isinstance(step, CallRecord):
            self._call(step)
        else:
            self._page.blank()
            self._tool_line(step.name, step.arguments, step)
            with self._page.deeper():
                self._result(step)

    def print_turn(self, turn: TurnRecord, title: str) -> None:
        """One turn of a conversation; a nested one has no title."""
        page = self._page
        page.blank()
        reason = turn.ended_how
        facts = [
            counted(turn.rounds, "round"),
            counted(turn.tool_call_count, "tool call"),
            values.seconds(turn.duration) if turn.status != "running" else "",
            values.dollars(turn.cost_usd) if turn.cost_usd is not None else "",
        ]
        name = turn.agent_name if title else f"agent {turn.agent_name}"
        page.line(
            ("┏ " if title else "╭ ", styles.AGENT),
            (f"{title}  " if title else "", styles.TITLE),
            (f"{values.moment(turn.start_time)}  " if title else "", styles.FAINT),
            (f"{name}  " if name else "", styles.AGENT),
            (reason, styles.stop_reason(reason)),
            (f"  {_joined(facts)}", styles.FAINT),
        )
        with page.deeper("┃ " if title else "│ ", styles.AGENT):
            if turn.user_message and not _user_spoke(turn):
                self._said("user", turn.user_message)
            for step in turn.steps:
                self._step(step)
            if turn.response_text and not any(isinstance(step, CallRecord) for step in turn.steps):
                self._said("assistant", turn.response_text)
        self._ending(turn, "┗ " if title else "╰ ")

    def _ending(self, turn: TurnRecord, corner: str) -> None:
        reason = turn.ended_how
        detail = turn.stop_detail or turn.error_message
        self._page.line(
            (corner, styles.AGENT),
            ("stopped: " if turn.status == "final" else "", styles.FAINT),
            (reason, styles.stop_reason(reason)),
            (f"  {values.one_line(detail)}" if detail else "", styles.FAINT),
            (f"  turn {self._id(turn.turn_id)}", styles.FAINT),
        )

    def _call(self, call: CallRecord) -> None:
        page = self._page
        if call.system_prompt:
            self._said("system", call.system_prompt)
        if call.dropped:
            page.blank()
            page.line(
                (f"⋯ {counted(call.dropped, 'earlier message')} no longer in the prompt", "yellow")
            )
        for message in call.new_messages:
            self._message(message)
        page.blank()
        who = call.operation if call.operation in OUTSIDE_ROUNDS else "assistant"
        page.line((who, styles.ASSISTANT), (f"  {self._call_facts(call)}", styles.FAINT))
        with page.deeper():
            self._reply(call)
            for request in call.requests:
                if call.unended:
                    self._tool_line(request.name, request.arguments, None)
                else:
                    self._request(request)
            if call.error_type:
                error = values.error_text(call.error_type, call.error_message)
                page.text(error, mark="✗ ", style=styles.BAD, limit=6)

    def _call_facts(self, call: CallRecord) -> str:
        reasons = [one for one in call.finish_reasons if one not in _USUAL_FINISH]
        return _joined(
            [
                call.model,
                call.unended,
                values.seconds(call.duration),
                _tokens(call.input_tokens, call.output_tokens),
                f"{call.cache_read_tokens:,} cached" if call.cache_read_tokens else "",
                values.dollars(call.cost_usd) if call.cost_usd is not None else "",
                f"{call.tries} tries" if call.tries > 1 else "",
                call.stream_outcome if call.stream_outcome not in ("", "complete") else "",
                f"finished: {', '.join(reasons)}" if reasons else "",
                self._id(call.span_id),
            ]
        )

    def _reply(self, call: CallRecord) -> None:
        recorded = [reply for reply in call.replies if reply.recorded]
        if not recorded:
            if call.response_thoughts:
                self._page.text(call.response_thoughts, style=_THOUGHT, limit=6)
            if call.response_text:
                self._page.text(call.response_text)
            if call.output_hashes and not call.response_text:
                self._page.line(("(content not in the store)", styles.FAINT))
            return
        for reply in recorded:
            for part in reply.parts:
                if part.get("type") != "tool_call":
                    print_part(part, self._page)

    # -- messages --------------------------------------------------------------------------------

    def _message(self, message: MessageRecord) -> None:
        parts = [part for part in message.parts if not self._shown(part)]
        if message.recorded and message.parts and not parts:
            return
        self._page.blank()
        role = message.role or "message"
        name = f" {message.name}" if message.name else ""
        self._page.line((role + name, _ROLES.get(role, styles.TITLE)))
        with self._page.deeper():
            if not message.recorded:
                self._page.line((f"(content not in the store, {message.hash})", styles.FAINT))
            limit = 4 if role in ("system", "developer") else 16
            for part in parts:
                print_part(part, self._page, limit=limit)

    def _said(self, role: str, text: str) -> None:
        self._message(MessageRecord("", role, parts=[{"type": "text", "content": text}]))

    def _shown(self, part: Mapping[str, Any]) -> bool:
        """Whether a tool's response stands at the request already."""
        is_response = part.get("type") == "tool_call_response"
        return is_response and str(part.get("id", "")) in self._answered

    # -- tools -----------------------------------------------------------------------------------

    def _request(self, request: ToolRequestRecord) -> None:
        tool = request.execution
        if request.answered or tool is not None:
            self._answered.add(request.call_id)
        self._tool_line(request.name, request.arguments, tool)
        with self._page.deeper():
            if tool is not None:
                self._result(tool)
                seen, result = as_text(request.seen), as_text(tool.result)
                if request.answered and not _same_result(seen, result) and seen.strip():
                    self._page.text(
                        f"the model was given: {seen}", mark="⇒ ", style=styles.WARN, limit=4
                    )
            elif request.answered:
                self._page.text(as_text(request.seen), mark="→ ", style=styles.FAINT, limit=6)
            else:
                self._page.line(("no result recorded", styles.FAINT))

    def _tool_line(self, name: str, arguments: Any, ran: ToolExecutionRecord | None) -> None:
        failed, facts = ran is not None and ran.failed, "  "
        if ran is not None:
            took, id_ = values.seconds(ran.duration), self._id(ran.span_id)
            facts += _joined(["failed" if failed else "", took, id_])
        room = self._page.width - len(facts) - len(name) - 4
        shown = signature(arguments)
        if self._page.output.terminal and not self._page.full and len(shown) > room:
            shown = shown[: max(8, room - 1)] + "…"
        self._page.line(
            ("⚒ ", styles.TOOL),
            (name, styles.TOOL),
            (f"({shown})", ""),
            (facts, styles.BAD if failed else styles.FAINT),
        )

    def _result(self, tool: ToolExecutionRecord) -> None:
        if tool.error_type or tool.error_message:
            error = values.error_text(tool.error_type, tool.error_message)
            self._page.text(error, mark="✗ ", style=styles.BAD, limit=6)
        if tool.result:
            mark, style = ("✗ ", styles.BAD) if tool.failed else ("→ ", styles.FAINT)
            self._page.text(as_text(tool.result), mark=mark, style=style, limit=6)

    def _id(self, id_: str) -> str:
        return values.short_id(id_) if self._page.output.terminal else id_


_USUAL_FINISH = frozenset({"stop", "end_turn", "tool_calls", "tool_use", "tool_call", ""})
_THOUGHT = "italic bright_black"


def print_part(part: Mapping[str, Any], page: Page, limit: int = 16) -> None:
    """Write a part of a message; a text with at most so many lines."""
    kind = part.get("type")
    if kind == "text":
        page.text(str(part.get("content", "")), limit=limit)
    elif kind == "reasoning":
        page.text(str(part.get("content", "")), style=_THOUGHT, limit=6)
    elif kind == "tool_call_response":
        page.text(as_text(part.get("response", part.get("result"))), mark="→ ", limit=8)
    elif kind == "tool_call":
        asked = f"{part.get('name', '')}({signature(part.get('arguments'))})"
        page.text(asked, mark="⚒ ", style=styles.TOOL, limit=6)
    else:
        page.line((f"[{describe_part(part)}]", styles.FAINT))


def signature(arguments: Any) -> str:
    """A tool's arguments as a call shows them: ``city="Rome", days=3``."""
    loaded = _loaded(arguments)
    if isinstance(loaded, dict):
        members = cast("dict[str, Any]", loaded).items()
        return ", ".join(f"{key}={_compact(value)}" for key, value in members)
    return "" if loaded in (None, "") else _compact(loaded)


def as_text(value: Any) -> str:
    """A tool's result as text: a string as it is, anything else as compact JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else _compact(value)


def describe_part(part: Mapping[str, Any]) -> str:
    """What a part that is no text is, in a few words."""
    kind = str(part.get("type", "part"))
    about = [str(part[key]) for key in ("modality", "mime_type", "uri", "file_id") if part.get(key)]
    content = part.get("content")
    if isinstance(content, str) and content:
        about.append(f"{len(content):,} characters")
    return " ".join([kind, *about])


def _same_result(seen: str, result: str) -> bool:
    return bool(_loaded(seen.strip()) == _loaded(result.strip()))


def _loaded(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _user_spoke(turn: TurnRecord) -> bool:
    calls = (step for step in turn.steps if isinstance(step, CallRecord))
    new = (message for call in calls for message in call.new_messages)
    return any(message.role == "user" and message.recorded for message in new)


def _joined(facts: list[str]) -> str:
    return " · ".join(fact for fact in facts if fact)


def _tokens(given: int | None, said: int | None) -> str:
    if given is None and said is None:
        return ""
    first, second = (values.UNKNOWN if one is None else f"{one:,}" for one in (given, said))
    return f"{first} → {second} tokens"


def _sum(calls: list[CallRecord], name: str) -> int | None:
    known = [getattr(call, name) for call in calls if getattr(call, name) is not None]
    return sum(known) if known else None


def _cost(calls: list[CallRecord]) -> str:
    known = [call.cost_usd for call in calls if call.cost_usd is not None]
    if not known:
        return ""
    unpriced = len(calls) - len(known)
    rest = f" + {counted(unpriced, 'unpriced call')}" if unpriced else ""
    return values.dollars(sum(known)) + rest
