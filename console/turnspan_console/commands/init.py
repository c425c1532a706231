"""``turnspan init``: what a project uses, how it is recorded, and the lines that turn it on."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from turnspan_console.failures import FINDING, USAGE, Failure
from turnspan_console.options import flag, format_option, store_option, store_text
from turnspan_console.output import Output
from turnspan_console.values import counted

if TYPE_CHECKING:
    from turnspan_console.checks.check import Check
    from turnspan_console.checks.project import Project


@dataclass(frozen=True, slots=True)
class ProjectSetup:
    """What ``turnspan init`` found and did."""

    project: str
    files: int
    """Python files and notebooks that were read."""
    unread: list[str]
    """Files that could not be read, with the reason."""
    checks: list[Check]
    """The libraries, and what one call of each installed client proved."""
    file: str
    """Where the lines go; empty where that is not known."""
    diff: str
    """The change as a unified diff; empty where the lines are there or the file is left alone."""
    reason: str
    """Why there is no diff."""
    written: bool
    without_code: str
    """The command that records the program without a change to its code."""
    store: str
    """Where the records go: a DSN without a password."""


@click.command("init", short_help="Set up recording for the project in this folder.")
@click.argument(
    "file", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
@flag("--write", "Write the lines into the file; otherwise only show them.")
@format_option("text", "json")
@store_option
def command(file: Path | None, write: bool, format_: str) -> None:
    """Find out which GenAI libraries the project in this folder uses, and how each is recorded.

    It shows the lines that turn recording on and where they go (FILE, or where the program
    begins), the command that records without them, and proves with a call to a model server on
    this machine that records arrive. It runs none of the project's code.

    \b
      turnspan init
      turnspan init --write
      turnspan init app/main.py --write
    """
    from turnspan_console.checks.project import survey

    project = survey(Path())
    if not project.libraries:
        raise Failure(
            f"{project.files} Python files here, and none imports a GenAI library or HTTP client "
            "that Turnspan records: run it in the folder of the program.",
            FINDING,
        )
    done = _set_up(project, file, write=write)
    Output().answer(done, format_, _print)
    if any(one.level == "fail" for one in done.checks):
        raise Failure("Not every call was recorded: see the remedies above.", FINDING)


def _set_up(project: Project, file: Path | None, *, write: bool) -> ProjectSetup:
    from turnspan_clickhouse.store.dsn import for_recording
    from turnspan_console.checks.check import guarded
    from turnspan_console.checks.project import library_checks
    from turnspan_console.checks.proof import proof_checks
    from turnspan_console.checks.setup_lines import UnusualFileError, setup_edit

    likely = project.chosen()
    one = file or (Path(likely[0].path) if len(likely) == 1 else None)
    diff, reason, written = "", "", False
    if one is None:
        named = ", ".join(found.path for found in likely)
        several = f"The program may begin in {named}: name the file, as in `turnspan init FILE`."
        reason = several if likely else "No file begins a program: name it, `turnspan init FILE`."
    else:
        try:
            edit = setup_edit(one, project.name)
            diff = edit.diff
            reason = "" if diff else f"{one} has the lines: nothing is to be written."
            if diff and write:
                edit.write()
                written = True
        except UnusualFileError as error:
            reason = f"{one} is left alone: {error}. Put the lines in by hand."
        except OSError as error:
            raise Failure(f"{one} cannot be written ({error.strerror}).", USAGE) from None
    path = "" if one is None else one.as_posix()
    begun = next((each.command for each in project.entry_points if each.path == path), "")
    if not begun and path.endswith(".py"):
        begun = f"python {shlex.quote(path)}"
    store = str(for_recording(store_text())[0])
    named = f"TURNSPAN_STORE={shlex.quote(store)} " if store_text() else ""
    variables = f"{named}OTEL_SERVICE_NAME={project.name} OTEL_TRACES_EXPORTER=turnspan"
    return ProjectSetup(
        project=project.name,
        files=project.files,
        unread=project.unread,
        checks=[
            *library_checks(project),
            *guarded("proof", "clients", lambda: proof_checks(project.libraries)),
        ],
        file=path,
        diff=diff,
        reason=reason,
        written=written,
        without_code=f"{variables} opentelemetry-instrument {begun}" if begun else "",
        store=store,
    )


def _print(done: ProjectSetup, output: Output) -> None:
    from turnspan_clickhouse.ship.first_run import typed
    from turnspan_console.panels.verdict import print_checks

    output.title(f"Project {done.project}", f"{counted(done.files, 'Python file')} read")
    output.lines(f"  not read: {one}" for one in done.unread)
    print_checks(done.checks, output)
    output.line()
    if done.diff:
        output.title(f"{'Written into' if done.written else 'These lines go into'} {done.file}")
        output.lines(f"  {line}" for line in done.diff.rstrip("\n").split("\n"))
        if not done.written:
            output.line(f"To write them: {typed()} init {shlex.quote(done.file)} --write")
    else:
        output.line(done.reason)
    if done.without_code:
        output.line(f"Without a change to the code: {done.without_code}")
    where = " where TURNSPAN_STORE names it" if store_text() else ""
    output.line(f"Records go to {done.store}{where}. After a run, see them: {typed()} console")
