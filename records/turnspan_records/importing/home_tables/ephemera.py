"""``ephemera_agent_log``, a wiki agent's log: a row per invocation, with what became of it."""

from __future__ import annotations

from typing import Any, Final

from turnspan import semconv
from turnspan.dialects import openai_chat
from turnspan.tracing.content_store import InferenceContent, Judgment, TurnContent
from turnspan.turn.turn import Turn
from turnspan_records.importing import ids
from turnspan_records.importing.home_tables.conversation import asked_tools, response_of
from turnspan_records.importing.home_tables.fields import Fields
from turnspan_records.importing.home_tables.part import PartMaker, RowValues, seconds_of

KIND: Final = "ephemera"
TABLE: Final = "ephemera_agent_log"
TIME: Final = "timestamp"
COLUMNS: Final = (
    "id", "timestamp", "session_id", "mode", "provider", "model", "system_prompt",
    "context_assembled", "user_turn", "response", "tool_calls", "target_page", "outcome",
    "training_flag", "notes",
)  # fmt: skip
"""The columns that the log is known to have."""

AUTHOR: Final = "import"
"""Who judged, and where: the log does not say."""
_OUTCOMES: Final = ("used", "modified", "rejected")
_NO_OUTCOME: Final = ("", "pending")
_FLAGS: Final = {"1": 1, "-1": -1}
_NO_FLAG: Final = ("", "0")


class EphemeraRow:
    """A row: a turn, its call, and judgments of the turn."""

    def __init__(self, fields: Fields, maker: PartMaker) -> None:
        self._fields = fields
        self._maker = maker
        self._start = fields.time(TIME)
        lasted = fields.number("duration_ms")
        took = int(lasted.scaleb(6)) if lasted is not None and 0 <= lasted < 10**12 else 0
        self._times = (self._start, self._start + took)
        self._name = f"{fields.id}@{self._start}"
        self._answer = fields.text("response")
        self._tools, unknown = asked_tools(fields.json("tool_calls"))
        fields.not_understood("tool_calls", unknown)
        session, project = fields.text("session_id"), fields.text("project_id")
        self._where = maker.scopes.where(self._name, session, project or KIND)
        self._asked = fields.text("user_turn")
        self._model = fields.text("model")
        self._tokens = (fields.integer("input_tokens"), fields.integer("output_tokens"))
        self._error = fields.text("error")
        self._duration = {"duration": seconds_of(took)}

    def add(self) -> None:
        """Add it to its part."""
        self._add_judgments()
        self._add_call()
        self._add_turn()

    def _add_call(self) -> None:
        fields, asked = self._fields, self._asked
        self._maker.span(
            f"chat {self._model}".strip(),
            self._where,
            ids.span_id(KIND, "call", self._name),
            *self._times,
            {
                semconv.OPERATION_NAME: semconv.OP_CHAT,
                semconv.PROVIDER_NAME: fields.text("provider") or None,
                semconv.REQUEST_MODEL: self._model or None,
                semconv.USAGE_INPUT_TOKENS: self._tokens[0],
                semconv.USAGE_OUTPUT_TOKENS: self._tokens[1],
                semconv.ROUND: 1,
                semconv.IMPORT_PREFIX + "id": fields.id,
            },
            content=InferenceContent(
                openai_chat.NAME,
                {"messages": [{"role": "user", "content": asked}] if asked else []},
                response_of(openai_chat.NAME, self._answer, "", self._tools),
                captured=self._maker.captured,
            ),
            said=RowValues(
                self._duration,
                system_prompt=fields.text_of_column("system_prompt"),
                context=fields.text("context_assembled"),
            ),
            error=self._error,
        )

    def _add_turn(self) -> None:
        fields, where = self._fields, self._where
        turn = Turn(where.turn_id, recording=False)
        turn.begin_call()
        turn.end_call(
            model=self._model,
            finish_reasons=(),
            text=self._answer,
            tool_requests=[(tool.call_id, tool.name, tool.arguments) for tool in self._tools],
            usage=None,
        )
        ended_by = "error" if self._error else turn.decide_stop().reason
        self._maker.span(
            "invoke_agent",
            where,
            where.turn,
            *self._times,
            {
                semconv.OPERATION_NAME: semconv.OP_INVOKE_AGENT,
                semconv.TURN_CHAT_MODE: fields.text("mode") or None,
                semconv.TURN_TARGET: fields.text("target_page") or None,
                semconv.TURN_TASK_TYPE: fields.text("task_type") or None,
                semconv.TURN_STOP_REASON: ended_by,
                **fields.rest(),
            },
            content=TurnContent(turn, self._maker.captured),
            said=RowValues(
                {
                    **self._duration,
                    "stop_reason": ended_by,
                    "rounds": 1,
                    "llm_call_count": 1,
                    "tool_call_count": 0,
                    "input_tokens": self._tokens[0],
                    "output_tokens": self._tokens[1],
                    "models": [self._model] if self._model else [],
                },
                {"user_message": self._asked, "response_text": self._answer},
            ),
            error=self._error,
            root=True,
        )

    def _add_judgments(self) -> None:
        """What became of the answer, whether it is fit for training, and what was noted."""
        fields = self._fields
        outcome, flag, notes = (fields.text(n) for n in ("outcome", "training_flag", "notes"))
        if outcome in _OUTCOMES:
            self._judge("outcome", outcome=outcome)
        elif outcome not in _NO_OUTCOME:
            reason = "is none of pending, used, modified, rejected: it is kept as text"
            fields.keep_as_text("outcome", reason)
        if flag in _FLAGS:
            self._judge("training_flag", training_flag=_FLAGS[flag])
        elif flag not in _NO_FLAG:
            fields.keep_as_text("training_flag", "is none of 1, 0, -1: it is kept as text")
        if notes and self._maker.captured:
            self._judge("comment", comment=notes)

    def _judge(self, kind: str, **judged: Any) -> None:
        self._maker.part.facts.append(
            Judgment(
                self._maker.scopes.resource(self._where.project).attributes,
                *("turn", self._where.turn_id, kind, ids.hex_id(KIND, kind, self._name)),
                **judged,
                author=AUTHOR,
                source=AUTHOR,
                created_at=self._start,
            )
        )
