"""``turnspan.evolve`` and ``turnspan.insight``: what was changed, and what was learned from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from turnspan.content.given_values import number_of, text_of
from turnspan.loop.artifacts import new_id
from turnspan.loop.attempts import Inside
from turnspan.loop.lineages import Experiment, Lineage, id_of
from turnspan.loop.versions import Version
from turnspan.runtime.guard import guard
from turnspan.runtime.inspection import looking
from turnspan.tracing.loop_facts import Evolved, InsightHad


def evolve(
    lineage: Lineage,
    from_version: Version | str,
    to_version: Version | str,
    *,
    trigger: str = "",
    hypothesis: str = "",
    plan: str = "",
    changes: Mapping[str, str] | Iterable[str] | None = None,
    author: str = "",
) -> str:
    """Record that a lineage changes to another version, and why. Never raises.

    The scores before and after, their difference, and whether the hypothesis held are computed from
    the judgments of both versions.

    Args:
        lineage: the lineage; its next rollouts use the new version.
        from_version: the version before, or its id.
        to_version: the new version, or its id.
        trigger: the reason for the change.
        hypothesis: the expected effect.
        plan: how to reach it.
        changes: what changes, by kind (``{"prompt": "names its sources"}``), or only the kinds;
            default: the names of the differences between the two configurations.
        author: who decided.

    Returns:
        The evolution's id; empty if nothing was recorded.
    """
    with guard("evolve", "turnspan.evolve"):
        one, other = id_of(from_version), id_of(to_version)
        if isinstance(to_version, Version):
            lineage.current = to_version
        made = new_id()
        configs: tuple[Any, Any] | None = None
        if isinstance(from_version, Version) and isinstance(to_version, Version):
            configs = (from_version.config, to_version.config)
        told = Inside.here().tell(
            lambda resource, now: Evolved(
                resource=resource,
                lineage_id=lineage.id,
                evolution_id=made,
                from_version=one,
                to_version=other,
                trigger=text_of(trigger),
                hypothesis=text_of(hypothesis),
                plan=text_of(plan),
                changes=_changes(changes),
                author=text_of(author),
                created_at=now,
                configs=configs,
            )
        )
        return made if told else ""
    return ""


def insight(
    pattern: str,
    *,
    change: str = "",
    evolutions: Iterable[str] = (),
    lineage: Lineage | None = None,
    experiment: Experiment | None = None,
    confidence: float | None = None,
    author: str = "",
    id: str = "",
) -> str:
    """Record a pattern seen in evolutions. Never raises.

    How often it held, and its effect, are computed from the named evolutions, else from those of
    its kind of change, once they are judged.

    Args:
        pattern: the pattern.
        change: its kind of change, as ``evolve`` names kinds.
        evolutions: the ids of the evolutions that show it.
        lineage: the lineage in which it was seen, if only one.
        experiment: the experiment in which it was seen.
        confidence: how sure the author is, from 0 to 1.
        author: who saw it.
        id: your own id of the insight; recording it again replaces the insight.

    Returns:
        The insight's id; empty if nothing was recorded.
    """
    with guard("insight", "turnspan.insight"):
        made = text_of(id) or new_id()
        place = lineage.experiment_id if lineage is not None else ""
        sure = number_of(confidence)
        told = Inside.here().tell(
            lambda resource, now: InsightHad(
                resource=resource,
                experiment_id=experiment.id if experiment is not None else place,
                lineage_id=lineage.id if lineage is not None else "",
                insight_id=made,
                pattern=text_of(pattern),
                change=text_of(change),
                evolution_ids=tuple(text_of(one) for one in evolutions),
                confidence=None if sure is None else float(sure),
                author=text_of(author),
                created_at=now,
            )
        )
        return made if told else ""
    return ""


def _changes(given: Mapping[str, str] | Iterable[str] | None) -> dict[str, str]:
    if given is None:
        return {}
    if isinstance(given, str):
        return {text_of(given): ""}
    if isinstance(given, Mapping):
        by_kind = cast("Mapping[str, str]", given)
        with looking:
            return {text_of(kind): text_of(what) for kind, what in by_kind.items()}
    with looking:
        return {text_of(kind): "" for kind in given}
