"""How each generator of SDKs writes a request: a reader makes of a call what it sends."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

VERBS: Final = ("post", "put", "patch", "get", "delete", "head")


@dataclass(frozen=True)
class Sent:
    """What a reader makes of a call: the verb, the paths, whether it streams."""

    verb: str
    path: ast.expr
    streams: bool = False


Reader = Callable[[ast.Call], "Sent | None"]


def keyword(call: ast.Call, name: str) -> ast.expr | None:
    return next((each.value for each in call.keywords if each.arg == name), None)


def word(node: ast.expr | None) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _first(call: ast.Call, place: int, *names: str) -> ast.expr | None:
    named = (keyword(call, name) for name in names)
    return call.args[place] if len(call.args) > place else next(filter(None, named), None)


def streams(call: ast.Call) -> bool:
    node = keyword(call, "stream")
    return node is not None and not (isinstance(node, ast.Constant) and not node.value)


def stainless(call: ast.Call) -> Sent | None:
    """``self._post("/images/generations", stream=stream or False)``."""
    owner, name = getattr(call.func, "value", None), getattr(call.func, "attr", "")
    path = _first(call, 0, "path")
    if path is None or not isinstance(owner, ast.Name | ast.Attribute):
        return None
    if name == "_get_api_list":
        return Sent(word(keyword(call, "method")) or "get", path)
    inner = getattr(owner, "id", "") == "self" and name.startswith("_")
    if (inner or getattr(owner, "attr", "") == "_client") and name.lstrip("_") in VERBS:
        return Sent(name.lstrip("_"), path, streams(call))
    return None


def speakeasy(call: ast.Call) -> Sent | None:
    """``self._build_request(method="POST", path="/v1/chat/completions#stream")``."""
    path = keyword(call, "path")
    if path is None or not getattr(call.func, "attr", "").startswith("_build_request"):
        return None
    accepted = keyword(call, "accept_header_value")
    accepts_events = "event-stream" in (ast.unparse(accepted) if accepted else "")
    return Sent(word(keyword(call, "method")), path, accepts_events)


def fern(call: ast.Call) -> Sent | None:
    """``self._client_wrapper.httpx_client.stream("v2/chat", method="POST")``."""
    name = getattr(call.func, "attr", "")
    owner = getattr(getattr(call.func, "value", None), "attr", "")
    path = _first(call, 0, "path")
    if owner != "httpx_client" or name not in ("request", "stream") or path is None:
        return None
    return Sent(word(keyword(call, "method")), path, name == "stream")


def ollama(call: ast.Call) -> Sent | None:
    """``self._request(Answer, 'POST', '/api/chat', stream=stream)``."""
    if getattr(call.func, "attr", "") not in ("_request", "_request_raw"):
        return None
    for verb, path in zip(call.args, call.args[1:], strict=False):
        if word(verb).lower() in VERBS:
            return Sent(word(verb), path, streams(call))
    return None


def google(call: ast.Call) -> Sent | None:
    """``self._api_client.async_request_streamed('post', path, ...)``."""
    name = getattr(call.func, "attr", "")
    owner = getattr(getattr(call.func, "value", None), "attr", "")
    if owner != "_api_client" or "request" not in name or len(call.args) < 2:
        return None
    return Sent(word(call.args[0]), call.args[1], name.endswith("streamed"))


def hub(call: ast.Call) -> Sent | None:
    """``get_session().post(url)`` and ``http_backoff("POST", url)``."""
    function = call.func
    if isinstance(function, ast.Name) and function.id == "http_backoff" and call.args:
        path = _first(call, 1, "url")
        return Sent(word(call.args[0]), path) if path else None
    if isinstance(function, ast.Name) and function.id == "paginate" and call.args:
        return Sent("get", call.args[0])
    owner = getattr(getattr(function, "value", None), "func", None)
    if getattr(owner, "id", "") != "get_session":
        return None
    name = getattr(function, "attr", "")
    if name == "request":
        path = _first(call, 1, "url")
        return Sent(word(call.args[0]), path) if path else None
    path = _first(call, 0, "url")
    return Sent(name, path) if name in VERBS and path else None
