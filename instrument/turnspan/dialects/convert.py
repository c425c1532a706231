"""From what a provider was sent and said to the GenAI message schema.

Runs on the worker thread, after the call. Nothing here raises: what is of an unknown shape becomes
a generic part that keeps the provider's value, and a converter's own failure is counted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Final, cast

from turnspan.content.json_codec import BARE, LAYOUT
from turnspan.content.media import digest_media
from turnspan.content.model import (
    REASONING,
    REFUSAL,
    TEXT,
    TOOL_CALL,
    CallContent,
    Message,
    Part,
    RequestParts,
    as_dict,
    as_list,
    dumps,
    unknown_part,
)
from turnspan.content.text_message import as_dict_message
from turnspan.dialects import (
    anthropic_messages,
    gemini,
    gemini_embeddings,
    gemini_interactions,
    genai,
    model_request,
    openai_chat,
    openai_completions,
    openai_embeddings,
    openai_responses,
)
from turnspan.runtime.guard import errors
from turnspan.runtime.value_exceptions import delivered


@dataclass(frozen=True, slots=True)
class Dialect:
    """One provider API's way of writing requests, messages and replies."""

    name: str
    split_request: Callable[[dict[str, Any]], RequestParts]
    join_request: Callable[[RequestParts], dict[str, Any]]
    system_parts: Callable[[Any, list[Message]], list[Part]]
    tool_definitions: Callable[[Any], list[dict[str, Any]]]
    output_messages: Callable[[Any], tuple[list[Any], list[str]]]
    to_message: Callable[[Any, str], Message]
    from_message: Callable[[str, str, list[Part]], Any]
    is_exact: Callable[[dict[str, Any]], bool]
    """Whether a message is surely rebuilt byte for byte; nobody need try it then."""
    details: Callable[[Any], dict[str, Any]]
    """What a response says beside its messages."""


def _dialect(module: ModuleType, like: ModuleType | None = None) -> Dialect:
    """The dialect that a module says; ``like`` is another one whose messages it has.

    What neither says, the API does not have.
    """
    messages = module if like is None else like
    return Dialect(
        module.NAME,
        module.split_request,
        module.join_request,
        getattr(messages, "system_parts", lambda raw_system, messages: []),
        getattr(messages, "tool_definitions", lambda raw_tools: []),
        getattr(module, "output_messages", lambda response: ([], [])),
        messages.to_message,
        messages.from_message,
        getattr(module, "is_exact", lambda raw: False),
        getattr(module, "details", lambda response: {}),
    )


_DIALECTS: Final[Mapping[str, Dialect]] = {
    dialect.name: dialect
    for dialect in (
        _dialect(openai_chat),
        _dialect(openai_responses),
        _dialect(openai_completions),
        _dialect(openai_embeddings, like=openai_completions),
        _dialect(anthropic_messages),
        _dialect(gemini),
        _dialect(gemini_embeddings, like=gemini),
        _dialect(model_request, like=genai),
        _dialect(gemini_interactions),
        _dialect(genai),
    )
}

ITEMISED: Final = frozenset({openai_responses.NAME, gemini_interactions.NAME})
"""The dialects in which a reply is one choice of many items, a message each."""


def dialect_of(name: str) -> Dialect:
    """The dialect of this name; an unknown name is read as the GenAI schema."""
    return _DIALECTS.get(name) or _DIALECTS[genai.NAME]


def split_request(dialect: str, request: Any) -> RequestParts:
    """Take a request apart into system, messages, tools and all other parameters."""
    fields = as_dict(request)  # the splitters make their own copy
    if fields is None:
        if not isinstance(request, Mapping):
            return RequestParts(None, [], None, {} if request is None else {"request": request})
        fields = dict(cast("Mapping[str, Any]", request))
    return dialect_of(dialect).split_request(fields)


def join_request(dialect: str, parts: RequestParts) -> dict[str, Any]:
    """Put together the request that ``split_request`` took apart (up to the order of its keys)."""
    return dialect_of(dialect).join_request(parts)


def convert_message(
    dialect: str, raw: Any, *, default_role: str = "user", keep_bytes: bool = False
) -> Message:
    """One provider's message in the GenAI schema.

    ``default_role`` stands where the message names none. Embedded images and files are replaced by
    hash, size and type unless ``keep_bytes``.
    """
    try:
        raw = as_dict_message(raw)
        reduced = raw if keep_bytes else digest_media(raw)
        if isinstance(reduced, str):
            part: Part = {"type": TEXT, "content": reduced, LAYOUT: BARE}
            return {"role": default_role, "parts": [part]}
        return dialect_of(dialect).to_message(reduced, default_role)
    except BaseException as error:  # noqa: BLE001  a message of any shape must land
        errors.record(f"convert_message ({dialect})", error)
        return {"role": default_role, "parts": [unknown_part(raw)]}


