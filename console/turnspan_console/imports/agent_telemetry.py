"""``turnspan import agent-telemetry``: a coding agent's log, from PostgreSQL, MariaDB or MySQL."""

from __future__ import annotations

from typing import Any

import click

from turnspan_console.imports._home_tables import import_table, table_options


@click.command("agent-telemetry", short_help="Import a coding agent's table agent_telemetry.")
@table_options
def command(dsn: str, **options: Any) -> None:
    """Import the table agent_telemetry from PostgreSQL, MariaDB or MySQL.

    DSN is postgresql://user@host:5432/database or mariadb://user@host:3306/database. Set the
    password in PGPASSWORD or MYSQL_PWD, or type it when asked: other users can see a password in
    the DSN. It is never stored.

    An llm_call row becomes a model call with its messages and tools, a turn_summary row a turn. The
    project is the row's project_id.
    """
    from turnspan_records.importing.home_tables.telemetry_log import AgentTelemetry

    import_table(AgentTelemetry, dsn, "agent_telemetry", **options)
