"""``turnspan rerun``: a recorded session, run again by the program that made it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from turnspan_console.failures import USAGE, Failure, failing
from turnspan_console.options import (
    flag,
    format_option,
    open_chosen,
    optional,
    several,
    store_option,
    store_text,
    text_option,
    valued,
)
from turnspan_console.output import Output, note

if TYPE_CHECKING:
    from turnspan_records.again.rerun.forks import Fork
    from turnspan_records.again.rerun.recording import SessionRecording

POLICIES = ("stop", "nearest", "live")
"""As ``turnspan_records.again.rerun.server`` has them, whose import takes long."""
DIVERGED = 3
_CHANGES = ("message", "system", "model", "tools", "temperature", "base_url")


@click.command("rerun", short_help="Run a recorded session again, answered from its records.")
@click.argument("session", metavar="SESSION|FILE")
@click.argument("program", metavar="-- COMMAND [ARG]...", nargs=-1, type=click.UNPROCESSED)
@several("--live-tools", "NAME", "A tool that runs for real; `all` for every tool. Repeatable.")
@valued(
    "--after",
    "stop",
    "What follows the first divergence: an error, the nearest record, or the provider.",
    kind=click.Choice(POLICIES),
)
@flag("--timing", "Let replies take the time that they took.")
@text_option("--fork", "CALL", "Change this call's request; from there the provider answers.")
@text_option("--message", "TEXT", "With --fork: another text of the user's last message.")
@text_option("--system", "TEXT", "With --fork: another system prompt, from CALL on.")
@text_option("--model", "NAME", "With --fork: another model, from CALL on.")
@optional(
    "--tools",
    "FILE",
    "With --fork: other tools, from CALL on; a JSON array in the API's form.",
    kind=click.Path(exists=True, dir_okay=False, path_type=Path),
)
@optional("--temperature", "NUMBER", "With --fork: another temperature, from CALL on.", kind=float)
@text_option("--base-url", "URL", "With --fork: the server that answers instead of the provider.")
@valued("--times", 1, "With --fork: how often it is tried.", kind=click.IntRange(1, 1000))
@format_option("text", "json")
@store_option
def command(session: str, program: tuple[str, ...], format_: str, **given: Any) -> None:
    """Run COMMAND, which made SESSION, again: replies and tool results come from the records.

    SESSION is a session's id, or that of a record in it; FILE is one that `turnspan export session`
    wrote. Nothing leaves this machine, but for live tools, --after live and --fork. The exit code
    is COMMAND's, and 3 if what it asked differs from the records. --fork records each try as an
    attempt of the experiment fork-CALL.

    \b
      turnspan rerun thread-42 -- python agent.py
      turnspan rerun thread-42 --fork 7 --model gpt-5 --times 3 -- python agent.py
    """
    from turnspan_console.panels.rerun import print_reruns
    from turnspan_console.rerun_command import Rerunning

    if not program:
        raise Failure("Give the program's command line after `--`.", USAGE)
    recording = _recording(session)
    fork = _fork(recording, given)
    options = {name: given[name] for name in ("after", "live_tools", "timing")}
    rerunning = Rerunning(recording, program, store_text(), format_ == "json", options)
    done = rerunning.forks(fork, given["times"]) if fork is not None else [rerunning.once()]
    shown = rerunning.located(done, fork)
    Output().answer(shown, format_, print_reruns)
    diverged = any(one.report.divergences for one in done)
    raise SystemExit(DIVERGED if diverged else max((one.exit_code for one in done), key=abs))


def _recording(session: str) -> SessionRecording:
    from turnspan_console.ids import record_of
    from turnspan_records.again.rerun import recording_of
    from turnspan_records.again.rerun.recording import RecordingError, read_recording

    with failing(RecordingError, OSError, code=USAGE):
        if Path(session).is_file():
            found = read_recording(Path(session))
        else:
            with open_chosen() as store:
                found = recording_of(store, record_of(store, session, prefer=("session", "trace")))
    missing = found.missing()
    for span_id, reason in list(missing.items())[:3]:
        note(f"call {span_id} cannot be answered: {reason}")
    if len(missing) == len(found.calls):
        raise Failure(f"No call of session {found.session_id} can be answered.", USAGE)
    return found


def _fork(recording: SessionRecording, given: dict[str, Any]) -> Fork | None:
    from turnspan_records.again.rerun.forks import Fork

    call = given["fork"]
    changes = {name: given[name] for name in _CHANGES if given[name] not in (None, "")}
    if not call:
        if changes or given["times"] != 1:
            raise Failure("--fork CALL names the call whose request is to be changed.", USAGE)
        return None
    try:
        span_id = recording.call(call).span_id
    except KeyError:
        count = len(recording.calls)
        raise Failure(f"{call!r} is no call: give a call's id, or 1 to {count}.", USAGE) from None
    if "tools" in changes:
        changes["tools"] = _tools(changes["tools"])
    return Fork(span_id, **changes)


def _tools(path: Path) -> Sequence[Any]:
    try:
        tools = json.loads(path.read_bytes())
    except ValueError as error:
        raise Failure(f"{path} is no JSON: {error}.", USAGE) from None
    if not isinstance(tools, list):
        raise Failure(f"{path} holds no JSON array of tools.", USAGE)
    return tuple(tools)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
