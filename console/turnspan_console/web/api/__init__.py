"""The endpoints by topic: those of its module, in their order."""

from __future__ import annotations

from functools import cache
from typing import Any

from turnspan_console.web.api import (
    call,
    compare,
    consortium,
    context,
    dataset,
    errors,
    first_records,
    judge,
    lineage,
    lookup,
    overview,
    replay,
    review,
    settings,
    sql,
    store,
    turns,
    views,
    week,
)
from turnspan_console.web.api.address import Serving, serving_endpoint
from turnspan_console.web.endpoints import WebEndpoint

_TOPICS = (
    call,
    errors,
    lookup,
    overview,
    replay,
    sql,
    store,
    first_records,
    turns,
    views,
    review,
    settings,
    judge,
    dataset,
    compare,
    context,
    consortium,
    lineage,
    week,
)

_UNSERVED = Serving()


@cache
def endpoints(serving: Serving = _UNSERVED) -> tuple[WebEndpoint[Any, Any], ...]:
    """Every endpoint, by topic, of a page that is served so."""
    every: list[WebEndpoint[Any, Any]] = [
        one for topic in _TOPICS for one in vars(topic).values() if isinstance(one, WebEndpoint)
    ]
    return (*every, serving_endpoint(serving))
