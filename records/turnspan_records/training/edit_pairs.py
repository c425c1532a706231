"""Corrected edits as pairs: a reply whose tool call edits a file, against the same reply with the
edit as it was wanted. Who wanted what is found elsewhere, and given."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from turnspan_records.training import judgments
from turnspan_records.training.counts import Counts, UnfitError
from turnspan_records.training.export_request import TrainingSet
from turnspan_records.training.samples import Samples
from turnspan_records.training.units import Candidate
from turnspan_records.training.workbench import Workbench


@dataclass(frozen=True, slots=True)
class CorrectedEdit:
    """A tool call that edited a file, with the arguments that it should have had."""

    project: str
    turn_id: str
    """The turn of the tool call."""
    call_id: str
    arguments: dict[str, Any]
    spans: tuple[str, ...] = ()
    """Tool calls, beside this one, in which the correction stands."""


class EditPairs:
    """Adds the samples of corrected edits, two each, and notes that they are a pair."""

    def __init__(
        self, bench: Workbench, wanted: TrainingSet, edits: Iterable[CorrectedEdit], counts: Counts
    ) -> None:
        self._bench = bench
        self._only = wanted.filters.only
        self._counts = counts
        self._edits: dict[tuple[str, str], list[CorrectedEdit]] = {}
        for edit in edits:
            self._edits.setdefault((edit.project, edit.turn_id), []).append(edit)

    def add(self, project: str, one: Candidate, samples: Samples) -> None:
        """The pairs of a unit that the filters let through."""
        for call in one.calls:
            for edit in self._edits.get((project, call.turn_id), ()):
                try:
                    if edit.call_id in samples.asks(call):
                        self._add(replace(one, calls=(call,)), edit, samples)
                except UnfitError as unfit:
                    self._counts.dropped[unfit.reason] += 1

    def _add(self, one: Candidate, edit: CorrectedEdit, samples: Samples) -> None:
        work, project = self._bench.database, edit.project
        judged = judgments.of(work, project, one.subjects)
        if judgments.flagged_out(work, project, one.parts):
            raise UnfitError("flagged_out")
        if not all(rule.holds(judged) for rule in self._only):
            raise UnfitError("correction_judged_otherwise")
        chosen = samples.of_reply(one, {edit.call_id: edit.arguments}, judged)
        rejected = samples.of_reply(one, {}, judged)
        chosen.written.meta["calls"] += edit.spans
        span = one.calls[0].span_id
        for made, side in ((chosen, "corrected"), (rejected, "edited")):
            made.unit, made.attempt = f"{span} {edit.call_id} {side}", ""
            made.written.meta.update(id=span, unit="call")
            self._bench.add(made)
        self._counts.corrections += 1
        self._bench.edits.append((project, chosen.unit, rejected.unit))
