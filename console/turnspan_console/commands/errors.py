"""``turnspan errors``: what fails, and what the model did next."""

from __future__ import annotations

from functools import partial

import click

from turnspan_console.commands._empty_results import explain
from turnspan_console.failures import FINDING
from turnspan_console.options import (
    format_option,
    open_chosen,
    read_window,
    store_option,
    window_options,
)


@click.command("errors", short_help="List failures by message, or the failures of a tool.")
@click.argument("tool", required=False, default="")
@window_options
@click.option("--full", is_flag=True, help="Show long texts whole (a pipe always gets them whole).")
@format_option("text", "json")
@store_option
def command(
    tool: str,
    since: str | None,
    until: str | None,
    project: str,
    limit: int,
    full: bool,
    format_: str,
) -> None:
    """List failed model calls, tools and turns, grouped by message; numbers, ids and quoted parts
    are masked. The rate is the share of all calls of that model or tool.

    With a TOOL: show arguments that failed beside arguments that worked (--limit of each), and what
    the model did after a failure. Exit code 1 if nothing failed.
    """
    from turnspan_console.output import Output
    from turnspan_console.panels.failures import print_shapes, print_tool
    from turnspan_records.screens.errors import error_shapes, tool_failures

    window = read_window(since, until)
    output = Output()
    with open_chosen() as store:
        if tool:
            closely = tool_failures(store, tool, project=project, window=window, each=limit)
            told: object = closely
            show = partial(print_tool, closely, output, full=full)
            nothing = not any(one.failed for one in closely.fed)
        else:
            shapes = error_shapes(store, project=project, window=window, limit=limit)
            told = shapes
            show = partial(print_shapes, shapes, output)
            nothing = not shapes.shapes
        if nothing:
            what = f"no failure of a tool {tool!r}" if tool else "nothing that failed"
            explain(store, what, project=project, window=window)
    if format_ == "json":
        output.json(told)
    elif not nothing:
        show()
    if nothing:
        raise click.exceptions.Exit(FINDING)
