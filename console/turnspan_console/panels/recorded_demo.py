"""``turnspan demo``: recorded runs played through the real SDKs, what landed of them, and what the
store then knows of them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from importlib.metadata import version
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rich.text import Text

from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_console import styles
from turnspan_console.failures import FINDING, USAGE, Failure, failing
from turnspan_console.output import Output
from turnspan_console.panels.bars import Bars
from turnspan_console.panels.demo_frame import need_sdks, print_next, recorded
from turnspan_console.panels.diagnostic import print_brief_answers
from turnspan_console.panels.results import print_rows
from turnspan_console.panels.transcript import Transcript
from turnspan_console.values import without_credentials
from turnspan_records.replay import replay
from turnspan_records.sessions import counts

if TYPE_CHECKING:
    from turnspan_demo.model import Expected
    from turnspan_demo.runner import Session

PROJECT: Final = "demo"
_ROWS: Final = {
    "how_turns_end": 50,
    "early_stops": 5,
    "failing_tools": 5,
    "loops": 5,
    "errors_by_type": 5,
    "expensive_calls": 5,
    "usage_by_model_and_day": 5,
}
"""The diagnostics that are shown, and how many rows of each."""


@dataclass(slots=True)
class RecordedRuns:
    """The demonstration of the runs in these files, or of the shipped ones: at most ``limit`` of
    each file, with the SDK of a provider."""

    files: Sequence[Path]
    limit: int | None
    provider: str | None
    stream: bool | None
    planned: list[Session] = field(default_factory=list["Session"])
    exported: bool = False

    def need_example(self) -> None:
        """Read the runs. Raises ``Failure`` where there are none, or no SDK to play them with."""
        need_sdks()
        from turnspan_demo import trajectories, written
        from turnspan_demo.model import PROVIDERS, Provider, RunError
        from turnspan_demo.runner import sessions

        chosen: tuple[Provider, ...] | None = ("openai",) if self.files else None
        if self.provider is not None:
            chosen = tuple(one for one in PROVIDERS if self.provider in ("both", one))
        with failing(RunError, code=USAGE):
            runs = [run for file in self.files for run in trajectories.load(file, self.limit)]
        if not self.files:
            runs = written.shipped()[: self.limit]
        if not runs:
            raise Failure("The files hold no runs.", FINDING)
        self.planned = sessions(runs, chosen)

    def play(self, store: str) -> list[str]:
        """Play and record them; returns the sessions' ids."""
        from turnspan_demo.model import RunError
        from turnspan_demo.runner import play_all

        exporters = ["turnspan", *(["otlp"] if _otlp() else [])]
        planned, number = self.planned, count(1)
        with (
            recorded(
                store, service="turnspan-demo", project=PROJECT, exporters=exporters
            ) as landed,
            Bars(patience=0) as bars,
            failing(RunError, code=FINDING),
        ):
            bars.show("sessions", 0, len(planned))
            play_all(
                planned,
                stream=self.stream,
                done=lambda _: bars.show("sessions", next(number), len(planned)),
            )
        self.exported = landed.ok
        return [one.id for one in planned]

    def show(
        self, store: Store, dsn: Dsn, played: Sequence[str], begun: datetime, output: Output
    ) -> None:
        """Show what was played against what landed, the diagnostics and a conversation."""
        fine = self._print_counts(store, played, output)
        print_brief_answers(store, _ROWS, PROJECT, begun, output)
        output.line()
        Transcript(output).print(replay(store, PROJECT, self._telling().id))
        also: list[Text | str] = []
        if _otlp() and self.exported:
            also.append(f"The spans also went to {_otlp()} (service turnspan-demo).")
        elif _otlp():
            also.append(Text(f"The spans could not be sent to {_otlp()}.", style=styles.WARN))
        question = "SELECT stop_reason, count() FROM turn_summary GROUP BY 1 ORDER BY 2 DESC"
        commands = (("diagnose",), ("sessions",), ("replay", played[0]), ("sql", question))
        print_next(dsn, commands, output, also=also)
        if not fine:
            raise Failure(
                "The landed records differ from the played runs: see the sessions above.", FINDING
            )

    def _print_counts(self, store: Store, played: Sequence[str], output: Output) -> bool:
        """Print what was played against what landed; says whether they are equal, run by run."""
        from turnspan_demo.model import Expected

        planned = self.planned
        landed = {each.session_id: Expected(*each[1:]) for each in counts(store, PROJECT, played)}
        wanted, got = Expected(), Expected()
        wrong: list[tuple[str, str, str]] = []
        for session in planned:
            here = landed.get(session.id, Expected())
            wanted += session.expected
            got += here
            if _counted(here) != _counted(session.expected):
                wrong.append((session.id, _counted(session.expected), _counted(here)))
        runs = len({session.run.id for session in planned})
        used = sorted({session.provider for session in planned}, reverse=True)
        sdks = " and ".join(f"{name} {version(name)}" for name in used)
        output.title(f"Played {runs} recorded runs as {len(planned)} sessions through {sdks}")
        table = [
            ("turns", wanted.turns, got.turns),
            ("model calls", wanted.llm_calls, got.llm_calls),
            ("tool calls", wanted.tool_calls, got.tool_calls),
        ]
        output.line()
        print_rows(("records", "played", "landed"), table, output)
        output.line()
        if wrong:
            print_rows(("session", "played", "landed"), wrong, output)
        else:
            output.line(Text("  Every session's counts are equal.", style=styles.GOOD))
        return not wrong

    def _telling(self) -> Session:
        """The session that shows most: several turns and a failing tool, but not a long read."""

        def rank(session: Session) -> tuple[bool, bool, int]:
            counts = session.expected
            return counts.tool_errors == 0, counts.turns < 2, counts.llm_calls

        return min(self.planned, key=rank)


def _otlp() -> str:
    names = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
    named = next((os.environ[name] for name in names if os.environ.get(name)), "")
    return without_credentials(named)


def _counted(counts: Expected) -> str:
    return f"{counts.turns} turns, {counts.llm_calls} calls, {counts.tool_calls} tools"
