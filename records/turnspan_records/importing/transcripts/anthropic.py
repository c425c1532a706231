"""Anthropic's lines: transcripts, logged calls of the Messages API, results of batches."""

from __future__ import annotations

from typing import Any, Final

from turnspan.content.model import as_dict, as_list
from turnspan.providers.anthropic.messages import Messages
from turnspan.tracing.endpoint import Endpoint
from turnspan_records.importing.transcripts.dialect import SourceTranscript, TranscriptProvider
from turnspan_records.importing.transcripts.exchanges import Exchange
from turnspan_records.importing.transcripts.fields import Object

_MESSAGES: Final = Messages()
_OF_CALLS: Final = (
    *("model", "system", "tools", "tool_choice", "temperature", "top_p", "top_k", "max_tokens"),
    *("thinking", "stop_sequences"),
)


def _endpoint(exchange: Exchange) -> Endpoint:
    del exchange
    return _MESSAGES


def _is_response(line: Object) -> bool:
    return line.get("type") == "message" and as_list(line.get("content")) is not None


def _transcript(value: Any) -> SourceTranscript | None:
    line = as_dict(value)
    messages = as_list(value if line is None else line.get("messages"))
    if not messages or not all(as_dict(each) and "role" in each for each in messages):
        return None
    line = line or {}
    request = {name: line[name] for name in _OF_CALLS if line.get(name) is not None}
    leading = 0
    while leading < len(messages) and messages[leading]["role"] == "system":
        leading += 1
    if leading and "system" not in request:  # as other tools write transcripts of this provider
        said = [each.get("content") for each in messages[:leading]]
        request["system"] = said[0] if leading == 1 else _blocks(said)
        messages = messages[leading:]
    return SourceTranscript(messages, request, line)


def _blocks(contents: list[Any]) -> list[Any]:
    blocks: list[Any] = []
    for content in contents:
        listed = as_list(content)
        blocks += [{"type": "text", "text": content}] if listed is None else listed
    return blocks


def _answer(message: Object) -> Object:
    return {"type": "message", "role": "assistant", "content": message.get("content")}


ANTHROPIC: Final = TranscriptProvider(
    "anthropic-jsonl", "anthropic", _endpoint, _MESSAGES, _is_response, _transcript, _answer
)
