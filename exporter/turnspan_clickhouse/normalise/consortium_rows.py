"""The rows of consortium runs, and which arbiters' calls were not the final ones."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from turnspan import semconv
from turnspan.tracing import consortium_facts as told
from turnspan.tracing.content_store import Fact
from turnspan_clickhouse.normalise.requested_tools import rewrite
from turnspan_clickhouse.rows import consortium_tables as tables
from turnspan_clickhouse.rows.batch import Batch
from turnspan_clickhouse.rows.record import Record
from turnspan_clickhouse.rows.tables import LlmCall

if TYPE_CHECKING:
    from turnspan_clickhouse.normalise.fact_rows import FactRows

MAX_CALLS: Final = 2_048
"""Calls of arbiters that are remembered, over all runs."""
MAX_FOLLOWED: Final = 4_096


class ArbiterCalls:
    """The calls of arbiters lately, until it is known whether another iteration follows.

    Of an arbiter that is remembered no more, or that asked in another process, the calls stay
    those of a final arbiter: what an iteration is, its own row and its number say.
    """

    __slots__ = ("_calls", "_followed", "_held")

    def __init__(self) -> None:
        self._calls: OrderedDict[str, list[LlmCall]] = OrderedDict()
        self._followed: OrderedDict[str, None] = OrderedDict()
        self._held = 0

    def called(self, row: LlmCall, attributes: Mapping[str, Any]) -> None:
        """An arbiter's call ended; its row is not written yet."""
        arbiter = attributes.get(semconv.CONSORTIUM_MEMBER)
        if type(arbiter) is not str or not arbiter:
            return
        if arbiter in self._followed:
            row.consortium_role = told.EARLIER_ARBITER
            return
        self._calls.setdefault(arbiter, []).append(row)
        self._calls.move_to_end(arbiter)
        self._held += 1
        while self._held > MAX_CALLS and len(self._calls) > 1:
            self._held -= len(self._calls.popitem(last=False)[1])

    def followed(self, arbiter: str, batch: Batch) -> None:
        """Another iteration begins after this arbiter's: its calls are written again as those of an
        earlier one."""
        self._followed[arbiter] = None
        if len(self._followed) > MAX_FOLLOWED:
            self._followed.popitem(last=False)
        calls = self._calls.pop(arbiter, [])
        self._held -= len(calls)
        for row in calls:
            row.consortium_role = told.EARLIER_ARBITER
            rewrite(row, batch)


def consortium_rows(fact: Any, rows: FactRows, batch: Batch) -> None:
    """Add what a fact of a run says."""
    if isinstance(fact, told.IterationFollowed):
        rows.arbiters.followed(fact.arbiter_id, batch)
        return
    context = rows.context(fact.place.resource, batch)
    columns: dict[str, Any] = {"error_message": context.limited(fact.error_message, "error")}
    if isinstance(fact, told.ConsortiumTold):
        columns["attributes"] = beside = dict[str, str]()
        if fact.grouped_by:
            beside[semconv.CONSORTIUM_GROUPED_BY] = ",".join(fact.grouped_by)
        if fact.missing:
            beside[semconv.CONSORTIUM_MISSING] = str(fact.missing)
    elif not context.captured:
        columns["refinement_areas"] = ()
    context.add(_RECORDS[type(fact)], fact, fact.place, **columns)


_RECORDS: Final[dict[type[Fact], type[Record]]] = {
    told.ConsortiumTold: tables.Consortium,
    told.MemberAnswered: tables.ConsortiumMember,
    told.ArbiterDecided: tables.ConsortiumIteration,
}
KINDS: Final = (*_RECORDS, told.IterationFollowed)
"""The facts that ``consortium_rows`` takes."""
