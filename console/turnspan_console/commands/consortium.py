"""``turnspan consortium``: runs in which several models answer and an arbiter decides."""

from __future__ import annotations

import click

from turnspan_console.commands._empty_results import explain, print_found
from turnspan_console.failures import FINDING, Failure
from turnspan_console.lazy import Lazy
from turnspan_console.options import (
    format_option,
    open_chosen,
    read_window,
    store_option,
    window_options,
)

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
@window_options
@format_option(*_FORMATS)
@store_option
@click.pass_context
def command(
    context: click.Context,
    since: str | None,
    until: str | None,
    project: str,
    limit: int,
    format_: str,
) -> None:
    """List the consortium runs, newest first; or show RUN: the members' answers side by side, and
    the arbiter's decision.

    RUN is a run's id; six characters are enough.

    \b
      turnspan consortium --since 7d
      turnspan consortium 2xQ4aTnAk7
    """
    if context.invoked_subcommand is not None:
        return
    from turnspan_records.consortium.runs import consortium_runs

    window = read_window(since, until)
    with open_chosen() as store:
        result = consortium_runs(store, project=project, window=window, limit=limit)
        if not result.rows:
            explain(store, "no consortium runs", project=project, window=window)
    print_found(result, format_)


@click.command("consortium")
@click.argument("id_", metavar="RUN")
@click.option("--full", is_flag=True, help="Show long texts whole (a pipe always gets them whole).")
@click.option("--format", "format_", type=click.Choice(_FORMATS), help="The output format.")
@store_option
@click.pass_context
def one_run(context: click.Context, id_: str, full: bool, format_: str | None) -> None:
    """Show RUN: the members' answers and the arbiter's decision."""
    from turnspan_console.ids import one
    from turnspan_console.output import Output
    from turnspan_records.consortium.run_detail import consortium_run

    if format_ is None:  # before the id
        format_ = context.parent.params["format_"] if context.parent else _FORMATS[0]
    output = Output()
    with open_chosen() as store:
        found = one(store, id_, prefer=("consortium",))
        if found.kind != "consortium":
            raise Failure(
                f"{id_!r} is a {found.kind} and no consortium run: `turnspan consortium` lists "
                "those.",
                FINDING,
            )
        try:
            shown = consortium_run(store, found.project, found.id)
        except KeyError:
            raise Failure(f"The run {found.id} has just been removed.", FINDING) from None
    if format_ == "json":
        output.json(shown)
        return
    from turnspan_console.panels.consortium_run import print_run

    print_run(shown, output, full=full)
