"""An experiment on the screen: its lineages as a tree of versions, rollouts and attempts."""

from __future__ import annotations

from itertools import takewhile

from turnspan_console import styles, values
from turnspan_console.output import Output
from turnspan_console.page import Page
from turnspan_records.loop.improvement import (
    AttemptRecord,
    ConfigChange,
    EvolutionRecord,
    ExperimentRecord,
    LineageRecord,
    VersionRecord,
)

Piece = tuple[str, str] | str
_STATUS = {"succeeded": styles.GOOD, "failed": styles.BAD, "interrupted": styles.BAD}
_SHOWN = 8
"""Characters of an id that are shown; ``turnspan show`` takes them."""


def print_experiment(experiment: ExperimentRecord, output: Output, *, full: bool = False) -> None:
    """Write an experiment for a person."""
    page = Page(output, full=full)
    page.line(("Experiment ", styles.TITLE), (experiment.experiment_id, styles.TITLE))
    for name in ("project", "need", "constraints"):
        said = values.one_line(getattr(experiment, name))
        if said:
            page.line((f"{name:12}", styles.FAINT), said)
    for lineage in experiment.lineages:
        page.blank()
        _lineage(lineage, page)
    if experiment.insights:
        page.heading("Insights")
        for insight in experiment.insights:
            kind = f" ({values.one_line(insight.change)})" if insight.change else ""
            pieces: list[Piece] = [f"  {values.one_line(insight.pattern)}", (kind, styles.FAINT)]
            judged = insight.successes + insight.failures
            if judged and insight.average_impact is not None:
                pieces.append((f"  {insight.successes} of {judged} times", styles.FAINT))
                style = styles.GOOD if insight.average_impact > 0 else styles.BAD
                pieces.append((f"  {insight.average_impact:+.1f}", style))
            else:
                pieces.append(("  not judged yet", styles.FAINT))
            page.line(*pieces)


def _lineage(lineage: LineageRecord, page: Page) -> None:
    marks: list[Piece] = [("  locked", styles.WARN)] if lineage.locked else []
    if lineage.evolve:
        marks.append(("  to be evolved", styles.WARN))
    strategy = values.one_line(lineage.strategy)
    page.line((lineage.label, styles.AGENT), f"  {strategy}" if strategy else "", *marks)
    with page.deeper("│ ", styles.FAINT):
        if lineage.directive:
            page.line(("directive  ", styles.FAINT), values.one_line(lineage.directive))
        for once in lineage.once:
            page.line(("next time  ", styles.FAINT), values.one_line(once))
        evolutions = {(one.from_version, one.to_version): one for one in lineage.evolutions}
        for version in lineage.versions:
            _version(version, evolutions.get((version.made_from, version.version_id)), page)
        for rollout in lineage.rollouts:
            page.line(
                (f"cycle {rollout.cycle}", styles.HEADING),
                f" {values.one_line(rollout.task)}" if rollout.task else "",
                (f"  {rollout.version_id[:_SHOWN]}  ", styles.ID),
                (rollout.status or "running", _STATUS.get(rollout.status, styles.BUSY)),
                *_score(rollout.score),
                "" if rollout.cost_usd is None else f"  {values.dollars(rollout.cost_usd)}",
            )
            with page.deeper():
                for attempt in rollout.attempts:
                    _attempt(attempt, page)


def _version(version: VersionRecord, evolution: EvolutionRecord | None, page: Page) -> None:
    name = f" {values.one_line(version.name)}" if version.name else ""
    pieces: list[Piece] = [
        ("version ", styles.FAINT),
        (version.version_id[:_SHOWN], styles.ID),
        name,
        *_score(version.score),
    ]
    if version.judged > 1:
        pieces.append((f" of {version.judged}", styles.FAINT))
    if evolution is not None and evolution.score_delta is not None:
        held = evolution.hypothesis_validated
        style = styles.GOOD if held else styles.BAD
        pieces.append((f"  {evolution.score_delta:+.1f}", style))
        pieces.append((" as expected" if held else " not as expected", style))
    page.line(*pieces)
    with page.deeper():
        if evolution is not None:
            for label, text in (("why", evolution.trigger), ("expected", evolution.hypothesis)):
                if text:
                    page.line((f"{label}: ", styles.FAINT), values.one_line(text))
        for change in version.changes:
            page.line((f"{change.name}: ", styles.FAINT), *_change(change, page.full))


def _change(change: ConfigChange, full: bool) -> list[Piece]:
    before, after = _value(change.before), _value(change.after)
    if not full:
        before, after = _around(before, after)
    return [(before, styles.BAD), (" → ", styles.FAINT), (after, styles.GOOD)]


def _value(text: str | None) -> str:
    return "(none)" if text is None else values.one_line(text)


def _around(before: str, after: str, kept: int = 12, most: int = 60) -> tuple[str, str]:
    """Two texts without the long beginning that they have in common."""
    alike = takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False))
    start = max(0, sum(1 for _ in alike) - kept)
    if start:
        before, after = f"…{before[start:]}", f"…{after[start:]}"
    return tuple(text if len(text) <= most else f"{text[:most]}…" for text in (before, after))  # type: ignore[return-value]


def _attempt(attempt: AttemptRecord, page: Page) -> None:
    error = values.error_line(attempt.error_type, attempt.error_message)
    page.line(
        f"{'•' if attempt.final else ' '} {attempt.number} ",
        (f"{attempt.attempt_id[:_SHOWN]}  ", styles.ID),
        (attempt.status, _STATUS.get(attempt.status, styles.BUSY)),
        f"  {values.one_line(attempt.model)}" if attempt.model else "",
        f"  {values.seconds(attempt.duration)}",
        (f"  {values.counted(attempt.calls, 'call')}" if attempt.calls else "", styles.FAINT),
        ("" if attempt.cost_usd is None else f"  {values.dollars(attempt.cost_usd)}", styles.FAINT),
        *_score(attempt.score),
        (f"  {error}" if error else "", styles.BAD),
    )
    for artifact in attempt.artifacts:
        kind = f" ({values.one_line(artifact.kind)})" if artifact.kind else ""
        page.line(
            ("      wrote ", styles.FAINT),
            values.one_line(artifact.target),
            (kind, styles.FAINT),
            (f"  {artifact.artifact_id[:_SHOWN]}", styles.ID),
        )


def _score(score: float | None) -> list[Piece]:
    return [] if score is None else [("  score ", styles.FAINT), (f"{score:.1f}", styles.TITLE)]
