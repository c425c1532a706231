"""``ModelServer``: a model provider on loopback, for the real SDKs of an agent under test."""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeVar, cast

from turnspan.testing import wire_replies
from turnspan.testing.records import ToolRequest
from turnspan.testing.replies import ApiReply, ModelError, Reply, Usage

S = TypeVar("S", bound="ModelServer")

Said = Reply | ModelError | str
_HOLD = 20.0
"""Seconds that a held answer waits at most."""


@dataclass
class ModelRequest:
    """One request as it came."""

    path: str
    headers: dict[str, str]
    """Their names in lowercase."""
    body: dict[str, Any]
    """Its JSON."""

    @property
    def api(self) -> str:
        """``chat``, ``responses``, ``messages``, ``embeddings`` or ``gemini``; empty: another."""
        return wire_replies.api_of(self.path)

    @property
    def model(self) -> str:
        """The model that it names."""
        if self.api == "gemini":
            return self.path.partition("/models/")[2].partition(":")[0]
        return str(self.body.get("model") or "")

    @property
    def stream(self) -> bool:
        """Whether it asks for a stream."""
        return bool(self.body.get("stream")) or ":streamGenerateContent" in self.path

    @property
    def messages(self) -> list[Any]:
        """Its messages, as its API has them; the input of a response as a list."""
        for name in ("messages", "input", "contents"):
            if name in self.body:
                found = self.body[name]
                return [found] if isinstance(found, str) else list(found)
        return []


@dataclass
class _Raw:
    """An answer in the API's own words."""

    body: bytes = b""
    events: list[str] | None = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict[str, str])
    delay: float = 0.0
    stop_after: int | None = None
    hold_after: int | None = None


