"""People's corrections: the text that a person made of an agent's, in the place of the reply.

The prompt is what the call was given that wrote the agent's text; both sides are the texts as they
were stored, whatever else the reply said.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from turnspan_records.training import judgments
from turnspan_records.training.artifacts import (
    CORRECTION,
    Artifacts,
    ArtifactText,
    TextComparison,
    unit_of,
)
from turnspan_records.training.counts import Counts, UnfitError
from turnspan_records.training.export_request import JudgmentInForce, TrainingSet
from turnspan_records.training.samples import Samples
from turnspan_records.training.units import Candidate
from turnspan_records.training.workbench import Workbench

_LEARNED: Final = ("sft", "kto")
"""Kinds in which a correction is a completion of its own: it has no score, and is no trace."""


class Corrections:
    """Adds the samples of texts that people made of what agents had written."""

    def __init__(
        self, bench: Workbench, wanted: TrainingSet, written: Artifacts, counts: Counts
    ) -> None:
        self._bench = bench
        self._wanted = wanted
        self._written = written
        self._counts = counts
        self._pairs = wanted.kind == "preference" and "corrections" in wanted.pairs
        self._good = wanted.kind in _LEARNED and any(r.kind == CORRECTION for r in wanted.good)
        self.wanted = self._pairs or self._good
        """Whether there is anything to do."""

    def add(self, project: str, one: Candidate, samples: Samples) -> None:
        """The samples of what people corrected of a unit that the filters let through."""
        if not self.wanted:
            return
        done: set[str] = set()
        for compared in self._written.compared(project, one.calls):
            agents = compared.rejected
            if agents.kind == CORRECTION:
                agents = compared.chosen
            if not self._fits(compared):
                continue
            sides = (compared.chosen, compared.rejected) if self._pairs else (compared.chosen,)
            for text in sides:
                if text.id not in done:
                    done.add(text.id)
                    self._counts.corrections += 1
                    try:
                        self._sample(project, one, text, agents, compared.author, samples)
                    except UnfitError as unfit:
                        self._counts.dropped[unfit.reason] += 1

    def _fits(self, compared: TextComparison) -> bool:
        if self._good:
            return compared.best and compared.of_one_place
        if not compared.of_one_place:
            self._counts.dropped["pair_of_two_prompts"] += 1
        return compared.of_one_place

    def _sample(
        self,
        project: str,
        one: Candidate,
        text: ArtifactText,
        agents: ArtifactText,
        author: str,
        samples: Samples,
    ) -> None:
        work = self._bench.database
        judged = judgments.of(work, project, [("artifact", text.id)])
        texts = (("artifact", agents.id), ("artifact", text.id))
        if judgments.flagged_out(work, project, (*texts, *one.parts)):
            raise UnfitError("flagged_out")
        if text.kind == CORRECTION:
            said = JudgmentInForce(CORRECTION, "artifact", text.id, CORRECTION, author=author)
            judged = {**judged, CORRECTION: said}
        if not all(rule.holds(judged) for rule in self._wanted.filters.only):
            raise UnfitError("correction_judged_otherwise")
        place = replace(one, calls=tuple(c for c in one.calls if c.span_id == agents.call_id))
        made = samples.of_text(place, self._written.text(text), self._written.text(agents), judged)
        made.unit, made.attempt = unit_of(text.id), ""
        made.written.meta.update(id=text.id, unit="artifact")
        self._bench.add(made)
