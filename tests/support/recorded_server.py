"""A server on loopback that answers with recorded bytes, in pieces, packed where it is asked."""

from __future__ import annotations

import gzip
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, TypeVar

S = TypeVar("S", bound="RecordedServer")


@dataclass
class RecordedAnswer:
    """What to answer with."""

    status: int
    content_type: str
    body: bytes
    piece: int = 0
    """Bytes sent at once, each as a chunk; 0: in one piece with its length."""
    packed: bool = False
    """Whether it may be sent by gzip to whoever takes it."""
    encoding: str = ""
    """What the body is packed in, as it says itself."""


@dataclass
class ReceivedRequest:
    """What came."""

    path: str
    body: bytes
    headers: dict[str, str]
    method: str


class RecordedServer:
    """A context manager; ``answer`` is what it answers with, unless ``answers`` has another."""

    def __init__(self) -> None:
        self.answer = RecordedAnswer(200, "application/json", b"{}")
        self.answers: dict[str, RecordedAnswer] = {}
        """By method and path (``GET /v1/batches/b``)."""
        self.received: list[ReceivedRequest] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # a body would wait 40 ms for its head

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                headers = {key.lower(): value for key, value in self.headers.items()}
                request = ReceivedRequest(self.path, body, headers, self.command)
                outer.received.append(request)
                outer._send(self, outer.answer_of(request))

            do_GET = do_POST

            def log_message(self, format: str, *args: Any) -> None:
                """Quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def answer_of(self, request: ReceivedRequest) -> RecordedAnswer:
        """What a request is answered with."""
        return self.answers.get(f"{request.method} {request.path.partition('?')[0]}", self.answer)

    def _send(self, handler: BaseHTTPRequestHandler, answer: RecordedAnswer) -> None:
        body = answer.body
        handler.send_response(answer.status)
        handler.send_header("Content-Type", answer.content_type)
        if answer.packed and "gzip" in handler.headers.get("Accept-Encoding", ""):
            body = gzip.compress(body)
            handler.send_header("Content-Encoding", "gzip")
        if answer.encoding:
            handler.send_header("Content-Encoding", answer.encoding)
        if not answer.piece:
            handler.send_header("Content-Length", str(len(body)))
            handler.end_headers()
            handler.wfile.write(body)
            return
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        for start in range(0, len(body), answer.piece):
            piece = body[start : start + answer.piece]
            handler.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
        handler.wfile.write(b"0\r\n\r\n")

    def __enter__(self: S) -> S:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
