"""WebSockets of the OpenAI SDK, on which each response is a call.

What is looked at are the messages at ``send``, ``recv`` and ``close`` of the socket under the SDK's
connection: so it is all the same whether the application sends events, JSON or what the SDK had
queued, reads events or bytes, and in which thread or task. A call begins when the server says that
it has, with the moment and the context in which it was asked for.
"""

from __future__ import annotations

import inspect
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Final, NamedTuple

import orjson
from opentelemetry import context as otel_context
from opentelemetry.context import Context

from turnspan import semconv
from turnspan.patching.frame import Frame
from turnspan.patching.patches import Args, Kwargs
from turnspan.patching.stainless import Sdk
from turnspan.patching.stream import StreamRecord
from turnspan.providers.openai.events import FINAL
from turnspan.runtime.type_guards import is_dict, is_list
from turnspan.tracing.begin_call import begin
from turnspan.tracing.endpoint import Endpoint, fields_of
from turnspan.tracing.model_call import ABANDONED, COMPLETE, ModelCall
from turnspan.tracing.recording import detach

CREATE: Final = "response.create"
_MAX_OPEN: Final = 64
"""Responses under way on one connection, and asked for; an application may leave them unread."""
_OF_THE_SOCKET: Final = frozenset({"type", "event_id", "stream_id"})
_NEVER_BEGUN: Final = "\0"
"""The key of a response of which the server has said nothing."""


class AskedResponse(NamedTuple):
    """A response that is asked for."""

    event: Mapping[str, Any]
    context: Context
    began: tuple[int, float]


class SocketResponse(StreamRecord):
    """A response under way."""

    def __init__(self, call: ModelCall) -> None:
        super().__init__(call)
        call.followed = True
        self._request = call.request

    def finish(self, outcome: str, error: BaseException | None = None) -> None:
        """The response is over. What is heard later changes the items: the worker has a copy."""
        items = (self._request or {}).get("input")
        if self._request is not None and is_list(items):
            self._request["input"] = [_copied(item) for item in items]
        super().finish(outcome, error)


def _copied(item: Any) -> Any:
    content = item.get("content") if is_dict(item) else None
    return {**item, "content": list(content)} if is_list(content) else item


class SocketRecord:
    """What passes over one connection. Threads may send and receive at once."""

    session = ""
    """The session of its calls, where it is one."""

    def __init__(self, sdk: Sdk, endpoint: Endpoint, target: Mapping[str, Any]) -> None:
        self.asked: list[AskedResponse] = []
        self._sdk = sdk
        self._endpoint = endpoint
        self._target = target
        self._open: dict[str, SocketResponse] = {}
        self._lock = threading.RLock()

    # -- what an API says

    def take_sent(self, event: dict[str, Any]) -> None:
        """Note what the application sends."""
        raise NotImplementedError

    def take_received(self, event: dict[str, Any]) -> None:
        """Note what the server says."""
        raise NotImplementedError

    def body_of(self, event: Mapping[str, Any]) -> dict[str, Any]:
        """The request that was sent in an event, as if it had been posted."""
        raise NotImplementedError

    # -- what passes

    def sent(self, data: Any) -> None:
        """The application sends a message."""
        self._take(self.take_sent, data)

    def received(self, data: Any) -> None:
        """The application gets a message."""
        self._take(self.take_received, data)

    def _take(self, take: Callable[[dict[str, Any]], None], data: Any) -> None:
        try:
            event = orjson.loads(data)
        except (ValueError, TypeError):  # no JSON; a message in fragments
            return
        if is_dict(event) and isinstance(event.get("type"), str):
            with self._lock:
                take(event)

    def broken(self, error: BaseException) -> None:
        """``send`` or ``recv`` raised; only where the connection is closed nothing more comes."""
        if any(kind.__name__ == "ConnectionClosed" for kind in type(error).__mro__):
            self.end("", error)

    def left(self, _: Any = None) -> None:
        """The application closes the connection."""
        self.end(ABANDONED)

    def end(self, outcome: str, error: BaseException | None = None) -> None:
        """The connection is over, and with it what is under way and what is asked for."""
        with self._lock:
            while self.asked:
                self._end_unbegun(outcome, error)
            for key in list(self._open):
                self.finish(key, outcome, error)

    # -- responses

    def ask(self, event: Mapping[str, Any]) -> None:
        """The application asks for a response."""
        self.asked.append(self.asking(event))
        if len(self.asked) > _MAX_OPEN:
            self._end_unbegun(ABANDONED)

    def _end_unbegun(self, outcome: str, error: BaseException | None = None) -> None:
        self.start(_NEVER_BEGUN, self.asked[0])
        self.finish(_NEVER_BEGUN, outcome, error)

    def asking(
        self, event: Mapping[str, Any], began: tuple[int, float] | None = None
    ) -> AskedResponse:
        """A response that is asked for in this context."""
        now = (time.time_ns(), time.perf_counter())
        return AskedResponse(event, otel_context.get_current(), began or now)

    def start(self, key: str, asked: AskedResponse) -> None:
        """Begin the call of a response."""
        if asked in self.asked:
            self.asked.remove(asked)
        self.finish(key, ABANDONED)
        if not self._sdk.enabled:
            return
        body, target = self.body_of(asked.event), dict(self._target)
        if self.session:
            target[semconv.CONVERSATION_ID] = self.session
        token = otel_context.attach(asked.context)
        try:
            tracer = self._sdk.tracer
            call = begin(tracer, self._endpoint, target, body, stream=True, began=asked.began)
        finally:
            detach(token)
        if call is not None:
            self._open[key] = SocketResponse(call)
            if len(self._open) > _MAX_OPEN:
                self.finish(next(iter(self._open)), ABANDONED)

    def fold(self, key: str, event: dict[str, Any]) -> SocketResponse | None:
        """Take in an event of a response; returns it if it is under way."""
        found = self._open.get(key)
        if found is not None:
            if event["type"] == "error":
                error = fields_of(event.get("error")) or event
                event["code"] = error.get("code") or error.get("type")
                event["message"] = error.get("message")
            found.fold(SimpleNamespace(**event))
        return found

    def finish(self, key: str, outcome: str, error: BaseException | None = None) -> None:
        """A response has ended, if it was under way."""
        found = self._open.pop(key, None)
        if found is not None:
            found.finish(outcome, error)

    def refuse(self, asked: AskedResponse, event: dict[str, Any]) -> None:
        """The server says that a response cannot be."""
        self.start(_NEVER_BEGUN, asked)
        self.fold(_NEVER_BEGUN, event)
        self.finish(_NEVER_BEGUN, COMPLETE)


