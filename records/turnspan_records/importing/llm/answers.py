"""What a provider's answer, which llm keeps as JSON, says that no column of llm's does."""

from __future__ import annotations

from typing import Any

from turnspan.content.model import as_dict, as_list, as_text
from turnspan_records.importing.llm.calls import Call

_MAX_REASONS = 16


def describe(call: Call, answer: Any) -> None:
    """Fill in what the answer is known by, which model gave it and why it ended."""
    told = as_dict(answer)
    if told is None:
        return
    call.response_id = as_text(told.get("id")) or as_text(told.get("responseId"))
    call.response_model = (
        call.response_model or as_text(told.get("model")) or as_text(told.get("modelVersion"))
    )
    call.finish_reasons = _reasons(told)


def _reasons(told: dict[str, Any]) -> list[str]:
    """By the names of OpenAI's, Anthropic's and Google's answers."""
    found = [as_text(told.get(key)) for key in ("finish_reason", "stop_reason", "finishReason")]
    for key in ("choices", "candidates"):
        for choice in (as_list(told.get(key)) or [])[:_MAX_REASONS]:
            fields = as_dict(choice) or {}
            found.append(
                as_text(fields.get("finish_reason")) or as_text(fields.get("finishReason"))
            )
    return [reason for reason in found if reason]
