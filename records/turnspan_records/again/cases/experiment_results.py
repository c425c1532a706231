"""The results of an experiment: cases by versions, as a table, JSON and JUnit XML."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final
from xml.etree import ElementTree

from turnspan_clickhouse.store.client import Store
from turnspan_records.access.questions import ask
from turnspan_records.again.cases.experiment_run import mean_scores
from turnspan_records.again.cases.recorded_results import recorded_results
from turnspan_records.again.cases.scores import CaseResult
from turnspan_records.loop.improvement import mean
from turnspan_records.loop.lineages import AmbiguousError

_NO_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
PASSING: Final = 0.5
"""A score below fails a test of JUnit."""


@dataclass(frozen=True, slots=True)
class VersionResults:
    """What one version of the agent came to."""

    version: str
    attempts: int
    failed: int
    cost_usd: float | None
    """``None`` if no call's cost is known."""
    duration: float
    """The mean, in seconds."""
    scores: dict[str, float]
    """The mean of each scorer, over the attempts that it scored."""
    results: list[CaseResult]


@dataclass(frozen=True, slots=True)
class CaseScores:
    """What one case came to in each version."""

    case_id: str
    input: str
    scores: list[float | None]
    """In the order of the versions; ``None`` where a version has none."""
    failed: list[int]
    """Failed attempts, in the same order."""


@dataclass(frozen=True, slots=True)
class ExperimentResults:
    """The versions of an experiment, in the order in which they began, and its cases."""

    experiment: str
    project: str
    versions: list[VersionResults]
    cases: list[CaseScores]


def experiment_results(
    store: Store, name: str, *, project: str = "", scorer: str = ""
) -> ExperimentResults:
    """Load an experiment: a lineage is a version, a task a case, a cycle a repetition. A case's
    score is the mean of its attempts' scorers, or of one ``scorer``; cases that the last version
    does worst come first.

    Raises:
        KeyError: there is none of this name with finished cases.
        AmbiguousError: several projects have one.
        StoreError: as ``Store.query``.
    """
    rows = ask(store, "cases/versions", project=project, experiment=name).dicts()
    projects = sorted({str(row["project"]) for row in rows})
    if len(projects) > 1:
        raise AmbiguousError(", ".join(projects))
    versions: list[VersionResults] = []
    for row in rows:
        recorded = recorded_results(store, projects[0], str(row["lineage_id"]))
        # The last attempt of each case and repetition.
        by_place = {(one.case_id, one.repetition): one for one in recorded if one.case_id}
        if by_place:
            versions.append(_version(str(row["label"]), [*by_place.values()]))
    if not versions:
        raise KeyError(name)
    of = {"project": projects[0], "lineages": [row["lineage_id"] for row in rows]}
    cases: list[CaseScores] = []
    for id_, given, _ in ask(store, "cases/inputs", **of).rows:
        each = [[one for one in version.results if one.case_id == id_] for version in versions]
        failures = [sum(one.failed for one in results) for results in each]
        scores = [_score(results, scorer) for results in each]
        cases.append(CaseScores(str(id_), str(given), scores, failures))
    cases.sort(key=lambda one: (one.scores[-1] is None, one.scores[-1] or 0.0))
    return ExperimentResults(name, projects[0], versions, cases)


def _version(label: str, results: list[CaseResult]) -> VersionResults:
    costs = [one.cost_usd for one in results if one.cost_usd is not None]
    return VersionResults(
        label,
        len(results),
        sum(one.failed for one in results),
        sum(costs) if costs else None,
        mean([one.duration for one in results]),
        mean_scores(results),
        results,
    )


def _score(results: Iterable[CaseResult], scorer: str) -> float | None:
    by_scorer = mean_scores(results)
    if scorer:
        return by_scorer.get(scorer)
    return mean([*by_scorer.values()]) if by_scorer else None


def junit(results: ExperimentResults, *, passing: float = PASSING) -> bytes:
    """JUnit XML: a suite a version, a test an attempt. An attempt that failed is an error, one with
    a score below ``passing`` a failure."""
    root = ElementTree.Element("testsuites", name=_xml(results.experiment))
    for version in results.versions:
        suite = ElementTree.SubElement(root, "testsuite", name=_xml(version.version))
        low = 0
        for one in version.results:
            test = ElementTree.SubElement(
                suite,
                "testcase",
                classname=_xml(f"{results.experiment}.{version.version}"),
                name=f"{one.case_id}[{one.repetition}]",
                time=f"{one.duration:.3f}",
            )
            below = [
                f"{name} {score:g}"
                for name, score in sorted(one.scores.items())
                if score is not None and score < passing
            ]
            if one.failed:
                text = _xml(one.error_message)
                ElementTree.SubElement(test, "error", type=_xml(one.error_type), message=text)
            elif below:
                low += 1
                failure = ElementTree.SubElement(test, "failure", message=_xml(", ".join(below)))
                failure.text = _xml(one.output)
        suite.attrib |= {"tests": str(version.attempts), "failures": str(low)}
        suite.attrib |= {"errors": str(version.failed), "skipped": "0"}
        suite.set("time", f"{version.duration * version.attempts:.3f}")
    ElementTree.indent(root)
    made: bytes = ElementTree.tostring(root, "utf-8", xml_declaration=True)
    return made + b"\n"


def _xml(text: str) -> str:
    """A text without what XML cannot hold."""
    return _NO_XML.sub("\ufffd", text)
