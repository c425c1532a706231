"""What became of the turns that had an item in their context, and of those that lost it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from turnspan_clickhouse.store.client import Store

_OUTCOMES: Final = """
SELECT kept, if(outcome = '', 'not judged', outcome) AS ended, count() AS turns
FROM
(
    SELECT turn_id, max(kept) AS kept FROM context_item
    WHERE project = {project:String} AND item_id = {item:String} AND turn_id != ''
        AND reason != 'duplicate'
    GROUP BY turn_id
) AS i
LEFT JOIN
(
    SELECT subject_id, outcome FROM annotation_current
    WHERE project = {project:String} AND subject_kind = 'turn' AND kind = 'outcome'
) AS j ON j.subject_id = i.turn_id
GROUP BY kept, ended ORDER BY kept DESC, turns DESC, ended
"""


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
    rows = store.query(_OUTCOMES, {"project": project, "item": item_id}).rows
    return [ItemOutcome(bool(kept), str(outcome), int(turns)) for kept, outcome, turns in rows]
