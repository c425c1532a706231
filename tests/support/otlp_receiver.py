"""An OTLP/HTTP receiver that decodes what it is sent with ``opentelemetry-proto``."""

from __future__ import annotations

import gzip
import threading
import zlib
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast

from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from support.seen import SeenSpan, SeenTrace, from_base64, spans_of

_DECODERS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    "gzip": gzip.decompress,
    "deflate": zlib.decompress,
}


class OtlpReceiver:
    """Listens on loopback while it is started.

    ``bodies`` holds every accepted request, decompressed; ``status`` other than 200 refuses.
    """

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        self.status = 200
        self._arrived = threading.Condition()
        self._server = _Server(self)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.02,), name="otlp-receiver", daemon=True
        )

    @property
    def endpoint(self) -> str:
        """What OTEL_EXPORTER_OTLP_ENDPOINT takes."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def spans(self) -> list[SeenSpan]:
        """Every span received so far."""
        with self._arrived:
            bodies = list(self.bodies)
        return [span for body in bodies for span in _decode(body)]

    def trace(self, trace_id: str, spans: int, timeout: float = 10.0) -> SeenTrace:
        """The trace, once ``spans`` of its spans are here; fewer after ``timeout`` seconds."""

        def found() -> tuple[SeenSpan, ...]:
            return tuple(
                span for body in self.bodies for span in _decode(body) if span.trace_id == trace_id
            )

        with self._arrived:
            self._arrived.wait_for(lambda: len(found()) >= spans, timeout)
            return SeenTrace(found())

    def take(self, body: bytes) -> None:
        """A request came in."""
        with self._arrived:
            self.bodies.append(body)
            self._arrived.notify_all()

    def start(self) -> None:
        """Begin to listen."""
        self._thread.start()

    def stop(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def _decode(body: bytes) -> Iterator[SeenSpan]:
    message = ExportTraceServiceRequest.FromString(body)
    return spans_of(MessageToDict(message), from_base64)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, receiver: OtlpReceiver) -> None:
        self.receiver = receiver
        super().__init__(("127.0.0.1", 0), _Handler)


class _Handler(BaseHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        """Take one export request."""
        receiver = cast("_Server", self.server).receiver
        body = self.rfile.read(int(self.headers["content-length"]))
        kind, path = self.headers["content-type"], self.path
        if receiver.status == 200 and (kind, path) == ("application/x-protobuf", "/v1/traces"):
            receiver.take(_DECODERS[self.headers.get("content-encoding", "")](body))
            self._answer(200, ExportTraceServiceResponse().SerializeToString())
        else:
            self._answer(receiver.status if receiver.status != 200 else 404, b"")

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", "application/x-protobuf")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
