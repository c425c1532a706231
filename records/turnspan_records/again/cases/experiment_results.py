"""The results of an experiment: its finished attempts as the store has them; cases by versions, as
a table, JSON and JUnit XML."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from xml.etree import ElementTree

from turnspan_clickhouse.store.client import Store
from turnspan_records.access.fields import dollars, of_row, parsed, utc
from turnspan_records.access.questions import ask
from turnspan_records.again.cases.scores import CaseResult, UsedTool
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


def recorded_results(
    store: Store, project: str, lineage_id: str, attempt_ids: Sequence[str] = ()
) -> list[CaseResult]:
    """The attempts of a lineage that succeeded or failed, oldest first: those with these ids, or
    all. Attempts that were interrupted are none.

    Raises ``StoreError`` as ``Store.query``.
    """
    of: dict[str, Any] = {"project": project, "lineage": lineage_id, "ids": list(attempt_ids)}
    rows = ask(store, "cases/attempts", **of).dicts()
    if not rows:
        return []
    of["ids"] = [str(row["attempt_id"]) for row in rows]
    of["since"] = _time(utc(rows[0]["started_at"]))
    calls = {row["attempt_id"]: row for row in ask(store, "cases/calls", **of).dicts()}
    ends = {row["attempt_id"]: row for row in ask(store, "cases/ends", **of).dicts()}
    scores: dict[str, dict[str, float | None]] = {}
    for id_, scorer, score in ask(store, "cases/scores", **of).rows:
        value = None if score is None else float(score)
        scores.setdefault(str(id_), {})[str(scorer)] = value
    traces = [str(row["trace_id"]) for row in rows if row["trace_id"]]
    tools: dict[str, list[UsedTool]] = {}
    for row in ask(store, "cases/tools", **of, traces=traces).dicts():
        used = UsedTool(str(row["name"]), parsed(str(row["arguments"])), bool(row["failed"]))
        tools.setdefault(str(row["trace_id"]), []).append(used)
    results: list[CaseResult] = []
    for row in rows:
        id_ = row["attempt_id"]
        whole = row | calls.get(id_, {}) | ends.get(id_, {})
        used_by_it = tuple(tools.get(str(row["trace_id"]), ()))
        own = {"scores": scores.get(id_, {}), "cost_usd": dollars(whole.get("cost_usd"))}
        results.append(of_row(CaseResult, whole, tools=used_by_it, **own))
    return results


def spent(store: Store, project: str, lineage_id: str, since: datetime) -> float:
    """The known cost, in dollars, of a lineage's calls that began since.

    Raises ``StoreError`` as ``Store.query``."""
    of = {"project": project, "lineage": lineage_id, "since": _time(since)}
    return dollars(ask(store, "cases/cost", **of).rows[0][0]) or 0.0


def _time(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S}"


def mean_scores(results: Iterable[CaseResult]) -> dict[str, float]:
    """The mean of each scorer's scores."""
    by_name: dict[str, list[float]] = {}
    for result in results:
        for name, score in result.scores.items():
            if score is not None:
                by_name.setdefault(name, []).append(score)
    return {name: mean(scores) for name, scores in sorted(by_name.items())}


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
