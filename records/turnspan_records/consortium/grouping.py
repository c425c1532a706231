"""Finds consortium runs in the logs of simonw/llm, by the keys that hold, strongest first.

Three readings of a log: its outputs, which say what is looked for; all rows, of which times and
hashes are kept; the arbiters' prompts one by one, in which the known texts are looked for. What
follows from them is decided, the rest is left to a person.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from turnspan_records.consortium.grouping_arbiters import read_arbiters
from turnspan_records.consortium.grouping_assembly import Found, assembled
from turnspan_records.consortium.grouping_chains import chains, stand_in
from turnspan_records.consortium.grouping_decisions import Decisions
from turnspan_records.consortium.grouping_literal import literal_runs
from turnspan_records.consortium.grouping_members import iterations, members
from turnspan_records.consortium.grouping_rows import Row, Rows, Source, read_rows
from turnspan_records.consortium.grouping_tables import (
    TableRun,
    configs,
    paired,
    table_runs,
)
from turnspan_records.consortium.grouping_types import Grouping
from turnspan_records.llm_logs.generations import layout_of
from turnspan_records.llm_logs.opening import opened

Strategy = Literal["keys", "literal"]
WINDOW: Final = 3600.0
CONSORTIUM_DB: Final = "consortium_logs.db"
"""How llm-consortium calls its own file, which lies beside llm's log."""


def group(
    path: Path | str,
    *,
    consortium_db: Path | str | None = None,
    strategy: Strategy = "keys",
    models: Iterable[str] = (),
    window: float | None = None,
    decisions: Mapping[str, str | None] | None = None,
) -> Grouping:
    """Find the consortium runs of a log; the log is only read.

    Args:
        path: llm's log.
        consortium_db: llm-consortium's own file, which versions 0.6 and newer write.
        strategy: ``keys``, or ``literal``: the rules that people tried before, for comparison.
        models: names of consortiums beside those that the log itself tells.
        window: seconds that a run takes at most where its output does not say; one hour if not
            given.
        decisions: of a reviewer: by row id the id of the output row of the run that it belongs to,
            ``None`` if to none.

    Raises:
        LogsError: a file cannot be read.
        DecisionError: a decision is about what cannot be decided.
    """
    microseconds = round((WINDOW if window is None else window) * 1_000_000)
    with _sources(Path(path), None if consortium_db is None else Path(consortium_db)) as sources:
        log = _read(sources, frozenset(models), microseconds, whole=strategy == "literal")
        if strategy == "literal":
            return literal_runs(log.sources[0], log.rows[0], microseconds)
        chosen = Decisions(decisions or {}, log.by_id)
        found = _found(log, microseconds, chosen)
        grouping = assembled(found)
        chosen.check(grouping)
        return grouping


def beside(path: Path) -> Path | None:
    """llm-consortium's own file in the folder of a log, if there is one."""
    found = path.with_name(CONSORTIUM_DB)
    return found if found.is_file() and found.resolve() != path.resolve() else None


@dataclass(slots=True)
class _Log:
    """What was read of the databases."""

    sources: list[Source]
    rows: list[Rows]
    runs: list[TableRun]
    by_id: dict[str, Row] = field(default_factory=dict[str, Row])


@contextmanager
def _sources(path: Path, consortium_db: Path | None) -> Generator[list[Source]]:
    with ExitStack() as stack:
        found: list[Source] = []
        paths = [path] if consortium_db is None else [path, consortium_db]
        for number, each in enumerate(paths):
            connection = stack.enter_context(opened(each))
            layout = layout_of(connection, each)
            found.append(Source(number, each, connection, layout, configs(connection, each)))
        yield found


def _read(sources: list[Source], models: frozenset[str], window: int, whole: bool) -> _Log:
    runs = [run for source in sources for run in table_runs(source.connection, source.path)]
    names = models.union(
        *(source.configs for source in sources), (run.name for run in runs if run.name is not None)
    )
    named = None if whole else frozenset(row for run in runs for row, _, _ in run.members)
    rows = [read_rows(source, names, window, named) for source in sources]
    log = _Log(sources, rows, runs)
    for each in reversed(rows):
        log.by_id.update(each.by_id)
    return log


def _found(log: _Log, window: int, chosen: Decisions) -> Found:
    outputs = [row for rows in log.rows for row in rows.outputs]
    pairs = paired(log.runs, outputs, chosen.allowed)
    told = {row for run in log.runs for row, _, _ in run.members}
    placed = set(pairs.outputs.values()) | {row for rows in pairs.open.values() for row in rows}
    rows = log.rows[0]
    rows.outputs = [row for row in rows.outputs if row not in placed]
    rows.arbiters = [row for row in rows.arbiters if row.id not in told]
    rows.members = [row for row in rows.members if row.id not in told]
    arbiters = read_arbiters(log.sources[0], rows, window)
    found = chains(rows.outputs, arbiters, chosen.allowed)
    stand_in(found, rows.members)
    places = iterations(found.by_output.values(), arbiters, window)
    return Found(
        log.rows, pairs, log.by_id, found, arbiters, members(places, rows.models, chosen.allowed)
    )
