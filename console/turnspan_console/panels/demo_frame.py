"""What every demonstration does: record what is played, and say where the records are."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from turnspan_console.output import Output, note

if TYPE_CHECKING:
    from turnspan_clickhouse.store.dsn import Dsn


@dataclass
class Landed:
    """What became of the records; known once the block is over."""

    ok: bool = False


@contextlib.contextmanager
def recorded(
    store: str, *, service: str, project: str, exporters: Sequence[str] = ("turnspan",)
) -> Generator[Landed]:
    """Record what is done inside, of the SDKs as well; afterwards say what has not landed."""
    import turnspan

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


def print_next(
    dsn: Dsn, commands: Sequence[Sequence[str]], output: Output, *, also: Sequence[object] = ()
) -> None:
    """Where the records are, and what can be asked next: arguments of ``turnspan``."""
    from rich.text import Text

    from turnspan_clickhouse.ship.first_run import typed
    from turnspan_console import styles

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


def quoted(argument: str) -> str:
    """An argument as a person types it: in double quotes where single ones are in it or it has
    blanks."""
    if shlex.quote(argument) == argument:
        return argument
    plain = not any(one in argument for one in '"$`\\!')
    return f'"{argument}"' if plain else shlex.quote(argument)
