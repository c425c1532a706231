"""The turn: one user input and everything the agent does with it.

A ``Turn`` lives in the OpenTelemetry context of its ``invoke_agent`` span. The instrumentors tell
it what happened (model calls, tool calls); when it ends it decides why it stopped, by the first
rule of docs/reference/stop-reasons.md that holds.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from copy import copy
from typing import Any, Final

from turnspan.content.given_values import frozen_of, label_of, warn_of_near_misses
from turnspan.runtime.errors import TurnspanLimitReached
from turnspan.runtime.guard import guard
from turnspan.runtime.value_exceptions import is_abort
from turnspan.turn import stop_reasons as why
from turnspan.turn.loop_detector import ExecutedTool
from turnspan.turn.session import Session as Session
from turnspan.turn.stop_reasons import SILENT_ROUNDS_LIMIT, Ending, StopReason
from turnspan.turn.tool_history import ToolHistory
from turnspan.turn.usage import TokenUsage as TokenUsage

_SETTABLE: Final = ("intent", "chat_mode", "task_type", "target", "user_message", "response_text")
ToolRequest = tuple[str, str, Any]
"""A tool call the model asked for: (call id, tool name, arguments as JSON text or a mapping)."""


class Turn:
    """One agent turn, for the application to read and steer.

    ``stop``, ``abort`` and ``set`` do nothing on an ended turn or outside any turn.
    """

    # Thirty names and more are a dictionary of a kilobyte and a half where there are no slots.
    __slots__ = (
        "__weakref__",
        "_aborted",
        "_emitted",
        "_executed",
        "_explicit",
        "_failed",
        "_finish_reason",
        "_limited",
        "_lock",
        "_refused",
        "_requests",
        "_silent_limit",
        "_unread",
        "agent_name",
        "agent_version",
        "asked_for_tools",
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
        "placed",
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
        self.placed = session is not None and bool(session.id)
        """Whether anything recorded says its session, which is the turn's from then on."""
        self.max_rounds = max_rounds
        self.recording = recording
        self.rounds = 0
        """Model calls in this turn's own tool loop so far (not those of nested agents)."""
        self.llm_calls = self.silent_rounds = 0
        self.usage = TokenUsage()
        self.models: list[str] = []
        self.user_message: Any = None
        self.response_text: Any = None
        """What the application gave as the turn's answer, frozen; ``None``: nothing."""
        self.last_text: str = ""
        """The last visible text the model wrote in this turn."""
        self.first_request: Any = None
        self.intent = self.chat_mode = self.task_type = self.target = ""
        self.attributes: dict[str, Any] = {}
        self.ended = False
        self._executed = ToolHistory()
        self._finish_reason = ""
        self._refused = False
        self._failed: Ending | None = None
        self._unread = False
        self.asked_for_tools = False
        """Whether the last reply asked for tools."""
        self._requests: list[ToolRequest] = []
        self._emitted: dict[str, int] = {}
        self._explicit: Ending | None = None
        self._aborted: Ending | None = None
        self._limited: Ending | None = None
        self._silent_limit = silent_rounds_limit
        # Reentrant: collecting an abandoned stream may end its call while this thread holds it.
        self._lock = threading.RLock()

    def after_fork(self) -> None:
        """In a forked child: no thread that is not here holds it, nor those around it."""
        self._lock = threading.RLock()
        if self.parent is not None:
            self.parent.after_fork()

    # -- for the application ------------------

    def stop(self, reason: StopReason | str, detail: str = "") -> None:
        """Set the stop reason. It beats every rule except the user's abort.

        ``reason`` is one of the stop reasons (docs/reference/stop-reasons.md) or your own word.
        """
        if not self.ended:
            with guard("turn.stop", "turn.stop"):
                self._explicit = why.explicit_ending(reason, detail)

    def abort(self, detail: str = "") -> None:
        """Record that the user cancelled the turn: no error, and the partial reply is kept."""
        if not self.ended:
            with guard("turn.abort"):
                self._aborted = why.ending_of(why.USER_ABORTED, detail)

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
        """Describe the turn. Names without a column become attributes."""
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
            self.user_message = frozen_of(user_message)
        if response_text is not None:
            self.response_text = frozen_of(response_text)
        if attributes:
            with guard("turn.set"):
                warn_of_near_misses("turn.set", attributes, _SETTABLE)
            self.attributes.update(attributes)

    @property
    def looping(self) -> str:
        """Why the loop detector fires now; empty if it does not."""
        with self._lock:
            self._executed.fold(finished_only=True)
            return self._executed.detector.firing

    # -- for the instrumentors ------------------

    def place(self) -> Session | None:
        """Something of this turn is recorded; returns the session, which stays what it is."""
        with self._lock:
            self.placed = True
            return self.session

    def join(self, session: Session) -> None:
        """A session begins inside: the turn is in it if nothing of it is recorded yet."""
        with self._lock:
            if not self.placed:
                self.session, self.placed = session, True

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
        text: str | None,
        tool_requests: Sequence[ToolRequest],
        usage: TokenUsage | None,
        refused: bool = False,
    ) -> None:
        """A model call ended with this reply.

        ``text`` is what it wrote for the user to read (``None``: that is not known),
        ``tool_requests`` the tool calls it asked for, in the order of emission; ``refused``:
        whether it says itself that it is a refusal.
        """
        with self._lock:
            self._unread = text is None
            if text and not text.isspace():
                self.last_text = text
                self.silent_rounds = 0
            elif tool_requests and text is not None:
                self.silent_rounds += 1
            self.asked_for_tools = bool(tool_requests)
            self._requests = list(tool_requests)
            self._emitted = {request[0]: place for place, request in enumerate(tool_requests)}
            self._finish_reason = finish_reasons[0] if finish_reasons else ""
            self._refused = refused
            self._failed = None
            if usage is not None:
                self.usage.add(usage)
            if model and model not in self.models:
                self.models.append(model)

    def fail_call(self, detail: str = "", *, aborted: bool = False) -> None:
        """A model call failed, or was aborted: there is no last reply to judge by.

        What the turn ended with, unless another call or the application answers after all.
        """
        with self._lock:
            self.asked_for_tools = self._refused = False
            self._finish_reason = ""
            self._failed = why.ending_of(why.USER_ABORTED if aborted else why.ERROR, detail)

    def limit_reached(self, detail: str) -> None:
        """A model call of this turn was not made: it would have gone beyond a limit."""
        self._limited = why.ending_of(why.BUDGET_EXCEEDED, detail)

    def add_usage(self, usage: TokenUsage | None) -> None:
        """A call of this turn, made in the background, has come to its end elsewhere."""
        if usage is not None and not self.ended:
            with self._lock:
                self.usage.add(usage)

    def requested_call_id(self, name: str, arguments: Any) -> str:
        """The model's id of the call it asked for by this name (and arguments); used up once."""
        with self._lock:
            same = [r for r in self._requests if r[1] == name]
            if not same:
                return ""
            chosen = same[0]
            if len(same) > 1:
                chosen = next((r for r in same if why.same_arguments(r[2], arguments)), same[0])
            self._requests.remove(chosen)
            return chosen[0]

    def begin_tool(self, name: str, arguments: Any, call_id: str = "") -> ExecutedTool:
        """A tool begins; the fact keeps its place in the order of emission."""
        place = self._emitted.get(call_id, 0) if call_id else 0
        return self._executed.begin(name, arguments, self.rounds, place)

    def end_tool(self, fact: ExecutedTool, result: Any, raised: bool) -> None:
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
            ending = self._decide_stop(error)
            self.ended = True
        parent = self.parent
        if parent is not None and not parent.ended:
            with parent._lock:
                parent.usage.add(self.usage)
                for model in self.models:
                    if model not in parent.models:
                        parent.models.append(model)
        return ending

    def decide_stop(self) -> Ending:
        """Why the turn would have stopped if it ended now; it stays open."""
        with self._lock:
            self._executed.fold()
            return self._decide_stop(None)

    def judged_with(self, tools: Sequence[ExecutedTool]) -> tuple[Turn, Ending]:
        """A copy that had these tools as well, each in its round, and why it would have stopped."""
        with self._lock:
            told = copy(self)
            told._executed = self._executed.with_others(tools)
        return told, told.decide_stop()

    @property
    def tool_calls(self) -> int:
        """The number of tools executed so far."""
        return len(self._executed)

    @property
    def tool_errors(self) -> int:
        """The number of tools that failed, without running ones until the turn has ended."""
        return self._executed.errors

    @property
    def max_identical_tool_streak(self) -> int:
        """See LoopDetector; exact once the turn has ended."""
        return self._executed.detector.max_identical_streak

    @property
    def no_progress_rounds(self) -> int:
        """See LoopDetector; exact once the turn has ended."""
        return self._executed.detector.no_progress_rounds

    @property
    def repeated_tools(self) -> int:
        """How often in a row the newest tool call was made, with the same result."""
        with self._lock:
            self._executed.fold(finished_only=True)
            return self._executed.detector.streak

    # -- judging ------------------

    def _decide_stop(self, error: BaseException | None) -> Ending:
        if error is not None and is_abort(error):
            return Ending(why.USER_ABORTED, type(error).__name__)
        if self._aborted is not None:
            return self._aborted
        unanswered = self._failed if self.response_text is None else None
        if unanswered is not None and unanswered.reason == why.USER_ABORTED and error is None:
            return unanswered
        decided = self._explicit or self._limited
        if decided is not None:
            return decided
        if isinstance(error, TurnspanLimitReached):  # of a nested turn's call
            return Ending(why.BUDGET_EXCEEDED, str(error))
        executed = self._executed
        if firing := executed.detector.firing:
            return Ending((why.LOOP_DETECTED + firing)[: len(why.LOOP_DETECTED) + 160])
        cap = self.max_rounds
        if cap is not None and self.rounds >= cap and self.asked_for_tools:
            return Ending(why.ROUND_CAP, f"{self.rounds} of {cap} rounds used")
        if failed := executed.failed_last:
            return Ending(why.TOOL_FAILURE, failed)
        if error is not None:
            return why.error_ending(error)
        if unanswered is not None:
            return unanswered
        finish = why.REFUSAL if self._refused else why.meaning_of(self._finish_reason)
        if finish:
            return Ending(finish)
        if self.silent_rounds >= self._silent_limit:
            return Ending(why.SILENT_ROUNDS, f"{self.silent_rounds} rounds without visible text")
        if not executed and not self.asked_for_tools and self._is_blank():
            return Ending(why.EMPTY_NO_TOOLS)
        return Ending(why.COMPLETED)

    @property
    def reply(self) -> Any:
        """What the turn answered, frozen: what the application returned, else the last visible
        text of the model. The one place that decides it."""
        return self.last_text if self.response_text is None else self.response_text

    def _is_blank(self) -> bool:
        """Whether the answer is known and blank; a value that is no text is an answer."""
        reply = self.reply
        if reply is self.last_text and self._unread:
            return False
        return isinstance(reply, str) and not reply.strip()


NO_TURN: Final = Turn(recording=False)
"""What ``current_turn()`` returns outside any turn: inert."""
NO_TURN.ended = True