class ResponsesSocket(SocketRecord):
    """The Responses API on a socket: on each lane one response after the other."""

    def take_sent(self, event: dict[str, Any]) -> None:
        """A request."""
        if event["type"] == CREATE:
            self.ask(event)

    def take_received(self, event: dict[str, Any]) -> None:
        """An event of the response that is under way on its lane."""
        lane, kind = _lane_of(event), event["type"]
        asked = next((each for each in self.asked if _lane_of(each.event) == lane), None)
        if kind == "response.created":
            response = fields_of(event.get("response"))
            # One that nobody asked for goes on with what the application steered.
            steered = {key: response.get(key) for key in ("model", "previous_response_id")}
            self.start(lane, asked or self.asking(steered))
        elif kind == "error" and lane not in self._open:
            if asked is not None:
                self.refuse(asked, event)
            return
        if self.fold(lane, event) is not None and (kind in FINAL or kind == "error"):
            self.finish(lane, COMPLETE)

    def body_of(self, event: Mapping[str, Any]) -> dict[str, Any]:
        """The request without what it has for the socket."""
        body = {k: v for k, v in event.items() if k not in _OF_THE_SOCKET and v is not None}
        return {"stream": True, **body}


def _lane_of(event: Mapping[str, Any]) -> str:
    return str(event.get("stream_id") or "")


@dataclass(eq=False)
class SocketFrame(Frame[Any]):
    """Around one of a socket's methods."""

    place = "socket"
    before: Callable[[Any], object]
    after: Callable[[Any], object]
    failed: Callable[[BaseException], object]

    def _begin(self, owner: Any, args: Args, kwargs: Kwargs) -> tuple[Any, Kwargs]:
        self.before(args[0] if args else kwargs.get("message"))
        return self, kwargs

    def _failed(self, call: Any, owner: Any, error: BaseException) -> None:
        self.failed(error)

    def _answered(self, call: Any, result: Any) -> None:
        self.after(result)


def follow(socket: Any, record: SocketRecord) -> None:
    """Have a record see what passes over a socket."""
    import wrapt

    for name, before, after, failed in (
        ("send", record.sent, _nothing, record.broken),
        ("recv", _nothing, record.received, record.broken),
        ("close", record.left, _nothing, _nothing),
    ):
        method, frame = getattr(socket, name), SocketFrame(before, after, failed)
        around = frame.acall if inspect.iscoroutinefunction(method) else frame.call
        setattr(socket, name, wrapt.FunctionWrapper(method, around))


def _nothing(_: Any) -> None:
    return None
