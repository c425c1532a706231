"""The ``turnspan`` command. Each module in ``commands/`` is one subcommand, and so is each entry
point of ``turnspan.commands``: ``consortium.group`` is a subcommand of ``consortium``."""

from __future__ import annotations

from typing import Any

import click

from turnspan_console import commands
from turnspan_console.control_characters import visible
from turnspan_console.failures import explained
from turnspan_console.lazy import Lazy
from turnspan_console.options import store_option
from turnspan_console.output import Output

SECTIONS: dict[str, tuple[str, ...]] = {
    "Begin": ("demo", "init"),
    "Read": (
        *("diagnose", "sessions", "turns", "errors", "replay", "why", "show", "find", "context"),
        *("diff", "lineage", "compare", "consortium", "week", "sql", "console"),
    ),
    "Judge": ("review", "annotate", "prefer", "rank", "withdraw", "judge", "steer", "quality"),
    "Code": ("blame", "survival"),
    "Try again": ("rerun", "dataset", "experiment", "gate"),
    "Curate": ("export", "summaries"),
    "Keep": ("retain", "restore", "forget"),
    "Look after": (
        *("status", "doctor", "watch", "migrate", "ship", "receive", "import", "hooks", "mcp"),
    ),
}
"""Where the help lists a command; one that is not named is listed under "More"."""


class Commands(Lazy):
    """The commands by section."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands, in the order of the help."""
        found = super().list_commands(ctx)
        placed = [name for names in SECTIONS.values() for name in names if name in found]
        return placed + [name for name in found if name not in placed]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands by section."""
        names = self.list_commands(ctx)
        sections = dict(SECTIONS)
        placed = {name for section in sections.values() for name in section}
        sections["More"] = tuple(name for name in names if name not in placed)
        for title, members in sections.items():
            rows = [
                (name, command.get_short_help_str(limit=90))
                for name in members
                if (command := self.get_command(ctx, name)) is not None
            ]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; its errors become sentences and exit codes."""
        with explained():
            try:
                return super().invoke(ctx)
            except click.UsageError as error:  # it may quote what was given
                raise click.UsageError(visible(error.format_message()), error.ctx) from None


def _print_version(context: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        from turnspan import __version__

        Output().line(f"turnspan {__version__}")
        context.exit()


@click.group(
    cls=Commands,
    package=commands,
    group="turnspan.commands",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="The store is --store, else TURNSPAN_STORE, else a folder in your home. "
    "Exit codes: 0 ok, 1 a finding or nothing found, 2 wrong usage, 3 the store cannot be used.",
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version and exit.",
)
@store_option
def turnspan() -> None:
    """The flight recorder of LLM agents: ask what they did, and why they stopped."""
