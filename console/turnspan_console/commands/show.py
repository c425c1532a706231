"""``turnspan show``: everything about one record."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from turnspan_console.failures import FINDING, USAGE, Failure, failing
from turnspan_console.options import (
    flag,
    format_option,
    full_option,
    html_option,
    open_chosen,
    store_option,
)
from turnspan_console.output import Output

if TYPE_CHECKING:
    from turnspan_clickhouse.store.client import Store
    from turnspan_records.lookup import RecordRef


@click.command("show", short_help="Show the record with an id: a session, turn, call, lineage, ...")
@click.argument("id_", metavar="ID")
@full_option
@flag("--request", "Print the exact messages a model call sent, as JSON, and stop.")
@flag("--curl", "Print a model call as a curl command.")
@flag("--python", "Print a model call as a Python program.")
@html_option
@format_option("text", "json")
@store_option
def command(
    id_: str, full: bool, request: bool, curl: bool, python: bool, html: str, format_: str
) -> None:
    """Show everything about the record with this ID.

    ID belongs to a session, turn, trace, model call, tool call, context, span (as Jaeger shows it),
    lineage, rollout, attempt, artifact or consortium run; six characters are enough. --request,
    --curl, --python and --html are for model calls. --curl and --python print no key: it is read
    from the environment, as the provider's SDK does. `turnspan replay` saves a session.

    \b
      turnspan show 2d7bcff0
      turnspan show 2d7bcff0 --format json
    """
    from turnspan_console.ids import detail_of, record_of, still_there
    from turnspan_console.panels.details import as_json, print_detail
    from turnspan_console.panels.html_file import save
    from turnspan_records.screens.saved import call_html

    forms = {"--request": request, "--curl": curl, "--python": python, "--html": html}
    chosen = [name for name, wanted in forms.items() if wanted]
    if len(chosen) > 1:
        raise Failure(f"{' and '.join(chosen)} exclude each other: give one of them.", USAGE)
    output = Output()
    with open_chosen() as store:
        found = record_of(store, id_, prefer=("call",) if chosen else ())
        if chosen:
            if found.kind != "call":
                raise Failure(f"{id_!r} is a {found.kind}: {chosen[0]} needs a model call.", USAGE)
            if html:
                with still_there("call"):
                    save(html, found.id, call_html(store, found.project, found.id))
            else:
                _print_request(store, found, output, chosen[0])
            return
        shown = detail_of(store, found)
    if format_ == "json":
        output.json(as_json(shown))
    else:
        print_detail(shown, output, full=full)


def _print_request(store: Store, found: RecordRef, output: Output, form: str) -> None:
    from turnspan_records.messages import ContentMissingError, exact_messages
    from turnspan_records.screens.request import exact_request
    from turnspan_records.screens.request_code import NoCodeError, as_curl, as_python

    with failing(ContentMissingError, NoCodeError, code=FINDING):
        if form == "--request":
            output.json(exact_messages(store, found.project, found.id))
            return
        told = exact_request(store, found.project, found.id)
        text = as_curl(told) if form == "--curl" else as_python(told)
        output.line(text.removesuffix("\n"))
