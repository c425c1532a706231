"""``turnspan migrate``: bring the store's tables and views up to date."""

from __future__ import annotations

import click

from turnspan_console.options import chosen_dsn, store_option


@click.command("migrate", short_help="Create or update the store's tables and views.")
@click.option("--dry-run", is_flag=True, help="Print the SQL that would run, and change nothing.")
@click.option("--all", "all_", is_flag=True, help="With --dry-run: the whole schema's SQL.")
@store_option
def command(dry_run: bool, all_: bool) -> None:
    """Create or update the tables and views of the store.

    An embedded store is migrated whenever it is read; a server is if the user may create tables.
    Every step may run twice: a migration that was stopped is mended by running it again.
    """
    from turnspan_clickhouse.migrate import SCHEMA_VERSION, migrate, pending, render
    from turnspan_clickhouse.stores import open_store

    dsn = chosen_dsn()
    if dry_run and (all_ or (dsn.path is not None and not (dsn.path / "engine").exists())):
        _print_sql(render(dsn))
        return
    with open_store(dsn) as store:
        if dry_run:
            waiting = {f"{one.version:04d}_{one.name}" for one in pending(store)}
            _print_sql([step for step in render(dsn) if step[0] in waiting])
            return
        applied = migrate(store)
    for one in applied:
        click.echo(f"{one.version:04d}_{one.name}")
    what = f"{len(applied)} applied" if applied else "nothing to do"
    click.echo(f"turnspan: {what}, {dsn} is at schema version {SCHEMA_VERSION}", err=True)


def _print_sql(steps: list[tuple[str, str]]) -> None:
    for name, sql in steps:
        click.echo(f"-- {name}\n{sql};\n")
    if not steps:
        click.echo("turnspan: nothing to do", err=True)
