"""The dialect ``gemini.embeddings``: the bodies of ``batchEmbedContents``, ``embedContent`` and, of
Vertex, ``predict``. What is embedded are the messages; the vectors are not kept.
"""

from __future__ import annotations

from typing import Any, Final

from turnspan.content.model import RequestParts, as_dict, as_list

NAME: Final = "gemini.embeddings"

_CONTENT: Final = "content"
_MANY: Final = ("requests", "instances")


def split_request(request: dict[str, Any]) -> RequestParts:
    """Take a request apart: what is embedded is taken out of each of its items."""
    parameters = dict(request)
    for key in _MANY:
        items = [as_dict(raw) or {} for raw in as_list(parameters.get(key)) or []]
        if items and all(_CONTENT in item for item in items):
            parameters[key] = [{k: v for k, v in i.items() if k != _CONTENT} for i in items]
            return RequestParts(None, [item[_CONTENT] for item in items], None, parameters)
    if _CONTENT in parameters:
        return RequestParts(None, [parameters.pop(_CONTENT)], None, parameters)
    return RequestParts(None, [], None, parameters)


def join_request(parts: RequestParts) -> dict[str, Any]:
    """The request that ``split_request`` took apart (up to the order of its keys)."""
    request = dict(parts.parameters)
    if not parts.messages_raw:
        return request
    for key in _MANY:
        items = as_list(request.get(key))
        if items:
            pairs = zip(parts.messages_raw, items, strict=True)
            request[key] = [{_CONTENT: content, **item} for content, item in pairs]
            return request
    return {**request, _CONTENT: parts.messages_raw[0]}
