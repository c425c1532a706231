"""The derived turns under way, and which of them have rows to write."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from turnspan_clickhouse.normalise.derived_turn import MAX_IDLE_NS, DerivedTurn
from turnspan_clickhouse.rows.batch import Batch
from turnspan_clickhouse.rows.tables import TurnSummary

MAX_TURNS: Final = 20_000


class OpenTurns:
    """Those of one process, by turn id; the oldest make room for others."""

    def __init__(self) -> None:
        self._turns: OrderedDict[str, DerivedTurn] = OrderedDict()
        self._changed: dict[str, DerivedTurn] = {}
        self._waiting: OrderedDict[str, DerivedTurn] = OrderedDict()
        """Those that wait for their tools' results, idle for longest first."""

    def __contains__(self, turn_id: str) -> bool:
        return turn_id in self._turns

    def get(self, turn_id: str) -> DerivedTurn | None:
        """The turn of this id, if it is under way."""
        return self._turns.get(turn_id)

    def add(self, turn: DerivedTurn) -> None:
        """A turn has begun."""
        self._turns[turn.turn.id] = turn
        if len(self._turns) > MAX_TURNS:
            self._turns.popitem(last=False)

    def change(self, turn: DerivedTurn) -> None:
        """Something happened in a turn: its row is to be written again."""
        self._changed[turn.turn.id] = turn
        self._waiting.pop(turn.turn.id, None)
        if turn.waits and not turn.taken_over:
            self._waiting[turn.turn.id] = turn

    def close(self, turn: DerivedTurn) -> None:
        """No more comes in this turn; what it says of itself may change by that."""
        waited = turn.waits
        turn.closed = True
        self._waiting.pop(turn.turn.id, None)
        if waited:
            self._changed[turn.turn.id] = turn

    def settle(self, turn: DerivedTurn) -> None:
        """An agent's row stands for it: it has none of its own to write."""
        self._changed.pop(turn.turn.id, None)
        self._waiting.pop(turn.turn.id, None)

    def forget(self, turn: DerivedTurn) -> None:
        """Its spans come again, or no more."""
        self.settle(turn)
        self._turns.pop(turn.turn.id, None)

    def write(
        self, batch: Batch, ready: Callable[[TurnSummary], bool] | None, *, last: bool
    ) -> None:
        """Add the rows of those that changed and are ``ready``; with ``last`` none waits longer."""
        while self._waiting:
            turn = next(iter(self._waiting.values()))
            if not last and turn.touched + MAX_IDLE_NS > batch.written_at:
                break
            self.close(turn)
        kept: dict[str, DerivedTurn] = {}
        for turn in self._changed.values():
            if ready is None or ready(turn.row):
                batch.add(turn.summary(batch))
            else:
                kept[turn.turn.id] = turn
        self._changed = kept
