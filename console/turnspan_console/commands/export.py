"""``turnspan export``: training data out of the records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from turnspan_console.failures import FINDING, USAGE, Failure, failing
from turnspan_console.options import (
    flag,
    open_chosen,
    optional,
    period_options,
    project_option,
    read_window,
    several,
    store_option,
    text_option,
    valued,
)
from turnspan_console.output import Output, note
from turnspan_console.values import counted, size

if TYPE_CHECKING:
    from turnspan_records.training import TrainingSet

KINDS = ("sft", "preference", "kto", "reward", "cot")
FORMATS = ("openai", "trl", "parquet")
SESSION = "session"
TRAJECTORIES = ("agent-trace", "atif", "inspect")
UNITS = ("turn", "call", "session")
PAIRS = ("preferences", "corrections", "locked", "scores", "best", "edits")
"""As ``turnspan_records.training`` has them; importing that would slow the command's start."""


@click.command(
    "export", short_help="Export training data, and sessions in the formats of other tools."
)
@click.argument("kind", type=click.Choice((*KINDS, SESSION, *TRAJECTORIES)))
@click.argument("session", metavar="[SESSION]", default="")
@click.option(
    "--to",
    "folder",
    required=True,
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="A new folder; for KIND session a file, packed if its name ends in .zst.",
)
@click.option(
    "--format", "format_", type=click.Choice(FORMATS), default="openai", show_default=True
)
@valued("--unit", "turn", "What one sample is.", kind=click.Choice(UNITS))
@several(
    "--good",
    "RULE",
    "What makes an answer good.  [default: outcome=used, flag=1, locked, correction]",
)
@several("--bad", "RULE", "What makes an answer bad, for kto.  [default: outcome=rejected]")
@several("--only", "RULE", "A rule that must also hold.")
@click.option("--pairs", multiple=True, type=click.Choice(PAIRS), help="The source of pairs.")
@valued(
    "--margin", 1.0, "The least difference of the scores of a pair.", kind=float, metavar="NUMBER"
)
@project_option
@several("--agent", "NAME", "Only this agent. Repeatable, as the filters below.", "agents")
@several("--version", "NAME", "Only this version of an agent.", "versions")
@several("--model", "NAME", "Only answers of this model.", "models")
@several("--stop-reason", "REASON", "Only turns with this stop reason.", "stop_reasons")
@several("--author", "NAME", "Count only this author's judgments.", "authors")
@period_options
@text_option("--where", "SQL", "Only records that meet this SQL condition.")
@several(
    "--split", "NAME=SHARE", "The share of prompts in a split.  [default: train=0.9, test=0.1]"
)
@valued(
    "--together",
    "session",
    "What stays together in one split.",
    kind=click.Choice(["session", "user", "lineage"]),
)
@click.option(
    "--seed",
    type=int,
    default=0,
    metavar="N",
    help="Another number puts other prompts into each split.",
)
@optional(
    "--near", "SIMILARITY", "Drop samples this similar to an earlier one, such as 0.9.", kind=float
)
@optional("--max-tokens", "N", "Drop longer samples.", kind=click.IntRange(1))
@text_option(
    "--tokenizer",
    "NAME",
    "Count tokens with this tokenizer.json, or tiktoken:o200k_base.  [default: estimate]",
)
@flag("--unfinished", "Include turns whose last call failed or whose reply was cut.")
@click.option("--images", type=click.Choice(["urls", "files"]), help="How images are written.")
@store_option
@click.pass_context
def command(context: click.Context, /, **given: Any) -> None:
    """Export a training set of KIND: sft, preference, kto, reward or cot. With KIND session, export
    SESSION as a file for `turnspan rerun`. KIND agent-trace, atif (Harbor) and inspect (Inspect
    logs) write a file a session: SESSION, or all sessions with a turn that the filters match.

    A RULE is outcome=used, flag=1, score>=8, evaluation:NAME>=0.5, evaluation:NAME=pass, locked
    (results of a locked lineage), correction (a person's rewrite of an agent's text) or any.
    --where takes a condition on the columns of turn_summary (llm_call with --unit call).

    \b
      turnspan export sft --to sets/good
      turnspan export preference --to sets/pairs --format trl --margin 2
      turnspan export session thread-42 --to thread-42.jsonl.zst
      turnspan export atif --to trajectories --agent claude-code --since 7d
      turnspan export sft --to sets/tall --good 'score>=8' --where "tool_call_count > 3"
    """
    from turnspan_console.panels.bars import Bars
    from turnspan_console.panels.training_set import print_made
    from turnspan_records.coding.trajectories.corrected_edits import corrected_edits
    from turnspan_records.training import ExportError, export

    folder, session = given.pop("folder"), given.pop("session")
    if given["kind"] == SESSION:
        _export_session(session, folder)
        return
    if given["kind"] in TRAJECTORIES:
        _refuse_others(context, given["kind"])
        _export_trajectories(session, folder, **given)
        return
    if session:
        raise Failure(f"A set has no SESSION: leave it out of `export {given['kind']}`.", USAGE)
    with failing(ExportError, code=USAGE):
        wanted = _wanted(**given)
        with open_chosen() as store, Bars() as bars:
            edits = None
            if "edits" in wanted.pairs:
                edits = corrected_edits(store, wanted.filters.project, wanted.filters.window)
            made = export(store, folder, wanted, progress=bars.show, edits=edits)
    print_made(made, Output())
    if not made.lines and wanted.needs_judgment and not made.manifest["counts"]["looked_at"]:
        raise Failure(
            "No record became a line: no judgment meets the rules of the set (`used`, unless "
            "--good says otherwise). Type `turnspan annotate TURN --outcome used`.",
            FINDING,
        )
    if not made.lines:
        raise Failure(
            "No record became a line, so there is no set: see the dropped records.", FINDING
        )


