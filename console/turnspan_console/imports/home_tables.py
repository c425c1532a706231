"""The importers of tables that teams log into themselves, in PostgreSQL, MariaDB or MySQL."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from turnspan_console.options import optional, together, valued
from turnspan_console.output import note

if TYPE_CHECKING:
    from turnspan_records.importing.home_tables.log import HomeTable

_table = together(
    click.argument("dsn", metavar="DSN"),
    optional("--table", "NAME", "The table, or SCHEMA.TABLE."),
    valued(
        "--time-zone",
        "UTC",
        "The zone of times without one, as Europe/Berlin. Give the same at every import.",
        metavar="ZONE",
    ),
)
"""The DSN, ``--table`` and ``--time-zone``."""


@click.command(short_help="Import a coding agent's table agent_telemetry.")
@_table
def agent_telemetry(dsn: str, **options: Any) -> HomeTable:
    """Import the table agent_telemetry from PostgreSQL, MariaDB or MySQL.

    DSN is postgresql://user@host:5432/database or mariadb://user@host:3306/database. Set the
    password in PGPASSWORD or MYSQL_PWD, or type it when asked: other users can see a password in
    the DSN. It is never stored.

    An llm_call row becomes a model call with its messages and tools, a turn_summary row a turn. The
    project is the row's project_id.

    \b
      turnspan import agent-telemetry postgresql://ada@db:5432/agents
    """
    from turnspan_records.importing.home_tables.telemetry_log import AgentTelemetry

    return _log(AgentTelemetry, dsn, "agent_telemetry", **options)


@click.command(short_help="Import a wiki agent's table ephemera_agent_log.")
@_table
def ephemera(dsn: str, **options: Any) -> HomeTable:
    """Import the table ephemera_agent_log from PostgreSQL, MariaDB or MySQL.

    DSN is postgresql://user@host:5432/database or mariadb://user@host:3306/database. Set the
    password in PGPASSWORD or MYSQL_PWD, or type it when asked: other users can see a password in
    the DSN. It is never stored.

    A row becomes a turn and its model call. Outcome, flag and notes become judgments.

    \b
      turnspan import ephemera mariadb://ada@db:3306/wiki
    """
    from turnspan_records.importing.home_tables.log import Ephemera

    return _log(Ephemera, dsn, "ephemera_agent_log", **options)


def _log(
    kind: Callable[..., HomeTable],
    dsn: str,
    default_table: str,
    *,
    table: str | None,
    time_zone: str,
) -> HomeTable:
    """The log in a table, whose database is closed when the command ends."""
    from dataclasses import replace

    from turnspan_records.importing.home_tables.address import parse_address

    zone = _zone(time_zone)
    address = parse_address(dsn, default_table)
    if table:
        address = replace(address, table=table)
    ask: Callable[[], str] = partial(click.prompt, "Password", hide_input=True, err=True)
    log = kind(address, zone=zone, ask_password=ask if sys.stdin.isatty() else None)
    if log.missing:
        note(f"The table has no {', '.join(log.missing)}: records are made without.")
    return click.get_current_context().with_resource(log)


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
