"""``turnspan consortium``: runs in which several models answer and an arbiter decides."""

from __future__ import annotations

from functools import partial

import click

from turnspan_console.commands._listing import Listing, listing_options
from turnspan_console.lazy import Lazy
from turnspan_console.options import full_option, open_chosen, store_option
from turnspan_console.output import Output

_FORMATS = ("table", "json")


class RunsGroup(Lazy):
    """Whatever is no subcommand is a run's id."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The subcommand that was named, or else the one that shows a run."""
        if args[0] in self.list_commands(ctx):
            return super().resolve_command(ctx, args)
        return "", one_run, args


@click.group(
    "consortium",
    cls=RunsGroup,
    group="turnspan.commands",
    prefix="consortium.",
    invoke_without_command=True,
    subcommand_metavar="[RUN | COMMAND] ...",
    short_help="Consortium runs: several models answer, an arbiter decides.",
)
@listing_options(*_FORMATS)
@click.pass_context
def command(context: click.Context, listing: Listing) -> None:
    """List the consortium runs, newest first; or show RUN: the members' answers side by side, and
    the arbiter's decision.

    RUN is a run's id; six characters are enough.

    \b
      turnspan consortium --since 7d
      turnspan consortium 2xQ4aTnAk7
    """
    if context.invoked_subcommand is not None:
        return
    from turnspan_records.consortium.run_detail import consortium_runs

    listing.answer(
        lambda store: consortium_runs(store, **listing.records, limit=listing.limit),
        "no consortium runs",
    )


@click.command("consortium")
@click.argument("id_", metavar="RUN")
@full_option
@click.option("--format", "format_", type=click.Choice(_FORMATS), help="The output format.")
@store_option
@click.pass_context
def one_run(context: click.Context, id_: str, full: bool, format_: str | None) -> None:
    """Show RUN: the members' answers and the arbiter's decision."""
    from turnspan_console.ids import run_of
    from turnspan_console.panels.consortium_run import print_run

    before: str = context.parent.params["format_"] if context.parent else _FORMATS[0]
    with open_chosen() as store:
        run = run_of(store, id_)
    Output().answer(run, format_ or before, partial(print_run, full=full))
