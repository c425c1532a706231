"""The server itself: HTTP/1.1 on loopback, one thread a connection."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import ModuleType, TracebackType
from typing import Any, cast

from turnspan_demo.model import Reply, Run
from turnspan_demo.server import anthropic_wire, openai_wire
from turnspan_demo.server.conversation import ChatRequest
from turnspan_demo.server.estimate import tokens
from turnspan_demo.server.library import Found, Library, NotRecordedError
from turnspan_demo.server.wire import BadRequestError, ErrorReply

_MAX_BODY = 64_000_000
_WIRES: dict[str, ModuleType] = {
    openai_wire.PATH: openai_wire,
    anthropic_wire.PATH: anthropic_wire,
}


class ModelServer:
    """A model server on loopback; a context manager that serves while it is open.

    ``port`` 0 takes a free one. Keys are not checked: any will do.
    """

    def __init__(self, runs: Iterable[Run] | Library = (), port: int = 0) -> None:
        self.library = runs if isinstance(runs, Library) else Library(runs)
        self._http = _Server(("127.0.0.1", port), self.library)
        self._thread: threading.Thread | None = None

    @property
    def port(self) -> int:
        """The port it listens on."""
        return int(self._http.server_address[1])

    @property
    def openai_url(self) -> str:
        """What the OpenAI SDK takes as ``base_url``."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def anthropic_url(self) -> str:
        """What the Anthropic SDK takes as ``base_url``."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Serve from a thread of its own."""
        self._thread = threading.Thread(
            target=self._http.serve_forever, args=(0.05,), name="model-server", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Stop serving and close every connection."""
        if self._thread is not None:
            self._http.shutdown()
            self._thread.join()
            self._thread = None
        self._http.close_connections()
        self._http.server_close()

    def serve_forever(self) -> None:
        """Serve from this thread until interrupted."""
        self._http.serve_forever()

    def __enter__(self) -> ModelServer:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], library: Library) -> None:
        self.library = library
        self._open: set[socket.socket] = set()
        self._open_lock = threading.Lock()
        super().__init__(address, _Handler)

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, address = super().get_request()
        with self._open_lock:
            self._open.add(connection)
        return connection, address

    def shutdown_request(self, request: Any) -> None:
        with self._open_lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def close_connections(self) -> None:
        """End the connections that clients keep alive, so that their threads end too."""
        with self._open_lock:
            connections = list(self._open)
        for connection in connections:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no news; anything else is printed."""
        import sys

        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "turnspan-model-server"
    disable_nagle_algorithm = True
    wbufsize = 65536  # headers and body in one packet

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the demo owns the screen."""

    def do_GET(self) -> None:
        """Nothing to get; say what there is."""
        known = " and ".join(f"POST {path}" for path in _WIRES)
        self._send(openai_wire.error(404, f"This server replays recorded runs: {known}."))

    def do_POST(self) -> None:
        """Answer a model call."""
        wire = _WIRES.get(self.path.partition("?")[0])
        size = int(self.headers.get("content-length") or 0)
        if size > _MAX_BODY:
            self.close_connection = True
            self._send(openai_wire.error(413, "The request is too large."))
            return
        body = self.rfile.read(size)
        if wire is None:
            known = " and ".join(_WIRES)
            self._send(openai_wire.error(404, f"Unknown path {self.path!r}; known: {known}."))
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        try:
            request = cast("ChatRequest", wire.read(body, headers))
            found = cast("_Server", self.server).library.find(request)
        except BadRequestError as problem:
            self._send(wire.error(400, str(problem)))
        except NotRecordedError as problem:
            self._send(wire.error(404, str(problem)))
        else:
            self._reply(wire, request, found)

    def _reply(self, wire: ModuleType, request: ChatRequest, found: Found) -> None:
        library = cast("_Server", self.server).library
        reply: Reply = found.reply
        fault = library.fault(found, request)
        if fault is not None and fault.kind != "broken_stream":
            self._send(wire.fault(fault, request.model))
            return
        if reply.delay:
            time.sleep(reply.delay)
        parts = (
            request,
            reply,
            tokens(request, reply, found.fresh),
            library.serial(),
            found.number == 0,
        )
        if request.stream:
            events = list(wire.stream(*parts))
            self._stream(events[: len(events) // 2] if fault else events, broken=fault is not None)
        elif fault is not None:
            self.close_connection = True
        else:
            self._json(200, wire.respond(*parts), {})

    def _send(self, error: ErrorReply) -> None:
        self._json(error.status, error.body, dict(error.headers))

    def _json(self, status: int, value: dict[str, Any], headers: dict[str, str]) -> None:
        body = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(
            "utf-8", "backslashreplace"
        )
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        for name, text in headers.items():
            self.send_header(name, text)
        self._head()
        self.wfile.write(body)

    def _stream(self, events: list[str], *, broken: bool) -> None:
        """Send events in chunked coding; a broken stream ends without its last chunk."""
        self.send_response(200)
        self.send_header("content-type", "text/event-stream; charset=utf-8")
        self.send_header("cache-control", "no-cache")
        self.send_header("transfer-encoding", "chunked")
        self._head()
        for event in events:
            body = event.encode("utf-8", "backslashreplace")
            self.wfile.write(b"%x\r\n%b\r\n" % (len(body), body))
            self.wfile.flush()
        if broken:
            self.close_connection = True
        else:
            self.wfile.write(b"0\r\n\r\n")

    def _head(self) -> None:
        for name in ("x-request-id", "request-id"):
            self.send_header(name, f"req_replay_{time.monotonic_ns():x}")
        self.end_headers()
