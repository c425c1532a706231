"""``turnspan demo --consortium``: several models answer, an arbiter decides, and what was kept."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_console.failures import FINDING, USAGE, Failure
from turnspan_console.lazy import entry_points
from turnspan_console.output import Output
from turnspan_console.panels.consortium_run import print_run
from turnspan_console.panels.demo_frame import print_next, recorded
from turnspan_console.panels.import_report import print_report
from turnspan_console.panels.results import print_result
from turnspan_records.access.window import Window
from turnspan_records.consortium.run_detail import consortium_run, consortium_runs
from turnspan_records.importing.import_run import import_log

PROJECT: Final = "turnspan-demo"
IMPORTED: Final = "turnspan-demo-log"
"""The project of what is imported from the log that ``llm`` wrote."""


def need_example() -> None:
    """Say what is needed, where it is not there."""
    from turnspan_demo import consortium

    if find_spec("openai") is None and not consortium.by_command():
        raise Failure(
            "The demonstration needs the openai SDK, or llm with llm-consortium: "
            "pip install 'turnspan[demo]'.",
            USAGE,
        )


def play(store: str) -> list[str]:
    """Make the runs, recorded; returns the path of the log that ``llm`` wrote, if it made them."""
    from turnspan_demo import consortium

    output = Output()
    if consortium.by_command():
        output.line("Through llm and llm-consortium, whose command records itself:")
        log = consortium.play(output.line, store)
        return [] if log is None else [str(log)]
    output.line("Through the openai SDK (with llm and llm-consortium here: through their command):")
    with recorded(store, service="turnspan-demo", project=PROJECT):
        consortium.play(output.line)
    return []


def show(store: Store, dsn: Dsn, logs: Sequence[str], begun: datetime, output: Output) -> None:
    """Show the runs, and one with its members side by side; then what can be done with the log."""
    from turnspan_demo.consortium import QUESTIONS

    result = consortium_runs(store, window=Window(since=begun), limit=10)
    if len(result.rows) != len(QUESTIONS):
        raise Failure("Not every run that was made has landed.", FINDING)
    output.line()
    output.title("The runs")
    print_result(result, "table", output)
    longest = max(result.dicts(), key=lambda row: int(row["iterations"]))
    run = str(longest["run"])
    output.line()
    print_run(consortium_run(store, str(longest["project"]), run), output)
    for log in logs:
        _import(store, Path(log), output)
    commands = [("consortium",), ("consortium", run), ("replay", run)]
    commands += [("consortium", "group", log) for log in logs]
    print_next(dsn, commands, output)


def _import(store: Store, log: Path, output: Output) -> None:
    """Bring in the log that ``llm`` wrote of the same runs, as a project of its own."""
    from turnspan_demo.consortium import QUESTIONS

    log_of: Any = entry_points("turnspan.importers")["llm"].load().callback
    output.line()
    output.title(f"The same out of llm's own log, {log}")
    report = import_log(
        lambda: nullcontext(store),
        Spool(store.dsn.spool),
        log_of(log, None),
        project=IMPORTED,
    )
    print_report(report, "table", output)
    output.line()
    result = consortium_runs(store, project=IMPORTED)
    print_result(result, "table", output)
    if len(result.rows) < len(QUESTIONS) or report.problem_count:
        raise Failure("Not every run that llm has logged was found in its log.", FINDING)