def output_messages(dialect: str, response: Any) -> tuple[list[Any], list[str]]:
    """A response's messages as their provider wrote them, and the finish reasons."""
    try:
        return dialect_of(dialect).output_messages(response)
    except BaseException as error:  # noqa: BLE001  a response of any shape must land
        errors.record(f"output_messages ({dialect})", error)
        return [response], []


def response_details(dialect: str, response: Any) -> Any:
    """What a response says beside its messages, files by their hashes; empty where nothing."""
    try:
        return digest_media(dialect_of(dialect).details(response))
    except BaseException as error:  # noqa: BLE001  a response of any shape must land
        errors.record(f"response_details ({dialect})", error)
        return {}


def tool_definitions(dialect: str, raw_tools: Any) -> list[dict[str, Any]]:
    """GenAI tool definitions of a request's tools."""
    try:
        return dialect_of(dialect).tool_definitions(raw_tools)
    except BaseException as error:  # noqa: BLE001  tools of any shape must land
        errors.record(f"tool_definitions ({dialect})", error)
        return [{"type": "unknown", "value": raw} for raw in as_list(raw_tools) or [raw_tools]]


def system_parts(dialect: str, raw_system: Any, messages: list[Message]) -> list[Part]:
    """The parts of the system field, or of the leading system messages."""
    try:
        return dialect_of(dialect).system_parts(digest_media(raw_system), messages)
    except BaseException as error:  # noqa: BLE001  a system field of any shape must land
        errors.record(f"system_parts ({dialect})", error)
        return [unknown_part(raw_system)]


def convert(name: str, body: Mapping[str, Any], response: Any = None) -> CallContent:
    """A model call's content in the GenAI schema, beside the provider's own form. Never raises.

    ``name`` is the dialect of the request's ``body`` and of what came back (see
    ``InferenceContent``).
    """
    request = split_request(name, body)
    replies, finish_reasons = output_messages(name, response)
    found = CallContent(request, finish_reasons)
    found.input = [convert_message(name, message) for message in request.messages_raw]
    found.output = [convert_message(name, m, default_role="assistant") for m in replies]
    found.system = system_parts(name, request.system_raw, found.input)
    found.tools = tool_definitions(name, request.tools_raw)
    describe_reply(found, first_choice(name, found.output))
    return found


def first_choice(dialect: str, output: list[Message]) -> list[Message]:
    """The messages of a reply's first choice."""
    return output if dialect in ITEMISED else output[:1]


def describe_reply(found: CallContent, messages: list[Message]) -> None:
    """Fill text, thoughts and tool calls of a conversation from the reply's messages."""
    texts: list[str] = []
    thoughts: list[str] = []
    for message in messages:
        for part in message["parts"]:
            kind = part.get("type")
            if kind == TEXT:
                texts.append(str(part.get("content", "")))
                if part.get("refusal"):
                    found.refused = True
            elif kind == REFUSAL:
                texts.append(str(part.get("content") or part.get("refusal") or ""))
                found.refused = True
            elif kind == REASONING:
                thoughts.append(str(part.get("content", "")))
            elif kind == TOOL_CALL:
                found.tool_calls.append(
                    {
                        "id": part.get("id", ""),
                        "name": part.get("name", ""),
                        "arguments": part.get("arguments"),
                    }
                )
    found.response_text = texts[0] if len(texts) == 1 else "".join(texts)
    if thoughts:
        found.response_thoughts = "\n".join([thought for thought in thoughts if thought])


def rebuild_message(dialect: str, role: str, name: str, parts: list[Part]) -> Any:
    """The provider's message of these parts, exact where the record has no ``source``.

    Embedded files come back as ``sha256:<hex>;size=<bytes>`` in the place of their base64 text.

    Raises:
        LookupError, TypeError, ValueError: the parts are not of a message of this dialect.
    """
    if len(parts) == 1 and parts[0].get(LAYOUT) == BARE:
        return parts[0]["content"]
    return dialect_of(dialect).from_message(role, name, parts)


def convert_sealed(
    dialect: str,
    raw: Any,
    *,
    default_role: str = "user",
    keep_bytes: bool = False,
) -> tuple[Message, str]:
    """A message in the GenAI schema and, where it cannot be rebuilt byte for byte, the provider's
    JSON of it (else ``""``). Never raises.

    Where embedded files are reduced to their hashes, they are so in the returned JSON too, and it
    is that JSON which is compared.
    """
    reduced = raw if keep_bytes else digest_media(raw)
    message = convert_message(dialect, reduced, default_role=default_role, keep_bytes=True)
    fields = as_dict(reduced)
    if fields is not None and dialect_of(dialect).is_exact(fields):
        return message, ""
    return message, _source(dialect, dumps(reduced), message)


def _source(dialect: str, written: bytes, message: Message) -> str:
    try:
        rebuilt = rebuild_message(
            dialect, message["role"], message.get("name", ""), message["parts"]
        )
    except BaseException as error:
        if delivered(error):
            raise
        return written.decode()
    return "" if dumps(rebuilt) == written else written.decode()
