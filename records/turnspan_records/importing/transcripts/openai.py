"""OpenAI's lines: fine-tuning's transcripts, logged calls, batches, stored completions."""

from __future__ import annotations

from typing import Any, Final

from turnspan.content.model import as_dict, as_list
from turnspan.providers.openai.chat import ChatCompletions
from turnspan.providers.openai.completions import Completions
from turnspan.providers.openai.embeddings import Embeddings
from turnspan.providers.openai.responses import Responses
from turnspan.tracing.endpoint import Endpoint
from turnspan_records.importing.transcripts.dialect import SourceTranscript, TranscriptProvider
from turnspan_records.importing.transcripts.exchanges import RESPONSES, Exchange
from turnspan_records.importing.transcripts.fields import Object

_CHAT: Final = ChatCompletions()
_RESPONSES: Final = Responses()
_COMPLETIONS: Final = Completions()
_EMBEDDINGS: Final = Embeddings()
_OBJECTS: Final[dict[Any, Endpoint]] = {
    "chat.completion": _CHAT,
    "response": _RESPONSES,
    "text_completion": _COMPLETIONS,
}
_OF_CALLS: Final = (
    *("model", "tools", "functions", "tool_choice", "parallel_tool_calls", "temperature", "top_p"),
    *("max_tokens", "max_completion_tokens", "response_format", "reasoning_effort", "seed", "n"),
)


def _endpoint(exchange: Exchange) -> Endpoint:
    response, request = exchange.response or {}, exchange.request or {}
    known = _OBJECTS.get(response.get("object"))
    if known is not None:
        return known
    url = exchange.url().rstrip("/")
    if url.endswith("/embeddings") or as_list(response.get("data")):
        return _EMBEDDINGS
    if url.endswith("/responses") or (
        "messages" not in request and ("output" in response or "input" in request)
    ):
        return _RESPONSES
    if url.endswith("/completions") and not url.endswith("/chat/completions"):
        return _COMPLETIONS
    return _COMPLETIONS if "prompt" in request and "messages" not in request else _CHAT


def _is_response(line: Object) -> bool:
    return line.get("object") in _OBJECTS or bool(as_list(line.get("choices")))


def _transcript(value: Any) -> SourceTranscript | None:
    line = as_dict(value)
    messages = as_list(value if line is None else line.get("messages"))
    if messages and all(as_dict(each) and "role" in each for each in messages):
        line = line or {}
        request = {name: line[name] for name in _OF_CALLS if line.get(name) is not None}
        return SourceTranscript([*messages, *_told(line)], request, line)
    if line is not None and isinstance(line.get("prompt"), str):  # of fine-tuning before chat
        said = _told(line)
        if said:
            return SourceTranscript([{"role": "user", "content": line["prompt"]}, *said], {}, line)
    return None


def _told(line: Object) -> list[Object]:
    """The answer that a line has as a text."""
    said = next((line[name] for name in RESPONSES if isinstance(line.get(name), str)), None)
    return [] if said is None else [{"role": "assistant", "content": said}]


def _answer(message: Object) -> Object:
    return {"choices": [{"index": 0, "message": message}]}


OPENAI: Final = TranscriptProvider(
    "openai-jsonl", "openai", _endpoint, _CHAT, _is_response, _transcript, _answer
)
