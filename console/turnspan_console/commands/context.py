"""``turnspan context``: what was put into a prompt, what was left out, and why."""

from __future__ import annotations

import click

from turnspan_console.failures import FINDING, Failure
from turnspan_console.options import format_option, full_option, open_chosen, store_option
from turnspan_console.output import Output

_KIND = {"call": "model call", "tool": "tool call", "context": "context assembly"}


@click.command(
    "context", short_help="Show what went into a prompt's context, and what was left out."
)
@click.argument("id_", metavar="ID")
@full_option
@format_option("text", "json")
@store_option
def command(id_: str, full: bool, format_: str) -> None:
    """Show the contexts assembled for prompts: budget, steps, items kept and dropped.

    ID belongs to an assembly, or to a model call, turn, session or trace that used one; six
    characters are enough. For a call without an assembly it shows the prompt's parts.

    \b
      turnspan context ccd428d9
    """
    from turnspan_console.ids import record_of
    from turnspan_console.panels.context import print_context
    from turnspan_records.contexts import contexts
    from turnspan_records.screens.composition import composition

    output, parts = Output(), None
    with open_chosen() as store:
        record = record_of(store, id_, prefer=("context", "session"))
        found = contexts(store, record)
        if not found and record.kind == "call":
            parts = composition(store, record.project, record.id)
    if not found and not (parts and parts.parts):
        raise Failure(
            f"No context assembly is recorded of {_KIND.get(record.kind, record.kind)} "
            f"{record.id}: `with turnspan.context_assembly(...)` records one.",
            FINDING,
        )
    if format_ == "json":
        output.json(parts or found)
    elif parts:
        output.line("This call has no recorded context assembly. Its request, by bytes:")
        for part in parts.parts:
            tokens = f"~{part.tokens:,} tokens"
            messages = "message" if part.messages == 1 else "messages"
            output.line(f"  {part.name:<14}{tokens:>16}{part.messages:>8,} {messages}")
        if parts.input_tokens is not None:
            output.line(f"  {'in all':<14}{f'{parts.input_tokens:,} tokens':>16}")
        if parts.missing:
            output.line(f"  {parts.missing:,} more were not recorded, or have been pruned.")
    for number, context in enumerate(found if format_ == "text" else ()):
        if number:
            output.line()
        print_context(context, output, full=full)
