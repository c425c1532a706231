"""The content model: GenAI messages and parts, and what a model call said in them.

Messages, parts and tool definitions are plain dictionaries in the GenAI message schema, so that
they are JSON as they are. A part may carry three keys of ours beside the schema's (which allows
extra properties); they say how the provider wrote what the part holds, so that its exact JSON can
be rebuilt: ``keys`` (the order of the provider's keys), ``layout`` and ``extra`` (the same for the
whole message, on its first part).
"""

from __future__ import annotations

import json
import math
from typing import Any, Final, TypeAlias

import orjson

from turnspan.runtime.mypyc import mypyc_attr

Part: TypeAlias = "dict[str, Any]"
Message: TypeAlias = "dict[str, Any]"
"""``{"role": str, "parts": [Part], "name"?: str}``"""

TEXT: Final = "text"
TOOL_CALL: Final = "tool_call"
TOOL_CALL_RESPONSE: Final = "tool_call_response"
SERVER_TOOL_CALL: Final = "server_tool_call"
SERVER_TOOL_CALL_RESPONSE: Final = "server_tool_call_response"
REASONING: Final = "reasoning"
BLOB: Final = "blob"
FILE: Final = "file"
URI: Final = "uri"
COMPACTION: Final = "compaction"
REFUSAL: Final = "refusal"
"""Not of the schema: a provider's or another package's own."""
UNKNOWN: Final = "unknown"
"""A generic part: ``{"type": "unknown", "value": <the provider's value>}``."""

STANDARD_PARTS: Final = frozenset(
    {
        TEXT,
        TOOL_CALL,
        TOOL_CALL_RESPONSE,
        SERVER_TOOL_CALL,
        SERVER_TOOL_CALL_RESPONSE,
        REASONING,
        BLOB,
        FILE,
        URI,
        COMPACTION,
        UNKNOWN,
    }
)

_OPTIONS = orjson.OPT_NON_STR_KEYS | orjson.OPT_PASSTHROUGH_DATETIME
_KEYS = (str, int, float, type(None))
_MAX_BITS = 10_000
"""Of an integer that is written out: Python refuses more than 4,300 digits."""


@mypyc_attr(acyclic=True)
class RequestParts:
    """A request taken apart: nothing is lost, ``join_request`` puts it together again.

    ``system_raw`` and ``tools_raw`` are ``None`` where the request has no such field (or none of a
    usable shape: then it stays among the parameters).
    """

    # No dataclass, here and below: what it would generate is not compiled.
    __slots__ = ("messages_raw", "parameters", "system_raw", "tools_raw")

    def __init__(
        self,
        system_raw: Any = None,
        messages_raw: list[Any] | None = None,
        tools_raw: Any = None,
        parameters: dict[str, Any] | None = None,
    ) -> None:
        self.system_raw = system_raw
        self.messages_raw: list[Any] = [] if messages_raw is None else messages_raw
        self.tools_raw = tools_raw
        self.parameters: dict[str, Any] = {} if parameters is None else parameters


@mypyc_attr(acyclic=True)
class CallContent:
    """One model call's content in the GenAI schema, beside the provider's own form.

    ``system`` holds the system field's parts, or those of the leading system messages where the
    provider has no such field (these stay in ``input`` too). ``parameters`` is everything else in
    the request. ``response_text``, ``response_thoughts`` and ``tool_calls`` are the first choice's.
    """

    __slots__ = (
        "finish_reasons",
        "input",
        "output",
        "parameters",
        "raw_system",
        "refused",
        "response_text",
        "response_thoughts",
        "system",
        "tool_calls",
        "tools",
    )

    def __init__(
        self, request: RequestParts | None = None, finish_reasons: list[str] | None = None
    ) -> None:
        self.system: list[Part] = []
        self.input: list[Message] = []
        self.output: list[Message] = []
        self.tools: list[dict[str, Any]] = []
        self.raw_system: Any = None if request is None else request.system_raw
        self.parameters: dict[str, Any] = {} if request is None else request.parameters
        self.finish_reasons: list[str] = [] if finish_reasons is None else finish_reasons
        self.response_text = ""
        self.response_thoughts = ""
        self.refused = False
        """Whether the reply says itself that it is a refusal."""
        self.tool_calls: list[dict[str, Any]] = []


def last_user_text(messages: list[Message]) -> str:
    """The text of the last user message that has any (a message of tool results has none)."""
    for message in reversed(messages):
        if message.get("role") == "user":
            texts = [p["content"] for p in message["parts"] if p.get("type") == TEXT]
            if texts:
                return "\n".join(texts)
    return ""


def leading_system(messages: list[Message]) -> list[Part]:
    """The text parts of the system messages that a conversation begins with."""
    found: list[Part] = []
    for message in messages:
        if message["role"] not in ("system", "developer"):
            break
        found += [text_part(p["content"]) for p in message["parts"] if p.get("type") == TEXT]
    return found


def as_dict(value: Any) -> dict[str, Any] | None:
    """The value if it is a dictionary."""
    return value if isinstance(value, dict) else None  # pyright: ignore[reportUnknownVariableType]


def as_list(value: Any) -> list[Any] | None:
    """The value if it is a list."""
    return value if isinstance(value, list) else None  # pyright: ignore[reportUnknownVariableType]


def as_text(value: Any) -> str:
    """The value if it is text, else an empty string."""
    return value if isinstance(value, str) else ""


def text_part(text: str) -> Part:
    """A text part."""
    return {"type": TEXT, "content": text}


def unknown_part(value: Any) -> Part:
    """A generic part that keeps a value of unknown shape as it is."""
    return {"type": UNKNOWN, "value": value}


def dumps(value: Any) -> bytes:
    """Compact JSON of any frozen value; never raises.

    What JSON cannot say (bytes, huge integers, lone surrogates, unknown objects, cycles) becomes
    the nearest text.
    """
    try:
        return orjson.dumps(value, default=_plain, option=_OPTIONS)
    except (TypeError, ValueError, RecursionError):
        pass
    try:
        text = json.dumps(_spelled(value), ensure_ascii=False, separators=(",", ":"))
        return text.encode("utf-8", "replace")
    except (TypeError, ValueError, RecursionError):
        return b'"<cannot be written as JSON>"'


def plain_json(value: Any) -> bytes:
    """As ``dumps``, but nothing where the value holds what JSON has no word for (bytes, ...)."""
    try:
        return orjson.dumps(value, option=_OPTIONS)
    except (TypeError, ValueError, RecursionError):
        return b""


def dumps_text(value: Any) -> str:
    """``dumps`` as text."""
    return dumps(value).decode()


def _spelled(value: Any) -> Any:
    """The value with a text for each piece that JSON or Python's own writer refuses."""
    if isinstance(value, dict):
        pairs: Any = value.items()  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        return {k if isinstance(k, _KEYS) else repr(k): _spelled(v) for k, v in pairs}
    if isinstance(value, (list, tuple)):
        items: Any = value  # pyright: ignore[reportUnknownVariableType]
        return [_spelled(item) for item in items]
    if isinstance(value, str) or value is None:
        return value
    plain = _plain(value)
    if isinstance(plain, float):
        return plain if math.isfinite(plain) else None
    if isinstance(plain, int) and plain.bit_length() > _MAX_BITS:
        return f"<integer of {plain.bit_length()} bits>"
    return plain


def _plain(value: Any) -> Any:
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).decode("utf-8", "replace")
    if isinstance(value, bool):
        return value
    if isinstance(value, float):
        return float(value)
    if isinstance(value, int):
        return int(value)
    return repr(value)
