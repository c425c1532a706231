"""Recorded messages of any provider as chat messages, in the words of the format that is written.

What a chat message has no place for makes its sample unfit, or is left out and counted: nothing is
put in its place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, Final

import orjson

from turnspan.content.json_codec import arguments_text
from turnspan.content.media import decoded_base64
from turnspan.content.model import (
    BLOB,
    COMPACTION,
    FILE,
    REASONING,
    REFUSAL,
    SERVER_TOOL_CALL,
    SERVER_TOOL_CALL_RESPONSE,
    TEXT,
    TOOL_CALL,
    TOOL_CALL_RESPONSE,
    URI,
    Part,
    as_dict,
    as_list,
    dumps,
    dumps_text,
)
from turnspan.dialects.convert import ITEMISED
from turnspan.redaction.truncate import TRUNCATED
from turnspan_records.training.counts import UnfitError

USER, ASSISTANT, TOOL, SYSTEM = "user", "assistant", "tool", "system"
_ROLES: Final = {
    "user": USER,
    "assistant": ASSISTANT,
    "model": ASSISTANT,
    "tool": TOOL,
    "system": SYSTEM,
    "developer": SYSTEM,
}
_UNFIT: Final = {
    SERVER_TOOL_CALL: "server_tool",
    SERVER_TOOL_CALL_RESPONSE: "server_tool",
    COMPACTION: "compacted_history",
    REFUSAL: "refusal",
    FILE: "file_of_the_provider",
}

KeepImage = Callable[[bytes, str], str]
"""Keeps an image's bytes of this type; returns the path under which lines name it."""


@dataclass(frozen=True, slots=True)
class Style:
    """How a format writes messages."""

    arguments_as_text: bool
    reasoning: bool
    blocks: bool
    """Whether several texts stay several; else they become one, a line each."""
    image_type: str
    keep_image: KeepImage | None = None
    """``None``: images are URLs."""


@dataclass(frozen=True, slots=True)
class Chat:
    """One chat message.

    ``identity`` is a hash of what it says without reasoning and ids, ``digest`` one with the
    reasoning that is written: ids differ from run to run and say nothing.
    """

    role: str
    body: dict[str, Any]
    identity: bytes
    digest: bytes
    asks: tuple[tuple[str, str], ...] = ()
    """Id and name of each tool that it asks for."""
    answers: tuple[str, str] | None = None
    """Id and name of the tool call that it answers."""
    thoughts: str = ""
    text: str = ""
    images: tuple[str, ...] = ()
    item: bool = False
    """Whether it is an item of a reply that is several (as the Responses API has them)."""

    def encoded(self, *, trained: bool) -> bytes:
        """Its JSON; ``trained`` false says that it is not to be learned."""
        return dumps(self.body if trained else {**self.body, "weight": 0})


@dataclass(slots=True)
class _Pieces:
    """What one message is made of so far."""

    blocks: list[dict[str, Any]]
    calls: list[dict[str, Any]]
    thoughts: list[str]
    images: list[str]


def chats(
    role: str, name: str, parts: Sequence[Part], dialect: str, style: Style, left: Counter[str]
) -> list[Chat]:
    """The chat messages that one recorded message is: tool results stand alone.

    Raises:
        UnfitError: a part has no place in a chat message.
    """
    spoken = _ROLES.get(role)
    if spoken is None:
        raise UnfitError("role_of_the_provider")
    if role == "developer":
        left["developer_role"] += 1
    item = dialect in ITEMISED and spoken == ASSISTANT
    made: list[Chat] = []
    waiting = _Pieces([], [], [], [])
    for part in parts:
        if part.get(TRUNCATED):
            raise UnfitError("content_truncated")
        if part.get("type") == TOOL_CALL_RESPONSE:
            if waiting.blocks:
                made.append(_spoken(spoken, name, waiting, style, left, item=item))
                waiting = _Pieces([], [], [], [])
            made.append(_result(part, name, style, left))
        else:
            _take(part, spoken, waiting, style, left)
    if waiting.blocks or waiting.calls or waiting.thoughts or not made:
        made.append(_spoken(spoken, name, waiting, style, left, item=item))
    return made


