"""Answers that cost nothing to fetch and tell of model calls: results of batches, sessions' events.

What the application reads of them is read along, as it passes; nothing more is asked for.
"""

from __future__ import annotations

import inspect
import zlib
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from opentelemetry import context as otel_context

from turnspan import config, semconv
from turnspan.patching.models_on_the_wire import is_provider, sender
from turnspan.providers.hosts import provider_of
from turnspan.runtime.guard import guard
from turnspan.runtime.later import later
from turnspan.runtime.type_guards import is_dict
from turnspan.tracing.begin_call import is_suppressed
from turnspan.wire.agent_sessions import SessionEvents, agent_sessions
from turnspan.wire.answer_bytes import JsonLines, UnreadableError, WholeBody, events_of, unpacker
from turnspan.wire.batch_results import BatchResults
from turnspan.wire.batches import batches
from turnspan.wire.gaps import is_excluded
from turnspan.wire.tracer import tracer

_READ: Final = guard("wire.fetched")
_LANGUAGES: Final = ("openai", "anthropic")
Take = Callable[[Any], bool]
"""Takes a document, line or event; false: the rest is not worth reading."""

_RESULTS: Final = later(r".*/messages/batches/([^/]+)/results")
_FILE: Final = later(r".*/files/([^/]+)/content")
_BATCH: Final = later(r".*/batches(?:/[^/]+)?")
_EVENTS: Final = later(r".*/v1/sessions/([^/]+)(?:/threads/([^/]+))?(?:/events)?(?:/stream)?")


class FetchedAnswer(NamedTuple):
    """A request whose answer is read along. Its methods are those of a ``WireExchange``."""

    take: Take
    ended: Callable[[bool], object] = bool
    """Is told that no more comes, and whether the answer was complete."""
    lines: bool = False
    """Whether it is JSON lines, whatever its type says."""

    def failed(self, error: BaseException) -> None:
        """The client raised this: nothing was fetched."""

    def lost(self) -> None:
        """The answer cannot be followed: nobody has lost a call that has not been told of."""

    def answered(self, status: int, headers: Mapping[str, str]) -> AnswerAlong:
        """The head of the answer is there; its bytes go to what this returns."""
        return AnswerAlong(self, status, headers)


class AnswerAlong:
    """The bytes of such an answer, read as they pass. Its methods are those of a ``Body``."""

    def __init__(self, fetched: FetchedAnswer, status: int, headers: Mapping[str, str]) -> None:
        self._fetched = fetched
        self._type = headers.get("content-type") or ""
        self._unpack = unpacker(headers.get("content-encoding") or "")
        self._events = JsonLines() if fetched.lines else events_of(self._type)
        self._whole = WholeBody()
        self._taken = False
        self._open = status < 400

    def feed(self, data: bytes, *, plain: bool = False) -> None:
        """Bytes have come; ``plain``: the client has unpacked them. Never raises."""
        if self._open and data:
            with _READ:
                self._feed(data, plain)

    def _feed(self, data: bytes, plain: bool) -> None:
        try:
            unpacked = data if plain else self._unpack(data)
            if self._events is None:
                self._whole.feed(unpacked)
                return
            self._give(self._events.feed(unpacked))
            if not self._taken and b"\n" in unpacked and isinstance(self._events, JsonLines):
                self._open = False  # its first line is no JSON: another kind of file
        except (UnreadableError, zlib.error):  # the server's; the reader is told by its client
            self._open = False

    def _give(self, documents: list[Any]) -> None:
        for document in documents:
            self._taken = True
            if self._open:
                self._open = self._fetched.take(document)

    def finish(self, error: BaseException | None = None, *, complete: bool = True) -> None:
        """No more bytes come. Never raises."""
        if self._open:
            complete = complete and error is None
            with _READ:
                if complete:
                    whole = [self._whole.value(self._type)]
                    self._give(whole if self._events is None else self._events.end())
            with _READ:
                self._open = False
                self._fetched.ended(complete)


def fetch(method: str, url: Any, stream: Any) -> FetchedAnswer | None:
    """Begin to read an answer along; ``None``: it tells of no calls, or these are not recorded.

    Args:
        method: The HTTP method.
        url: The request's, with ``host``, ``path``, ``port`` and ``scheme``.
        stream: What the request's body is sent from.
    """
    path: str = url.path
    is_upload = method == "POST" and path.endswith("/files")
    if not (is_upload or method == "GET"):
        return None
    if not (is_upload or "/batches" in path or "/files/" in path or "/sessions/" in path):
        return None
    if not (tracer.on and config.active().record_http):
        return None
    if is_suppressed(otel_context.get_current()):
        return None
    host: str = url.host
    library = sender(inspect.currentframe())
    if is_excluded(library) or not (is_provider(host) or library in _LANGUAGES):
        return None
    if is_upload:
        return _uploaded(stream)
    target = {
        semconv.PROVIDER_NAME: provider_of(host, library or "custom"),
        semconv.SERVER_ADDRESS: host,
        semconv.SERVER_PORT: url.port or (80 if url.scheme == "http" else 443),
    }
    return _fetched(path, target)


def _fetched(path: str, target: dict[str, Any]) -> FetchedAnswer | None:
    for pattern in (_RESULTS, _FILE):
        found = pattern.fullmatch(path)
        if found is not None:
            results = BatchResults(found[1], target)
            return FetchedAnswer(results.take, results.ended, lines=True)
    if _BATCH.fullmatch(path):
        return FetchedAnswer(batches.learn)
    found = _EVENTS.fullmatch(path)
    if found is None:
        return None
    if "/events" not in path and "/stream" not in path:
        return FetchedAnswer(agent_sessions.learn)
    events = SessionEvents(found[1], target, found[2] or "")
    return FetchedAnswer(events.take, events.ended)


def _uploaded(stream: Any) -> FetchedAnswer | None:
    """The upload of a batch's requests, where they are bytes; a file is the application's."""
    fields = {field.name: field for field in getattr(stream, "fields", ())}
    purpose = getattr(fields.get("purpose"), "value", None)
    data = getattr(fields.get("file"), "file", None)
    if purpose not in ("batch", b"batch") or not isinstance(data, (bytes, str)):
        return None
    requests = data.encode() if isinstance(data, str) else data

    def take(document: Any) -> bool:
        identity = document.get("id") if is_dict(document) else None
        if isinstance(identity, str):
            batches.remember(identity, requests)
        return False

    return FetchedAnswer(take)
