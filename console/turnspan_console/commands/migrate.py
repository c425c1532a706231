"""``turnspan migrate``: bring the store's tables and views up to date."""

from __future__ import annotations

import click

from turnspan_console.options import chosen_dsn, flag, say_other_nodes, store_option
from turnspan_console.output import Output, note


@click.command("migrate", short_help="Create or update the store's tables and views.")
@flag("--dry-run", "Print the SQL that would run, and change nothing.")
@flag("--all", "With --dry-run: print the whole schema's SQL.", "all_")
@flag("--jaeger", "Also create the views that Jaeger reads.")
@flag("--jaeger-content", "The same, with prompts and replies.")
@store_option
def command(dry_run: bool, all_: bool, jaeger: bool, jaeger_content: bool) -> None:
    """Create or update the tables and views of the store.

    An embedded store is migrated when it is read, a server by this command or when records wait for
    it. A cluster without ClickHouse Keeper (`?cluster=NAME&replicated=no`) is migrated node by
    node. If a migration was stopped, run it again. Dropped tables and views are created again.

    \b
      turnspan migrate
    """
    from turnspan_clickhouse.store import jaeger as views
    from turnspan_clickhouse.store.migrations import SCHEMA_VERSION, due, migrate, render
    from turnspan_clickhouse.store.opening import open_store

    dsn = chosen_dsn()
    for_jaeger = jaeger or jaeger_content
    more = views.render(dsn, content=jaeger_content) if for_jaeger else []
    if dry_run and (all_ or (dsn.path is not None and not (dsn.path / "engine").exists())):
        _print_sql([*render(dsn), *more])
        return
    with open_store(dsn) as store:
        if dry_run:
            waiting = {f"{one.version:04d}_{one.name}" for one in due(store)}
            _print_sql([*(step for step in render(dsn) if step[0] in waiting), *more])
            return
        applied = migrate(store, restore=True)
        made = views.create(store, content=jaeger_content) if for_jaeger else []
    output = Output()
    for one in applied:
        output.line(f"{one.version:04d}_{one.name}")
    if made:
        output.line(f"{len(made)} views for Jaeger in the database {views.database(dsn)}")
    what = f"{len(applied)} applied" if applied else "nothing to do"
    note(f"{what}, {dsn} is at schema version {SCHEMA_VERSION}")
    say_other_nodes(dsn, "migrate")


def _print_sql(steps: list[tuple[str, str]]) -> None:
    output = Output()
    for name, sql in steps:
        output.line(f"-- {name}\n{sql};\n")
    if not steps:
        note("nothing to do")
