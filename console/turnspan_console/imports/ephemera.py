"""``turnspan import ephemera``: a wiki agent's log, from PostgreSQL, MariaDB or MySQL."""

from __future__ import annotations

from typing import Any

import click

from turnspan_console.imports._home_tables import import_table, table_options


@click.command("ephemera", short_help="Import a wiki agent's table ephemera_agent_log.")
@table_options
def command(dsn: str, **options: Any) -> None:
    """Import the table ephemera_agent_log from PostgreSQL, MariaDB or MySQL.

    DSN is postgresql://user@host:5432/database or mariadb://user@host:3306/database. Set the
    password in PGPASSWORD or MYSQL_PWD, or type it when asked: other users can see a password in
    the DSN. It is never stored.

    A row becomes a turn and its model call. Outcome, flag and notes become judgments.
    """
    from turnspan_records.importing.home_tables.log import Ephemera

    import_table(Ephemera, dsn, "ephemera_agent_log", **options)
