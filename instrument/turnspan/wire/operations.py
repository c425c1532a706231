"""Temporary."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

FREE: Final = "free"
_T = [
    (r"/(chat|agents)/completions", "chat"),
    (r"/(fim/)?completions", "text_completion"),
    (r"/threads/[^/]+/messages", FREE),
    (r"/messages/count_tokens|/messages/batches", FREE),
    (r"/responses", "chat"),
    (r"/messages", "chat"),
    (r"/embeddings", "embeddings"),
    (r":(generateContent|streamGenerateContent)", "generate_content"),
    (r":(embedContent|batchEmbedContents|predict)", "embeddings"),
    (r":(rawPredict|streamRawPredict)", "chat"),
    (r"/model/[^/]+/(converse(-stream)?|invoke(-with-response-stream)?)", "chat"),
    (r"/api/chat", "chat"),
    (r"/api/generate", "text_completion"),
    (r"/api/embed(dings)?", "embeddings"),
    (r"/v[12]/chat", "chat"),
    (r"/v[12]/embed", "embeddings"),
    (r"/v[12]/rerank", "rerank"),
    (r"/images/(generations|edits|variations)", "image_generation"),
    (r"/audio/speech", "speech"),
    (r"/audio/transcriptions", "transcription"),
    (r"/audio/translations", "translation"),
    (r"/moderations", "moderation"),
    (r"/batches", "batch"),
    (r"/videos", "video"),
    (r"/files|/v1/models|:countTokens|/responses/[^/]+/cancel", FREE),
    (r"/realtime", "realtime"),
]
_C = [(re.compile(rf".*{p}/?"), o) for p, o in _T]
_ANY = re.compile(
    r".*(/(chat/completions|responses|messages|completions|embeddings)|:(generateContent|streamGenerateContent|embedContent|batchEmbedContents|predict)|/api/(chat|generate|embed)|/model/[^/]+/(converse|converse-stream|invoke|invoke-with-response-stream))/?"
)


@lru_cache(maxsize=4096)
def operation_of(method: str, path: str) -> str | None:
    """The operation of a request."""
    path = path.partition("?")[0]
    for p, o in _C:
        if p.fullmatch(path):
            return o
    return None


@lru_cache(maxsize=4096)
def asks_a_model_anywhere(method: str, path: str) -> bool:
    """Whether only servers of models have such a path."""
    path = path.partition("?")[0]
    return (
        method == "POST" and _ANY.fullmatch(path) is not None and operation_of(method, path) != FREE
    )
