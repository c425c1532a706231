"""What a prompt of ``llm`` says to the model, and a response to the user, in the GenAI schema.

Newer versions know the whole list of messages themselves (``Prompt.messages``). Of older ones it is
put together as their plugins do it: from the responses before in the conversation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from turnspan.content.media import blob_part, modality_of, url_part
from turnspan.content.model import (
    REASONING,
    SERVER_TOOL_CALL,
    SERVER_TOOL_CALL_RESPONSE,
    TEXT,
    TOOL_CALL,
    TOOL_CALL_RESPONSE,
    URI,
    Message,
    Part,
    unknown_part,
)

_UNKNOWN_TYPE: Final = "application/octet-stream"


def asked(prompt: Any, before: Iterable[Any]) -> tuple[list[Message], str]:
    """The messages that a prompt sends, and its system prompt where it is not one of these.

    ``before`` are the responses that came before it in its conversation.
    """
    own: Any = getattr(prompt, "messages", None)
    if own is not None:
        return [_message(one) for one in own], ""
    messages: list[Message] = []
    for response in before:
        messages += _user(response.prompt)
        messages += answered(response, response._chunks)
    return messages + _user(prompt), getattr(prompt, "system", None) or ""


def answered(response: Any, texts: Iterable[str]) -> list[Message]:
    """The messages of a response that is over, or of what came of it until it broke off; of an
    older version its ``texts``."""
    newer: Any = getattr(response, "_messages_now", None)
    if newer is not None:
        return [_message(one) for one in newer()]
    parts: list[Part] = []
    text = "".join(texts)
    if text:
        parts.append({"type": TEXT, "content": text})
    parts += [_tool_call(call) for call in getattr(response, "_tool_calls", None) or ()]
    return [{"role": "assistant", "parts": parts}] if parts else []


def _user(prompt: Any) -> list[Message]:
    """What the user of an older version says: results of tools, then text and attachments."""
    messages: list[Message] = []
    results = [_tool_result(one) for one in getattr(prompt, "tool_results", None) or ()]
    if results:
        messages.append({"role": "tool", "parts": results})
    parts: list[Part] = []
    if prompt.prompt:
        parts.append({"type": TEXT, "content": prompt.prompt})
    parts += [_attachment(one) for one in prompt.attachments or ()]
    if parts:
        messages.append({"role": "user", "parts": parts})
    return messages


def _tool_call(call: Any) -> Part:
    return {
        "type": TOOL_CALL,
        "id": call.tool_call_id or "",
        "name": call.name,
        "arguments": call.arguments,
    }


def _tool_result(result: Any) -> Part:
    identity = result.tool_call_id or ""
    return {"type": TOOL_CALL_RESPONSE, "id": identity, "response": result.output}


def _attachment(attachment: Any) -> Part:
    """An attachment; one on disk by its path, which is not read here."""
    kind = attachment.type or _UNKNOWN_TYPE
    if attachment.url:
        return url_part(attachment.url, modality_of(kind))
    if attachment.content:
        return blob_part(attachment.base64_content(), kind)
    path = Path(attachment.path).absolute().as_uri() if attachment.path else ""
    return {"type": URI, "modality": modality_of(kind), "uri": path}


def _message(message: Any) -> Message:
    return {"role": message.role, "parts": [_part(part) for part in message.parts]}


def _part(part: Any) -> Part:
    attachment: Any = getattr(part, "attachment", None)
    if attachment is not None:
        return _attachment(attachment)
    fields: Mapping[str, Any] = part.to_dict()
    kind = fields.get("type")
    if kind == "text":
        return {"type": TEXT, "content": fields["text"]}
    if kind == "reasoning":
        return {"type": REASONING, "content": fields["text"]}
    if kind == "tool_call":
        if fields.get("server_executed"):
            asked_for = {"type": fields["name"], "arguments": fields["arguments"]}
            return {"type": SERVER_TOOL_CALL, "name": fields["name"], "server_tool_call": asked_for}
        return _tool_call(part)
    if kind == "tool_result":
        if fields.get("server_executed"):
            gave = {"type": fields["name"], "output": fields["output"]}
            return {"type": SERVER_TOOL_CALL_RESPONSE, "server_tool_call_response": gave}
        return _tool_result(part)
    return unknown_part(dict(fields))
