"""``agent_telemetry``, a coding agent's log: a row per model call, and one per turn at its end."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from turnspan import semconv
from turnspan.content.model import last_user_text
from turnspan.dialects.convert import convert_message
from turnspan.tracing.content_store import InferenceContent, ToolContent, TurnContent
from turnspan.turn.turn import TokenUsage, Turn
from turnspan_clickhouse.pricing.prices import price_of_call
from turnspan_records.importing import ids
from turnspan_records.importing.home_tables.conversation import (
    AskedTool,
    ToolResult,
    asked_tools,
    messages_of,
    request_of,
    response_of,
    tool_results,
)
from turnspan_records.importing.home_tables.fields import Fields
from turnspan_records.importing.home_tables.part import PartMaker, RowValues, Where, seconds_of
from turnspan_records.importing.home_tables.turns import OpenTurn

KIND: Final = "agent-telemetry"
TABLE: Final = "agent_telemetry"
TIME: Final = "created_at"
CALL, TURN, SUBAGENT = "llm_call", "turn_summary", "subagent_summary"
COLUMNS: Final = (
    "id", "created_at", "record_type", "project_id", "session_id", "user_message", "system_prompt",
    "chat_history", "response_text", "response_thoughts", "tool_calls", "tool_results",
    "model_used", "turn_intent", "chat_mode", "prompt_tokens", "completion_tokens", "total_tokens",
    "duration_ms", "stop_reason", "rounds", "tool_call_count",
)  # fmt: skip
"""The columns that the log is known to have."""

_MAX_COUNT: Final = 2**32 - 1


class TelemetryRow:
    """One row of the log; what is common to its kinds is read first."""

    def __init__(self, fields: Fields, maker: PartMaker) -> None:
        self._fields = fields
        self._maker = maker
        self.type = fields.text("record_type")
        self._session = fields.text("session_id")
        fields.text("turn_id")  # read: the log gives each row its turn
        self.end = fields.time(TIME)
        self._project = fields.text("project_id")
        self._duration = self._read_duration()

    @property
    def name(self) -> str:
        """What it is told from every other row by, wherever the table lies."""
        return f"{self._fields.id}@{self.end}"

    def _read_duration(self) -> int:
        given = self._fields.number("duration_ms")
        if given is None:
            return 0
        lasted = int(given.scaleb(6).to_integral_value())
        if 0 <= lasted <= self.end:
            return lasted
        if self.end:
            self._fields.problem("duration_ms is no duration: it counts as 0 and is kept as text")
        self._fields.keep("duration_ms")
        return 0

    @property
    def _times(self) -> tuple[int, int]:
        return self.end - self._duration, self.end

    def _where(self, turn: OpenTurn) -> Where:
        return self._maker.scopes.where(turn.name, self._session, self._project or KIND)

    def figures(self) -> tuple[Decimal | None, int]:
        """What a call cost, and how many of its tools failed; nothing is made of the row."""
        _, results, _ = self._tools()
        return self._cost(self._call_attributes()), sum(result.failed for result in results)

    # -- a call ------------------

    def call(self, turn: OpenTurn) -> str:
        """A model call, with the tools whose results it has; returns what became of the row."""
        fields, where = self._fields, self._where(turn)
        asked, results, unknown = self._tools()
        attributes = self._call_attributes()
        cost = self._cost(attributes)
        failed = sum(result.failed for result in results)
        attributes[semconv.ROUND] = number = turn.add_call(cost, failed)
        said = RowValues(
            {"duration": seconds_of(self._duration)},
            system_prompt=fields.text_of_column("system_prompt"),
        )
        content = self._content(asked)
        fields.not_understood("tool_calls", unknown)
        error = fields.text("error")
        self._maker.span(
            f"chat {attributes[semconv.REQUEST_MODEL] or ''}".strip(),
            where,
            ids.span_id(KIND, "call", self.name),
            *self._times,
            {**attributes, **fields.rest()},
            content=content,
            said=said,
            error=error,
        )
        for place, result in enumerate(results):
            self._tool(where, result, place, number)
        return "a model call"

    def _call_attributes(self) -> dict[str, Any]:
        fields = self._fields
        model = fields.text("model_used")
        tokens_in, tokens_out = fields.integer("prompt_tokens"), fields.integer("completion_tokens")
        self._check_total(tokens_in, tokens_out)
        reason = fields.text("stop_reason")
        cost = fields.number("cost_usd")
        return {
            semconv.OPERATION_NAME: semconv.OP_CHAT,
            semconv.REQUEST_MODEL: model or None,
            semconv.PROVIDER_NAME: fields.text("provider") or None,
            semconv.USAGE_INPUT_TOKENS: tokens_in,
            semconv.USAGE_OUTPUT_TOKENS: tokens_out,
            semconv.RESPONSE_FINISH_REASONS: (reason,) if reason else None,
            semconv.TURN_INTENT: fields.text("turn_intent") or None,
            semconv.TURN_CHAT_MODE: fields.text("chat_mode") or None,
            semconv.USAGE_COST: float(cost) if cost is not None else None,
        }

    def _check_total(self, tokens_in: int | None, tokens_out: int | None) -> None:
        """A record has no total of its own: one that is no sum is kept beside."""
        total = self._fields.integer("total_tokens")
        if total is not None and total != (tokens_in or 0) + (tokens_out or 0):
            self._fields.keep("total_tokens")

    def _cost(self, attributes: Mapping[str, Any]) -> Decimal | None:
        given = {key: value for key, value in attributes.items() if value is not None}
        tokens = (given.get(semconv.USAGE_INPUT_TOKENS), given.get(semconv.USAGE_OUTPUT_TOKENS))
        cost, _ = price_of_call(given, TokenUsage(*tokens), self.end - self._duration)
        return cost

    def _tools(self) -> tuple[list[AskedTool], list[ToolResult], int]:
        fields = self._fields
        asked, unknown = asked_tools(fields.json("tool_calls"))
        results, no_results = tool_results(fields.json("tool_results"), asked)
        fields.not_understood("tool_results", no_results)
        return asked, results, unknown

    def _content(self, asked: list[AskedTool]) -> InferenceContent:
        fields = self._fields
        history = fields.json("chat_history")
        messages = messages_of(history)
        if messages is None and history is not None:
            fields.not_understood("chat_history", 1)
        dialect, request = request_of(messages or [])
        asks = fields.text("user_message")
        converted = [convert_message(dialect, m) for m in reversed(messages or []) if asks]
        if asks and last_user_text(converted[::-1]) != asks:
            fields.keep("user_message")
        response = response_of(
            dialect, fields.text("response_text"), fields.text("response_thoughts"), asked
        )
        return InferenceContent(dialect, request, response, captured=self._maker.captured)

    def _tool(self, where: Where, result: ToolResult, place: int, number: int) -> None:
        at = self.end + place + 1  # after the reply, and in the order of emission
        content = ToolContent(result.arguments, result.result) if self._maker.captured else None
        self._maker.span(
            f"execute_tool {result.name}".strip(),
            where,
            ids.span_id(KIND, "tool", self.name, place),
            at,
            at,
            {
                semconv.OPERATION_NAME: semconv.OP_EXECUTE_TOOL,
                semconv.TOOL_NAME: result.name or None,
                semconv.TOOL_TYPE: "function",
                semconv.TOOL_CALL_ID: result.call_id or None,
                semconv.TOOL_FAILED: result.failed or None,
                semconv.ROUND: number,
            },
            content=content,
        )

    # -- a turn ------------------

    def turn_inside(self, around: OpenTurn) -> str:
        """A sub-agent's turn."""
        self.turn(OpenTurn(self.name), parent=self._where(around).turn_id)
        return "a turn of a sub-agent"

    def turn(self, turn: OpenTurn, parent: str = "") -> str:
        """A turn; what the row gives of it holds."""
        fields, where = self._fields, self._where(turn)
        rounds = self._count("rounds")
        model, cost = fields.text("model_used"), fields.number("cost_usd")
        tokens = (fields.integer("prompt_tokens"), fields.integer("completion_tokens"))
        self._check_total(*tokens)
        said = RowValues(
            {
                "duration": seconds_of(self._duration),
                "stop_reason": fields.text("stop_reason"),
                "stop_detail": fields.text("stop_detail"),
                "rounds": rounds,
                "llm_call_count": self._count("llm_call_count") or turn.calls or rounds,
                "tool_call_count": self._count("tool_call_count"),
                "tool_error_count": self._count("tool_error_count") or turn.tool_errors,
                "input_tokens": tokens[0],
                "output_tokens": tokens[1],
                "cost_usd": turn.cost if cost is None else cost,
                "models": [model] if model else [],
            },
            {name: fields.text(name) for name in ("user_message", "response_text")},
        )
        attributes = {
            semconv.OPERATION_NAME: semconv.OP_INVOKE_AGENT,
            semconv.TURN_INTENT: fields.text("turn_intent") or None,
            semconv.TURN_CHAT_MODE: fields.text("chat_mode") or None,
            semconv.TURN_TASK_TYPE: fields.text("task_type") or None,
            semconv.TURN_TARGET: fields.text("target") or None,
            semconv.TURN_STOP_REASON: said.columns["stop_reason"] or None,
            semconv.TURN_PARENT_ID: parent or None,
        }
        self._maker.span(
            "invoke_agent",
            where,
            where.turn,
            *self._times,
            {**attributes, **self._rest_of_turn()},
            content=TurnContent(Turn(where.turn_id, recording=False), self._maker.captured),
            said=said,
            error=fields.text("error"),
            root=not parent,
        )
        return "a turn"

    def _rest_of_turn(self) -> dict[str, str]:
        """A turn has no messages and tools of its own: a column of them stays one."""
        for name in ("system_prompt", "chat_history", "response_thoughts"):
            if self._fields.text(name):
                self._fields.keep(name)
        for name in ("tool_calls", "tool_results"):
            if self._fields.text(name) not in ("", "[]", "{}"):
                self._fields.keep(name)
        return self._fields.rest()

    def _count(self, name: str) -> int:
        count = self._fields.integer(name)
        if count is not None and count > _MAX_COUNT:
            self._fields.keep_as_text(name, "is larger than a column holds: it is kept as text")
            return 0
        return count or 0

    # -- anything else ------------------

    def other(self) -> str:
        """A row of no known kind: a span that has all its columns."""
        self._fields.problem(
            f"record_type {self.type[:60]!r} is not known: the row is kept as a span"
        )
        where = self._where(OpenTurn(self.name))
        self._maker.span(
            self.type[:100] or "row",
            where,
            ids.span_id(KIND, "row", self.name),
            *self._times,
            {semconv.IMPORT_PREFIX + "record_type": self.type, **self._fields.rest()},
            root=True,
        )
        return "a span, since its record_type is not known"
