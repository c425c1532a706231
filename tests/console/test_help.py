"""The help of every command has an example that can be typed as it stands."""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Iterator
from unittest.mock import patch

import click
import pytest

from turnspan_console.cli import turnspan


def commands(group: click.Group, *names: str) -> Iterator[tuple[str, ...]]:
    """The words of every command below a group, and of the groups that do something themselves."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from commands(command, *names, name)
        if not isinstance(command, click.Group) or command.invoke_without_command:
            yield (*names, name)


def found(words: list[str]) -> tuple[click.Command, list[str]]:
    """The command that the words name, and the arguments behind them."""
    command: click.Command = turnspan
    while words and isinstance(command, click.Group):
        below = command.get_command(click.Context(command), words[0])
        if below is None:
            break
        command, words = below, words[1:]
    return command, words


def arguments_of(example: str) -> list[str]:
    """An example's words behind ``turnspan``, up to where a shell sends the output."""
    words = shlex.shlex(example, posix=True, punctuation_chars="|<>")
    words.whitespace_split = True
    return [*itertools.takewhile(lambda one: one not in ("|", "<", ">"), words)]


@pytest.mark.parametrize("words", [*commands(turnspan)], ids=" ".join)
def test_a_help_has_an_example_that_can_be_typed(words: tuple[str, ...]) -> None:
    """Its options and arguments are those of the command; ids and files are not looked up."""
    command, _ = found([*words])
    examples = re.findall(r"^\s+(?:.+ -- )?turnspan (.+)$", command.help or "", re.MULTILINE)
    own = [one for one in examples if tuple(arguments_of(one)[: len(words)]) == words]
    assert own, f"turnspan {' '.join(words)} --help shows no example"
    for example in own:
        meant, arguments = found(arguments_of(example))
        with patch.object(click.Path, "convert", lambda _self, value, *_: value):
            meant.make_context(meant.name, arguments, parent=click.Context(turnspan))
