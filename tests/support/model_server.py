"""A model provider on loopback: answers what it was told to, and remembers what it was asked."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Received:
    """One request as it came."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


@dataclass
class Answer:
    """What the next request gets."""

    body: bytes = b""
    events: list[str] | None = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict[str, str])
    stop_after: int | None = None
    """Break the connection off after so many events."""
    hold_after: int | None = None
    """Wait for ``ModelServer.release`` after so many events; at 0 before the headers, too."""


class ModelServer:
    """Serves queued answers, first come first served."""

    def __init__(self) -> None:
        self.requests: list[Received] = []
        self.release = threading.Event()
        self._answers: deque[Answer] = deque()
        self._server = _Server(self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    @property
    def url(self) -> str:
        """The server's address, without a path."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def answer(self, body: Any, status: int = 200, **headers: str) -> None:
        """The next request gets this JSON."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self._answers.append(Answer(json.dumps(body).encode(), status=status, headers=named))

    def stream(
        self,
        events: Iterable[tuple[str, Any] | Any],
        *,
        stop_after: int | None = None,
        hold_after: int | None = None,
    ) -> None:
        """The next request gets these server-sent events: JSON, or pairs of a name and JSON.

        A chunk of usage alone is sent only to who asked for it, as OpenAI does.
        """
        lines: list[str] = []
        for event in events:
            if isinstance(event, tuple):
                lines.append(f"event: {event[0]}\ndata: {json.dumps(event[1])}\n\n")
            elif isinstance(event, str):
                lines.append(f"data: {event}\n\n")
            else:
                lines.append(f"data: {json.dumps(event)}\n\n")
        self._answers.append(Answer(events=lines, stop_after=stop_after, hold_after=hold_after))

    def take(self, received: Received) -> Answer:
        """Remember a request and give its answer."""
        self.requests.append(received)
        answer = self._answers.popleft() if self._answers else Answer(b"{}", status=500)
        options: Any = received.body.get("stream_options") or {}
        if answer.events is not None and not options.get("include_usage"):
            answer.events = [event for event in answer.events if '"choices": []' not in event]
        return answer

    def start(self) -> None:
        """Serve."""
        self._thread.start()

    def stop(self) -> None:
        """Serve no more."""
        self.release.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


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
        server: Any = self.server
        owner: ModelServer = server.owner
        return owner

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length") or 0)
        body = json.loads(self.rfile.read(length) or b"{}")
        headers = {name.lower(): value for name, value in self.headers.items()}
        answer = self._owner.take(Received(self.path, headers, body))
        self.close_connection = True
        if answer.events is None:
            self._send(answer)
        else:
            self._send_events(answer, answer.events)

    def do_GET(self) -> None:
        self.do_POST()

    def _send(self, answer: Answer) -> None:
        self.send_response(answer.status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer.body)))
        self.send_header("connection", "close")
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer.body)

    def _send_events(self, answer: Answer, events: list[str]) -> None:
        if answer.hold_after == 0:
            self._owner.release.wait(20)
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.send_header("connection", "close")
        self.end_headers()
        for number, event in enumerate(events):
            if number == answer.stop_after:
                return
            if number and number == answer.hold_after:
                self._owner.release.wait(20)
            data = event.encode()
            self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")
