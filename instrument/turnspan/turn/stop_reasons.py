"""Why a turn stopped: the stop reasons, and what models' finish reasons mean in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from turnspan.content.given_values import text_of, warn_of_near_misses
from turnspan.runtime.errors import ConfigError

USER_ABORTED: Final = "user_aborted"
"""Cancelled: ``asyncio.CancelledError``, ``KeyboardInterrupt``, a closed generator or
``turn.abort()``. The partial reply is kept."""
BUDGET_EXCEEDED: Final = "budget_exceeded"
"""A model call was not made: it would have gone beyond ``turnspan.limits``."""
LOOP_DETECTED: Final = "loop_detected:"
"""The loop detector fired at the end. The reason follows, up to 160 characters: compare the
prefix."""
ROUND_CAP: Final = "round_cap"
"""All ``max_rounds=`` were used, and the last reply still asked for tools."""
TOOL_FAILURE: Final = "tool_failure"
"""A tool of the last batch failed."""
ERROR: Final = "error"
"""The turn raised an exception, or its last model call failed."""
MAX_TOKENS: Final = "max_tokens"
"""The last reply was cut at the token limit."""
CONTENT_FILTER: Final = "content_filter"
"""A content filter stopped the last reply."""
REFUSAL: Final = "refusal"
"""The last reply finished as a refusal, or says that it is one."""
SILENT_ROUNDS: Final = "silent_rounds"
"""No visible text for at least 30 tool rounds (``TURNSPAN_SILENT_ROUNDS``)."""
EMPTY_NO_TOOLS: Final = "empty_no_tools"
"""No tool was called, and the reply is known to be blank."""
COMPLETED: Final = "completed"
"""No other rule holds."""

StopReason = Literal["user_aborted", "budget_exceeded", "round_cap", "tool_failure", "error",
                     "max_tokens", "refusal", "content_filter", "silent_rounds", "empty_no_tools",
                     "completed"]  # fmt: skip
STOP_REASONS: Final[tuple[str, ...]] = get_args(StopReason)

SILENT_ROUNDS_LIMIT = 30
DETAIL_LENGTH = 2_000

_FINISH: Final[Mapping[str, str]] = {
    **dict.fromkeys(("length", "max_tokens", "max_output_tokens", "model_length"), MAX_TOKENS),
    "model_context_window_exceeded": MAX_TOKENS,
    **dict.fromkeys(("content_filter", "content_filtered", "safety", "spii"), CONTENT_FILTER),
    **dict.fromkeys(("prohibited_content", "blocklist", "recitation"), CONTENT_FILTER),
    **dict.fromkeys(("guardrail_intervened", "error_toxic", "model_armor"), CONTENT_FILTER),
    **dict.fromkeys(("image_safety", "image_recitation"), CONTENT_FILTER),
    "image_prohibited_content": CONTENT_FILTER,
    "refusal": REFUSAL,
    "cancelled": USER_ABORTED,
    "error": ERROR,
}
"""Providers' finish reasons that say more than that the model was done, in lower case."""

_USUAL: Final = frozenset({"", "stop", "tool_calls", "end_turn", "tool_use", "completed"})


def meaning_of(finish_reason: str) -> str:
    """The stop reason of a turn whose last reply finished so; empty for one that was done.

    Some write them in capitals or as an enumeration's member (``FinishReason.SAFETY``).
    """
    if finish_reason in _USUAL:
        return ""
    return _FINISH.get(finish_reason.lower().rpartition(".")[2].replace("-", "_"), "")


@dataclass(slots=True)
class Ending:
    """How a turn stopped."""

    reason: str
    detail: str = ""


def ending_of(reason: str, detail: Any) -> Ending:
    """An ending whose detail an application or a provider says."""
    return Ending(reason, cut(text_of(detail), DETAIL_LENGTH))


def explicit_ending(reason: str, detail: str) -> Ending:
    """The ending that an application says.

    Raises:
        ConfigError: the reason is empty.
    """
    reason = text_of(reason)
    if not reason:
        raise ConfigError("a reason is a word: round_cap, or one of your own")
    warn_of_near_misses("turn.stop", (reason,), STOP_REASONS, "reason as your own")
    if reason.startswith(LOOP_DETECTED):
        reason = LOOP_DETECTED + cut(reason[len(LOOP_DETECTED) :], 160)
    return ending_of(reason, detail)


def error_ending(error: BaseException) -> Ending:
    """The ending of a turn that raised this."""
    # The masks: loaded with the first text that needs them.
    from turnspan.redaction.brief import error_text

    return Ending(ERROR, error_text(error, DETAIL_LENGTH))


def cut(text: str, limit: int) -> str:
    """The text, shortened to this many characters where it is longer, secrets masked first."""
    if len(text) <= limit:
        return text
    # The masks: loaded with the first text that needs them.
    from turnspan.redaction.brief import cut_text

    return cut_text(text, "error", limit)


def same_arguments(requested: Any, arguments: Any) -> bool:
    """Whether a tool was called as the model asked for it, in JSON text or a mapping."""
    if isinstance(requested, str):
        import orjson

        try:
            requested = orjson.loads(requested)
        except orjson.JSONDecodeError:
            return False
    return bool(requested == arguments)
