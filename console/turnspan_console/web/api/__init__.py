"""The endpoints by topic; a topic's module has them in ``ENDPOINTS``."""

from __future__ import annotations

from functools import cache
from typing import Any

from turnspan_console.web.api import (
    call,
    compare,
    consortium,
    context,
    difference,
    errors,
    lineage,
    lookup,
    overview,
    replay,
    review,
    saved_sql,
    settings,
    sql,
    store,
    turns,
)
from turnspan_console.web.endpoints import Endpoint

_TOPICS = (
    call,
    difference,
    errors,
    lookup,
    overview,
    replay,
    sql,
    saved_sql,
    store,
    turns,
    review,
    settings,
    compare,
    context,
    consortium,
    lineage,
)


@cache
def endpoints() -> tuple[Endpoint[Any, Any], ...]:
    """Every endpoint, by topic."""
    return tuple(one for topic in _TOPICS for one in topic.ENDPOINTS)
