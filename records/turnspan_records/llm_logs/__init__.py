"""Reads the logs of simonw/llm: SQLite databases of three generations, never written here."""

from __future__ import annotations

from turnspan_records.llm_logs.errors import LogsError
from turnspan_records.llm_logs.generations import Generation, Layout, layout_of
from turnspan_records.llm_logs.logged import LoggedResponse
from turnspan_records.llm_logs.opening import opened
from turnspan_records.llm_logs.reading import responses

__all__ = [
    "Generation",
    "Layout",
    "LoggedResponse",
    "LogsError",
    "layout_of",
    "opened",
    "responses",
]
