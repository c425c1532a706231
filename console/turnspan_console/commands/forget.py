"""``turnspan forget``: remove records for good."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from turnspan_console.failures import FINDING, USAGE, Failure, failing
from turnspan_console.judgment_command import author_option
from turnspan_console.options import (
    flag,
    open_chosen,
    optional,
    say_other_nodes,
    several,
    store_option,
    text_option,
)
from turnspan_console.output import Output, note

if TYPE_CHECKING:
    from turnspan_clickhouse.store.client import Store
    from turnspan_records.access.copies_registry import Folder
    from turnspan_records.keeping import ForgetSubject
    from turnspan_records.keeping.subject_keys import SubjectKind


@click.command("forget", short_help="Remove a session, user, turn or project for good.")
@optional("--session", "ID", "A session.")
@optional("--user", "ID", "A user: all their sessions.")
@optional("--turn", "ID", "A turn and its nested turns.")
@optional("--project", "NAME", "A whole project. With another option: only in this project.")
@flag("--again", "Remove what came back after earlier forgetting.")
@text_option("--reason", "TEXT", "The reason. It is stored, so put no names in it.")
@author_option("Who forgets.  [default: you]")
@several("--text", "TEXT", "Also search for this text at the end. Repeatable.")
@several(
    "--copy",
    "DIR",
    "Treat this archive or set, which names no store, as one of this store. Repeatable.",
    "copies",
    kind=click.Path(path_type=Path),
)
@flag("--dry-run", "Only show what would be removed.")
@flag("--yes", "Do not ask.")
@store_option
def command(
    session: str | None,
    user: str | None,
    turn: str | None,
    project: str | None,
    again: bool,
    reason: str,
    author: str,
    text: Sequence[str],
    copies: Sequence[Path],
    dry_run: bool,
    yes: bool,
) -> None:
    """Remove all records of a session, user, turn or project, from the store and from this
    machine's spool, archives and exported sets. A tombstone keeps them from coming back. At the end
    it searches everything for remains.

    \b
      turnspan forget --user ada@example.org --reason "asked for it, 2026-11-22"
      turnspan forget --session thread-7 --dry-run
    """
    from turnspan_clickhouse.store.migrations import store_id
    from turnspan_console.panels.erasure import print_erased, print_plan
    from turnspan_records.access import copies_registry as registry
    from turnspan_records.keeping import KeepingError, forget, forget_again, plan

    output = Output()
    named: dict[SubjectKind, str | None] = {"session": session, "user": user, "turn": turn}
    given: list[tuple[SubjectKind, str]] = [(k, id_) for k, id_ in named.items() if id_ is not None]
    if not given and project is not None:
        given, project = [("project", project)], None
    if len(given) + again != 1 or not all(id_ for _, id_ in given):
        raise Failure(
            "Name what to forget: --session, --user, --turn, --project or --again.", USAGE
        )
    if dry_run and copies:
        raise Failure("--copy is remembered for good: do not combine it with --dry-run.", USAGE)
    if dry_run and again:
        raise Failure("--again removes at once: do not combine it with --dry-run.", USAGE)
    with open_chosen() as store, failing(KeepingError, code=FINDING):
        adopted = [_adoptable(store, path) for path in copies]
        found = [] if again else _found(store, *given[0], project or "")
        for erasure in [plan(store, subject) for subject in found]:
            print_plan(erasure, output, [folder.path for folder in adopted])
        if dry_run:
            return
        if found and not yes:
            _ask(found)
        # For good: so when nothing is left that could refuse.
        for folder in adopted:
            registry.register(folder.kind, folder.path, store_id(store))
        if again:
            erased = [forget_again(store, texts=text, stage=_stage)]
        else:
            erased = [
                forget(store, one, reason=reason, author=author, texts=text, stage=_stage)
                for one in found
            ]
        say_other_nodes(store.dsn, "forget --again")
        for done in erased:
            print_erased(done, output)


def _adoptable(store: Store, path: Path) -> Folder:
    from turnspan_clickhouse.store.migrations import store_id
    from turnspan_records.access import copies_registry as registry

    folder = registry.adoptable(path, store_id(store))
    if folder is None:
        raise Failure(
            f"{path} is not an archive or set of this machine that names no store.", USAGE
        )
    return folder


def _found(store: Store, kind: SubjectKind, id_: str, project: str) -> list[ForgetSubject]:
    from turnspan_records.keeping import subjects

    found = subjects(store, kind, id_, project)
    if not found:
        where = f" in project {project!r}" if project else ""
        raise Failure(f"There are no records of {kind} {id_!r}{where}.", FINDING)
    if len(found) > 1 and kind != "user":
        names = ", ".join(one.project for one in found)
        raise Failure(f"There is a {kind} {id_!r} in {names}: choose one with --project.", USAGE)
    return found


def _ask(found: Sequence[ForgetSubject]) -> None:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise Failure("Nothing was forgotten: without a terminal, --yes is required.", USAGE)
    what = " and ".join(f"{one.kind} {one.id} of project {one.project}" for one in found)
    note(f"{what}: this cannot be undone.")
    if not click.confirm("Forget it?", err=True):
        raise Failure("Nothing was forgotten.", FINDING)


def _stage(text: str) -> None:
    if sys.stderr.isatty():
        note(f"{text} ...")
