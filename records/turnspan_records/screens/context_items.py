"""What became of the turns that had an item in their context, and of those that lost it."""

from __future__ import annotations

from dataclasses import dataclass

from turnspan_clickhouse.store.client import Store
from turnspan_records.access.questions import ask


@dataclass(frozen=True, slots=True)
class ItemOutcome:
    """How many turns that had an item kept, or dropped, were judged so."""

    kept: bool
    outcome: str
    """``used``, ``modified``, ``rejected``, ``pending`` or ``not judged``."""
    turns: int


def item_outcomes(store: Store, project: str, item_id: str) -> list[ItemOutcome]:
    """The outcomes of the turns that considered an item. An item that was left out since its text
    was there under another name was not lost. Raises ``StoreError`` as ``Store.query``."""
    rows = ask(store, "contexts/item_outcomes", project=project, item=item_id).rows
    return [ItemOutcome(bool(kept), str(outcome), int(turns)) for kept, outcome, turns in rows]
