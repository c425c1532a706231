"""What a call's row means for its turn: its end, where the turn was not told of it, its cost."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from turnspan import semconv
from turnspan.turn.turn import TokenUsage, ToolRequest, Turn
from turnspan_clickhouse.normalise.column_values import integer, text
from turnspan_clickhouse.rows.batch import Batch
from turnspan_clickhouse.rows.native_types import EMPTY_MAP, EncodedMap, encode_string
from turnspan_clickhouse.rows.record import SpanRecord, UsageRecord
from turnspan_clickhouse.rows.tables import LlmCall, ToolCall, TurnSummary

_REFUSED: Final = encode_string(semconv.RESPONSE_REFUSED)
_BLANK: Final = encode_string(semconv.RESPONSE_BLANK)
MAX_OPEN_TURNS: Final = 50_000
_LEFT: Final = frozenset({"cancelled", "abandoned"})
"""Outcomes of a call whose caller did not wait for its end."""


class TurnCosts:
    """What the calls of decorated turns under way have cost so far, in US dollars by turn id.

    Of too many turns the oldest are forgotten.
    """

    def __init__(self) -> None:
        self._costs: OrderedDict[str, Decimal] = OrderedDict()

    def add(self, turn_id: str, cost: Decimal) -> None:
        """A call of a turn has cost so much."""
        self._costs[turn_id] = self._costs.get(turn_id, Decimal(0)) + cost
        if len(self._costs) > MAX_OPEN_TURNS:
            self._costs.popitem(last=False)

    def take(self, turn_id: str) -> Decimal | None:
        """What a turn has cost, which is over; ``None`` where no price is known."""
        return self._costs.pop(turn_id, None)


def tell_call(
    turn: Turn,
    row: LlmCall,
    requests: Sequence[ToolRequest],
    usage: TokenUsage | None,
    text: str | None,
) -> None:
    """Tell a turn how a call that it has begun ended, as the row has it, and what it said, which
    the row may not (``text_of`` is what it has of it)."""
    turn.end_call(
        model=row.response_model or row.request_model,
        finish_reasons=row.finish_reasons,
        text=text,
        tool_requests=requests,
        usage=usage,
        refused=_notes(row, _REFUSED),
    )
    left = row.stream_outcome in _LEFT
    if row.error_type or (left and not requests):
        turn.fail_call(row.error_message or row.error_type, aborted=left)


def tell_tool(turn: Turn, row: ToolCall) -> None:
    """Tell a turn of a tool that was executed in it; the row gets its round."""
    fact = turn.begin_tool(row.name, arguments_of(row), row.call_id)
    row.round = fact.round
    turn.end_tool(fact, row.result, row.failed)


def arguments_of(row: ToolCall) -> str:
    """A tool's arguments for the loop detector: those that are not known repeat no others."""
    own = row.span_id  # in two: whole, it is noise to the detector
    return row.arguments or row.result or f"<unknown {own[:8]} {own[8:]}>"


def text_of(row: LlmCall) -> str | None:
    """What the model wrote for the user to read; ``None`` where nothing tells it."""
    if row.response_text or row.output_messages or _notes(row, _BLANK):
        return row.response_text
    return None


def mask_ending(row: TurnSummary, batch: Batch) -> None:
    """Of a turn that may have been judged anew, by the raw names of its tools."""
    row.stop_reason = batch.redactor.text(row.stop_reason, "error")
    row.stop_detail = batch.redactor.text(row.stop_detail, "error")


def note(row: SpanRecord, name: str, value: str = "true") -> None:
    """Note on a row what has no column."""
    row.attributes = EncodedMap.of(row.attributes).plus(name, value)


def note_rerun(row: TurnSummary, attributes: Mapping[str, Any]) -> None:
    """Note on a turn which session it runs again."""
    for name in (semconv.RERUN_OF, semconv.RERUN_ID):
        if name in attributes:
            note(row, name, text(attributes[name]))


def copy_notes(source: LlmCall, row: LlmCall) -> None:
    """Note on a row what is noted of its reply on another."""
    for name, written_name in (
        (semconv.RESPONSE_REFUSED, _REFUSED),
        (semconv.RESPONSE_BLANK, _BLANK),
    ):
        if _notes(source, written_name):
            note(row, name)


def _notes(row: LlmCall, name: bytes) -> bool:
    pairs = row.attributes
    if pairs is EMPTY_MAP:
        return False
    return name in EncodedMap.of(pairs).keys


def usage_of_row(row: UsageRecord) -> TokenUsage:
    """The token counts of a row."""
    return TokenUsage(
        row.input_tokens,
        row.output_tokens,
        row.cache_read_tokens,
        row.cache_write_tokens,
        row.reasoning_tokens,
    )


def set_usage(row: UsageRecord, usage: TokenUsage) -> None:
    """Write token counts into a row."""
    row.input_tokens = integer(usage.input_tokens)
    row.output_tokens = integer(usage.output_tokens)
    row.cache_read_tokens = integer(usage.cache_read_tokens)
    row.cache_write_tokens = integer(usage.cache_write_tokens)
    row.reasoning_tokens = integer(usage.reasoning_tokens)
