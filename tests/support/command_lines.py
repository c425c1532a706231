"""Command lines as pages and helps show them, read by the commands themselves."""

from __future__ import annotations

import contextlib
import itertools
import shlex
from unittest.mock import patch

import click

from turnspan_console.cli import turnspan


def command_of(words: list[str]) -> tuple[click.Command, list[str]]:
    """The command that the words behind ``turnspan`` name, and its arguments."""
    command: click.Command = turnspan
    while words and isinstance(command, click.Group):
        below = command.get_command(click.Context(command), words[0])
        if below is None:
            break
        command, words = below, words[1:]
    return command, words


def words_of(line: str) -> list[str]:
    """The words of a line behind ``turnspan``, up to where a shell sends the output or a comment
    begins."""
    words = shlex.shlex(line, posix=True, punctuation_chars="|<>;&")
    words.whitespace_split = True
    ends = ("|", "<", ">", ";", "&", "&&")
    return [*itertools.takewhile(lambda one: one not in ends, words)]


def _as_it_is(_kind: click.Path, value: object, *_: object) -> object:
    return value


def require_typed(line: str) -> None:
    """Read a line behind ``turnspan`` as the command does; ids and files are not looked up.

    Raises:
        click.UsageError: it has no such options or arguments.
    """
    command, arguments = command_of(words_of(line))
    converted = patch.object(click.Path, "convert", _as_it_is)
    with converted, contextlib.suppress(click.exceptions.NoArgsIsHelpError):
        command.make_context(command.name, arguments, parent=click.Context(turnspan))
