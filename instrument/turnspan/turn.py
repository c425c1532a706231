"""The turn: one user input and everything the agent does with it.

A ``Turn`` lives in the OpenTelemetry context of its ``invoke_agent`` span. The instrumentors tell
it what happened (model calls, tool calls); when it ends it decides why it stopped, by the rules of
SEMANTICS ("Stop reason of a turn": the first rule that holds wins).
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any, Final

from turnspan.aborts import is_abort
from turnspan.arguments import label_of, text_of
from turnspan.executed import ExecutedTools
from turnspan.guard import guard
from turnspan.loops import ToolFact
from turnspan.stops import (
    COMPLETED,
    DETAIL_LENGTH,
    EMPTY_NO_TOOLS,
    ERROR,
    FINISH,
    LOOP_DETECTED,
    ROUND_CAP,
    SILENT_ROUNDS,
    SILENT_ROUNDS_LIMIT,
    TOOL_FAILURE,
    USER_ABORTED,
    Ending,
    cut,
    same_arguments,
)

ToolRequest = tuple[str, str, Any]
"""A tool call the model asked for: (call id, tool name, arguments as JSON text or a mapping)."""


@dataclass(slots=True)
class Usage:
    """Token counts; ``None`` is unknown. Cache and reasoning counts are subsets, never added."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None

    def add(self, other: Usage) -> None:
        """Add another call's counts; unknown plus known is known."""
        self.input_tokens = _sum(self.input_tokens, other.input_tokens)
        self.output_tokens = _sum(self.output_tokens, other.output_tokens)
        self.cache_read_tokens = _sum(self.cache_read_tokens, other.cache_read_tokens)
        self.cache_write_tokens = _sum(self.cache_write_tokens, other.cache_write_tokens)
        self.reasoning_tokens = _sum(self.reasoning_tokens, other.reasoning_tokens)


def _sum(known: int | None, more: int | None) -> int | None:
    return known if more is None else (known or 0) + more


@dataclass(slots=True)
class Session:
    """The conversation that turns belong to. ``attributes`` go on every span within it."""

    id: str = ""
    user_id: str = ""
    attributes: Mapping[str, Any] = field(default_factory=dict[str, Any])


