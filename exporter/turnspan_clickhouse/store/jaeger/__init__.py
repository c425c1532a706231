"""Jaeger from the same store: views in which Jaeger's own ClickHouse storage reads our spans.

They live in a database of their own, ``<database>_jaeger``, under the names of Jaeger's tables
(https://github.com/jaegertracing/jaeger/tree/v2.20.0/internal/storage/v2/clickhouse/sql), so that
nobody keeps spans twice. Jaeger calls that storage experimental: these views follow 2.20.
"""

from __future__ import annotations

from importlib import resources

from turnspan_clickhouse.store.client import Store, quoted
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.migrations import Migration, statements

_BARE, _CONTENT = "3_spans", "3_spans_content"


def database(dsn: Dsn) -> str:
    """The database that holds the views, as Jaeger's configuration names it."""
    return f"{dsn.database}_jaeger"


def render(dsn: Dsn, *, content: bool = False) -> list[tuple[str, str]]:
    """(file name without ``.sql``, SQL) of every view, in the order they are made.

    With ``content`` the spans show what the models saw and said, else as little as they do in
    our own ``span`` table.
    """
    left_out = _BARE if content else _CONTENT
    texts = {
        file.name.removesuffix(".sql"): file.read_text(encoding="utf-8")
        for file in resources.files(__name__).iterdir()
        if file.name.endswith(".sql")
    }
    rendered: list[tuple[str, str]] = []
    for number, name in enumerate(sorted(set(texts) - {left_out})):
        template = texts[name].replace("{jaeger}", quoted(database(dsn)))
        rendered += [(name, sql) for sql in statements(Migration(number, name, template), dsn)]
    return rendered


def create(store: Store, *, content: bool = False) -> list[str]:
    """Make the database and its views, or make them anew; returns the views' names.

    Raises:
        QueryError: the engine refused a statement, as it does before ``migrate`` made the tables.
    """
    store.create_database(database(store.dsn))
    views = render(store.dsn, content=content)
    for _, sql in views:
        store.command(sql)
    return [name for name, _ in views]