_OF_TRAJECTORIES: Final = frozenset(
    {"kind", "session", "folder", "project", "agents", "versions", "models", "stop_reasons"}
    | {"since", "until", "where", "store"}
)


def _refuse_others(context: click.Context, kind: str) -> None:
    """Refuse options that say something of sets only."""
    from click.core import ParameterSource

    for one in context.command.params:
        given = context.get_parameter_source(one.name or "") is ParameterSource.COMMANDLINE
        if given and one.expose_value and one.name not in _OF_TRAJECTORIES:
            raise Failure(f"{one.opts[0]} does not apply to `export {kind}`: leave it out.", USAGE)


def _export_trajectories(
    session: str, folder: Path, kind: Any, since: str | None, until: str | None, **given: Any
) -> None:
    from turnspan_console.ids import record_of
    from turnspan_console.panels.bars import working
    from turnspan_records.coding.trajectories.trajectory_export import export_trajectories
    from turnspan_records.training import ExportError, Filters

    names = ("project", "agents", "versions", "models", "stop_reasons", "where")
    filters = Filters(window=read_window(since, until), **{name: given[name] for name in names})
    with failing(ExportError, code=USAGE), open_chosen() as store, working("Writing"):
        if session:
            record = record_of(store, session, prefer=("session", "trace"))
            session = record.session_id or record.trace_id or record.id
            filters = replace(filters, project=record.project)
        made = export_trajectories(store, folder, kind, filters, session)
    if not made.sessions:
        raise Failure("No session has anything to write: widen the filters.", FINDING)
    Output().line(f"{folder}: {counted(made.sessions, 'session')}")
    if made.empty:
        note(f"{counted(made.empty, 'session')} left out: nothing in them has a place in {kind}.")


def _export_session(session: str, path: Path) -> None:
    from turnspan_console.ids import record_of
    from turnspan_records.again.rerun import recording_of
    from turnspan_records.again.rerun.recording import RecordingError, write_recording

    if not session:
        raise Failure("Name the session: turnspan export session SESSION --to FILE.", USAGE)
    with failing(RecordingError, OSError, code=USAGE), open_chosen() as store:
        recording = recording_of(store, record_of(store, session, prefer=("session", "trace")))
        written = write_recording(recording, path)
    made = f"{counted(len(recording.calls), 'call')}, {counted(len(recording.tools), 'tool')}"
    Output().line(f"{path}: session {recording.session_id}, {made}, {size(written)}")
    for span_id, reason in recording.missing().items():
        note(f"call {span_id} cannot be answered: {reason}")


def _wanted(
    since: str | None,
    until: str | None,
    only: Sequence[str],
    good: Sequence[str],
    bad: Sequence[str],
    split: Sequence[str],
    pairs: Any,
    format_: Any,
    **others: Any,
) -> TrainingSet:
    """The set; the other options are called as the fields that they are."""
    from turnspan_records.training import Filters, TrainingSet, rule
    from turnspan_records.training import export_request as defaults

    names = {one.name for one in fields(Filters)}
    filters = {name: others.pop(name) for name in names & others.keys()}
    return TrainingSet(
        format=format_,
        filters=Filters(window=read_window(since, until), only=tuple(map(rule, only)), **filters),
        good=tuple(map(rule, good)) or defaults.GOOD,
        bad=tuple(map(rule, bad)) or defaults.BAD,
        pairs=pairs or defaults.PAIRS,
        splits=dict(map(_share, split)) or dict(defaults.SPLITS),
        **others,
    )


def _share(text: str) -> tuple[str, float]:
    from turnspan_records.training import ExportError

    name, _, share = text.partition("=")
    try:
        return name, float(share)
    except ValueError:
        raise ExportError(f"{text!r} is no split: write train=0.9.") from None
