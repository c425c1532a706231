"""One request to a model that is recorded as it leaves, and its answer as it comes.

What the clients give passes through unchanged; a copy of it is read. Whoever wraps a client says
when the request is sent (``begin``) and when the head of an answer is there (``answered``), and
hands the bytes that the application reads to the ``Body``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

import orjson

from turnspan import semconv
from turnspan.patching.stream import StreamRecord
from turnspan.providers.hosts import call_target, provider_of
from turnspan.runtime.call_limits import LimitedCall
from turnspan.runtime.guard import guard
from turnspan.runtime.type_guards import is_dict, is_list
from turnspan.tracing import begin_call
from turnspan.tracing.model_call import ABANDONED, COMPLETE, ModelCall
from turnspan.wire.answer_bytes import MAX_KEPT, AnswerBytes, DamagedError, TooLongError, events_of
from turnspan.wire.formats import ApiFormat, as_body, format_of, is_streamed, model_in
from turnspan.wire.gaps import watch
from turnspan.wire.multipart import form_fields
from turnspan.wire.requests_seen import ModelRequestSeen
from turnspan.wire.tracer import tracer

_FEED: Final = guard("wire.feed")
_FINISH: Final = guard("wire.finish")

_ERRORS: Final = {
    400: "BadRequestError",
    401: "AuthenticationError",
    403: "PermissionDeniedError",
    404: "NotFoundError",
    409: "ConflictError",
    422: "UnprocessableEntityError",
    429: "RateLimitError",
}
"""What the providers' SDKs call an answer of this status: an error has one name on either way."""


class StatusError(Exception):
    """An answer that says that the request failed; its classes are named as the SDKs' are."""

    def __init__(self, status: int, body: Any) -> None:
        super().__init__(f"Error code: {status}" if status else "the stream ended with an error")
        fields = body if is_dict(body) else {}
        inner = fields.get("error")
        inner = inner if is_dict(inner) else fields
        self.body = body
        self.status_code = status
        self.code = inner.get("code")
        self.status = inner.get("status")


_KINDS: Final[dict[str, type[StatusError]]] = {}


def _status_error(status: int, body: Any) -> StatusError:
    name = _ERRORS.get(status, "InternalServerError") if status else "APIError"
    return _KINDS.setdefault(name, type(name, (StatusError,), {}))(status, body)


@dataclass(frozen=True, slots=True)
class SentRequest:
    """A request as it was sent."""

    seen: ModelRequestSeen
    scheme: str
    port: int | None
    path: str
    """With its query, or without."""
    body: Any = None
    """Its bytes, or its JSON where the client was given that; ``None``: it is not known."""
    content_type: str = ""
    began: tuple[int, float] | None = None
    """When it was sent (``time.time_ns``, ``time.perf_counter``), if not just now."""
    limited: LimitedCall | None = None
    """What allowed it then."""


def begin(request: SentRequest) -> WireExchange | None:
    """Begin to record a request; ``None``: nothing is to be recorded here."""
    seen = request.seen
    path = urlsplit(request.path).path
    body = request_body(request.body, request.content_type)
    form = format_of(seen.operation, seen.library, path, body)
    stream = is_streamed(form, path, body)
    provider = provider_of(seen.host, form.language)  # the API's, where the host tells none
    target = call_target(provider, seen.host, request.port, request.scheme)
    model = model_in(path)
    if model:
        target[semconv.REQUEST_MODEL] = model
    if stream:
        target[semconv.REQUEST_STREAM] = True
    call = begin_call.begin(
        tracer(),
        form.endpoint,
        target,
        form.request(body),
        stream=stream,
        began=request.began,
        limited=request.limited,
    )
    return None if call is None else WireExchange(call, form, seen)


