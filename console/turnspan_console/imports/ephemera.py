"""``turnspan import ephemera``: a wiki agent's log, from PostgreSQL, MariaDB or MySQL."""

from __future__ import annotations

from typing import Any

import click

from turnspan_console.imports._home_tables import import_table, table_options


@click.command("ephemera", short_help="The table ephemera_agent_log of a wiki agent.")
@table_options
def command(dsn: str, **options: Any) -> None:
    """Bring in the table ephemera_agent_log from PostgreSQL, MariaDB or MySQL.

    DSN is postgresql://user@host:5432/database or mariadb://user@host:3306/database. Its password
    is taken from PGPASSWORD or MYSQL_PWD, or asked for; one that stands in the DSN can be seen in
    the list of processes. It is stored nowhere.

    A row becomes a turn and its model call. Its outcome, flag and notes become judgments by import.
    """
    from turnspan_records.importing.home_tables.log import Ephemera

    import_table(Ephemera, dsn, "ephemera_agent_log", **options)
