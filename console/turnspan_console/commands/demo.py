"""``turnspan demo``: recorded agents over the real SDKs, and what the store then knows of them."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import click

from turnspan_console.failures import FINDING, USAGE, Failure, failing
from turnspan_console.options import store_option
from turnspan_console.output import Output, note, progress
from turnspan_console.panels.demo_frame import chosen_store, opened
from turnspan_console.values import without_credentials

if TYPE_CHECKING:
    from datetime import datetime

    from turnspan_clickhouse.store.client import Store
    from turnspan_clickhouse.store.dsn import Dsn
    from turnspan_demo.model import Expected, Run
    from turnspan_demo.runner import Session

PROJECT = "demo"
_DIAGNOSTICS = (
    "how_turns_end",
    "premature_stops",
    "failing_tools",
    "loops",
    "errors_by_type",
    "expensive_calls",
    "usage_by_model_and_day",
)
_ROWS = 5
_ALL_ROWS = 50


@click.command("demo", short_help="Run recorded agents and ask the store about them.")
@click.option(
    "--trajectories",
    "files",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Play the runs in this file instead of the shipped ones. Repeatable.",
)
@click.argument("more_files", nargs=-1, type=click.Path(exists=True, path_type=Path))
@click.option("--limit", type=click.IntRange(1), metavar="N", help="The most runs of each file.")
@click.option(
    "--provider",
    type=click.Choice(["openai", "anthropic", "both"]),
    help="The SDK to use.  [default: the run's own; openai for a trajectory file]",
)
@click.option(
    "--camp",
    is_flag=True,
    help="Play the training camp instead: lineages of an agent, judged and changed (examples/).",
)
@click.option("--stream/--no-stream", default=None, help="Stream all replies, or none.")
@click.option("--wiki", is_flag=True, help="Run the wiki agent instead: the context of a prompt.")
@click.option(
    "--consortium",
    is_flag=True,
    help="Let several models answer and an arbiter decide; uses llm-consortium if installed.",
)
@click.option("--open", "and_open", is_flag=True, help="Open the records in a browser afterwards.")
@store_option
@click.pass_context
def command(
    context: click.Context,
    files: tuple[Path, ...],
    more_files: tuple[Path, ...],
    limit: int | None,
    provider: str | None,
    stream: bool | None,
    wiki: bool,
    camp: bool,
    consortium: bool,
    and_open: bool,
) -> None:
    """Play recorded agent runs through the real OpenAI and Anthropic SDKs and record them.

    A local model server gives the recorded replies, so you need no key. --trajectories takes JSON
    Lines of tau-bench, tau2-bench, intercode or SWE-agent, or a run of your own as .json.

    \b
      turnspan demo
      turnspan demo --trajectories gpt-4o-airline.jsonl --limit 20 --provider both
      turnspan demo --wiki
    """
    output = Output()
    if consortium:
        _example(output, "consortium")
    elif wiki or camp:
        _need_sdks()
        _example(output, "wiki" if wiki else "camp")
    else:
        _recorded_runs((*files, *more_files), limit, provider, stream, output)
    if and_open:
        _open_page(context)


def _open_page(context: click.Context) -> None:
    from turnspan_console.commands import console

    context.find_root().meta["turnspan.store"] = chosen_store()[1]
    context.invoke(console.command)


def _recorded_runs(
    files: tuple[Path, ...],
    limit: int | None,
    provider: str | None,
    stream: bool | None,
    output: Output,
) -> None:
    from datetime import datetime, timezone

    _need_sdks()
    dsn, text = chosen_store()
    runs = _runs(files, limit)
    planned = _planned(runs, provider, trajectories=bool(files))
    _need_recording()
    begun = datetime.now(timezone.utc)
    if not dsn.embedded:  # say at once that the server is away, not after the runs
        opened(dsn).close()
    exported = _record(planned, text, stream)
    _ship(dsn)
    with opened(dsn) as store:
        fine = _print_counts(planned, store, output)
        _print_diagnostics(store, begun, output)
        _print_replay(planned, store, output)
    _print_next(dsn, planned, exported, output)
    if not fine:
        raise Failure(
            "The landed records differ from the played runs: see the sessions above.", FINDING
        )


def _example(output: Output, name: str) -> None:
    """Play one of the examples and show what it is about."""
    from datetime import datetime, timezone

    from turnspan_console.panels import camp_demo, consortium_demo, wiki_demo

    known: dict[str, _Example] = {
        "camp": camp_demo,
        "consortium": consortium_demo,
        "wiki": wiki_demo,
    }
    example = known[name]
    example.need_example()
    _need_recording()
    dsn, text = chosen_store()
    begun = datetime.now(timezone.utc)
    if not dsn.embedded:
        opened(dsn).close()
    played = example.play(text)
    _ship(dsn)
    with opened(dsn) as store:
        example.show(store, dsn, played, begun, output)


class _Example(Protocol):
    """A module that plays and shows one."""

    def need_example(self) -> None: ...
    def play(self, store: str) -> list[str]: ...
    def show(
        self, store: Store, dsn: Dsn, played: list[str], begun: datetime, output: Output, /
    ) -> None: ...


def _need_recording() -> None:
    if os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        raise Failure("OTEL_SDK_DISABLED is true, so nothing would be recorded: unset it.", USAGE)


def _need_sdks() -> None:
    from importlib.util import find_spec

    missing = [name for name in ("openai", "anthropic") if find_spec(name) is None]
    if missing:
        raise Failure(
            f"The demonstration needs the {' and '.join(missing)} SDK: "
            "pip install 'turnspan[demo]'.",
            USAGE,
        )


def _ship(dsn: Dsn) -> None:
    """Land what a server has not taken yet, however long that takes (readers wait a short time)."""
    from turnspan_clickhouse.ship.shipper import ship

    if not dsn.embedded:
        for error in ship(dsn).errors:
            note(error)


def _runs(files: tuple[Path, ...], limit: int | None) -> list[Run]:
    from turnspan_demo import trajectories, written
    from turnspan_demo.model import RunError

    if not files:
        return written.shipped()[:limit]
    with failing(RunError, code=USAGE):
        runs = [run for file in files for run in trajectories.load(file, limit)]
    if not runs:
        raise Failure("The files hold no runs.", FINDING)
    return runs


def _planned(runs: list[Run], provider: str | None, *, trajectories: bool) -> list[Session]:
    from turnspan_demo.model import PROVIDERS, Provider
    from turnspan_demo.runner import sessions

    chosen: tuple[Provider, ...] | None = ("openai",) if trajectories else None
    if provider == "both":
        chosen = PROVIDERS
    elif provider is not None:
        chosen = tuple(known for known in PROVIDERS if known == provider)
    return sessions(runs, chosen)


def _record(planned: list[Session], store: str, stream: bool | None) -> bool:
    """Play and record; says whether everything went out to where it should."""
    from turnspan_console.panels.demo_frame import recorded
    from turnspan_demo.model import RunError
    from turnspan_demo.runner import play_all

    exporters = ["turnspan", *(["otlp"] if _otlp() else [])]
    shown = _Progress(len(planned))
    with recorded(store, service="turnspan-demo", project=PROJECT, exporters=exporters) as landed:
        try:
            with failing(RunError, code=FINDING):
                play_all(planned, stream=stream, done=shown.one_more)
        finally:
            shown.over()
    return landed.ok


class _Progress:
    """Counts sessions on a terminal's standard error."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._done = 0
        self._visible = sys.stderr.isatty()

    def one_more(self, session: Session) -> None:
        """A session is over."""
        del session
        self._done += 1
        if self._visible:
            progress(f"played {self._done} of {self._total} sessions")

    def over(self) -> None:
        """Take the line away."""
        if self._visible:
            progress("")


