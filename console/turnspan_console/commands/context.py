"""``turnspan context``: what was put into a prompt, what was left out, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from turnspan_console.failures import FINDING, Failure
from turnspan_console.options import format_option, open_chosen, store_option

if TYPE_CHECKING:
    from turnspan_clickhouse.store.client import Store
    from turnspan_console.output import Output
    from turnspan_records.contexts import AssembledContext
    from turnspan_records.screens.composition import Composition

_KIND = {"call": "model call", "tool": "tool call", "context": "context assembly"}


@click.command(
    "context", short_help="Show what went into a prompt's context, and what was left out."
)
@click.argument("id_", metavar="ID")
@click.option("--full", is_flag=True, help="Show long texts whole (a pipe always gets them whole).")
@format_option("text", "json")
@store_option
def command(id_: str, full: bool, format_: str) -> None:
    """Show the contexts assembled for prompts: budget, steps, items kept and dropped.

    ID belongs to an assembly, or to a model call, turn, session or trace that used one; six
    characters are enough. For a call without an assembly it shows the prompt's parts.
    """
    from turnspan_console.output import Output

    output = Output()
    with open_chosen() as store:
        found = _found(store, id_)
    if not isinstance(found, list):
        _print_parts(found, output, format_)
        return
    if format_ == "json":
        output.json(found)
        return
    from turnspan_console.panels.context import print_context

    for number, context in enumerate(found):
        if number:
            output.line()
        print_context(context, output, full=full)


def _print_parts(made: Composition, output: Output, format_: str) -> None:
    if format_ == "json":
        output.json(made)
        return
    output.line("This call has no recorded context assembly. Its request, by bytes:")
    for part in made.parts:
        what = "message" if part.messages == 1 else "messages"
        tokens = f"~{part.tokens:,} tokens"
        output.line(f"  {part.name:<14}{tokens:>16}{part.messages:>8,} {what}")
    if made.input_tokens is not None:
        output.line(f"  {'in all':<14}{f'{made.input_tokens:,} tokens':>16}")
    if made.missing:
        output.line(f"  {made.missing:,} more were not recorded, or have been pruned.")


def _found(store: Store, id_: str) -> list[AssembledContext] | Composition:
    from turnspan_console.ids import one
    from turnspan_records.contexts import contexts
    from turnspan_records.screens.composition import composition

    named = one(store, id_, prefer=("context", "session"))
    found = contexts(store, named)
    if not found and named.kind == "call":
        made = composition(store, named.project, named.id)
        if made.parts:
            return made
    if not found:
        kind = _KIND.get(named.kind, named.kind)
        raise Failure(
            f"No context assembly is recorded of {kind} {named.id}: "
            "`with turnspan.context_assembly(...)` records one.",
            FINDING,
        )
    return found
