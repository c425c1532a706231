"""What grouping finds: runs, and rows for a person to look at."""

from __future__ import annotations

import datetime
import enum
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from ksuid import Ksuid

_EPOCH: Final = 1_400_000_000
"""Where a KSUID's seconds begin."""
MEMBER: Final = 0
"""Also the role of a run's output."""
FINAL_ARBITER: Final = 1
ARBITER: Final = 2
"""Of an iteration that is not the last."""


class MatchKey(str, enum.Enum):
    """By what a row was attached; the order is that of their strength."""

    ASSIGNED = "assigned"
    """The row's own columns say it."""
    DECIDED = "decided"
    """A reviewer said it."""
    TABLES = "tables"
    """The consortium tables say it."""
    INTERVAL = "interval"
    """It lies within the output's time."""
    QUESTION = "question"
    """It was asked the output's question."""
    MODELS = "models"
    """It is of a model that the run used."""
    SYNTHESIS = "synthesis"
    """Its synthesis is the output's text."""
    ANSWERS = "answers"
    """The output's JSON tells of the very answers."""
    TEXT = "text"
    """Its text stands in an arbiter's prompt."""
    HISTORY = "history"
    """The next arbiter's prompt tells of its iteration."""


@dataclass(frozen=True, slots=True)
class RowAt:
    """A row of a log."""

    id: str
    database: int
    """0 the log, 1 llm-consortium's own file."""
    table: str
    position: int
    model: str
    began: int
    ended: int
    """Both in microseconds since the epoch; -1 where the log has no time."""


@dataclass(frozen=True, slots=True)
class AttachedRow:
    """A row in its run."""

    row: RowAt
    role: int
    """0 member or output, 1 final arbiter, 2 another arbiter."""
    iteration: int
    """0 of an output."""
    keys: tuple[MatchKey, ...]


@dataclass(frozen=True, slots=True)
class IterationFound:
    """One iteration of a run."""

    number: int
    arbiter: AttachedRow | None
    members: tuple[AttachedRow, ...]
    missing: int
    """How many of its rows the log does not have, or has among rows of which it cannot be said
    which one it is."""


@dataclass(frozen=True, slots=True)
class RunFound:
    """A consortium run."""

    consortium_id: str
    name: str
    """Of the consortium: the model of its output."""
    output: AttachedRow
    iterations: tuple[IterationFound, ...]
    parent: str | None = None
    """The run whose member this run's output is."""
    source_id: str | None = None
    """What the consortium tables call it."""
    complete: bool = True
    """Whether every row of it was found."""

    def rows(self) -> tuple[AttachedRow, ...]:
        """All rows: each iteration's members and arbiter, then the output."""
        found: list[AttachedRow] = []
        for iteration in self.iterations:
            found += iteration.members
            found += [iteration.arbiter] if iteration.arbiter is not None else []
        return (*found, self.output)

    def places(self) -> dict[str, RowPlace]:
        """Where each of its rows was put, by row id."""
        return {
            attached.row.id: RowPlace(self.consortium_id, attached.role, attached.iteration)
            for attached in self.rows()
        }


class Why(str, enum.Enum):
    """Why a row is left to a person."""

    UNPAIRED = "unpaired"
    """An output whose final arbiter was not found."""
    AMBIGUOUS = "ambiguous"
    """It may belong to several runs, or several rows to its place."""
    ORPHAN = "orphan"
    """It is of a run that has no output."""
    CONFLICT = "conflict"
    """Rows of its run were assigned to different runs before."""


@dataclass(frozen=True, slots=True)
class RowCandidate:
    """Where a row may belong."""

    output: str
    """The id of the run's output row."""
    role: int
    iteration: int


@dataclass(frozen=True, slots=True)
class ReviewRow:
    """A row for a person to look at."""

    row: RowAt
    why: Why
    reason: str
    candidates: tuple[RowCandidate, ...] = ()


class RowPlace(NamedTuple):
    """Where a row was put: the run, its role in it, and the iteration; 0 of an output."""

    consortium_id: str
    role: int
    iteration: int


@dataclass(frozen=True, slots=True)
class Grouping:
    """The runs of a log, and what a person has to look at."""

    runs: tuple[RunFound, ...]
    review: tuple[ReviewRow, ...]
    places: Mapping[str, RowPlace]
    """By row id."""
    seen: int
    """Rows that were read."""


def run_id(output: str, began: int) -> str:
    """The KSUID of the run with this output row, which began at this microsecond: the same whenever
    and wherever the log is grouped."""
    seconds = min(max(began // 1_000_000, _EPOCH), _EPOCH + 2**32 - 1)
    time = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    payload = hashlib.blake2b(output.encode("utf-8", "surrogatepass"), digest_size=16).digest()
    return str(Ksuid(time, payload))
