"""The dialect ``model.request``: any operation of a model that has no messages, such as to make an
image. Request and answer are kept as they are, files in them as their hashes.
"""

from __future__ import annotations

from typing import Any, Final

from turnspan.content.model import RequestParts, as_dict

NAME: Final = "model.request"


def split_request(request: dict[str, Any]) -> RequestParts:
    """All of a request are parameters."""
    return RequestParts(None, [], None, dict(request))


def join_request(parts: RequestParts) -> dict[str, Any]:
    """The request."""
    return dict(parts.parameters)


def details(response: Any) -> dict[str, Any]:
    """The answer."""
    return as_dict(response) or ({"items": response} if response else {})
