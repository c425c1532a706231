"""What forgetting would remove, and what it has removed, on the screen."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from turnspan_console.failures import FINDING, Failure
from turnspan_console.output import Output
from turnspan_console.panels.results import print_block, print_rows
from turnspan_records.keeping import Erased, ErasurePlan


def print_plan(one: ErasurePlan, output: Output, adopted: Sequence[Path]) -> None:
    """Write what forgetting a subject would remove; ``adopted`` are copies that are now ours."""
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


def print_erased(done: Erased, output: Output) -> None:
    """Write what was removed. Raises ``Failure`` where something is left."""
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
    rows = [(one.where, one.what, one.number) for one in proof.left]
    print_block(("where", "what", "number"), rows, output)
    raise Failure(
        "Something is left: see where. Other people's records that name it stay; run "
        "`turnspan forget` again to remove the rest.",
        FINDING,
    )
