"""What fails, and with what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from turnspan_clickhouse.store.client import Store
from turnspan_console.web.api.refusals import understood
from turnspan_console.web.api.window import WindowQuery, window_of
from turnspan_console.web.endpoints import endpoint
from turnspan_records.screens.errors import (
    ErrorShapes,
    ToolFailures,
    error_shapes,
    tool_failures,
)


@dataclass(frozen=True, slots=True)
class ErrorsQuery(WindowQuery):
    """Which failures, in which order, and which part of the list."""

    sort: str = ""
    """As ``turnspan errors --sort`` takes it."""
    after: str = ""
    """The ``next`` of the page before."""
    limit: Annotated[int, Meta(ge=1, le=500)] = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolQuery(WindowQuery):
    """Which tool, of what."""

    tool: str


@endpoint("GET", "/api/errors", "What fails.")
def _errors(store: Store, query: ErrorsQuery) -> ErrorShapes:
    window = window_of(query)
    part = {"sort": query.sort, "after": query.after}
    with understood():
        return error_shapes(store, project=query.project, window=window, **part, limit=query.limit)


@endpoint("GET", "/api/errors/tool", "A tool that fails.")
def _tool(store: Store, query: ToolQuery) -> ToolFailures:
    window = window_of(query)
    return tool_failures(store, query.tool, project=query.project, window=window)
