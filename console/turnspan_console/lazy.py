"""Groups of commands that are imported when they are asked for: starting stays quick.

A command is a module of a package, or an entry point, by which any distribution adds its own.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache, cached_property
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, NoReturn

import click

from turnspan_console.failures import USAGE, Failure

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

_OURS: Final = ("turnspan_console.", "turnspan_llm.")


class Lazy(click.Group):
    """The modules of a package, except those named with ``_`` in front, and the entry points of a
    group whose names begin with ``prefix`` and have no further dot. A module goes before an entry
    point of the same name."""

    def __init__(
        self,
        *args: Any,
        group: str,
        prefix: str = "",
        package: ModuleType | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self._group = group
        self._prefix = prefix
        self._package = package

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands' names, sorted."""
        del ctx
        return sorted({*self._modules, *self._points()})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name, imported now; of an entry point that cannot be loaded, a
        command that says so."""
        del ctx
        module = self._modules.get(cmd_name)
        if module is not None:
            return self.command_of(importlib.import_module(module).command)
        point = self._points().get(cmd_name)
        if point is None:
            return None
        try:
            return self.command_of(point.load())
        except (Exception, SystemExit) as error:  # noqa: BLE001  the other commands go on
            return _broken(point, error)

    def command_of(self, loaded: Any) -> click.Command:
        """The command that a module or an entry point holds. Raises ``TypeError`` where none is."""
        if not isinstance(loaded, click.Command):
            raise TypeError("it is no click.Command")
        return loaded

    @cached_property
    def _modules(self) -> dict[str, str]:
        if self._package is None:
            return {}
        modules = (module.name for module in pkgutil.iter_modules(self._package.__path__))
        return {
            name.rstrip("_").replace("_", "-"): f"{self._package.__name__}.{name}"
            for name in modules
            if not name.startswith("_")
        }

    def _points(self) -> dict[str, EntryPoint]:
        points = entry_points(self._group).items()
        names = {n.removeprefix(self._prefix): p for n, p in points if n.startswith(self._prefix)}
        return {name: point for name, point in names.items() if "." not in name}

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that was typed; of a misspelt one, which may have been meant."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            near = _nearest(args[0], self.list_commands(ctx)) if args else ""
            raise click.UsageError(f"{error.message}{near}", ctx) from None


@cache  # every distribution's file is read for it
def entry_points(group: str) -> dict[str, EntryPoint]:
    """The entry points of a group, by name. No distribution can replace one of Turnspan's own."""
    from importlib import metadata

    points = sorted(metadata.entry_points(group=group), key=lambda p: p.value.startswith(_OURS))
    return {point.name: point for point in points}


def _broken(point: EntryPoint, error: BaseException) -> click.Command:
    owner = "an unknown distribution" if point.dist is None else point.dist.name
    reason = " ".join(f"{type(error).__name__}: {error}".split())

    def refuse(**_: Any) -> NoReturn:
        raise Failure(
            f"{owner} adds this command, which cannot be loaded from {point.value} ({reason}): "
            f"update or uninstall {owner}.",
            USAGE,
        )

    return click.Command(
        point.name,
        callback=refuse,
        params=[click.Argument(["arguments"], nargs=-1, type=click.UNPROCESSED)],
        context_settings={"ignore_unknown_options": True},
        add_help_option=False,
        short_help=f"Cannot be loaded: update or uninstall {owner}.",
    )


def _nearest(name: str, known: list[str]) -> str:
    import difflib

    near = difflib.get_close_matches(name, known, 1)
    return f" Did you mean {near[0]!r}?" if near else ""
