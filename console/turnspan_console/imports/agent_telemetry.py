"""``turnspan import agent-telemetry``: a coding agent's log, from PostgreSQL, MariaDB or MySQL."""

from __future__ import annotations

from typing import Any

import click

from turnspan_console.imports._home_tables import import_table, table_options


@click.command("agent-telemetry", short_help="The table agent_telemetry of a coding agent.")
@table_options
def command(dsn: str, **options: Any) -> None:
    """Bring in the table agent_telemetry from PostgreSQL, MariaDB or MySQL.

    DSN is postgresql://user@host:5432/database or mariadb://user@host:3306/database. Its password
    is taken from PGPASSWORD or MYSQL_PWD, or asked for; one that stands in the DSN can be seen in
    the list of processes. It is stored nowhere.

    A row llm_call becomes a model call with its messages and tools, a row turn_summary a turn. The
    project of a record is the row's project_id.
    """
    from turnspan_records.importing.home_tables.telemetry_log import AgentTelemetry

    import_table(AgentTelemetry, dsn, "agent_telemetry", **options)
