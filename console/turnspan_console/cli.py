"""The ``turnspan`` command; each module in ``commands/`` is one subcommand."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

import click

from turnspan_console import commands
from turnspan_console.failures import explained
from turnspan_console.options import store_option
from turnspan_console.output import Output
from turnspan_console.visible import visible

SECTIONS: dict[str, tuple[str, ...]] = {
    "Read": (
        *("diagnose", "sessions", "turns", "replay", "show", "context"),
        *("lineage", "compare", "sql"),
    ),
    "Judge": ("review", "annotate", "prefer", "rank", "withdraw", "quality"),
    "Curate": ("export", "summaries"),
    "Keep": ("retain", "restore", "forget"),
    "Look after": ("status", "doctor", "migrate", "ship", "receive"),
}
"""Where the help lists a command; one that is not named is listed under "More"."""


class Commands(click.Group):
    """Loads a subcommand's module only when it is asked for: starting stays quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands, in the order of the help."""
        del ctx
        modules = pkgutil.iter_modules(commands.__path__)
        found = {module.name.replace("_", "-") for module in modules}
        placed = [name for names in SECTIONS.values() for name in names if name in found]
        return placed + sorted(found - set(placed))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name, whose module is imported now."""
        if cmd_name not in self.list_commands(ctx):
            return None
        module = importlib.import_module(f"{commands.__name__}.{cmd_name.replace('-', '_')}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that was typed; of a misspelt one, which may have been meant."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            near = _nearest(args[0], self.list_commands(ctx)) if args else ""
            raise click.UsageError(f"{error.message}{near}", ctx) from None

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


def _nearest(name: str, known: list[str]) -> str:
    import difflib

    near = difflib.get_close_matches(name, known, 1)
    return f" Did you mean {near[0]!r}?" if near else ""


def _print_version(context: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        from turnspan import __version__

        Output().line(f"turnspan {__version__}")
        context.exit()


@click.group(
    cls=Commands,
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
