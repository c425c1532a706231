"""Where a request says its messages, its system prompt and its tools."""

from __future__ import annotations

from typing import Any

from turnspan.content.model import RequestParts


class RequestFields:
    """The names of an API's fields, and the JSON types that they are understood in; what is of
    another type, or empty, stays among the parameters: it has nothing to be kept once."""

    __slots__ = ("_messages", "_system", "_system_types", "_tools_types")

    def __init__(
        self,
        messages: str,
        *,
        system: str = "",
        system_types: tuple[type, ...] = (str, list),
        tools_types: tuple[type, ...] = (list,),
    ) -> None:
        self._messages = messages
        self._system = system
        self._system_types = system_types
        self._tools_types = tools_types

    def split(self, request: dict[str, Any]) -> RequestParts:
        """Take a request apart."""
        parameters = dict(request)
        messages: list[Any] = []
        system: Any = None
        tools: Any = None
        if isinstance(parameters.get(self._messages), list):
            messages = parameters.pop(self._messages)
        given = parameters.get(self._system) if self._system else None
        if given and isinstance(given, self._system_types):
            system = parameters.pop(self._system)
        given = parameters.get("tools")
        if given and isinstance(given, self._tools_types):
            tools = parameters.pop("tools")
        return RequestParts(system, messages, tools, parameters)

    def join(self, parts: RequestParts) -> dict[str, Any]:
        """The request that ``split`` took apart (up to the order of its keys)."""
        request = dict(parts.parameters)
        if self._messages not in request:
            request[self._messages] = parts.messages_raw
        if self._system and parts.system_raw is not None:
            request[self._system] = parts.system_raw
        if parts.tools_raw is not None:
            request["tools"] = parts.tools_raw
        return request
