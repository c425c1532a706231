"""What a log is that can be imported: the one interface of every kind in this package."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, Protocol, runtime_checkable

from opentelemetry.sdk.trace import ReadableSpan

from turnspan.tracing.content_store import Content, Fact
from turnspan_clickhouse.rows.batch import Batch
from turnspan_clickhouse.store.client import Store

MAX_PROBLEMS: Final = 1_000
"""Problems that a report names; the rest is counted."""


class SourceLogError(Exception):
    """A source cannot be read; ``str(error)`` says why, and what to do."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A row of the source that was not taken as it is. ``row`` says where it stands."""

    row: str
    reason: str
    """A sentence without its full stop: what is wrong, and what became of the row."""


@dataclass(slots=True)
class Part:
    """Rows of a source that are imported together.

    A part is made of whole conversations (or traces), since what is known of a conversation ends
    with its part: so the same rows come out whenever, and however often, it is imported. What is
    imported again has the same ids (``ids``) and times, and takes the place of what was there.
    """

    spans: list[ReadableSpan] = field(default_factory=list[ReadableSpan])
    """In the order in which they end: what is inside a span before it."""
    contents: list[tuple[ReadableSpan, Content]] = field(
        default_factory=list[tuple[ReadableSpan, Content]]
    )
    """What belongs to a span in its provider's own words; else its attributes say it, by the GenAI
    conventions."""
    facts: list[Fact] = field(default_factory=list[Fact])
    """What is no span's: judgments."""
    amend: Callable[[Batch], None] | None = None
    """Called with the part's rows: what the source knows and spans cannot say."""
    seen: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    """What became of the source's rows, each counted once: (table or file, what) -> rows."""
    problems: list[Problem] = field(default_factory=list[Problem])
    ask: Callable[[Store], None] | None = None
    """Called with the store when all before the part has landed: what only that knows or can undo.
    While the store is away it is not, and ``position`` is not noted."""
    position: str = ""
    """Where to go on once this part is imported; empty: as before."""


class SourceLog(Protocol):
    """A log of another tool."""

    @property
    def kind(self) -> str:
        """What wrote it, as ``turnspan import`` calls it."""
        ...

    @property
    def identity(self) -> str:
        """Which one it is, the same at every import; holds no secret."""
        ...

    @property
    def own_projects(self) -> bool:
        """Whether its spans name their projects (``service.name``); else the project is ``kind``,
        unless the user names one."""
        ...

    def total(self, after: str) -> int:
        """How many rows of the source there are after a position, about: for the progress."""
        ...

    def parts(self, after: str) -> Iterator[Part]:
        """What is to be imported after a position; the beginning is the empty text.

        Raises:
            SourceLogError: the source cannot be read.
        """
        ...


@runtime_checkable
class Restarting(Protocol):
    """A log whose first import has settled something that another one from the beginning keeps."""

    def again(self, position: str) -> str:
        """The position to begin anew at, by the one that it had come to (empty: none)."""
        ...


@runtime_checkable
class Completing(Protocol):
    """A log whose records take something from others that are in the store."""

    def complete(self, store: Store) -> None:
        """Complete the records, when they have landed.

        Raises:
            StoreError: as ``Store.query``.
        """
        ...


@dataclass(slots=True)
class ImportReport:
    """What an import has done. Every row of the source that it read is in ``seen``, once."""

    kind: str
    source: str
    project: str
    seen: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    """(table or file of the source, what became of the row) -> rows."""
    rows: Counter[str] = field(default_factory=Counter[str])
    """Rows written, by table of the store."""
    problems: list[Problem] = field(default_factory=list[Problem])
    """The first ``MAX_PROBLEMS``."""
    problem_count: int = 0
    resumed: bool = False
    """It went on where an import before had come to."""
    waiting: str = ""
    """Why rows wait in the spool, if they do."""
    reached: tuple[str, int] | None = None
    """How far the log is imported: the position, and how many of its rows that took."""

    @property
    def source_rows(self) -> int:
        """How many rows of the source were read."""
        return sum(self.seen.values())

    def add_problem(self, problem: Problem) -> None:
        """Name a problem, or count it."""
        self.problem_count += 1
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(problem)
