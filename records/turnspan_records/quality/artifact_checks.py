"""Which artifacts are to be looked at, what was found of them before, and what people made of
them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from turnspan_clickhouse.store.client import Store
from turnspan_records.access.fields import copied, of_row
from turnspan_records.access.questions import ask
from turnspan_records.access.window import EARLIEST, as_parameter
from turnspan_records.quality.sources import WrittenArtifact

CORRECTION: Final = "correction"
"""The kind of the artifacts that people's texts become."""
PAGE: Final = 200
"""Artifacts that are read, asked for and written down together."""


@dataclass(frozen=True, slots=True)
class ArtifactFilter:
    """Which artifacts are looked at; empty is all."""

    project: str = ""
    kinds: tuple[str, ...] = ()
    since: datetime = EARLIEST
    again: bool = False
    """Also those that were settled before."""


@dataclass(frozen=True, slots=True)
class ArtifactCheck:
    """The result of one look at an artifact. The newest look of a source counts."""

    project: str
    source: str
    """Which wiki or repository: its address, its first commit."""
    artifact_id: str
    turn_id: str
    target: str
    decision: str
    """``used``, ``modified``, ``rejected``; ``undecided``; ``not_found`` or ``not_judged``."""
    reason: str
    revision: str
    found_by: str
    revised_at: datetime
    """When the agent's revision came in; where it was not found, when it was recorded."""
    later_revision: str
    correction_id: str
    similarity: float | None
    decided_at: datetime
    checked_at: datetime
    decided: int = field(default=0, repr=False)
    """``decided_at`` in nanoseconds."""


@dataclass(frozen=True, slots=True)
class Correction:
    """A text that a person wrote in place of the agent's."""

    project: str
    target: str
    correction_id: str
    artifact_id: str
    """The agent's."""
    revision: str
    """The revision that has the person's text."""
    similarity: float | None
    written: str
    """The agent's text."""
    corrected: str
    """The person's."""

    @property
    def diff(self) -> str:
        """What the person changed, as a unified diff."""
        return unified(self.written, self.corrected)


@dataclass(slots=True)
class ArtifactPage:
    """Artifacts that are looked at together, with all that is known of them."""

    written: list[WrittenArtifact]
    before: dict[tuple[str, str], ArtifactCheck]
    """What was found of them, by project and id."""
    of_turns: list[ArtifactCheck]
    """What was found of everything that their turns wrote, from every source."""
    last: tuple[str, str, str]
    """Where the next page begins."""


def how_many(store: Store, wanted: ArtifactFilter, source: str, window: timedelta) -> int:
    """How many artifacts are to be looked at."""
    found = ask(store, "quality/count", **_parameters(wanted, source, window))
    return int(found.rows[0][0])


def next_page(
    store: Store,
    wanted: ArtifactFilter,
    source: str,
    window: timedelta,
    after: tuple[str, str, str] = ("", "", ""),
    size: int = PAGE,
) -> ArtifactPage | None:
    """The next artifacts that are to be looked at, those of one target together; ``None`` after the
    last ones."""
    rows = ask(
        store,
        "quality/next",
        **_parameters(wanted, source, window),
        **dict(zip(("after_project", "after_target", "after_id"), after, strict=True)),
        size=size,
    ).dicts()
    if not rows:
        return None
    bodies = _texts(store, {(str(row["project"]), str(row["hash"])) for row in rows})
    projects = sorted({str(row["project"]) for row in rows})
    ids = [str(row["artifact_id"]) for row in rows]
    turns = sorted({str(row["turn_id"]) for row in rows} - {""})
    before = _checks(
        store, "quality/checks_of_artifacts", source=source, projects=projects, ids=ids
    )
    known = {(one.project, one.artifact_id): one for one in before}
    last = rows[-1]
    return ArtifactPage(
        [_written(row, bodies, known) for row in rows],
        known,
        _checks(store, "quality/checks_of_turns", projects=projects, turns=turns) if turns else [],
        (str(last["project"]), str(last["target"]), str(last["artifact_id"])),
    )


def artifact_checks(
    store: Store, *, project: str = "", source: str = "", limit: int = 10_000
) -> list[ArtifactCheck]:
    """The newest check of each artifact, latest checks first. Raises ``StoreError`` as
    ``Store.query``."""
    return _checks(store, "quality/checks", project=project, source=source, limit=limit)


def checks_of_turn(store: Store, project: str, turn_id: str) -> list[ArtifactCheck]:
    """What was found of everything that a turn wrote, from every source, the latest looks first.

    Raises ``StoreError`` as ``Store.query``.
    """
    found = _checks(store, "quality/checks_of_turns", projects=[project], turns=[turn_id])
    return sorted(found, key=lambda one: (one.checked_at, one.artifact_id), reverse=True)


def corrections(
    store: Store, *, project: str = "", artifact_id: str = "", limit: int = 10_000
) -> list[Correction]:
    """The corrections that people made to agents' texts, in their newest state, oldest first. A
    text that was not recorded is empty. Raises ``StoreError`` as ``Store.query``."""
    found = _checks(store, "quality/corrected", project=project, artifact=artifact_id, limit=limit)
    ids = [id_ for one in found for id_ in (one.artifact_id, one.correction_id)]
    rows = ask(store, "quality/contents", projects=sorted({o.project for o in found}), ids=ids)
    hashes = {(str(p), str(id_)): (str(p), str(hash_)) for p, id_, hash_ in rows.rows}
    bodies = _texts(store, hashes.values())

    def text(one: ArtifactCheck, id_: str) -> str:
        return bodies.get(hashes.get((one.project, id_), ("", "")), "")

    return [
        copied(
            Correction,
            one,
            revision=one.later_revision,
            written=text(one, one.artifact_id),
            corrected=text(one, one.correction_id),
        )
        for one in found
    ]


def unified(before: str, after: str) -> str:
    """What differs between two texts, as a unified diff."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=1)
    return "\n".join(list(lines)[2:])


def _parameters(wanted: ArtifactFilter, source: str, window: timedelta) -> dict[str, Any]:
    return {
        "project": wanted.project,
        "kinds": list(wanted.kinds),
        "since": as_parameter(wanted.since),
        "again": wanted.again,
        "source": source,
        "window": round(window.total_seconds() * 1e9),
    }


def _texts(store: Store, wanted: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    pairs = set(wanted)
    if not pairs:
        return {}
    rows = ask(
        store,
        "quality/texts",
        projects=sorted({project for project, _ in pairs}),
        hashes=sorted({hash_ for _, hash_ in pairs}),
    ).rows
    return {(str(project), str(hash_)): str(body) for project, hash_, body in rows}


def _written(
    row: Mapping[str, Any],
    bodies: Mapping[tuple[str, str], str],
    known: Mapping[tuple[str, str], ArtifactCheck],
) -> WrittenArtifact:
    body = bodies.get((str(row["project"]), str(row["hash"])))
    # What was masked or cut is not what the agent wrote: it is looked for in other ways.
    if body is not None and len(body.encode("utf-8", "replace")) != row["content_bytes"]:
        body = None
    before = known.get((str(row["project"]), str(row["artifact_id"])))
    revision = before.revision if before is not None and before.found_by else ""
    return of_row(WrittenArtifact, row, text=body, revision=revision, created_at=row["told_at"])


def _checks(store: Store, name: str, **parameters: object) -> list[ArtifactCheck]:
    return [of_row(ArtifactCheck, row) for row in ask(store, name, **parameters).dicts()]


def worst(decisions: Sequence[str], order: Sequence[str]) -> str:
    """The first of these in an order; empty where none is in it."""
    return next((one for one in order if one in decisions), "")
