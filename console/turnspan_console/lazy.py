"""Groups of commands whose modules are imported when they are asked for: starting stays quick."""

from __future__ import annotations

import importlib
import keyword
import pkgutil
from types import ModuleType
from typing import Any

import click


class Lazy(click.Group):
    """The modules of a package, each one command; those named with ``_`` in front are none."""

    def __init__(self, *args: Any, package: ModuleType, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._package = package

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands' names, sorted."""
        del ctx
        modules = pkgutil.iter_modules(self._package.__path__)
        names = (module.name for module in modules if not module.name.startswith("_"))
        return sorted(name.rstrip("_").replace("_", "-") for name in names)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name, whose module is imported now."""
        if cmd_name not in self.list_commands(ctx):
            return None
        name = cmd_name.replace("-", "_")
        if keyword.iskeyword(name):
            name += "_"
        module = importlib.import_module(f"{self._package.__name__}.{name}")
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


def _nearest(name: str, known: list[str]) -> str:
    import difflib

    near = difflib.get_close_matches(name, known, 1)
    return f" Did you mean {near[0]!r}?" if near else ""
