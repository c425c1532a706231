"""``ephemera_agent_log``, a wiki agent's log: a row per invocation, with what became of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from turnspan import semconv
from turnspan.dialects import openai_chat
from turnspan.tracing.content_store import InferenceContent, Judgment, TurnContent
from turnspan.turn.turn import Turn
from turnspan_records.importing import ids
from turnspan_records.importing.home_tables.conversation import asked_tools, response_of
from turnspan_records.importing.home_tables.fields import Fields
from turnspan_records.importing.home_tables.part import (
    PartMaker,
    Said,
    Scopes,
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


def add_row(
    fields: Fields, columns: Mapping[str, object], scopes: Scopes, maker: PartMaker
) -> None:
    """Add a row to a part: a turn, its call, and judgments of the turn."""
    start = fields.time(TIME)
    name = f"{fields.id}@{start}"
    where = scopes.where(name, fields.text("session_id"), fields.text("project_id") or KIND)
    lasted = fields.number("duration_ms")
    end = start + (int(lasted.scaleb(6)) if lasted is not None and 0 <= lasted < 10**12 else 0)
    answer = fields.text("response")
    asked, unknown = asked_tools(fields.json("tool_calls"))
    fields.not_understood("tool_calls", unknown)
    asks, model = fields.text("user_turn"), fields.text("model")
    tokens = (fields.integer("input_tokens"), fields.integer("output_tokens"))
    error = fields.text("error")
    turn = Turn(where.turn_id, recording=False)
    turn.begin_call()
    turn.end_call(
        model=model,
        finish_reasons=(),
        text=answer,
        tool_requests=[(tool.call_id, tool.name, tool.arguments) for tool in asked],
        usage=None,
    )
    ended_by = "error" if error else turn.decide_stop().reason
    _add_judgments(fields, where, name, start, scopes, maker)
    duration = {"duration": seconds_of(end - start)}
    maker.span(
        f"chat {model}".strip(),
        where,
        ids.span_id(KIND, "call", name),
        start,
        end,
        {
            semconv.OPERATION_NAME: semconv.OP_CHAT,
            semconv.PROVIDER_NAME: fields.text("provider") or None,
            semconv.REQUEST_MODEL: model or None,
            semconv.USAGE_INPUT_TOKENS: tokens[0],
            semconv.USAGE_OUTPUT_TOKENS: tokens[1],
            semconv.ROUND: 1,
            semconv.IMPORT_PREFIX + "id": fields.id,
        },
        content=InferenceContent(
            openai_chat.NAME,
            {"messages": [{"role": "user", "content": asks}] if asks else []},
            response_of(openai_chat.NAME, answer, "", asked),
            captured=maker.captured,
        ),
        said=Said(
            duration,
            system_prompt=fields.text("system_prompt") if "system_prompt" in columns else None,
            context=fields.text("context_assembled"),
        ),
        error=error,
    )
    maker.span(
        "invoke_agent",
        where,
        where.turn,
        start,
        end,
        {
            semconv.OPERATION_NAME: semconv.OP_INVOKE_AGENT,
            semconv.TURN_CHAT_MODE: fields.text("mode") or None,
            semconv.TURN_TARGET: fields.text("target_page") or None,
            semconv.TURN_TASK_TYPE: fields.text("task_type") or None,
            semconv.TURN_STOP_REASON: ended_by,
            **fields.rest(),
        },
        content=TurnContent(turn, maker.captured),
        said=Said(
            {
                **duration,
                "stop_reason": ended_by,
                "rounds": 1,
                "llm_call_count": 1,
                "tool_call_count": 0,
                "input_tokens": tokens[0],
                "output_tokens": tokens[1],
                "models": [model] if model else [],
            },
            {"user_message": asks, "response_text": answer},
        ),
        error=error,
        root=True,
    )


def _add_judgments(
    fields: Fields, where: Where, name: str, when: int, scopes: Scopes, maker: PartMaker
) -> None:
    """What became of the answer, whether it is fit for training, and what was noted."""

    def judged(kind: str, *, outcome: str = "", flag: int | None = None, comment: str = "") -> None:
        maker.part.facts.append(
            Judgment(
                scopes.resource(where.project).attributes,
                "turn",
                where.turn_id,
                kind,
                ids.hex_id(KIND, kind, name),
                outcome=outcome,
                training_flag=flag,
                comment=comment,
                author=AUTHOR,
                source=AUTHOR,
                created_at=when,
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
