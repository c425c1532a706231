"""The SQL of the records: one ``.sql`` file a question, one folder a topic
(``turnspan_clickhouse.store.sql_files`` says what a file holds)."""

from __future__ import annotations

from functools import partial

from turnspan_clickhouse.store import sql_files

statement = partial(sql_files.statement, __name__)
with_fragments = partial(sql_files.with_fragments, __name__)
