"""The longer statements that landing sends, a file each."""

from __future__ import annotations

from functools import partial

from turnspan_clickhouse.store import sql_files

statement = partial(sql_files.statement, __name__)
