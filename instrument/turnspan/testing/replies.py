"""What a model is to say, and the answer to one request that says it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

from turnspan.testing.records import ToolRequest

_IDS: Final = {
    "chat": "chatcmpl-{}",
    "responses": "resp_{}",
    "messages": "msg_{}",
    "gemini": "gemini-{}",
    "embeddings": "",
}


@dataclass(frozen=True)
class Usage:
    """The tokens that a reply says it took. Cached ones are part of the input, reasoning of the
    output, whichever API says so."""

    input_tokens: int = 10
    output_tokens: int = 5
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    """Only Anthropic's API tells of these."""
    reasoning_tokens: int = 0
    """Anthropic's API does not tell of these."""


@dataclass(frozen=True)
class Reply:
    """What the model says, whichever API it is asked through."""

    text: str = ""
    tool_requests: Sequence[ToolRequest] = ()
    """The tools that it asks for; one without an id gets one."""
    usage: Usage = field(default_factory=Usage)
    finish: str = ""
    """Why it ends, in OpenAI's words: ``stop``, ``tool_calls``, ``length``, ``content_filter``;
    by default one of the first two."""
    model: str = ""
    """The model that answers; by default the one that was asked for."""
    delay: float = 0.0
    """Seconds that it takes."""

    @property
    def reason(self) -> str:
        """Why it ends."""
        return self.finish or ("tool_calls" if self.tool_requests else "stop")


@dataclass(frozen=True)
class ModelError:
    """A failure, in the form of whichever API is asked."""

    status: int
    """The HTTP status; the SDKs try again after some."""
    message: str = "the model is out of order"
    kind: str = "invalid_request_error"
    """The provider's word for it."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    """Their names with underscores or dashes."""
    delay: float = 0.0
    """Seconds that it takes."""


@dataclass(frozen=True)
class ApiReply:
    """A reply to a request of one of the APIs."""

    api: str
    """``chat``, ``responses``, ``messages``, ``gemini`` or ``embeddings``."""
    number: int
    """Of all requests, from 1."""
    asked_model: str
    body: Mapping[str, Any]
    reply: Reply
    told_usage: bool = True
    """Whether a stream of chat completions ends with its usage."""

    @property
    def id(self) -> str:
        """The reply's id."""
        return identity(self.api, self.number)

    @property
    def model(self) -> str:
        """The model that answers."""
        return self.reply.model or self.asked_model

    @property
    def calls(self) -> list[ToolRequest]:
        """The tools that are asked for, each with an id."""
        return [
            ToolRequest(call.name, call.arguments, call.id or f"call_{self.number}_{place}")
            for place, call in enumerate(self.reply.tool_requests)
        ]


def identity(api: str, number: int) -> str:
    """The id of a reply."""
    return _IDS[api].format(number)


def arguments_of(call: ToolRequest) -> str:
    """A tool's arguments as JSON; a text as it is."""
    return call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)


def fields_of(arguments: Any) -> dict[str, Any]:
    """A tool's arguments as an object, for the APIs that know no other."""
    if isinstance(arguments, str):
        arguments = json.loads(arguments)
    return cast("dict[str, Any]", arguments)
