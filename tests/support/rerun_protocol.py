"""A server that speaks the protocol of a rerun: what a program of one sends, and has answered.

Models' requests are answered by a ``ModelServer``, tools by what the test says.
"""

from __future__ import annotations

import json
import secrets
import socket
import threading
from collections import defaultdict, deque
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast

from turnspan.testing import ModelServer
from turnspan.wire.rerunning import RerunEnvironment, begin, end


@dataclass
class RedirectedRequest:
    """A request as it came."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes

    @property
    def origin(self) -> str:
        return self.headers["x-turnspan-origin"]


@dataclass
class ProtocolServer:
    """What it was asked, and what it says of tools."""

    models: ModelServer
    secret: str = field(default_factory=lambda: secrets.token_hex(16))
    requests: list[RedirectedRequest] = field(default_factory=list[RedirectedRequest])
    asked: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    notes: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    calls: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """The framework's calls of requests."""
    tools: dict[str, deque[dict[str, Any]]] = field(default_factory=lambda: defaultdict(deque))
    port: int = 0

    def environment(self, *, network: bool = False, attempt: str = "") -> RerunEnvironment:
        server = f"http://127.0.0.1:{self.port}/{self.secret}"
        return RerunEnvironment(server, "0a1b2c3d", "thread-1", network, attempt)

    def answer(self, tool: str, result: Any = "", **more: Any) -> None:
        """The next call of this tool is answered so; by its text, as a row has it."""
        text = result if isinstance(result, str) else json.dumps(result)
        kind = "text" if isinstance(result, str) else "json"
        self.tools[tool].append(
            {"action": "answer", "result": text, "result_type": kind, "failed": False, **more}
        )

    def say(self, path: str, question: dict[str, Any]) -> dict[str, Any]:
        if path == "/turnspan/note":
            self.notes.append(question)
            return {}
        if path == "/turnspan/call":
            self.calls.append(question)
            return {}
        self.asked.append(question)
        waiting = self.tools[question["name"]]
        return waiting.popleft() if waiting else {"action": "run"}


class _ProtocolHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""

    def do_POST(self) -> None:
        owner = cast("_ProtocolSocket", self.server).owner
        headers = {name.lower(): value for name, value in self.headers.items()}
        if headers.get("transfer-encoding") == "chunked":
            body = b"".join(self._chunks())
        else:
            body = self.rfile.read(int(headers.get("content-length") or 0))
        self.close_connection = True
        if headers.get("x-turnspan-rerun") != owner.secret:
            self.send_error(403)
        elif self.path.startswith("/turnspan/"):
            answer = json.dumps(owner.say(self.path, json.loads(body))).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)
        else:
            owner.requests.append(RedirectedRequest(self.command, self.path, headers, body))
            self._pass_on(owner.models, body)

    do_GET = do_POST

    def _chunks(self) -> Iterator[bytes]:
        while size := int(self.rfile.readline(), 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()

    def _pass_on(self, models: ModelServer, body: bytes) -> None:
        port = int(models.url.rpartition(":")[2])
        head = f"{self.command} {self.path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n"
        head += f"content-length: {len(body)}\r\n\r\n"
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(head.encode() + body)
            while data := connection.recv(65_536):
                self.wfile.write(data)


class _ProtocolSocket(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, owner: ProtocolServer) -> None:
        self.owner = owner
        super().__init__(("127.0.0.1", 0), _ProtocolHandler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is no error."""


@contextmanager
def protocol_server(models: ModelServer) -> Generator[ProtocolServer]:
    """Serves while the block is open."""
    server = ProtocolServer(models)
    sockets = _ProtocolSocket(server)
    server.port = sockets.server_port
    thread = threading.Thread(target=sockets.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        sockets.shutdown()
        thread.join()
        sockets.server_close()


@contextmanager
def rerun_here(environment: RerunEnvironment) -> Generator[None]:
    """A rerun in this process."""
    before = begin(environment)
    try:
        yield
    finally:
        end(before)