def _take(part: Part, role: str, into: _Pieces, style: Style, left: Counter[str]) -> None:
    kind = part.get("type")
    if kind == TEXT and not part.get("refusal"):
        into.blocks.append({"type": "text", "text": str(part.get("content", ""))})
    elif kind == TEXT:
        raise UnfitError("refusal")
    elif kind == REASONING:
        if part.get("content"):
            into.thoughts.append(str(part["content"]))
        else:
            left["hidden_reasoning"] += 1
    elif kind == TOOL_CALL:
        if role != ASSISTANT:
            raise UnfitError("role_of_the_provider")
        into.calls.append(_call(part, style))
    elif kind in (BLOB, URI):
        if role != USER:
            raise UnfitError("image_not_of_the_user")
        into.blocks.append(_image(part, style, into.images))
    else:
        raise UnfitError(_UNFIT.get(str(kind), "part_of_the_provider"))


def _call(part: Part, style: Style) -> dict[str, Any]:
    if part.get("legacy") or part.get("call_type") or part.get("item"):
        raise UnfitError("tool_that_is_no_function")
    value = part.get("arguments")
    if value is None:
        value = {}
    written = arguments_text(part) if "arguments" in part else "{}"
    if isinstance(value, str):
        try:
            value = orjson.loads(value)
        except orjson.JSONDecodeError:
            raise UnfitError("arguments_not_json") from None
    value = as_dict(value)
    if value is None:
        raise UnfitError("arguments_not_json")
    text = written if isinstance(written, str) else dumps_text(value)
    function: dict[str, Any] = {
        "name": str(part.get("name") or ""),
        "arguments": text if style.arguments_as_text else value,
    }
    return {"id": str(part.get("id") or ""), "type": "function", "function": function}


def _image(part: Part, style: Style, images: list[str]) -> dict[str, Any]:
    modality = str(part.get("modality") or "file")
    if modality != "image":
        raise UnfitError(f"{modality}_not_carried")
    if part["type"] == URI:
        url = str(part["uri"])
    elif "content" not in part:
        raise UnfitError("image_not_recorded")
    else:
        url = _kept(str(part["content"]), str(part.get("mime_type") or ""), style)
    if style.image_type == "image":
        images.append(url)
        return {"type": "image", "image": url}
    detail = {"detail": part["detail"]} if "detail" in part else {}
    return {"type": "image_url", "image_url": {"url": url, **detail}}


def _kept(encoded: str, mime_type: str, style: Style) -> str:
    if style.keep_image is None:
        return f"data:{mime_type};base64,{encoded}"
    content = decoded_base64(encoded)
    if content is None:
        raise UnfitError("image_not_recorded")
    return style.keep_image(content, mime_type)


def _result(part: Part, name: str, style: Style, left: Counter[str]) -> Chat:
    response = part.get("response")
    if part.get("item"):
        raise UnfitError("tool_that_is_no_function")
    if part.get("is_error"):
        left["tool_error_flag"] += 1
    blocks = as_list(response)
    content: Any
    if response is None or isinstance(response, str):
        content = response or ""
    elif blocks is not None and blocks and all(_is_block(one) for one in blocks):
        if any(one["type"] != "text" for one in blocks):
            raise UnfitError("image_in_a_tool_result")
        content = _content([{"type": "text", "text": one["text"]} for one in blocks], style, left)
    else:
        content = dumps_text(response)
    body = {"role": TOOL, "tool_call_id": str(part.get("id") or ""), "content": content}
    said = _digest([TOOL, content])
    return Chat(
        *(TOOL, body, said, said),
        answers=(body["tool_call_id"], str(part.get("name") or name)),
        text=content if isinstance(content, str) else dumps_text(content),
    )


