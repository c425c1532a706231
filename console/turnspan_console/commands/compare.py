"""``turnspan compare``: answers side by side."""

from __future__ import annotations

import click

from turnspan_console.failures import USAGE, Failure
from turnspan_console.options import format_option, open_chosen, store_option
from turnspan_console.output import Output


@click.command(
    "compare", short_help="Show two to six answers side by side, with their differences."
)
@click.argument("ids", metavar="ID ID ...", nargs=-1, required=True)
@format_option("text", "json")
@store_option
def command(ids: tuple[str, ...], format_: str) -> None:
    """Show two to six answers side by side: question, version and result. Differences are marked.

    Each ID belongs to an attempt, a rollout (its final attempt), an artifact, a turn or a model
    call; six characters are enough.

    \b
      turnspan compare 2d7bcff0 20757a1c
    """
    from turnspan_console.ids import record_of, still_there
    from turnspan_console.panels.comparison import print_comparison
    from turnspan_records.loop.comparison import COMPARABLE, compare

    with open_chosen() as store:
        found = [record_of(store, id_, prefer=COMPARABLE) for id_ in ids]
        try:
            with still_there("record"):
                shown = compare(store, found)
        except ValueError as error:
            raise Failure(f"{str(error)[:1].upper()}{str(error)[1:]}.", USAGE) from None
    Output().answer(shown, format_, print_comparison)
