"""A request's and an answer's bytes: compression, and the two encodings."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any

import orjson
from google.rpc.status_pb2 import Status  # type: ignore[import-untyped]  # it has none
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from turnspan.runtime.errors import TurnspanError
from turnspan_clickhouse.receive.decoded import LOGS, METRICS, TRACES, MalformedOtlpError
from turnspan_clickhouse.store import zstd

_ANSWERS = {
    TRACES: (ExportTraceServiceResponse, "rejectedSpans", "rejected_spans"),
    LOGS: (ExportLogsServiceResponse, "rejectedLogRecords", "rejected_log_records"),
    METRICS: (ExportMetricsServiceResponse, "rejectedDataPoints", "rejected_data_points"),
}
"""By signal: the answer, and the name of the number of what was refused in JSON and Protobuf."""
PROTOBUF = "application/x-protobuf"
JSON = "application/json"
_GZIP, _ZLIB = 16 + zlib.MAX_WBITS, zlib.MAX_WBITS
_WINDOWS = {"gzip": _GZIP, "x-gzip": _GZIP, "deflate": _ZLIB, "zlib": _ZLIB}
ENCODINGS = frozenset({"", "identity", "zstd", *_WINDOWS})

_BROKEN: tuple[type[Exception], ...] = (zlib.error, *zstd.errors())
MAX_STREAMS = 100
"""One after the other in a body. What is behind each is copied: a million empty ones took hours."""
GRPC_CODES = {400: 3, 401: 16, 404: 12, 405: 12, 408: 4, 413: 8, 415: 3, 429: 8, 503: 14}
"""By the HTTP status of an answer."""


class BodyTooLargeError(TurnspanError):
    """A body is larger than allowed, as sent or decompressed."""


def media_type(content_type: str) -> str:
    """A content type without its parameters."""
    return content_type.partition(";")[0].strip().lower()


def decompressed(body: bytes, encoding: str, limit: int) -> bytes:
    """The body as it was before it was compressed; never more than ``limit`` bytes are made.

    Raises:
        TooLargeError: it would be larger.
        MalformedError: it is not compressed so.
    """
    if encoding in ("", "identity"):
        return body
    out: list[bytes] = []
    room = limit + 1
    while body:
        if len(out) == MAX_STREAMS:
            raise MalformedOtlpError(f"the body is of more than {MAX_STREAMS} {encoding} streams")
        engine = _engine(encoding)
        try:
            piece = engine.decompress(body, room)
        except _BROKEN as error:
            raise MalformedOtlpError(f"the body is not {encoding}: {error}") from error
        out.append(piece)
        room -= len(piece)
        if room <= 0:
            raise BodyTooLargeError
        if not engine.eof:
            raise MalformedOtlpError(f"the body is cut: its {encoding} stream does not end")
        body = engine.unused_data  # gzip and zstd may hold several streams
    return b"".join(out)


def _engine(encoding: str) -> zstd.Decompressor:
    if encoding in _WINDOWS:
        return zlib.decompressobj(_WINDOWS[encoding])
    engine = zstd.decompressor()
    if engine is None:
        raise MalformedOtlpError("zstd cannot be read here (no backports.zstd): use gzip")
    return engine


def success(kind: str, refused: Mapping[str, int], signal: str = TRACES) -> bytes:
    """The answer to a request that was taken, but for what was refused of it."""
    response, name, field = _ANSWERS[signal]
    count = sum(refused.values())
    message = "; ".join(f"{number} refused: {why}" for why, number in refused.items())
    if kind == JSON:
        told = {name: str(count), "errorMessage": message}
        return orjson.dumps({"partialSuccess": told} if count else {})
    if not count:
        return b""
    answer: Any = response()
    setattr(answer.partial_success, field, count)
    answer.partial_success.error_message = message
    encoded: bytes = answer.SerializeToString()
    return encoded


def failure(kind: str, status: int, message: str) -> bytes:
    """A ``google.rpc.Status`` for an answer of this HTTP status."""
    code = GRPC_CODES.get(status, 2)
    if kind == JSON:
        return orjson.dumps({"code": code, "message": message})
    told: bytes = Status(code=code, message=message).SerializeToString()
    return told


def bearer_token(authorization: str) -> str:
    """The token of an ``Authorization`` header; empty where it holds none."""
    scheme, _, token = authorization.partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def host_name(header: str) -> str:
    """The name in a ``Host`` header, in lower case, without port, brackets and a last dot."""
    name = header.strip().lower()
    name = name[1:].partition("]")[0] if name.startswith("[") else name.partition(":")[0]
    return name.removesuffix(".")
