"""``turnspan forget``: remove records for good."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from turnspan_console.failures import FINDING, USAGE, Failure, failing
from turnspan_console.judgment_command import author_of
from turnspan_console.options import open_chosen, say_other_nodes, store_option
from turnspan_console.output import Output, note

if TYPE_CHECKING:
    from turnspan_clickhouse.store.client import Store
    from turnspan_records.copies_registry import Folder
    from turnspan_records.keeping import Erased, ErasurePlan, ForgetSubject


@click.command("forget", short_help="Remove a session, user, turn or project for good.")
@click.option("--session", metavar="ID", help="A session.")
@click.option("--user", metavar="ID", help="A user: all their sessions.")
@click.option("--turn", metavar="ID", help="A turn and its nested turns.")
@click.option(
    "--project", metavar="NAME", help="A whole project. With another option: only in this project."
)
@click.option("--again", is_flag=True, help="Remove what came back after earlier forgetting.")
@click.option(
    "--reason", default="", metavar="TEXT", help="The reason. It is stored, so put no names in it."
)
@click.option("--author", metavar="NAME", help="Who forgets.  [default: you]")
@click.option(
    "--text",
    multiple=True,
    metavar="TEXT",
    help="Also search for this text at the end. Repeatable.",
)
@click.option(
    "--copy",
    "copies",
    multiple=True,
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Treat this archive or set, which names no store, as one of this store. Repeatable.",
)
@click.option("--dry-run", is_flag=True, help="Only show what would be removed.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@store_option
def command(
    session: str | None,
    user: str | None,
    turn: str | None,
    project: str | None,
    again: bool,
    reason: str,
    author: str | None,
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
    from turnspan_records.keeping import KeepingError

    output = Output()
    named = {"session": session, "user": user, "turn": turn}
    given = [(kind, id_) for kind, id_ in named.items() if id_ is not None]
    if not given and project is not None:
        given = [("project", project)]
    if len(given) + again != 1 or not all(id_ for _, id_ in given):
        raise Failure(
            "Name what to forget: --session, --user, --turn, --project or --again.", USAGE
        )
    if dry_run and copies:
        raise Failure("--copy is remembered for good: do not combine it with --dry-run.", USAGE)
    with open_chosen() as store, failing(KeepingError, code=FINDING):
        adopted = _adoptable(store, copies)
        if again:
            _adopt(store, adopted)
            _print(_again(store, text), output)
            return
        (kind, id_), within = given[0], "" if given[0][0] == "project" else project or ""
        for done in _forget(
            store, output, (kind, id_, within), (reason, author_of(author)), text,
            adopted, dry_run=dry_run, yes=yes,
        ):  # fmt: skip
            _print(done, output)


def _adoptable(store: Store, copies: Sequence[Path]) -> list[Folder]:
    from turnspan_clickhouse.store.migrations import store_id
    from turnspan_records import copies_registry as registry

    found: list[Folder] = []
    for path in copies:
        folder = registry.adoptable(path, store_id(store))
        if folder is None:
            raise Failure(
                f"{path} is not an archive or set of this machine that names no store.", USAGE
            )
        found.append(folder)
    return found


def _adopt(store: Store, folders: Sequence[Folder]) -> None:
    """For good: so when nothing is left that could refuse."""
    from turnspan_clickhouse.store.migrations import store_id
    from turnspan_records import copies_registry as registry

    for one in folders:
        registry.register(one.kind, one.path, store_id(store))


def _again(store: Store, texts: Sequence[str]) -> Erased:
    from turnspan_records.keeping import forget_again

    erased = forget_again(store, texts=texts, stage=_stage)
    say_other_nodes(store.dsn, "forget --again")
    return erased


def _forget(
    store: Store,
    output: Output,
    what: tuple[str, str, str],
    said: tuple[str, str],
    texts: Sequence[str],
    adopted: Sequence[Folder],
    *,
    dry_run: bool,
    yes: bool,
) -> list[Erased]:
    from turnspan_records.keeping import forget, plan

    found = _found(store, *what)
    plans = [plan(store, one) for one in found]
    for one in plans:
        _print_plan(one, output, [folder.path for folder in adopted])
    if dry_run:
        return []
    if not yes:
        _ask(found)
    _adopt(store, adopted)
    reason, author = said
    erased = [
        forget(store, one, reason=reason, author=author, texts=texts, stage=_stage) for one in found
    ]
    say_other_nodes(store.dsn, "forget --again")
    return erased


def _found(store: Store, kind: str, id_: str, project: str) -> list[ForgetSubject]:
    from turnspan_records.keeping import subjects

    found = [
        one
        for named in ("session", "user", "turn", "project")
        if named == kind
        for one in subjects(store, named, id_, project)
    ]
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


def _print_plan(one: ErasurePlan, output: Output, adopted: Sequence[Path]) -> None:
    from turnspan_console.panels.results import print_rows

    subject = one.subject
    output.title(f"{subject.kind} {subject.id}", f"of project {subject.project}")
    if one.forgotten_before:
        output.line("It was forgotten before; this finishes the work.")
    if one.rows:
        print_rows(("table", "rows"), [*one.rows.items()], output)
    mine = [path for path in one.copies.unknown if path in adopted]
    for path in (*one.copies.folders, *mine):
        output.line(f"  {path} contains it, and loses it")
    for path in (path for path in one.copies.unknown if path not in mine):
        output.line(
            f"  {path} may contain it but names no store: it stays unchanged unless you pass it as "
            "--copy"
        )
    for path, why in one.copies.failed.items():
        output.line(f"  {path} cannot be read: {why}")
    output.line()


def _print(done: Erased, output: Output) -> None:
    from turnspan_console.panels.results import print_rows

    total = sum(done.rows.values())
    copies = done.copies
    output.title(f"{total:,} rows forgotten")
    output.line(
        f"{done.spool.rows:,} rows in the spool, {copies.archived:,} in archives, "
        f"{copies.exported:,} lines in exported sets"
    )
    if done.spool.removed:
        output.line(f"{done.spool.removed} damaged segments that contain it were removed whole")
    proof = done.proof
    output.line(
        f"searched for {proof.words} words: {proof.rows:,} rows of {proof.tables} tables "
        f"({proof.columns} columns of text), {proof.files:,} files ({proof.bytes:,} bytes)"
    )
    if not proof.left:
        output.line("nothing is left")
        return
    output.line()
    rows = [(one.where, one.what, one.number) for one in proof.left]
    print_rows(("where", "what", "number"), rows, output)
    raise Failure(
        "Something is left: see where. Other people's records that name it stay; run "
        "`turnspan forget` again to remove the rest.",
        FINDING,
    )
