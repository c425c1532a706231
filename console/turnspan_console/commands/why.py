"""``turnspan why``: why a turn stopped."""

from __future__ import annotations

import click

from turnspan_console.failures import FINDING, Failure
from turnspan_console.options import format_option, open_chosen, store_option


@click.command("why", short_help="Show why a turn stopped: the rule and its evidence.")
@click.argument("id_", metavar="ID")
@click.option("--full", is_flag=True, help="Show long texts whole (a pipe always gets them whole).")
@format_option("text", "json")
@store_option
def command(id_: str, full: bool, format_: str) -> None:
    """Show why a turn stopped: its stop reason, the rule, the evidence, and its last model and tool
    calls.

    ID is a turn's id; six characters are enough. A session's id means its last turn, a model call's
    or tool call's id the turn around it.
    """
    from turnspan_console.ids import one
    from turnspan_console.output import Output
    from turnspan_records.screens.turn_end import turn_end

    output = Output()
    with open_chosen() as store:
        found = one(store, id_, prefer=("turn", "session"))
        try:
            end = turn_end(store, found)
        except KeyError:
            raise Failure(
                f"The {found.kind} {found.id} has no turn: give the id of a turn, or of a session, "
                "a model call or a tool call in one.",
                FINDING,
            ) from None
    if format_ == "json":
        output.json(end)
        return
    from turnspan_console.panels.turn_end import print_turn_end

    print_turn_end(end, output, full=full)
