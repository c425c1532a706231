"""``turnspan forget``: what was recorded of somebody goes, everywhere, and stays away."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from turnspan_console.failures import FINDING, USAGE, Failure, failing
from turnspan_console.judging import author_of
from turnspan_console.options import open_chosen, say_other_nodes, store_option
from turnspan_console.output import Output, note

if TYPE_CHECKING:
    from turnspan_clickhouse.store.client import Store
    from turnspan_records.copies_registry import Folder
    from turnspan_records.keeping import Erased, ErasurePlan, ForgetSubject


@click.command("forget", short_help="Remove a session, user, turn or project for good.")
@click.option("--session", metavar="ID", help="A session.")
@click.option("--user", metavar="ID", help="A user: every session that they took part in.")
@click.option("--turn", metavar="ID", help="A turn, and the turns in it.")
@click.option("--project", metavar="NAME", help="A whole project; with another: only in it.")
@click.option("--again", is_flag=True, help="Whatever has come back of what was ever forgotten.")
@click.option("--reason", default="", metavar="TEXT", help="Why; it is kept, so name nobody.")
@click.option("--author", metavar="NAME", help="Who forgets.  [default: you]")
@click.option("--text", multiple=True, metavar="TEXT", help="Search for this, too, in the end.")
@click.option(
    "--copy",
    "copies",
    multiple=True,
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="An archive or set that does not say of which store it is: it is of this one.",
)
@click.option("--dry-run", is_flag=True, help="Only show what would go.")
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
    """Remove what is recorded of a session, a user, a turn or a project: from the store, and from
    the spool, the archives and the exported sets of this machine. A tombstone stays, so that
    nothing of it comes back. In the end everything is searched for what is left.

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
        raise Failure("Say what to forget: --session, --user, --turn, --project or --again.", USAGE)
    if dry_run and copies:
        raise Failure("--copy is kept for good: it does not go with --dry-run.", USAGE)
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
            raise Failure(f"{path} is no archive or set of this machine without a store.", USAGE)
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
        raise Failure(f"Nothing is recorded of {kind} {id_!r}{where}.", FINDING)
    if len(found) > 1 and kind != "user":
        names = ", ".join(one.project for one in found)
        raise Failure(f"There is a {kind} {id_!r} in {names}: say which with --project.", USAGE)
    return found


def _ask(found: Sequence[ForgetSubject]) -> None:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise Failure("Nothing was forgotten: there is nobody to ask here, so say --yes.", USAGE)
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
        output.line("It was forgotten before; what was begun then is finished.")
    if one.rows:
        print_rows(("table", "rows"), [*one.rows.items()], output)
    mine = [path for path in one.copies.unknown if path in adopted]
    for path in (*one.copies.folders, *mine):
        output.line(f"  it is in {path}, too, and goes there")
    for path in (path for path in one.copies.unknown if path not in mine):
        output.line(
            f"  {path} may hold it and does not say of which store it is: it stays as it is unless "
            "you say --copy with it"
        )
    for path, why in one.copies.failed.items():
        output.line(f"  {path} cannot be looked into: {why}")
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
        output.line(f"{done.spool.removed} damaged segments that named it were removed whole")
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
        "Something is left: see where. Other people's records that name it are theirs; of the "
        "rest, `turnspan forget` again removes what it can.",
        FINDING,
    )