def _otlp() -> str:
    names = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
    named = next((os.environ[name] for name in names if os.environ.get(name)), "")
    return without_credentials(named)


def _print_counts(planned: list[Session], store: Store, output: Output) -> bool:
    """Print what was played against what landed; says whether they are equal, run by run."""
    from rich.text import Text

    from turnspan_console import styles
    from turnspan_console.panels.results import print_rows
    from turnspan_demo.model import Expected
    from turnspan_records.sessions import counts

    ids = [session.id for session in planned]
    landed = {each.session_id: Expected(*each[1:]) for each in counts(store, PROJECT, ids)}
    wanted, got = Expected(), Expected()
    wrong: list[tuple[str, str, str]] = []
    for session in planned:
        here = landed.get(session.id, Expected())
        wanted += session.expected
        got += here
        if _counted(here) != _counted(session.expected):
            wrong.append((session.id, _counted(session.expected), _counted(here)))
    runs = len({session.run.id for session in planned})
    title = f"Played {runs} recorded runs as {len(planned)} sessions through {_sdks(planned)}"
    output.title(title)
    table = [
        ("turns", wanted.turns, got.turns),
        ("model calls", wanted.llm_calls, got.llm_calls),
        ("tool calls", wanted.tool_calls, got.tool_calls),
    ]
    output.line()
    print_rows(("records", "played", "landed"), table, output)
    output.line()
    if not wrong:
        output.line(Text("  Every session's counts are equal.", style=styles.GOOD))
        return True
    print_rows(("session", "played", "landed"), wrong, output)
    return False


