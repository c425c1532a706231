"""What a gate compares: the figures of a version's runs, read from a store or from a file."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

import orjson

from turnspan.runtime.type_guards import is_dict
from turnspan_clickhouse.files.atomic_files import write_whole
from turnspan_clickhouse.store.client import Store
from turnspan_records.access.fields import of_row
from turnspan_records.access.questions import ask
from turnspan_records.access.window import Window, window_parameters
from turnspan_records.lookup import SHORTEST_PREFIX
from turnspan_records.sql import statement
from turnspan_records.turn_filters import LOOKS, TurnListFilter, turn_filter

MOST_RUNS: Final = 100_000
"""Runs of a version at most: the newest."""
FORMAT: Final = 1
"""The version of the file's form."""
EXPERIMENT: Final = "experiment:"
_LOOPS: Final = LOOKS["loops"][1]


@dataclass(frozen=True, slots=True)
class RunFigures:
    """A turn, or an attempt of an experiment."""

    kind: str
    """``turn`` or ``attempt``."""
    id: str
    project: str = ""
    session: str = ""
    case: str = ""
    """The rollout's task, else a hash of the user's message; runs of one case are compared."""
    asked: str = ""
    """The beginning of the input, or the task."""
    end: str = ""
    """The stop reason without its detail; else the status."""
    tool_failures: int = 0
    loops: bool = False
    """Whether it repeated the same calls without progress (the filter ``look:loops``)."""
    rounds: int = 0
    cost_usd: float | None = None
    seconds: float = 0.0
    tools: list[str] = field(default_factory=list[str])
    """The executed tools, in their order."""
    scores: dict[str, float] = field(default_factory=dict[str, float])
    """The scores by name: ``score``, or an evaluation's."""


@dataclass(frozen=True, slots=True)
class VersionFigures:
    """The runs of a version, in their order."""

    name: str
    runs: list[RunFigures]


class _Version(NamedTuple):
    project: str
    experiment: str
    lineage: str
    label: str
    version: str
    name: str

    def __str__(self) -> str:
        place = self.lineage and f"{self.lineage}@"
        return f"{place}{self.version} in project {self.project}"

    def is_in(self, place: str) -> bool:
        """Whether a text means its lineage or its experiment."""
        begun = len(place) >= SHORTEST_PREFIX and self.lineage.startswith(place)
        return begun or place in (f"{EXPERIMENT}{self.experiment}", self.lineage, self.label)


def figures(
    store: Store,
    version: str = "",
    *,
    where: str = "",
    project: str = "",
    window: Window | None = None,
) -> VersionFigures:
    """The newest 100,000 runs of a version that have ended: root turns of an ``agent_version`` or
    of a filter of turns; attempts of ``LINEAGE@VERSION`` or ``experiment:NAME@VERSION``.

    Raises:
        ValueError: the filter is not valid, or no version or several have the name.
        StoreError: as ``Store.query``.
    """
    name = " ".join(one for one in (version, where) if one)
    if not name:
        raise ValueError("Name a version or a filter of turns.")
    chosen = _chosen(store, version, project) if version else []
    if chosen and chosen[0].lineage:
        if where:
            raise ValueError(f"{version} is of attempts, which have no filter: leave one out.")
        given = window_parameters(
            project, window, limit=MOST_RUNS, lineages=sorted({one.lineage for one in chosen}),
            versions=[chosen[0].version],
        )  # fmt: skip
        return VersionFigures(name, _runs(store, statement("gate/attempts", loops=_LOOPS), given))
    wanted = TurnListFilter(project, window or Window(), turn_filter(where))
    sql = statement("gate/turns", where=wanted.where, loops=_LOOPS)
    given = {
        **wanted.parameters,
        "limit": MOST_RUNS,
        "version": chosen[0].version if chosen else "",
    }
    return VersionFigures(name, _runs(store, sql, given))


def _runs(store: Store, sql: str, given: Mapping[str, object]) -> list[RunFigures]:
    runs: list[RunFigures] = []
    for row in store.query(sql, given).dicts():
        scores: dict[str, list[float]] = {}
        for kind, score in row["scores"]:
            scores.setdefault(str(kind).removeprefix("evaluation:"), []).append(float(score))
        means = {kind: math.fsum(each) / len(each) for kind, each in sorted(scores.items())}
        tools = [str(name) for name in row["tools"]]
        runs.append(of_row(RunFigures, row, scores=means, tools=tools))
    return runs


def _chosen(store: Store, text: str, project: str) -> list[_Version]:
    """The version that a text means, of turns or in the lineages of one place.
    Raises ``ValueError`` where it means none or several."""
    every = [_Version(*map(str, row)) for row in ask(store, "gate/versions", project=project).rows]
    place, of_lineage, version = text.rpartition("@")
    inside = [one for one in every if one.is_in(place) and one.lineage] if of_lineage else []
    found = [one for one in every if one.version == text and not one.lineage]
    found = found or [one for one in inside if version in (one.version, one.name)]
    found = found or [one for one in inside if version == one.label and place != one.label]
    if not found and len(version) >= SHORTEST_PREFIX:
        known = inside if of_lineage else [one for one in every if not one.lineage]
        found = [one for one in known if one.version.startswith(version)]
    several = {(one.project, one.version) for one in found}
    lineages = {one.lineage for one in found}
    if len(several) == 1 and (len(lineages) == 1 or place.startswith(EXPERIMENT)):
        return found
    names = sorted({str(one) for one in found or inside or every})[:12]
    what = "means several versions" if found else "is no version"
    raise ValueError(f"{text!r} {what}: there are {', '.join(names) or 'none'}.")


def write_figures(path: Path, of: VersionFigures) -> None:
    """Write figures into a file, whole or not at all. Raises ``OSError``."""
    written = {"turnspan_figures": FORMAT, **asdict(of)}
    write_whole(path, orjson.dumps(written, option=orjson.OPT_INDENT_2) + b"\n")


def read_figures(path: Path) -> VersionFigures:
    """Read figures that ``write_figures`` wrote.

    Raises:
        ValueError: the file has none; the message says what to do.
        OSError: the file cannot be read.
    """
    text = path.read_bytes()
    try:
        read = orjson.loads(text)
    except ValueError as error:
        raise ValueError(f"{path} is not JSON ({error}): write it with --out.") from None
    if not is_dict(read) or read.get("turnspan_figures") != FORMAT:
        raise ValueError(f"{path} has no figures of this version: write it with --out.")
    try:
        runs = [_checked(one) for one in cast("list[Any]", read["runs"])]
        return VersionFigures(str(read["name"]), runs)
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path} has a run that is none ({error!r}): write it anew.") from None


_KINDS: Final = {"str": str, "bool": bool, "int": int, "list[str]": list, "dict[str, float]": dict}


def _checked(row: Mapping[str, Any]) -> RunFigures:
    run = RunFigures(**row)
    for one in fields(run):
        value = getattr(run, one.name)
        if not isinstance(value, _KINDS.get(str(one.type), (int, float, type(None)))):
            raise TypeError(f"{one.name} is {value!r}")
    return run
