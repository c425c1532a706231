"""What a call has cost by its source, where nobody here knows the model's price."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Final

from turnspan_clickhouse.rows.batch import Batch
from turnspan_clickhouse.rows.tables import LlmCall, TurnSummary

_DIGITS: Final = Decimal("0.0000000001")


def with_costs(costs: Mapping[str, Decimal], version: str) -> Callable[[Batch], None] | None:
    """What puts these costs, by span id, into the rows of calls without one, and into their turns.

    ``version`` is noted as the version of the prices.
    """
    if not costs:
        return None

    def amend(batch: Batch) -> None:
        added: dict[str, Decimal] = {}
        for row in batch.rows.get(LlmCall, []):
            if not isinstance(row, LlmCall) or row.cost_usd is not None:
                continue
            cost = costs.get(row.span_id)
            if cost is not None:
                row.cost_usd, row.price_version = cost.quantize(_DIGITS), version
                added[row.turn_id] = added.get(row.turn_id, Decimal(0)) + row.cost_usd
        for turn in batch.rows.get(TurnSummary, []):
            if isinstance(turn, TurnSummary) and turn.turn_id in added:
                turn.cost_usd = (turn.cost_usd or Decimal(0)) + added[turn.turn_id]

    return amend