def _is_block(value: Any) -> bool:
    block = as_dict(value)
    if block is None or not isinstance(block.get("type"), str):
        return False
    return block["type"] in ("image", "document") or isinstance(block.get("text"), str)


def _content(blocks: list[dict[str, Any]], style: Style, left: Counter[str]) -> Any:
    if all(one["type"] == "text" for one in blocks):
        if len(blocks) == 1:
            return blocks[0]["text"]
        if blocks and not style.blocks:
            left["texts_joined"] += 1
            return "\n".join(one["text"] for one in blocks)
    return blocks


def _spoken(
    role: str, name: str, pieces: _Pieces, style: Style, left: Counter[str], *, item: bool
) -> Chat:
    content: Any = _content(pieces.blocks, style, left) if pieces.blocks else ""
    body: dict[str, Any] = {"role": role}
    if name:
        body["name"] = name
    thoughts = "\n".join(pieces.thoughts)
    if thoughts and style.reasoning:
        body["reasoning_content"] = thoughts
    elif thoughts:
        left["reasoning"] += 1
    if pieces.calls and style.blocks:
        body["content"] = content or None
    else:
        body["content"] = content
    if pieces.calls:
        body["tool_calls"] = pieces.calls
    texts = [one["text"] for one in pieces.blocks if one["type"] == "text"]
    return _sealed(
        Chat(
            *(role, body, b"", b""),
            thoughts=thoughts,
            text="\n".join(texts),
            images=tuple(pieces.images),
            item=item,
        )
    )


def _sealed(chat: Chat) -> Chat:
    """With its hashes, and what it asks for."""
    calls = chat.body.get("tool_calls", ())
    functions = [one["function"] for one in calls]
    asked = [[one["name"], _canonical(one["arguments"])] for one in functions]
    blocks = as_list(chat.body["content"]) or []
    pictured = any(one["type"] != "text" for one in blocks)
    content: Any = blocks if pictured else chat.text
    what: list[Any] = [chat.role, chat.body.get("name"), content, asked]
    return replace(
        chat,
        identity=_digest(what),
        digest=_digest([*what, chat.body.get("reasoning_content")]),
        asks=tuple((one["id"], one["function"]["name"]) for one in calls),
    )


def _canonical(arguments: Any) -> Any:
    return orjson.loads(arguments) if isinstance(arguments, str) else arguments


def _digest(what: Any) -> bytes:
    written = orjson.dumps(what, default=str, option=orjson.OPT_SORT_KEYS)
    return blake2b(written, digest_size=16).digest()


def joined(messages: Iterable[Chat]) -> list[Chat]:
    """The messages, those that are items of one reply put together to one message."""
    made: list[Chat] = []
    for message in messages:
        if made and message.item and made[-1].item:
            made[-1] = _together(made[-1], message)
        else:
            made.append(message)
    return made


def _together(one: Chat, other: Chat) -> Chat:
    body = {**one.body}
    thoughts = "\n".join(filter(None, (one.thoughts, other.thoughts)))
    if "reasoning_content" in one.body or "reasoning_content" in other.body:
        body = {"role": one.role, "reasoning_content": thoughts, **body}
        body["reasoning_content"] = thoughts
    first, second = one.body["content"], other.body["content"]
    if first and second:
        if not (isinstance(first, str) and isinstance(second, str)):
            raise UnfitError("texts_of_one_reply")
        body["content"] = f"{first}\n{second}"
    else:
        body["content"] = first or second
    calls = [*one.body.get("tool_calls", ()), *other.body.get("tool_calls", ())]
    if calls:
        body.pop("tool_calls", None)
        body["tool_calls"] = calls
    text = "\n".join(filter(None, (one.text, other.text)))
    return _sealed(replace(one, body=body, thoughts=thoughts, text=text))
