"""What fails, and with what."""

from __future__ import annotations

from dataclasses import dataclass

from turnspan_clickhouse.store.client import Store
from turnspan_console.web.api.window import WindowQuery, window_of
from turnspan_console.web.endpoints import endpoint
from turnspan_records.screens.errors import (
    ErrorShapes,
    ToolFailures,
    error_shapes,
    tool_failures,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolQuery(WindowQuery):
    """Which tool, of what."""

    tool: str


@endpoint("GET", "/api/errors", "What fails.")
def _errors(store: Store, query: WindowQuery) -> ErrorShapes:
    window = window_of(query)
    return error_shapes(store, project=query.project, window=window)


@endpoint("GET", "/api/errors/tool", "A tool that fails.")
def _tool(store: Store, query: ToolQuery) -> ToolFailures:
    window = window_of(query)
    return tool_failures(store, query.tool, project=query.project, window=window)
