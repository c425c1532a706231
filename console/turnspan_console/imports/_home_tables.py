"""What the imports of home-made tables do alike: find the table, ask for a password, run."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from turnspan_console.failures import UNAVAILABLE, failing
from turnspan_console.imports._frame import import_options, run
from turnspan_console.options import together
from turnspan_console.output import note

if TYPE_CHECKING:
    from turnspan_records.importing.home_tables.log import HomeTable


table_options = together(
    click.argument("dsn", metavar="DSN"),
    click.option("--table", metavar="NAME", help="The table, or SCHEMA.TABLE."),
    click.option(
        "--time-zone",
        metavar="ZONE",
        default="UTC",
        show_default=True,
        help="The zone of times without one, as Europe/Berlin. Give the same at every import.",
    ),
    import_options,
)
"""The DSN, ``--table`` and ``--time-zone``, and what every import has."""


def import_table(
    kind: Callable[..., HomeTable],
    dsn: str,
    default_table: str,
    *,
    table: str | None,
    time_zone: str,
    project: str,
    again: bool,
    format_: str,
) -> None:
    """Import a table.

    Raises:
        Failure: as ``run``, or the database cannot be read.
    """
    from dataclasses import replace

    from turnspan_records.importing.home_tables.address import parse_address
    from turnspan_records.importing.sources import SourceLogError

    zone = _zone(time_zone)
    with failing(SourceLogError, code=UNAVAILABLE):
        address = parse_address(dsn, default_table)
        if table:
            address = replace(address, table=table)
        log = kind(address, zone=zone, ask_password=_password if _may_ask() else None)
    with log:
        if log.missing:
            note(f"The table has no {', '.join(log.missing)}: records are made without.")
        run(log, project=project, again=again, format_=format_, own_projects=True)


def _zone(name: str) -> Any:
    from datetime import timezone
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    if name.upper() == "UTC":  # known everywhere; the others come with the system
        return timezone.utc
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise click.BadParameter(
            "this time zone is unknown. Write one such as Europe/Berlin.",
            param_hint="--time-zone",
        ) from None


def _may_ask() -> bool:
    return sys.stdin.isatty()


def _password() -> str:
    answer: str = click.prompt("Password", hide_input=True, err=True)
    return answer
