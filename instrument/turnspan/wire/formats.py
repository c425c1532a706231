"""How a request's path and body read: which endpoint of ours they are of, in which words.

A provider whose words are its own is translated into those of one that has an endpoint: what lands
is the same conversation, whoever is asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import unquote

from turnspan import semconv
from turnspan.providers.anthropic.messages import Messages
from turnspan.providers.google_genai.content import GenerateContent
from turnspan.providers.google_genai.embeddings import GeminiEmbeddings, embeds
from turnspan.providers.google_genai.interactions import Interactions
from turnspan.providers.openai.chat import ChatCompletions
from turnspan.providers.openai.completions import Completions
from turnspan.providers.openai.embeddings import Embeddings
from turnspan.providers.openai.responses import Responses
from turnspan.runtime.type_guards import is_dict
from turnspan.tracing.endpoint import Endpoint
from turnspan.wire import agent_sessions, batches, bedrock, cohere, ollama
from turnspan.wire.answer_bytes import AWS_EVENTS, JSON_LINES
from turnspan.wire.model_request import Observer, OperationEndpoint

Translation = Callable[[dict[str, Any]], dict[str, Any]]


def _same(fields: dict[str, Any]) -> dict[str, Any]:
    return fields


@dataclass(frozen=True, slots=True)
class ApiFormat:
    """One API's way of writing requests, answers and the events of a stream."""

    endpoint: Endpoint
    language: str
    """Whose API it is: the provider's name, where the host tells none."""
    request: Translation = _same
    answer: Translation = _same
    event: Translation = _same
    """An event of a stream as a chunk of the endpoint's."""
    streams: bool = False
    """Whether an answer is streamed where the request does not say."""
    written: Translation = _same
    """An answer of the endpoint's in the API's own words: the inverse of ``answer``."""
    written_events: Callable[[dict[str, Any]], Iterator[dict[str, Any]]] | None = None
    """The events of a stream that is such an answer; ``None``: those of the endpoint's dialect."""
    content_type: str = "text/event-stream"
    """What frames the events of a stream."""


_CHAT: Final = ChatCompletions()
_MESSAGES: Final = Messages()
_ANTHROPIC: Final = ApiFormat(_MESSAGES, "anthropic")
_CONVERSE: Final = ApiFormat(
    *(_MESSAGES, "aws.bedrock", bedrock.request, bedrock.answer, bedrock.event),
    written=bedrock.written,
    content_type=AWS_EVENTS,
    written_events=bedrock.written_events,
)
_CLAUDE_ON_BEDROCK: Final = ApiFormat(
    _MESSAGES,
    "aws.bedrock",
    event=bedrock.packed_event,
    content_type=AWS_EVENTS,
    written_events=bedrock.packed_events,
)
_NOVA: Final = replace(
    _CONVERSE, event=bedrock.nova_event, written_events=bedrock.packed_nova_events
)
_OLLAMA_CHAT: Final = ApiFormat(
    *(_CHAT, "ollama", ollama.request, ollama.answer, ollama.event, True),
    written=ollama.written,
    content_type=JSON_LINES,
    written_events=ollama.written_events,
)
_OLLAMA_COMPLETION: Final = ApiFormat(
    *(Completions(), "ollama", ollama.request, ollama.completion, ollama.completion, True),
    written=ollama.written_completion,
    content_type=JSON_LINES,
    written_events=ollama.written_completions,
)
_COHERE: Final = ApiFormat(
    *(_CHAT, "cohere"),
    answer=cohere.answer,
    event=cohere.event,
    written=cohere.written,
    written_events=cohere.written_events,
)
_OLD_COHERE: Final = ApiFormat(
    *(_CHAT, "cohere", cohere.old_request, cohere.old_answer, cohere.old_event),
    written=cohere.old_written,
    content_type=JSON_LINES,
    written_events=cohere.old_written_events,
)

_FILL_IN: Final = ApiFormat(
    Completions(), "openai", answer=ollama.text_of_message, written=ollama.message_of_text
)

