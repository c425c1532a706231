"""A model server on this machine: OpenAI's chat, responses and embeddings, Anthropic's messages,
Gemini's contents, streamed or not. It answers by a script and logs what it was asked and said.

Every request has token counts and ids of its own, so that a row can be told from every other.
"""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any

from stacks.script import Call, Reply, decide
from stacks.wires import Asked, read
from turnspan.testing import Reply as Said
from turnspan.testing import ToolRequest, Usage, wire_replies
from turnspan.testing.replies import ApiReply, identity

REASONING = 2
"""Of every reply's output tokens, those of reasoning, where the API says so."""


@dataclass(slots=True)
class Request:
    """One request that was answered, and what the answer said."""

    number: int
    api: str
    """``chat``, ``responses``, ``messages``, ``gemini`` or ``embeddings``."""
    model: str
    stream: bool
    told_usage: bool
    """Whether the reply said its token counts (a stream of OpenAI's does where it is asked to)."""
    first: str
    """The first words of the user in this conversation, and the first that were answered."""
    status: int = 200
    response_id: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    text: str = ""
    calls: list[Call] = field(default_factory=list[Call])


class Stub:
    """The log of one server, and what it remembers of its replies."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.unknown: list[str] = []
        """Paths that were asked for and are not served."""
        self.bodies: list[bytes] = []
        """What the answered requests sent, in any order where several came at once."""
        self._lock = threading.Lock()
        self._numbers = count(1)
        self._earlier: dict[str, Asked] = {}

    def answer(self, path: str, body: dict[str, Any]) -> tuple[Request, Asked, Reply]:
        """Decide what to say to a request, and log both."""
        with self._lock:
            number = next(self._numbers)
            asked = read(path, body, self._earlier)
            said = decide(asked, number)
            request = Request(
                number,
                asked.api,
                asked.model,
                asked.stream,
                asked.told_usage,
                asked.beginning,
                input_tokens=200 + number,
                output_tokens=20 + 3 * number,
                cached_tokens=64,
                text=said.text,
                calls=said.calls,
            )
            request.response_id = identity(asked.api, number)
            if said.error:
                request.status = 400
                request.input_tokens = request.output_tokens = request.cached_tokens = 0
            if asked.api == "responses":
                self._earlier[request.response_id] = asked.with_reply(said)
            self.requests.append(request)
        return request, asked, said


def answer_of(request: Request, asked: Asked) -> ApiReply:
    """What the server writes."""
    calls = [ToolRequest(call.name, call.arguments, call.id) for call in request.calls]
    counts = (request.input_tokens, request.output_tokens, request.cached_tokens, 0, REASONING)
    said = Said(request.text, calls, Usage(*counts))
    return ApiReply(request.api, request.number, asked.model, asked.body, said, asked.told_usage)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # a body would wait 40 ms for its head
    stub: Stub

    def do_GET(self) -> None:
        """The models that there are, for those who ask."""
        if "/models" in self.path:
            listed = {"id": "gpt-4o", "object": "model", "created": 1, "owned_by": "stub"}
            self._json(200, {"object": "list", "data": [listed]})
        else:
            self._unknown()

    def do_POST(self) -> None:
        """Answer a request of one of the APIs."""
        body = self._body()
        path = self.path.partition("?")[0].replace("/v1/v1/", "/v1/")
        if path.endswith("/traces"):  # what OpenAI's agents tell its dashboard
            self._json(200, {})
            return
        if not wire_replies.api_of(path):
            self._unknown()
            return
        self.stub.bodies.append(body)
        request, asked, said = self.stub.answer(path, json.loads(body))
        if said.error:
            refused = {"message": said.error, "type": "invalid_request_error", "code": "bad"}
            self._json(400, {"error": refused})
        elif asked.stream:
            self._events(wire_replies.events(answer_of(request, asked)))
        else:
            self._json(200, wire_replies.whole(answer_of(request, asked)))

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            parts: list[bytes] = []
            while size := int(self.rfile.readline().split(b";")[0], 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            body = b"".join(parts)
        else:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        return gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body

    def _unknown(self) -> None:
        self.stub.unknown.append(self.path)
        self._json(404, {"error": {"message": f"nothing at {self.path}"}})

    def _json(self, status: int, value: Any) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _events(self, lines: Iterator[str]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for line in lines:
            data = line.encode()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@contextmanager
def serving() -> Generator[tuple[str, Stub], None, None]:
    """A server that runs meanwhile: its address and its log."""
    stub = Stub()
    handler = type("Handler", (_Handler,), {"stub": stub})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", stub
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
