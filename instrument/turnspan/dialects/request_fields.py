"""Where a request says its messages, its system prompt and its tools."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from turnspan.content.model import RequestParts


@dataclass(frozen=True, slots=True)
class RequestFields:
    """The names of an API's fields, and the JSON types that they are understood in; what is of
    another type, or empty, stays among the parameters: it has nothing to be kept once."""

    messages: str
    system: str = ""
    system_types: tuple[type, ...] = (str, list)
    tools_types: tuple[type, ...] = (list,)

    def split(self, request: dict[str, Any]) -> RequestParts:
        """Take a request apart."""
        parameters = dict(request)
        messages: list[Any] = []
        system: Any = None
        tools: Any = None
        if isinstance(parameters.get(self.messages), list):
            messages = parameters.pop(self.messages)
        given = parameters.get(self.system) if self.system else None
        if given and isinstance(given, self.system_types):
            system = parameters.pop(self.system)
        given = parameters.get("tools")
        if given and isinstance(given, self.tools_types):
            tools = parameters.pop("tools")
        return RequestParts(system, messages, tools, parameters)

    def join(self, parts: RequestParts) -> dict[str, Any]:
        """The request that ``split`` took apart (up to the order of its keys)."""
        request = dict(parts.parameters)
        if self.messages not in request:
            request[self.messages] = parts.messages_raw
        if self.system and parts.system_raw is not None:
            request[self.system] = parts.system_raw
        if parts.tools_raw is not None:
            request["tools"] = parts.tools_raw
        return request
