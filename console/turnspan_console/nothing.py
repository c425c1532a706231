"""What a reading command says where it has no rows to show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from turnspan_console.output import note

if TYPE_CHECKING:
    from turnspan_clickhouse.store.client import Store
    from turnspan_records.window import Window


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
    from turnspan_records.absence import why_nothing

    reason = why_nothing(store, project=project, window=window, session=session, kind=kind)
    note(f"{what} in {store.dsn}{reason and f': {reason}'}.")
