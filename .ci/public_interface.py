"""What others may build on: public names of Python, commands with their options, variables.

`public_interface.txt` beside this file keeps a line a name, with the version that it came with:

    turnspan.agent 0.1.0
    turnspan.old 0.1.0 deprecated=0.3.0
    turnspan.gone 0.1.0 deprecated=0.3.0 removed=0.4.0

`make reference` adds new names and drops those that no release had. The rest is written by hand,
and `violations` says where it breaks the policy of docs/reference/public-names.md.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import click

from turnspan import __version__, config
from turnspan_console.cli import turnspan as command_line

ROOT: Final = Path(__file__).resolve().parent.parent
LEDGER: Final = Path(__file__).with_name("public_interface.txt")
PACKAGES: Final = ("turnspan", "turnspan.testing", "turnspan_records", "turnspan_clickhouse")
_RELEASE: Final = re.compile(r"^## \[?(\d[^\] ]*)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class PublicName:
    """A name, the version that it came with, and those that ended it; empty: none has."""

    name: str
    since: str
    deprecated: str = ""
    removed: str = ""

    def line(self) -> str:
        """As it stands in the ledger."""
        ends = (("deprecated", self.deprecated), ("removed", self.removed))
        return " ".join([f"{self.name} {self.since}", *(f"{k}={v}" for k, v in ends if v)])


def read(text: str) -> dict[str, PublicName]:
    """The names of a ledger."""
    found: dict[str, PublicName] = {}
    for line in text.splitlines():
        name, since, *ends = line.rsplit(" ", 1 + line.count("="))
        found[name] = replace(PublicName(name, since), **dict(end.split("=") for end in ends))
    return found


def released(changelog: str) -> set[str]:
    """The versions that the change log has a section for."""
    return set(_RELEASE.findall(changelog))


def current() -> set[str]:
    """Every public name of this source."""
    names = {name for package in PACKAGES for name in _of_package(package)}
    names |= {f"variable {option.variable}" for option in config.OPTIONS}
    return names | set(_commands(command_line, "turnspan"))


def _of_package(package: str) -> Iterator[str]:
    module = importlib.import_module(package)
    for name in module.__all__:
        value = getattr(module, name)
        yield f"{package}.{name}"
        if inspect.isfunction(value):
            yield from (f"{package}.{name}({each})" for each in _parameters(value))
        elif inspect.isclass(value):
            own = [each for each in value.__mro__ if each.__module__.startswith("turnspan")]
            members = {member for each in own for member in vars(each)}
            members.update(getattr(value, "__dataclass_fields__", ()))
            yield from (f"{package}.{name}.{each}" for each in members if each[0] != "_")


def _parameters(function: Any) -> Iterator[str]:
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind not in kinds:
            yield parameter.name


def _commands(command: click.Command, path: str) -> Iterator[str]:
    yield f"command {path}"
    for option in command.params:
        if isinstance(option, click.Option) and not option.hidden:
            yield from (f"command {path} {name}" for name in option.opts if name[:2] == "--")
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            if inner is not None and not inner.hidden:
                yield from _commands(inner, f"{path} {name}")


def updated(ledger: Mapping[str, PublicName], names: Iterable[str], releases: set[str]) -> str:
    """The ledger with new names, and without those that no release had."""
    names = set(names)
    kept = {name: one for name, one in ledger.items() if name in names or one.since in releases}
    new = {name: PublicName(name, __version__) for name in names - kept.keys()}
    return "".join(f"{one.line()}\n" for _, one in sorted((kept | new).items()))


def violations(
    ledger: Mapping[str, PublicName], names: Iterable[str], releases: set[str]
) -> list[str]:
    """Where released names have gone, or are to go, without a cycle of deprecation."""
    names = set(names)
    found: list[str] = []
    for name, one in ledger.items():
        if one.since not in releases:
            continue
        if name not in names and not one.removed:
            found.append(f"{name} is gone: deprecate it for a minor version first")
        elif one.removed and (
            one.deprecated not in releases or _minor(one.deprecated) >= _minor(one.removed)
        ):
            found.append(f"{name} was removed in the version that deprecated it, or before")
        elif one.removed and name in names:
            found.append(f"{name} is there, although it was removed in {one.removed}")
    return found


def _minor(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:2])


def page() -> Iterator[str]:
    """The parts of docs/reference/public-names.md below its head."""
    ledger = read(LEDGER.read_text(encoding="utf-8"))
    yield (
        "- A name is public if it is in this list: what a package exports, the parameters and "
        "members of that, a command, its options, and a variable of the environment.\n"
        "- A public name that has been in a release is deprecated for at least one minor version "
        "before it goes. While it is deprecated it works, warns with `DeprecationWarning` (a "
        "command: on its standard error), and the change log says what to use instead.\n"
        "- Tables, columns and views of the store stay readable: `turnspan migrate` brings an "
        "older store along, and a column that goes leaves the views last.\n"
        "- What is not in the list may change in any version. So may texts that people read.\n"
        "- Until 1.0 a minor version may break, after a deprecation."
    )
    yield (
        "The list of all names, with their parameters and members, is "
        "[public_interface.txt](../../.ci/public_interface.txt)."
    )
    for package in PACKAGES:
        yield f"## {package}"
        module = importlib.import_module(package)
        rows = [
            f"| `{name}` | {ledger[f'{package}.{name}'].since} | "
            f"{ledger[f'{package}.{name}'].deprecated} |"
            for name in sorted(module.__all__)
        ]
        yield "\n".join(["| name | since | deprecated since |", "| --- | --- | --- |", *rows])


def write() -> None:
    """Write the ledger anew."""
    before = read(LEDGER.read_text(encoding="utf-8")) if LEDGER.exists() else {}
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    LEDGER.write_text(updated(before, current(), released(changelog)), encoding="utf-8")