class ModelServer:
    """Answers what it was told to, first come first served, and remembers what it was asked.

    It speaks OpenAI's chat completions, responses and embeddings, Anthropic's messages and Gemini's
    contents, streamed where a request asks for it; keys are not checked. ``url`` is what the SDKs
    take as their base URL. A context manager, which serves in a thread while it is open; only this
    machine can reach it.

        with ModelServer() as server:
            server.reply(tool_requests=[ToolRequest("weather", {"city": "Oslo"})])
            server.reply("It rains.")
            client = openai.OpenAI(base_url=server.url, api_key="any")
            ...
            assert server.requests[0].model == "gpt-4o"

    Args:
        default: the reply, or what gives one (a text, a ``Reply`` or a ``ModelError``) for a
            request, where none is queued. Without it such a request is answered with status 500,
            which says so and is not to be tried again.
    """

    def __init__(self, default: Said | Callable[[ModelRequest], Said] | None = None) -> None:
        self.requests: list[ModelRequest] = []
        """All that came, in order."""
        self.release = threading.Event()
        """Set it to let streams go on that are held (``stream(..., hold_after=...)``)."""
        self._default = default
        self._answers: deque[Reply | ModelError | _Raw] = deque()
        self._lock = threading.Lock()
        self._server = _Server(self)
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """The server's address. OpenAI's SDK takes it with or without ``/v1``."""
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def waiting(self) -> int:
        """How many queued answers nobody has asked for."""
        return len(self._answers)

    # -- what it is to say ------------------

    def reply(
        self,
        text: str = "",
        *,
        tool_requests: Sequence[ToolRequest] = (),
        usage: Usage | None = None,
        finish: str = "",
        model: str = "",
        delay: float = 0.0,
    ) -> None:
        """The next request gets this, in the form of its API, streamed where it asks for that.

        Args:
            text: what the model says.
            tool_requests: the tools that it asks for.
            usage: the tokens that it took.
            finish: ``stop``, ``tool_calls``, ``length`` or ``content_filter``; else one of the
                first two.
            model: the model that answers; else the one that is asked for.
            delay: seconds until it answers.
        """
        used = Usage() if usage is None else usage
        self._answers.append(Reply(text, tuple(tool_requests), used, finish, model, delay))

    def error(
        self,
        status: int,
        message: str = "the model is out of order",
        *,
        kind: str = "invalid_request_error",
        delay: float = 0.0,
        **headers: str,
    ) -> None:
        """The next request fails with this HTTP status; ``kind`` is the provider's word for it.
        Headers as keywords: ``retry_after="0"``. The SDKs try again after some statuses."""
        self._answers.append(ModelError(status, message, kind, headers, delay))

    def answer(self, body: Any, status: int = 200, **headers: str) -> None:
        """The next request gets exactly this JSON."""
        answer = _Raw(json.dumps(body).encode(), status=status, headers=_named(headers))
        self._answers.append(answer)

    def stream(
        self,
        events: Iterable[tuple[str, Any] | Any],
        *,
        stop_after: int | None = None,
        hold_after: int | None = None,
    ) -> None:
        """The next request gets exactly these server-sent events: JSON, or pairs of a name and
        JSON. A chunk of usage alone is sent only to who asked for it, as OpenAI does.

        Args:
            events: what is sent.
            stop_after: break the connection off after so many events.
            hold_after: wait for ``release`` after so many; at 0 before the headers, too.
        """
        lines: list[str] = []
        for event in events:
            if isinstance(event, tuple):
                name, data = cast("tuple[str, Any]", event)
                lines.append(f"event: {name}\ndata: {json.dumps(data)}\n\n")
            elif isinstance(event, str):
                lines.append(f"data: {event}\n\n")
            else:
                lines.append(f"data: {json.dumps(event)}\n\n")
        self._answers.append(_Raw(events=lines, stop_after=stop_after, hold_after=hold_after))

    # -- serving ------------------

    def start(self) -> None:
        """Serve, in a thread."""
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.02,), name="model-server", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Serve no more."""
        self.release.set()
        if self._thread is not None:
            self._server.shutdown()
            self._thread.join()
            self._thread = None
        self._server.server_close()

    def __enter__(self: S) -> S:
        self.start()
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self.stop()

    def take(self, request: ModelRequest) -> _Raw:
        """Remember a request and give its answer (not part of the public API)."""
        with self._lock:
            self.requests.append(request)
            number = len(self.requests)
            found = self._answers.popleft() if self._answers else None
        if found is None and self._default is not None:
            said = self._default(request) if callable(self._default) else self._default
            found = Reply(said) if isinstance(said, str) else said
        if found is None:
            found = ModelError(
                500, f"no reply is queued for request {number}", "api_error", _FINAL, 0
            )
        if isinstance(found, Reply):
            return _said(request, number, found)
        if isinstance(found, ModelError):
            body = wire_replies.refusal(request.api, found.message, found.kind, found.status)
            data = json.dumps(body).encode()
            return _Raw(data, None, found.status, _named(found.headers), found.delay)
        if found.events is not None and not _tells_usage(request):
            found.events = [event for event in found.events if '"choices": []' not in event]
        return found


_FINAL = {"x_should_retry": "false"}
"""Both SDKs then fail at once."""


def _named(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}


def _tells_usage(request: ModelRequest) -> bool:
    options: Any = request.body.get("stream_options") or {}
    return bool(options.get("include_usage"))


def _said(request: ModelRequest, number: int, reply: Reply) -> _Raw:
    api = request.api
    if not api:
        body = wire_replies.refusal(api, f"nothing is served at {request.path}", "not_found", 404)
        return _Raw(json.dumps(body).encode(), status=404)
    answer = ApiReply(api, number, request.model, request.body, reply, _tells_usage(request))
    if request.stream:
        return _Raw(events=list(wire_replies.events(answer)), delay=reply.delay)
    return _Raw(json.dumps(wire_replies.whole(answer)).encode(), delay=reply.delay)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, owner: ModelServer) -> None:
        self.owner = owner
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up early is part of what is tested."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def _owner(self) -> ModelServer:
        return cast("_Server", self.server).owner

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length") or 0)
        body = json.loads(self.rfile.read(length) or b"{}")
        headers = {name.lower(): value for name, value in self.headers.items()}
        answer = self._owner.take(ModelRequest(self.path, headers, body))
        self.close_connection = True
        if answer.delay:
            time.sleep(answer.delay)
        if answer.events is None:
            self._send(answer)
        else:
            self._send_events(answer, answer.events)

    do_GET = do_POST

    def _send(self, answer: _Raw) -> None:
        self.send_response(answer.status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer.body)))
        self.send_header("connection", "close")
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer.body)

    def _send_events(self, answer: _Raw, events: list[str]) -> None:
        release = self._owner.release
        if answer.hold_after == 0:
            release.wait(_HOLD)
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.send_header("connection", "close")
        self.end_headers()
        for number, event in enumerate(events):
            if number == answer.stop_after:
                return
            if number and number == answer.hold_after:
                release.wait(_HOLD)
            data = event.encode()
            self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")
