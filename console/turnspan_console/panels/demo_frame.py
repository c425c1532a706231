"""What every demonstration does: play, record, land, show, and say where the records are."""

from __future__ import annotations

import contextlib
import os
import shlex
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from importlib.util import find_spec
from typing import Protocol

from rich.text import Text

import turnspan
from turnspan_clickhouse.errors import SchemaChangedError
from turnspan_clickhouse.ship.first_run import typed
from turnspan_clickhouse.ship.shipper import ship
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.dsn import Dsn, data_folder
from turnspan_console import styles
from turnspan_console.failures import USAGE, Failure
from turnspan_console.options import chosen_dsn, store_text
from turnspan_console.output import Output, note
from turnspan_console.panels.bars import working
from turnspan_records.access import open_dsn


class Demonstration(Protocol):
    """What plays something and shows what was recorded of it."""

    def need_example(self) -> None:
        """Raise ``Failure`` where something is missing that it plays with."""
        ...

    def play(self, store: str) -> list[str]:
        """Play, recorded into the store of a DSN; what is returned is what ``show`` is given."""
        ...

    def show(
        self, store: Store, dsn: Dsn, played: list[str], begun: datetime, output: Output, /
    ) -> None:
        """Show what was recorded since it began."""
        ...


def demonstrate(example: Demonstration, *, show: bool = True) -> None:
    """Play an example into the chosen store and show what it is about.

    Without ``show`` the records of an embedded store wait for who reads it next.
    """
    with working("Reading the recorded runs"):
        example.need_example()
    if os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        raise Failure("OTEL_SDK_DISABLED is true, so nothing would be recorded: unset it.", USAGE)
    dsn, text = chosen_store()
    begun = datetime.now(timezone.utc)
    if not dsn.embedded:  # say at once that the server is away, not after the runs
        opened(dsn).close()
    played = example.play(text)
    if not dsn.embedded:  # however long that takes: readers wait a short time
        for error in ship(dsn).errors:
            note(error)
    if not show:
        return
    with opened(dsn) as store:
        example.show(store, dsn, played, begun, Output())


def need_sdks() -> None:
    """Say what to install, where an SDK is missing that the agents call models with."""
    missing = [name for name in ("openai", "anthropic") if find_spec(name) is None]
    if missing:
        raise Failure(
            f"The demonstration needs the {' and '.join(missing)} SDK: "
            "pip install 'turnspan[demo]'.",
            USAGE,
        )


def need_clone(module: str, name: str, option: str) -> None:
    """Say where an example is, where it is not: it is no part of the package."""
    need_sdks()
    if find_spec(module) is None:
        raise Failure(
            f"The {name} is one of the examples, which a clone of the repository has: "
            f"run `make demo ARGS={option}` there.",
            USAGE,
        )


@dataclass
class Landed:
    """What became of the records; known once the block is over."""

    ok: bool = False


@contextlib.contextmanager
def recorded(
    store: str, *, service: str, project: str, exporters: Sequence[str] = ("turnspan",)
) -> Generator[Landed]:
    """Record what is done inside, of the SDKs as well; afterwards say what has not landed."""
    turnspan.configure(
        service_name=service, project=project, store=store, exporters=list(exporters)
    )
    turnspan.instrument()
    known = Landed()
    try:
        yield known
    finally:
        landed = turnspan.shutdown()
        known.ok = landed.ok
        if landed.remaining or landed.dropped:
            dropped = ", ".join(f"{reason} {n}" for reason, n in landed.dropped.items()) or "none"
            note(f"not everything landed at once: {landed.remaining} waiting, dropped: {dropped}")


def chosen_store() -> tuple[Dsn, str]:
    """The store and its DSN's text: a folder of the demonstration's own unless one is named."""
    named = store_text() or os.environ.get("TURNSPAN_STORE", "")
    if named.strip():
        return chosen_dsn(), named
    dsn = Dsn(scheme="chdb", path=data_folder() / "demo")
    text = str(dsn)
    _set_aside_if_outdated(dsn)
    return dsn, text


def _set_aside_if_outdated(dsn: Dsn) -> None:
    """Begin a new store where the demonstration's own has the tables of another version."""
    assert dsn.path is not None
    if not (dsn.path / "engine").exists():
        return
    try:
        opened(dsn).close()
    except SchemaChangedError:
        aside = dsn.path.with_name(f"demo-{time.strftime('%Y%m%dT%H%M%S')}")
        dsn.path.rename(aside)
        note(f"the last demo's store is of another version: now {aside}")


def opened(dsn: Dsn) -> Store:
    """The store, open, with its tables."""
    what = "Loading ClickHouse's engine" if dsn.embedded else f"Opening {dsn}"
    with working(what):
        return open_dsn(dsn, note=note, create=True)


def print_next(
    dsn: Dsn, commands: Sequence[Sequence[str]], output: Output, *, also: Sequence[object] = ()
) -> None:
    """Where the records are, and what can be asked next: arguments of ``turnspan``."""
    output.line()
    output.line(Text("The records are in ", style=styles.TITLE).append(str(dsn)))
    for line in also:
        output.line(line if isinstance(line, Text) else str(line))
    output.line()
    output.line("Ask them more:")
    hidden = "  # put the password back in" if dsn.password else ""
    output.line(
        Text(f"  export TURNSPAN_STORE={shlex.quote(str(dsn))}{hidden}", style=styles.FAINT)
    )
    for arguments in commands:
        said = " ".join([typed(), *map(quoted, arguments)])
        output.line(Text(f"  {said}", style=styles.FAINT))
    output.line()
    output.line("Or look at them in a browser:")
    output.line(Text(f"  {typed()} console", style=styles.FAINT))


def quoted(argument: str) -> str:
    """An argument as a person types it: in double quotes where single ones are in it or it has
    blanks."""
    if shlex.quote(argument) == argument:
        return argument
    plain = not any(one in argument for one in '"$`\\!')
    return f'"{argument}"' if plain else shlex.quote(argument)
