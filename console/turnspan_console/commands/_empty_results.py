"""What a reading command says, and how it ends, where it has no rows to show."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from turnspan_console.failures import FINDING
from turnspan_console.output import Output, note

if TYPE_CHECKING:
    from turnspan_clickhouse.store.client import Result, Store
    from turnspan_records.access.window import Window


def explain(
    store: Store,
    what: str,
    *,
    project: str = "",
    window: Window | None = None,
    session: str = "",
    kind: str = "",
) -> None:
    """Say on standard error that there is nothing (``what``), where, and the likeliest reason."""
    from turnspan_records.access.absence import why_nothing

    reason = why_nothing(store, project=project, window=window, session=session, kind=kind)
    note(f"{what} in {store.dsn}{reason and f': {reason}'}.")


def print_found(result: Result, format_: str, *, raw: bool = False) -> None:
    """Print what was found; nothing ends with the exit code that every command has for that."""
    from turnspan_console.panels.results import print_result

    if result.rows or format_ != "table":
        print_result(result, format_, Output(), raw=raw)
    if not result.rows:
        raise click.exceptions.Exit(FINDING)
