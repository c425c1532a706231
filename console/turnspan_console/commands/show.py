"""``turnspan show``: everything about one record."""

from __future__ import annotations

import click

from turnspan_console.failures import FINDING, USAGE, Failure
from turnspan_console.options import format_option, open_chosen, store_option


@click.command("show", short_help="Show a session, turn, trace, call, tool, context or span.")
@click.argument("id_", metavar="ID")
@click.option("--full", is_flag=True, help="Show long texts whole (a pipe always gets them whole).")
@click.option(
    "--request", is_flag=True, help="Print the exact messages a model call sent, as JSON, and stop."
)
@format_option("text", "json")
@store_option
def command(id_: str, full: bool, request: bool, format_: str) -> None:
    """Show everything about the record with this ID.

    ID is the id of a session, turn, trace, model call, tool call, context or span (as Jaeger shows
    them), or its beginning of at least six characters.
    """
    from turnspan_console.ids import one
    from turnspan_console.output import Output
    from turnspan_records.detail import detail
    from turnspan_records.messages import ContentMissingError, exact_messages

    output = Output()
    with open_chosen() as store:
        found = one(store, id_, prefer=("call",) if request else ())
        if request:
            if found.kind != "call":
                raise Failure(f"{id_!r} is a {found.kind}: --request needs a model call.", USAGE)
            try:
                output.json(exact_messages(store, found.project, found.id))
            except ContentMissingError as error:
                raise Failure(str(error), FINDING) from None
            return
        try:
            shown = detail(store, found)
        except KeyError:
            raise Failure(f"The {found.kind} {found.id} has just been removed.", FINDING) from None
    if format_ == "json":
        from turnspan_console.details import as_json

        output.json(as_json(shown))
        return
    from turnspan_console.details import print_detail

    print_detail(shown, output, full=full)