_PATHS: Final[tuple[tuple[str, ApiFormat], ...]] = (
    (r"/(?:chat|agents)/completions", ApiFormat(_CHAT, "openai")),
    (r"/fim/completions", _FILL_IN),
    (r"/completions", ApiFormat(Completions(), "openai")),
    (r"/responses", ApiFormat(Responses(), "openai")),
    (r"(?<!/threads)(?<!/messages)/embeddings", ApiFormat(Embeddings(), "openai")),
    (r"/messages", _ANTHROPIC),
    (r":(?:generateContent|streamGenerateContent)", ApiFormat(GenerateContent(), "gcp.gemini")),
    (r"/interactions", ApiFormat(Interactions(), "gcp.gemini")),
    (r":(?:embedContent|batchEmbedContents)", ApiFormat(GeminiEmbeddings(), "gcp.gemini")),
    (r"/publishers/anthropic/.+:(?:rawPredict|streamRawPredict)", _ANTHROPIC),
    (r"/model/[^/]+/converse(?:-stream)?", _CONVERSE),
    (r"/model/[^/]*anthropic[^/]*/invoke(?:-with-response-stream)?", _CLAUDE_ON_BEDROCK),
    (r"/model/[^/]*nova[^/]*/invoke(?:-with-response-stream)?", _NOVA),
    (r"/api/chat", _OLLAMA_CHAT),
    (r"/api/generate", _OLLAMA_COMPLETION),
    (r"/api/embed(?:dings)?", ApiFormat(Embeddings(), "ollama", answer=ollama.embeddings)),
    (r"/v2/chat", _COHERE),
    (r"/v1/chat", _OLD_COHERE),
    (r"/v[12]/embed", ApiFormat(Embeddings(), "cohere", cohere.texts, cohere.embeddings)),
)
_COMPILED: Final = [(re.compile(rf".*{pattern}/?"), form) for pattern, form in _PATHS]
_PREDICTED: Final = ApiFormat(GeminiEmbeddings(), "gcp.vertex_ai")
_IN_PATH: Final = re.compile(
    r".*/(?:models?|deployments|engines)/(?!(?:chat/)?completions/?$|(?:images/)?embeddings/?$)"
    r"(?P<model>.+?)(?:(?::|/)[a-zA-Z-]+(?:/completions)?)?/?"
)
_STREAMS: Final = re.compile(r"[sS]tream")

_LANGUAGES: Final = {
    "bedrock": "aws.bedrock",
    "google_genai": "gcp.gemini",
    "google_generativeai": "gcp.gemini",
    "mistralai": "mistral_ai",
    "vertexai": "gcp.vertex_ai",
    "watsonx": "ibm.watsonx.ai",
}
"""Whose API a library speaks, where it is not called by its own name."""


def format_of(operation: str, library: str, path: str, body: Mapping[str, Any]) -> ApiFormat:
    """The format of a library's request to this path, which has no query."""
    if operation in semconv.INFERENCE_OPERATIONS:
        for pattern, form in _COMPILED:
            if pattern.fullmatch(path):
                return form
    if path.endswith(":predict") and embeds(body):
        return _PREDICTED
    language = _LANGUAGES.get(library, library or "custom")
    observer: Observer | None = batches.made if operation == "batch" else None
    if operation == "agent_session":
        observer = agent_sessions.observer_of(path)
    return ApiFormat(OperationEndpoint(operation, observer), language)


def model_in(path: str) -> str:
    """The model that a path names, as Gemini's, Bedrock's and Azure's do; empty where none."""
    found = _IN_PATH.fullmatch(path)
    return unquote(found["model"]) if found is not None else ""


def is_streamed(form: ApiFormat, path: str, body: Mapping[str, Any]) -> bool:
    """Whether a request asks for a stream."""
    asked = body.get("stream")
    last = path.rstrip("/").rpartition("/")[2]
    return asked is True or (asked is None and form.streams) or bool(_STREAMS.search(last))


def as_body(value: Any) -> dict[str, Any]:
    """A request's JSON as an object."""
    if is_dict(value):
        return value
    return {} if value is None else {"request": value}
