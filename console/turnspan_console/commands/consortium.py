"""``turnspan consortium``: runs in which several models answer and an arbiter decides."""

from __future__ import annotations

import importlib
import pkgutil

import click

from turnspan_console import consortium


class _Subcommands(click.Group):
    """Loads a subcommand's module only when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return sorted(module.name for module in pkgutil.iter_modules(consortium.__path__))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        command: click.Command = importlib.import_module(
            f"{consortium.__name__}.{cmd_name}"
        ).command
        return command


@click.group("consortium", cls=_Subcommands, short_help="Runs of several models and an arbiter.")
def command() -> None:
    """Consortium runs: several models answer, an arbiter decides."""