def request_body(body: Any, content_type: str) -> dict[str, Any]:
    """A request's body: its JSON, or the fields of its form."""
    if not isinstance(body, (bytes, bytearray, str)):
        return as_body(body)
    if not body or len(body) > MAX_KEPT:
        return {}
    if content_type.startswith("multipart/"):
        return form_fields(body.encode() if isinstance(body, str) else bytes(body), content_type)
    try:
        return as_body(orjson.loads(body))
    except ValueError:
        return {}


@dataclass(frozen=True, slots=True)
class WireExchange:
    """A request under way."""

    call: ModelCall
    form: ApiFormat
    seen: ModelRequestSeen

    def failed(self, error: BaseException) -> None:
        """The client raised this in place of an answer."""
        self.call.leave()
        self.call.failed(error)

    def lost(self) -> None:
        """The answer cannot be followed."""
        self.call.leave()
        self.call.close(None)

    def answered(self, status: int, headers: Mapping[str, str]) -> Body:
        """The head of the answer is there; its bytes go to what this returns."""
        self.call.leave()
        return Body(self.call, self.form, self.seen, status, headers)


class Body:
    """The bytes of an answer, read as they pass. It ends once, whoever ends it first."""

    _open = False

    def __init__(
        self,
        call: ModelCall,
        form: ApiFormat,
        seen: ModelRequestSeen,
        status: int,
        headers: Mapping[str, str],
    ) -> None:
        self._call = call
        self._form = form
        self._status = status
        self._record: StreamRecord | None = None
        said = headers.get("content-type") or ""
        events = events_of(said) if status < 400 else None
        self._answer = AnswerBytes(headers, events, unsaid=call.stream and status < 400)
        if self._answer.unknown:
            watch.unread(seen.library, seen.host, self._answer.unknown)
        self._failure: StatusError | None = None
        self._open = True

    def feed(self, data: bytes) -> None:
        """Bytes have come. Never raises."""
        if self._open and data:
            with _FEED:
                self._feed(data)

    def _feed(self, data: bytes) -> None:
        answer = self._answer
        try:
            events = answer.feed(data)
        except DamagedError as error:
            self._finish(ABANDONED, error)
            return
        except TooLongError:
            self._finish(ABANDONED, None)
            return
        if self._record is None and answer.first and answer.events is not None:
            self._call.stream = self._call.followed = True
            self._record = StreamRecord(self._call)
        self._fold(events)

    def _fold(self, events: list[Any]) -> None:
        record = self._record
        for event in events:
            if record is None or self._failure is not None or not is_dict(event):
                continue
            chunk = self._form.event(event)
            if chunk.get("error"):  # the SDKs raise it, and read no more
                self._failure = _status_error(0, chunk)
            else:
                record.fold(chunk)

    def finish(self, error: BaseException | None = None, *, complete: bool = True) -> None:
        """No more bytes come. Never raises."""
        with _FINISH:
            self._finish(COMPLETE if complete else ABANDONED, error)

    def _finish(self, outcome: str, error: BaseException | None) -> None:
        if not self._open:
            return
        self._open = False
        answer = self._answer
        if answer.events is not None and outcome == COMPLETE:
            self._fold(answer.events.end())
        record, self._record = self._record, None
        if record is not None:
            error = error or self._failure
            record.finish("" if error is not None else outcome, error)
            return
        response = answer.document()
        if error is None and self._status >= 400:
            error = _status_error(self._status, response)
        if error is not None:
            self._call.close(None, error=error)
        elif outcome == ABANDONED and not is_dict(response):
            self._call.close(None, outcome=ABANDONED)
        else:
            self._close_whole(response)

    def _close_whole(self, response: Any) -> None:
        """An answer in one piece; where a stream was asked for, Gemini's is a list of chunks."""
        call = self._call
        if call.stream and is_list(response):
            record = StreamRecord(call)
            for each in response:
                record.fold(each)
            record.finish(COMPLETE)
            return
        answer = self._form.answer(response) if is_dict(response) else response
        call.close(answer, answer, outcome=COMPLETE if call.stream else "")

    def __del__(self) -> None:
        if self._open:
            self.finish(complete=False)
