"""Requests whose input is plain text: one text, one list of token numbers, or a list of either."""

from __future__ import annotations

from typing import Any

from turnspan.content.model import RequestParts, as_list


def split_texts(request: dict[str, Any], field: str) -> RequestParts:
    """Take a request apart whose texts stand under ``field``.

    Where they stand in a list of fewer than two, which their number does not tell, an empty list
    stays among the parameters in their place.
    """
    parameters = dict(request)
    given = parameters.get(field)
    items = as_list(given)
    messages: list[Any] = []
    if items is not None and not (items and isinstance(items[0], int)):
        messages = items
        parameters[field] = []
        if len(items) > 1:
            del parameters[field]
    elif given is not None:
        messages = [parameters.pop(field)]
    return RequestParts(None, messages, None, parameters)


def join_texts(parts: RequestParts, field: str) -> dict[str, Any]:
    """The request that ``split_texts`` took apart."""
    request = dict(parts.parameters)
    if request.get(field) == [] or len(parts.messages_raw) > 1:
        request[field] = parts.messages_raw
    elif parts.messages_raw:
        request[field] = parts.messages_raw[0]
    return request
