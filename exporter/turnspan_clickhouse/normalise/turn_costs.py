"""What the calls of decorated turns under way have cost so far."""

from __future__ import annotations

from collections import OrderedDict
from decimal import Decimal

MAX_OPEN_TURNS = 50_000


class TurnCosts:
    """US dollars by turn id; of too many turns the oldest are forgotten."""

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

    def clear(self) -> None:
        """Forget all."""
        self._costs.clear()
