"""Where a command writes: a terminal gets colour and its width, a pipe gets plain full text.

Nothing else in the command writes: what is unfit to be seen (``visible``) is marked here, whoever
forgot it, in all that is not our own colour.
"""

from __future__ import annotations

import csv
import json
import logging
import os
import sys
import traceback
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

import click

from turnspan_console.control_characters import UNFIT, cell, json_text, mark, visible
from turnspan_console.values import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from rich.console import Console
    from rich.text import Text

T = TypeVar("T")

JSON_VERSION = 1
"""The version of what ``--format json`` prints (docs/reference/json-output.md): a higher one where
a field goes or becomes another type."""

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
            click.echo(visible(text), color=True)
            return
        with self.console.capture() as capture:
            self.console.print(_marked(text), soft_wrap=True, end="")
        click.echo(capture.get(), color=True)

    def title(self, text: str, aside: str = "") -> None:
        """A line that says what follows, and faintly what there is to say of it."""
        from rich.text import Text

        from turnspan_console import styles

        title = Text(text, style=styles.TITLE)
        self.line(title.append(f"  {aside}" if aside else "", style=styles.FAINT))

    def lines(self, texts: Iterable[Text | str]) -> None:
        """Several lines."""
        for text in texts:
            self.line(text)

    def prose(self, text: Text) -> None:
        """Text wrapped to the width, lines without trailing blanks."""
        with self.console.capture() as capture:
            self.console.print(_marked(text))
        for line in capture.get().splitlines():
            click.echo(line.rstrip(), color=True)

    def answer(self, value: T, format_: str, write: Callable[[T, Output], None]) -> None:
        """A value as ``json``, or else for a person, which ``write`` does."""
        if format_ == "json":
            self.json(value)
        else:
            write(value, self)

    def json(self, value: Any) -> None:
        """A value, or a record, as JSON: indented for a terminal and for people alike."""
        click.echo(json_text(json.dumps(value, ensure_ascii=False, indent=2, default=plain)))

    def json_line(self, value: Any) -> None:
        """A value, or a record, as JSON on one line."""
        click.echo(json_text(json.dumps(value, ensure_ascii=False, default=plain)))

    def csv(self, rows: Iterable[Sequence[str]], *, raw: bool = False) -> None:
        """Rows of texts as csv: visible, and none of them a formula for a spreadsheet, unless
        ``raw`` is wanted."""
        writer = csv.writer(_Lines(), lineterminator="\r\n")
        for row in rows:
            writer.writerow(row if raw else [cell(one) for one in row])


def note(text: str) -> None:
    """A sentence to people on standard error."""
    tell(f"turnspan: {text}")


def tell(text: str, *, dim: bool = False) -> None:
    """A line on standard error."""
    click.secho(visible(text), err=True, dim=dim)


def log_to_people() -> None:
    """Have the log written to standard error, with a time; a record may quote what came in."""
    handler = logging.StreamHandler()
    handler.setFormatter(_Marked("%(asctime)s %(message)s"))
    logging.basicConfig(handlers=[handler], level=logging.INFO)


class _Lines:
    """Ends lines with a line feed. What the writer is told ends them is what it quotes in a text:
    before Python 3.13 a carriage return in one stood without quotes, and readers began a new row.
    """

    def write(self, line: str) -> object:
        return sys.stdout.write(line.removesuffix("\r\n") + "\n")


class _Marked(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return visible(super().format(record))


def unexpected(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """``sys.excepthook``: a traceback may quote what was recorded."""
    for text in traceback.format_exception(kind, error, trace):
        sys.stderr.write(visible(text))


def _marked(text: Text) -> Text:
    if not UNFIT.search(text.plain):
        return text
    found = list(UNFIT.finditer(text.plain))
    pieces = text.divide([at for one in found for at in one.span()])
    for one, piece in zip(found, pieces[1::2], strict=True):
        piece.plain = mark(one)
    joined = text.blank_copy()
    for piece in pieces:
        joined.append_text(piece)
    return joined


_COLORS: dict[bool, Any] = {True: "standard", False: None}


def _wants_color(terminal: bool) -> bool:
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return terminal and os.environ.get("TERM") != "dumb"
