"""``ephemera_agent_log``, a wiki agent's log: a row per invocation, with what became of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from turnspan import semconv
from turnspan.dialects import openai_chat
from turnspan.tracing.content_store import InferenceContent, Judgment, TurnContent
from turnspan.turn.turn import Turn
from turnspan_records.importing import ids
from turnspan_records.importing.home_tables.conversation import AskedTool, asked_tools, response_of
from turnspan_records.importing.home_tables.fields import Fields
from turnspan_records.importing.home_tables.part import (
    PartMaker,
    RowValues,
    TableScopes,
    Where,
    seconds_of,
)

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


@dataclass(frozen=True, slots=True)
class _Row:
    """A row as both its turn and its call need it."""

    fields: Fields
    name: str
    where: Where
    start: int
    end: int
    answer: str
    tools: list[AskedTool]
    asked: str
    model: str
    tokens: tuple[int | None, int | None]
    error: str

    @property
    def duration(self) -> dict[str, float]:
        return {"duration": seconds_of(self.end - self.start)}


def add_row(
    fields: Fields, columns: Mapping[str, object], scopes: TableScopes, maker: PartMaker
) -> None:
    """Add a row to a part: a turn, its call, and judgments of the turn."""
    row = _read(fields, scopes)
    _add_judgments(row, scopes, maker)
    _add_call(row, columns, maker)
    _add_turn(row, maker)


def _read(fields: Fields, scopes: TableScopes) -> _Row:
    start = fields.time(TIME)
    name = f"{fields.id}@{start}"
    lasted = fields.number("duration_ms")
    took = int(lasted.scaleb(6)) if lasted is not None and 0 <= lasted < 10**12 else 0
    answer = fields.text("response")
    tools, unknown = asked_tools(fields.json("tool_calls"))
    fields.not_understood("tool_calls", unknown)
    return _Row(
        fields=fields,
        name=name,
        where=scopes.where(name, fields.text("session_id"), fields.text("project_id") or KIND),
        start=start,
        end=start + took,
        answer=answer,
        tools=tools,
        asked=fields.text("user_turn"),
        model=fields.text("model"),
        tokens=(fields.integer("input_tokens"), fields.integer("output_tokens")),
        error=fields.text("error"),
    )


def _add_call(row: _Row, columns: Mapping[str, object], maker: PartMaker) -> None:
    fields = row.fields
    maker.span(
        f"chat {row.model}".strip(),
        row.where,
        ids.span_id(KIND, "call", row.name),
        row.start,
        row.end,
        {
            semconv.OPERATION_NAME: semconv.OP_CHAT,
            semconv.PROVIDER_NAME: fields.text("provider") or None,
            semconv.REQUEST_MODEL: row.model or None,
            semconv.USAGE_INPUT_TOKENS: row.tokens[0],
            semconv.USAGE_OUTPUT_TOKENS: row.tokens[1],
            semconv.ROUND: 1,
            semconv.IMPORT_PREFIX + "id": fields.id,
        },
        content=InferenceContent(
            openai_chat.NAME,
            {"messages": [{"role": "user", "content": row.asked}] if row.asked else []},
            response_of(openai_chat.NAME, row.answer, "", row.tools),
            captured=maker.captured,
        ),
        said=RowValues(
            row.duration,
            system_prompt=fields.text("system_prompt") if "system_prompt" in columns else None,
            context=fields.text("context_assembled"),
        ),
        error=row.error,
    )


def _add_turn(row: _Row, maker: PartMaker) -> None:
    fields = row.fields
    turn = Turn(row.where.turn_id, recording=False)
    turn.begin_call()
    turn.end_call(
        model=row.model,
        finish_reasons=(),
        text=row.answer,
        tool_requests=[(tool.call_id, tool.name, tool.arguments) for tool in row.tools],
        usage=None,
    )
    ended_by = "error" if row.error else turn.decide_stop().reason
    maker.span(
        "invoke_agent",
        row.where,
        row.where.turn,
        row.start,
        row.end,
        {
            semconv.OPERATION_NAME: semconv.OP_INVOKE_AGENT,
            semconv.TURN_CHAT_MODE: fields.text("mode") or None,
            semconv.TURN_TARGET: fields.text("target_page") or None,
            semconv.TURN_TASK_TYPE: fields.text("task_type") or None,
            semconv.TURN_STOP_REASON: ended_by,
            **fields.rest(),
        },
        content=TurnContent(turn, maker.captured),
        said=RowValues(
            {
                **row.duration,
                "stop_reason": ended_by,
                "rounds": 1,
                "llm_call_count": 1,
                "tool_call_count": 0,
                "input_tokens": row.tokens[0],
                "output_tokens": row.tokens[1],
                "models": [row.model] if row.model else [],
            },
            {"user_message": row.asked, "response_text": row.answer},
        ),
        error=row.error,
        root=True,
    )


def _add_judgments(row: _Row, scopes: TableScopes, maker: PartMaker) -> None:
    """What became of the answer, whether it is fit for training, and what was noted."""
    fields, where = row.fields, row.where

    def judged(kind: str, *, outcome: str = "", flag: int | None = None, comment: str = "") -> None:
        maker.part.facts.append(
            Judgment(
                scopes.resource(where.project).attributes,
                "turn",
                where.turn_id,
                kind,
                ids.hex_id(KIND, kind, row.name),
                outcome=outcome,
                training_flag=flag,
                comment=comment,
                author=AUTHOR,
                source=AUTHOR,
                created_at=row.start,
            )
        )

    outcome = fields.text("outcome")
    if outcome in _OUTCOMES:
        judged("outcome", outcome=outcome)
    elif outcome not in _NO_OUTCOME:
        fields.problem("outcome is none of pending, used, modified, rejected: it is kept as text")
        fields.keep("outcome")
    flag = fields.text("training_flag")
    if flag in _FLAGS:
        judged("training_flag", flag=_FLAGS[flag])
    elif flag not in _NO_FLAG:
        fields.problem("training_flag is none of 1, 0, -1: it is kept as text")
        fields.keep("training_flag")
    notes = fields.text("notes")
    if notes and maker.captured:
        judged("comment", comment=notes)
