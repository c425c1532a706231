"""Content of a message, in the blocks of any API that tools keep, as parts of the GenAI schema.

One mapping for all tools: Anthropic's blocks (Claude Code, Cursor, Droid), Gemini's (Gemini CLI,
Qwen Code), Pi's and Goose's differ in names only, and tools mix them. What a block says beside the
schema's fields is kept in the part's ``other``; media is kept as its hash and size.
"""

from __future__ import annotations

from typing import Any, Final

from turnspan.content.json_codec import arguments_part, generic_part
from turnspan.content.media import blob_part, digest_media, digest_of, url_part
from turnspan.content.model import (
    REASONING,
    TEXT,
    TOOL_CALL_RESPONSE,
    Part,
    as_list,
    dumps,
    text_part,
    unknown_part,
)
from turnspan_records.coding.transcripts.wire_values import WireFields, fields_of, result_of

_TEXTS: Final = ("", "text", "input_text", "output_text", "summary_text")
_THOUGHTS: Final = ("thinking", "think", "reasoning", "redacted_thinking")
_CALLS: Final = ("tool_use", "tool_call", "tool-call", "toolCall")
_RESULTS: Final = ("tool_result", "tool-result", "toolResult")
_ARGUMENTS: Final = ("input", "arguments", "args", "parameters")
_CALL_IDS: Final = ("tool_use_id", "toolCallId", "tool_call_id", "callId", "id")


def parts_of(content: Any) -> list[Part]:
    """The parts of a message's content: a text, a block, or a list of these."""
    if isinstance(content, str):
        return [text_part(content)] if content else []
    if content is None:
        return []
    blocks = as_list(content)
    return [_part(block) for block in blocks] if blocks is not None else [_part(content)]


def prompt_parts(shown: Any, sent: Any) -> list[Part]:
    """A prompt as the user wrote it (``shown``; None or empty: as it was sent), with what the tool
    made of it, which the model was sent, in the first part's ``other``."""
    parts = parts_of(sent)
    written = parts_of(shown)
    if not written or texts_of(written) == texts_of(parts):
        return parts
    beside = [part for part in parts if part["type"] != TEXT]
    written[0]["other"] = {"sent": texts_of(parts)}
    return [*written, *(part for part in beside if part not in written)]


def reasoning_part(text: str, other: dict[str, Any] | None = None) -> Part:
    """What a model thought."""
    return {"type": REASONING, "content": text, **({"other": other} if other else {})}


def call_part(id_: str, name: str, arguments: Any, other: dict[str, Any] | None = None) -> Part:
    """A tool call; arguments may be JSON in a text."""
    more = {"other": other} if other else {}
    return {"id": id_, **arguments_part(name, arguments), **more}


def add_new(parts: list[Part], more: list[Part]) -> None:
    """Add the parts that are not there yet: a message is written again as it grows."""
    known = {dumps(part) for part in parts}
    parts += [part for part in more if dumps(part) not in known]


def texts_of(parts: list[Part]) -> str:
    """The text parts' text, in lines."""
    return "\n".join(str(part["content"]) for part in parts if part.get("type") == TEXT)


def _part(block: Any) -> Part:
    if isinstance(block, str):
        return text_part(block)
    if not isinstance(block, dict):
        return unknown_part(block)
    holder = fields_of(block)
    wrapped = _wrapped(holder)
    if wrapped is not None:
        return wrapped
    kind = holder.text("type")
    if kind in _TEXTS and isinstance(holder.get("text"), str):
        other = holder.others("type", "text", "thought")
        if holder.get("thought") is True:
            return reasoning_part(holder["text"], other)
        return {**text_part(holder["text"]), **({"other": other} if other else {})}
    if kind in _THOUGHTS:
        for name in ("thinking", "think", "text", "data"):
            if isinstance(holder.get(name), str):
                return reasoning_part(holder[name], holder.others("type", name))
    if kind in _CALLS:
        return _call(holder, holder)
    if kind in _RESULTS:
        id_ = next((holder[name] for name in _CALL_IDS if isinstance(holder.get(name), str)), "")
        return response_part(id_, result_of(holder.get("content")))
    return _media(holder, kind) or generic_part(digest_media(dict(holder)))


def response_part(id_: str, response: Any) -> Part:
    """What a tool has returned, as the model was sent it."""
    return {"type": TOOL_CALL_RESPONSE, "id": id_, "response": response}


def _wrapped(holder: WireFields) -> Part | None:
    """Gemini's parts, which have no type but a field of their own; Goose's calls and results."""
    call = holder.maybe("functionCall")
    if call is not None:
        return _call(call, holder)
    response = holder.maybe("functionResponse")
    if response is not None:
        return response_part(response.text("id"), digest_media(response.get("response")))
    if "toolCall" in holder:
        value = holder.object("toolCall").object("value")
        return _call(WireFields({"id": holder.text("id"), **value}), WireFields())
    if "toolResult" in holder:
        result = holder.object("toolResult")
        return response_part(holder.text("id"), result_of(result.get("value", dict(result))))
    return None


def _call(call: WireFields, holder: WireFields) -> Part:
    name = call.text("name") or call.text("toolName")
    where = next((known for known in _ARGUMENTS if known in call), "")
    id_ = call.text("id") or call.text("toolCallId")
    known = ("type", "id", "toolCallId", "name", "toolName", where, "functionCall")
    return call_part(id_, name, call.get(where, {}), holder.others(*known))


def _media(holder: WireFields, kind: str) -> Part | None:
    inline = holder.object("inlineData") or holder.object("source")
    inline = inline if isinstance(inline.get("data"), str) else holder
    data = inline.get("data")
    if isinstance(data, str) and (kind in ("", "image", "document", "audio")):
        mime = next((inline.text(n) for n in ("mimeType", "media_type") if inline.get(n)), "")
        return blob_part(digest_of(data), mime)
    url = holder.object("fileData").get("fileUri") or holder.get("url")
    if isinstance(url, str) and kind in ("", "image", "file"):
        return url_part(digest_media({"url": url})["url"], "image" if kind == "image" else "")
    return None