def _counted(counts: Expected) -> str:
    return f"{counts.turns} turns, {counts.llm_calls} calls, {counts.tool_calls} tools"


def _sdks(planned: list[Session]) -> str:
    from importlib.metadata import version

    used = sorted({session.provider for session in planned}, reverse=True)
    return " and ".join(f"{name} {version(name)}" for name in used)


def _print_diagnostics(store: Store, begun: datetime, output: Output) -> None:
    from turnspan_console.panels.diagnostic import print_answer
    from turnspan_records.access.window import Window
    from turnspan_records.diagnostics import diagnostics

    known = diagnostics()
    window = Window(since=begun)
    for name in _DIAGNOSTICS:
        one = known[name]
        rows = _ALL_ROWS if name == "how_turns_end" else _ROWS
        result = one.run(store, project=PROJECT, window=window, limit=rows)
        print_answer(one, result, output, brief=True, first=False, limit=rows)


def _print_replay(planned: list[Session], store: Store, output: Output) -> None:
    from turnspan_console.panels.transcript import Transcript
    from turnspan_records.replay import replay

    output.line()
    Transcript(output).print(replay(store, PROJECT, _telling(planned).id))


def _telling(planned: list[Session]) -> Session:
    """The session that shows most: several turns and a failing tool, but not a long read."""

    def rank(session: Session) -> tuple[bool, bool, int]:
        counts = session.expected
        return counts.tool_errors == 0, counts.turns < 2, counts.llm_calls

    return min(planned, key=rank)


def _print_next(dsn: Dsn, planned: list[Session], exported: bool, output: Output) -> None:
    from rich.text import Text

    from turnspan_console import styles
    from turnspan_console.panels.demo_frame import print_next

    also: list[Text | str] = []
    if _otlp() and exported:
        also.append(f"The spans also went to {_otlp()} (service turnspan-demo).")
    elif _otlp():
        also.append(Text(f"The spans could not be sent to {_otlp()}.", style=styles.WARN))
    count = "SELECT stop_reason, count() FROM turn_summary GROUP BY 1 ORDER BY 2 DESC"
    commands = (("diagnose",), ("sessions",), ("replay", planned[0].id), ("sql", count))
    print_next(dsn, commands, output, also=also)
