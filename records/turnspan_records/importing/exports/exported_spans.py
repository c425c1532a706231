"""Which traces of an export belong together, and what it knows and spans cannot say: costs of
models without a price, users of turns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Final

from opentelemetry.sdk.trace import ReadableSpan

from turnspan import semconv
from turnspan.tracing.content_store import InferenceContent
from turnspan_clickhouse import foreign_dialects
from turnspan_clickhouse.foreign_dialects import ForeignSpan
from turnspan_clickhouse.rows.batch import Batch
from turnspan_clickhouse.rows.native_types import EncodedMap
from turnspan_clickhouse.rows.tables import LlmCall, SpanRow, TurnSummary
from turnspan_records.importing.files.groups import Groups
from turnspan_records.importing.transcripts.joiner import Joiner


class SpanJoiner:
    """Joins the groups of spans of a session, and of those whose calls go on with others. It is
    told of groups in the order of their lines."""

    def __init__(self) -> None:
        self._joiner = Joiner()

    def join(self, span: ReadableSpan, group: int, groups: Groups) -> None:
        """Join a span's group with those that it belongs with."""
        attributes = span.attributes or {}
        scope = span.instrumentation_scope
        name = scope.name if scope is not None else ""
        if foreign_dialects.detect(name, attributes) is None:
            return
        events = [(event.name, dict(event.attributes or {})) for event in span.events]
        call = foreign_dialects.read(ForeignSpan(span.name, name, attributes, events))
        if call is None:
            return
        session = attributes.get(semconv.CONVERSATION_ID) or call.conversation_id
        if session:
            groups.join(groups.group(f"session\0{session}".encode(errors="replace")), group)
        content = call.content()
        if isinstance(content, InferenceContent):
            self._joiner.join(content.dialect, content.request, content.response, group, groups)


_DIGITS: Final = Decimal("0.0000000001")


def amending(costs: Mapping[str, Decimal], version: str) -> Callable[[Batch], None]:
    """What completes a part's rows.

    Calls that have no cost get theirs by span id, with ``version`` as that of the prices, and so do
    their turns. A turn that is derived of its calls gets the user that its trace's spans name.
    """

    def amend(batch: Batch) -> None:
        added = _add_costs(batch, costs, version)
        users = _users(batch)
        for turn in batch.of(TurnSummary):
            if turn.turn_id in added:
                turn.cost_usd = (turn.cost_usd or Decimal(0)) + added[turn.turn_id]
            turn.user_id = turn.user_id or users.get(turn.trace_id, "")

    return amend


def _add_costs(batch: Batch, costs: Mapping[str, Decimal], version: str) -> dict[str, Decimal]:
    """Write the costs; returns what was added, by turn."""
    added: dict[str, Decimal] = {}
    for row in batch.of(LlmCall):
        cost = costs.get(row.span_id)
        if row.cost_usd is None and cost is not None:
            row.cost_usd, row.price_version = cost.quantize(_DIGITS), version
            added[row.turn_id] = added.get(row.turn_id, Decimal(0)) + row.cost_usd
    return added


def _users(batch: Batch) -> dict[str, str]:
    """The users by trace, as the spans' rows have them: masked where they have to be."""
    users: dict[str, str] = {}
    for row in batch.of(SpanRow):
        user = EncodedMap.of(row.attributes).texts().get(semconv.USER_ID)
        if user:
            users.setdefault(row.trace_id, user)
    return users
