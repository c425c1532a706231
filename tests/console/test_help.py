"""The help of every command has an example that can be typed as it stands."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click
import pytest

from support.command_lines import command_of, require_typed, words_of
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


@pytest.mark.parametrize("words", [*commands(turnspan)], ids=" ".join)
def test_a_help_has_an_example_that_can_be_typed(words: tuple[str, ...]) -> None:
    """Its options and arguments are those of the command."""
    command, _ = command_of([*words])
    examples = re.findall(r"^\s+(?:.+ -- )?turnspan (.+)$", command.help or "", re.MULTILINE)
    own = [one for one in examples if tuple(words_of(one)[: len(words)]) == words]
    assert own, f"turnspan {' '.join(words)} --help shows no example"
    for example in own:
        require_typed(example)
