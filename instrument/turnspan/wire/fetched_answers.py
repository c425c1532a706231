"""Answers that cost nothing to fetch and tell of model calls: results of batches, sessions' events.

What the application reads of them is read along, as it passes; nothing more is asked for.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, Final

from opentelemetry import context as otel_context

from turnspan import config
from turnspan.patching.models_on_the_wire import is_provider, sender
from turnspan.providers.hosts import call_target, provider_of
from turnspan.runtime.guard import guard
from turnspan.runtime.later import later
from turnspan.runtime.type_guards import is_dict
from turnspan.tracing.begin_call import is_suppressed
from turnspan.wire.agent_sessions import SessionEvents, agent_sessions
from turnspan.wire.answer_bytes import (
    AnswerBytes,
    DamagedError,
    JsonLines,
    TooLongError,
    events_of,
)
from turnspan.wire.batch_results import BatchResults
from turnspan.wire.batches import MAX_INPUT, batches
from turnspan.wire.gaps import is_excluded, watch
from turnspan.wire.tracer import tracer

_READ: Final = guard("wire.fetched")
_LANGUAGES: Final = ("openai", "anthropic")
Take = Callable[[Any], bool]

_RESULTS: Final = later(r".*/messages/batches/([^/]+)/results")
_FILE: Final = later(r".*/files/([^/]+)/content")
_BATCH: Final = later(r".*/batches(?:/[^/]+)?")
_EVENTS: Final = later(r".*/v1/sessions/([^/]+)(?:/threads/([^/]+))?(?:/events)?(?:/stream)?")


class FetchedAnswer:
    """A request whose answer is read along, and its bytes as they pass: what a ``WireExchange`` and
    a ``Body`` are to a call.

    Args:
        take: Takes a document, line or event; false: the rest is not worth reading.
        ended: Is told that no more comes, and whether the answer was complete.
        lines: Whether it is JSON lines, whatever its type says.
    """

    library = ""
    host = ""
    """Who fetches it from where, for the name of a gap."""
    _open = False
    _answer: AnswerBytes

    def __init__(
        self, take: Take, ended: Callable[[bool], object] = bool, *, lines: bool = False
    ) -> None:
        self._take = take
        self._ended = ended
        self._lines = lines

    def failed(self, error: BaseException) -> None:
        """The client raised this: nothing was fetched."""

    def lost(self) -> None:
        """The answer cannot be followed: no call is lost that has been told of."""

    def answered(self, status: int, headers: Mapping[str, str]) -> FetchedAnswer:
        """The head of the answer is there."""
        said = headers.get("content-type") or ""
        self._answer = AnswerBytes(headers, JsonLines() if self._lines else events_of(said))
        self._open = status < 400
        if self._open and self._answer.unknown:
            watch.unread(self.library, self.host, self._answer.unknown)
        return self

    def feed(self, data: bytes) -> None:
        """Bytes have come. Never raises."""
        if self._open and data:
            with _READ:
                self._feed(data)

    def _feed(self, data: bytes) -> None:
        answer = self._answer
        try:
            documents = answer.feed(data)
        except (DamagedError, TooLongError):  # the first is the server's, and its client tells
            self._open = False
            return
        if self._lines and answer.first[:1] not in (b"", b"{"):
            self._open = False  # another kind of file
        self._give(documents)

    def _give(self, documents: list[Any]) -> None:
        for document in documents:
            if self._open:
                self._open = self._take(document)

    def finish(self, error: BaseException | None = None, *, complete: bool = True) -> None:
        """No more bytes come. Never raises."""
        if self._open:
            complete = complete and error is None
            with _READ:
                events = self._answer.events
                if complete:
                    self._give([self._answer.document()] if events is None else events.end())
            with _READ:
                self._open = False
                self._ended(complete)


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
        answer = _uploaded(stream)
    else:
        provider = provider_of(host, library or "custom")
        answer = _fetched(path, call_target(provider, host, url.port, url.scheme))
    if answer is not None:
        answer.library, answer.host = library, host
    return answer


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
    """The upload of a batch's requests."""
    fields = {field.name: field for field in getattr(stream, "fields", ())}
    upload = fields.get("file")
    if upload is None or getattr(fields.get("purpose"), "value", None) not in ("batch", b"batch"):
        return None
    along: FileAlong | None = None
    if not isinstance(upload.file, (bytes, str)):
        along = upload.file = FileAlong(upload.file)

    def take(document: Any) -> bool:
        identity = document.get("id") if is_dict(document) else None
        if isinstance(identity, str):
            data = upload.file if along is None else b"".join(along.pieces)
            batches.remember(identity, data.encode() if isinstance(data, str) else data)
        return False

    return FetchedAnswer(take)


class FileAlong:
    """A file of the application's in a form that is sent: what the client reads is kept."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self.pieces: list[bytes] = []

    def __getattr__(self, name: str) -> Any:
        if name == "seek":  # to its beginning: it is sent anew
            self.pieces.clear()
        return getattr(self._file, name)

    def read(self, *args: Any) -> Any:
        """As the file's."""
        data = self._file.read(*args)
        with _READ:
            if sum(map(len, self.pieces)) < MAX_INPUT:
                self.pieces.append(data)
        return data
