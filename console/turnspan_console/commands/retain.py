"""``turnspan retain``: archive and delete records by a policy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from turnspan_console.failures import FINDING, USAGE, Failure, failing
from turnspan_console.options import flag, open_chosen, optional, say_other_nodes, store_option
from turnspan_console.output import Output
from turnspan_console.values import counted

if TYPE_CHECKING:
    from turnspan_records.keeping import Retained


@click.command("retain", short_help="Archive good turns, delete bad and old ones.")
@flag("--dry-run", "Show what would be deleted; change nothing.", "dry")
@flag("--apply", "Archive and delete.", "apply_")
@optional(
    "--policy",
    "FILE",
    "The policy, as TOML.  [default: the policy that --print-policy prints]",
    "file",
    kind=click.Path(path_type=Path),
)
@flag("--print-policy", "Print the policy as TOML, and exit.", "show")
@store_option
def command(dry: bool, apply_: bool, file: Path | None, show: bool) -> None:
    """Archive and delete turns flagged 1, delete turns flagged -1, and delete unflagged turns after
    a window. Turn summaries and judgments stay.

    It reads each archive back and compares it before it deletes, and counts broken references
    afterwards. If it is killed, the next run finishes the work.

    \b
      turnspan retain --print-policy > policy.toml
      turnspan retain --dry-run --policy policy.toml
      turnspan retain --apply --policy policy.toml
    """
    from turnspan_console.panels.bars import Bars
    from turnspan_records.keeping import KeepingError, Policy, PolicyError, read_policy, retain

    output = Output()
    with failing(PolicyError, code=USAGE):
        policy = Policy() if file is None else read_policy(file)
    if show:
        output.line(policy.as_toml().rstrip("\n"))
        return
    if dry == apply_:
        raise Failure("Give --dry-run to see what would be deleted, or --apply to do it.", USAGE)
    with open_chosen() as store, Bars() as bars, failing(KeepingError, code=FINDING):
        done = retain(store, policy, apply=apply_, progress=bars.show)
    say_other_nodes(store.dsn, "retain")
    _print(done, output)


def _print(done: Retained, output: Output) -> None:
    from turnspan_console.panels.results import print_block

    output.title(counted(done.rows, "row"), "deleted" if done.applied else "would be deleted")
    rows = [(one.table, one.reason, one.rows, one.bytes) for one in done.going]
    print_block(("table", "why", "rows", "size_bytes"), rows, output)
    lives = [
        (one.table, one.before or "-", f"{one.days} days" if one.days else "no end")
        for one in done.lives
    ]
    print_block(("table", "time_to_live", "becomes"), lives, output)
    checks = [(one.what, one.count) for one in done.checks]
    print_block(("afterwards there are", "number"), checks, output)
    from rich.text import Text

    from turnspan_console import styles

    notes: list[tuple[str, str]] = []
    if done.archive is not None and done.manifest is not None:
        notes.append((f"{done.manifest.rows:,} rows are archived in ", str(done.archive)))
    for name in done.continued:
        what = "finished" if done.applied else "waits to be finished"
        notes.append((f"an interrupted pass {what}: ", name))
    if done.node_by_node:
        notes.append(("this node only: ", "run it on each node of the cluster"))
    if notes:
        output.line()
    for before, said in notes:
        output.line(Text(before, style=styles.FAINT).append(said))
