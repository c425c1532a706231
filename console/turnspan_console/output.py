"""Where a command writes: a terminal gets colour and its width, a pipe gets plain full text."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console, RenderableType
    from rich.text import Text

PIPE_WIDTH = 100
"""Prose is wrapped at this width where there is no terminal; tables are never cut there."""


class Output:
    """Standard output, as a terminal or as a pipe.

    ``color`` forces colour on or off; ``None`` decides by the terminal, NO_COLOR and FORCE_COLOR.
    """

    def __init__(self, color: bool | None = None) -> None:
        self.terminal = sys.stdout.isatty()
        self._color = _wants_color(self.terminal) if color is None else color
        self._console: Console | None = None

    @property
    def width(self) -> int:
        """Columns to fill."""
        return self.console.width if self.terminal else PIPE_WIDTH

    @property
    def console(self) -> Console:
        """The rich console that turns styles into escape codes, or drops them."""
        if self._console is None:
            from rich.console import Console

            self._console = Console(
                file=sys.stdout,
                force_terminal=self._color,
                no_color=not self._color,
                color_system="auto" if self._color and self.terminal else _COLORS[self._color],
                width=None if self.terminal else PIPE_WIDTH,
                highlight=False,
                markup=False,
                emoji=False,
                soft_wrap=False,
            )
        return self._console

    def line(self, text: Text | str = "") -> None:
        """One line, never wrapped, cut or padded."""
        if isinstance(text, str):
            click.echo(text, color=True)
            return
        with self.console.capture() as capture:
            self.console.print(text, soft_wrap=True, end="")
        click.echo(capture.get(), color=True)

    def lines(self, texts: Iterable[Text | str]) -> None:
        """Several lines."""
        for text in texts:
            self.line(text)

    def prose(self, renderable: RenderableType) -> None:
        """Text wrapped to the width, lines without trailing blanks."""
        with self.console.capture() as capture:
            self.console.print(renderable)
        for line in capture.get().splitlines():
            click.echo(line.rstrip(), color=True)

    def json(self, value: Any) -> None:
        """A value as JSON: indented for a terminal and for people alike."""
        click.echo(json.dumps(value, ensure_ascii=False, indent=2, default=str))


_COLORS: dict[bool, Any] = {True: "standard", False: None}


def _wants_color(terminal: bool) -> bool:
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return terminal and os.environ.get("TERM") != "dumb"