class Turn:
    """One agent turn, as the application sees and steers it.

    ``stop``, ``abort`` and ``set`` never raise for the state of the turn; on a turn that has ended,
    or outside any turn, they do nothing.
    """

    # Thirty names and more are a dictionary of a kilobyte and a half where there are no slots.
    __slots__ = (
        "__weakref__",
        "_aborted",
        "_asked_for_tools",
        "_executed",
        "_explicit",
        "_finish_reason",
        "_lock",
        "_requests",
        "_silent_limit",
        "agent_name",
        "agent_version",
        "attributes",
        "chat_mode",
        "ended",
        "first_request",
        "id",
        "intent",
        "last_text",
        "llm_calls",
        "max_rounds",
        "models",
        "parent",
        "recording",
        "response_text",
        "rounds",
        "session",
        "silent_rounds",
        "target",
        "task_type",
        "usage",
        "user_message",
    )

    def __init__(
        self,
        turn_id: str = "",
        *,
        agent_name: str = "",
        agent_version: str = "",
        parent: Turn | None = None,
        session: Session | None = None,
        max_rounds: int | None = None,
        silent_rounds_limit: int = SILENT_ROUNDS_LIMIT,
        recording: bool = True,
    ) -> None:
        self.id = turn_id
        """The turn's id: its span's id, lowercase hex; empty outside any turn."""
        self.agent_name = agent_name
        self.agent_version = agent_version
        self.parent = parent
        self.session = session
        self.max_rounds = max_rounds
        self.recording = recording
        self.rounds = 0
        """Model calls in this turn's own tool loop so far (not those of nested agents)."""
        self.llm_calls = 0
        self.silent_rounds = 0
        self.usage = Usage()
        self.models: list[str] = []
        self.user_message: Any = None
        self.response_text: Any = None
        self.last_text: str = ""
        """The last visible text the model wrote in this turn."""
        self.first_request: Any = None
        self.intent = ""
        self.chat_mode = ""
        self.task_type = ""
        self.target = ""
        self.attributes: dict[str, Any] = {}
        self.ended = False
        self._executed = ExecutedTools()
        self._finish_reason = ""
        self._asked_for_tools = False
        self._requests: list[ToolRequest] = []
        self._explicit: Ending | None = None
        self._aborted: Ending | None = None
        self._silent_limit = silent_rounds_limit
        # Reentrant: collecting an abandoned stream may end its call while this thread holds it.
        self._lock = threading.RLock()

    def after_fork(self) -> None:
        """In a forked child: no thread that is not here holds it, nor those around it."""
        self._lock = threading.RLock()
        if self.parent is not None:
            self.parent.after_fork()

    # -- for the application ------------------

    def stop(self, reason: str, detail: str = "") -> None:
        """Say why the application ended the turn; beats every rule but the user's abort.

        ``reason`` is one of SEMANTICS' stop reasons, ``loop_detected:<why>`` or a word of your own.
        """
        if not self.ended:
            with guard("turn.stop"):
                reason = text_of(reason)
                if reason.startswith(LOOP_DETECTED):
                    reason = LOOP_DETECTED + cut(reason[len(LOOP_DETECTED) :], 160)
                self._explicit = Ending(reason, cut(text_of(detail), DETAIL_LENGTH))

    def abort(self, detail: str = "") -> None:
        """The user cancelled the turn; its partial reply is kept and it is not an error."""
        if not self.ended:
            with guard("turn.abort"):
                self._aborted = Ending(USER_ABORTED, cut(text_of(detail), DETAIL_LENGTH))

    def set(
        self,
        *,
        intent: str | None = None,
        chat_mode: str | None = None,
        task_type: str | None = None,
        target: str | None = None,
        user_message: Any = None,
        response_text: str | None = None,
        **attributes: Any,
    ) -> None:
        """Say what the turn is about; anything without a column goes into its attributes."""
        if self.ended:
            return
        if intent is not None:
            self.intent = label_of(intent)
        if chat_mode is not None:
            self.chat_mode = label_of(chat_mode)
        if task_type is not None:
            self.task_type = label_of(task_type)
        if target is not None:
            self.target = label_of(target)
        if user_message is not None:
            self.user_message = user_message
        if response_text is not None:
            self.response_text = response_text
        if attributes:
            self.attributes.update(attributes)

    @property
    def looping(self) -> str:
        """Why the built-in loop detector fires now; empty while it does not."""
        with self._lock:
            self._executed.fold(finished_only=True)
            return self._executed.firing

    # -- for the instrumentors ------------------

    def begin_call(self) -> int:
        """A model call of this turn begins; returns its round, counted from 1."""
        with self._lock:
            self.llm_calls += 1
            self.rounds += 1
            return self.rounds

    def end_call(
        self,
        *,
        model: str,
        finish_reasons: Sequence[str],
        text: str,
        tool_requests: Sequence[ToolRequest],
        usage: Usage | None,
    ) -> None:
        """A model call ended with this reply.

        ``text`` is what it wrote for the user to read, ``tool_requests`` the tool calls it asked
        for, in the order of emission.
        """
        visible = bool(text) and not text.isspace()
        with self._lock:
            if visible:
                self.last_text = text
                self.silent_rounds = 0
            elif tool_requests:
                self.silent_rounds += 1
            self._asked_for_tools = bool(tool_requests)
            self._requests = list(tool_requests)
            self._finish_reason = finish_reasons[-1] if finish_reasons else ""
            if usage is not None:
                self.usage.add(usage)
            if model and model not in self.models:
                self.models.append(model)

    def fail_call(self) -> None:
        """A model call raised: there is no last reply to judge by."""
        self._asked_for_tools = False
        self._finish_reason = ""

    def requested_call_id(self, name: str, arguments: Any) -> str:
        """The model's id of the call it asked for by this name (and arguments); used up once."""
        with self._lock:
            same = [r for r in self._requests if r[1] == name]
            if not same:
                return ""
            chosen = same[0]
            if len(same) > 1:
                chosen = next((r for r in same if same_arguments(r[2], arguments)), same[0])
            self._requests.remove(chosen)
            return chosen[0]

    def begin_tool(self, name: str, arguments: Any) -> ToolFact:
        """A tool begins; the fact keeps its place in the order of emission."""
        return self._executed.begin(name, arguments, self.rounds)

    def end_tool(self, fact: ToolFact, result: Any, raised: bool) -> None:
        """A tool ended with this (frozen) result."""
        fact.result = result
        fact.error = raised
        fact.done = True
        if self._executed.many_wait:
            with self._lock:
                self._executed.fold_some()

    def finish(self, error: BaseException | None) -> Ending:
        """The turn ends; decide why. Nested turns hand their usage to their parent."""
        with self._lock:
            self._executed.fold()
            ending = self._judge(error)
            self.ended = True
        parent = self.parent
        if parent is not None and not parent.ended:
            with parent._lock:
                parent.usage.add(self.usage)
                for model in self.models:
                    if model not in parent.models:
                        parent.models.append(model)
        return ending

    def judge(self) -> Ending:
        """Why the turn would have stopped if it ended now; it stays open."""
        with self._lock:
            self._executed.fold()
            return self._judge(None)

    def judged_with(self, tools: Sequence[ToolFact]) -> tuple[Turn, Ending]:
        """A copy that had these tools as well, each in its round, and why it would have stopped."""
        with self._lock:
            told = copy(self)
            told._executed = self._executed.with_others(tools)
        return told, told.judge()

    @property
    def asked_for_tools(self) -> bool:
        """Whether the last reply asked for tools."""
        return self._asked_for_tools

    @property
    def tool_calls(self) -> int:
        """Tool calls executed so far."""
        return len(self._executed)

    @property
    def tool_errors(self) -> int:
        """Tool calls that failed, as far as folded; exact once the turn has ended."""
        return self._executed.errors

    @property
    def max_identical_tool_streak(self) -> int:
        """See LoopDetector; exact once the turn has ended."""
        return self._executed.max_identical_streak

    @property
    def no_progress_rounds(self) -> int:
        """See LoopDetector; exact once the turn has ended."""
        return self._executed.no_progress_rounds

    # -- judging ------------------

    def _judge(self, error: BaseException | None) -> Ending:
        if error is not None and is_abort(error):
            return Ending(USER_ABORTED, type(error).__name__)
        if self._aborted is not None:
            return self._aborted
        if self._explicit is not None:
            return self._explicit
        executed = self._executed
        firing = executed.firing
        if firing:
            return Ending((LOOP_DETECTED + firing)[: len(LOOP_DETECTED) + 160])
        cap = self.max_rounds
        if cap is not None and self.rounds >= cap and self._asked_for_tools:
            return Ending(ROUND_CAP, f"{self.rounds} of {cap} rounds used")
        failed = executed.failed_last
        if failed:
            return Ending(TOOL_FAILURE, failed)
        if error is not None:
            from turnspan.content.redact import error_text

            return Ending(ERROR, error_text(error, DETAIL_LENGTH))
        finish = FINISH.get(self._finish_reason)
        if finish is not None:
            return Ending(finish)
        if self.silent_rounds >= self._silent_limit:
            return Ending(SILENT_ROUNDS, f"{self.silent_rounds} rounds without visible text")
        if not executed and not self._asked_for_tools and not self._reply().strip():
            return Ending(EMPTY_NO_TOOLS)
        return Ending(COMPLETED)

    def _reply(self) -> str:
        text = self.response_text
        return text if isinstance(text, str) else self.last_text


NO_TURN: Final = Turn(recording=False)
"""What ``current_turn()`` returns outside any turn: inert."""
NO_TURN.ended = True
