"""A provider of models on loopback that counts what it was asked, by HTTP, WebSocket and gRPC.

It answers by path as each API does, as small as the SDKs accept it. What costs nothing it tells by
its own list, which is no table of the product.
"""

from __future__ import annotations

import binascii
import json
import re
import struct
import threading
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import grpc  # type: ignore[import-untyped]
from websockets.http11 import Request
from websockets.sync.server import ServerConnection, serve

FREE = re.compile(
    r"/orders|.*/files|.*/count_tokens|.*:countTokens|.*/count-tokens|.*/tokenize|.*/api/show"
)
"""Paths whose requests cost nothing, by any method."""

USAGE = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
TOKENS = {"billed_units": {"input_tokens": 3}, "tokens": {"input_tokens": 3, "output_tokens": 2}}


def _chat(delta: str) -> dict[str, Any]:
    return {
        "id": "c",
        "object": "chat.completion.chunk" if delta == "delta" else "chat.completion",
        "created": 1,
        "model": "m",
        "service_tier": "default",
        "choices": [
            {
                "index": 0,
                "text": "hi",
                "finish_reason": "stop",
                delta: {"role": "assistant", "content": "hi"},
            }
        ],
        "usage": USAGE,
    }


_RESPONSE: dict[str, Any] = {
    "id": "resp_1",
    "object": "response",
    "created_at": 1,
    "model": "m",
    "status": "completed",
    "output": [
        {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": "hi", "annotations": []}],
        }
    ],
    "usage": {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5},
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
}
_MESSAGE: dict[str, Any] = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "content": [{"type": "text", "text": "hi"}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {"input_tokens": 3, "output_tokens": 2},
}
_MESSAGE_EVENTS: list[dict[str, Any]] = [
    {"type": "message_start", "message": {**_MESSAGE, "content": [], "stop_reason": None}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "hi"}},
    {"type": "content_block_stop", "index": 0},
    {
        "type": "message_delta",
        "delta": {"stop_reason": "end_turn", "stop_sequence": None},
        "usage": {"output_tokens": 2},
    },
    {"type": "message_stop"},
]
_GEMINI: dict[str, Any] = {
    "candidates": [
        {"content": {"role": "model", "parts": [{"text": "hi"}]}, "finishReason": "STOP"}
    ],
    "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 2, "totalTokenCount": 5},
    "modelVersion": "m",
    "responseId": "r",
}
_COHERE: dict[str, Any] = {
    "id": "x",
    "finish_reason": "COMPLETE",
    "message": {"role": "assistant", "content": [{"type": "text", "text": "hi"}]},
    "usage": TOKENS,
}
_COHERE_EVENTS: list[dict[str, Any]] = [
    {"type": "message-start", "id": "x", "delta": {"message": {"role": "assistant"}}},
    {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": "hi"}}}},
    {"type": "message-end", "delta": {"finish_reason": "COMPLETE", "usage": TOKENS}},
]
_OLLAMA: dict[str, Any] = {
    "model": "m",
    "created_at": "2026-01-01T00:00:00Z",
    "message": {"role": "assistant", "content": "hi"},
    "response": "hi",
    "done": True,
    "done_reason": "stop",
    "prompt_eval_count": 3,
    "eval_count": 2,
}
_CONVERSED: dict[str, Any] = {
    "output": {"message": {"role": "assistant", "content": [{"text": "hi"}]}},
    "stopReason": "end_turn",
    "usage": {"inputTokens": 3, "outputTokens": 2, "totalTokens": 5},
    "metrics": {"latencyMs": 1},
}
_VECTORS = {
    "object": "list",
    "model": "m",
    "id": "e",
    "data": [{"object": "embedding", "index": 0, "embedding": [0.5]}],
    "embeddings": [[0.5]],
    "usage": {"prompt_tokens": 3, "total_tokens": 3},
}
_IMAGES = {"created": 1, "id": "i", "model": "m", "object": "list", "data": [{"b64_json": "aGk="}]}


def _framed(kind: str, payload: dict[str, Any]) -> bytes:
    """An event of AWS's event stream."""
    body = json.dumps(payload).encode()
    headers = b""
    for name, value in ((":event-type", kind), (":message-type", "event")):
        headers += bytes([len(name)]) + name.encode() + b"\x07"
        headers += struct.pack(">H", len(value)) + value.encode()
    head = struct.pack(">II", 16 + len(headers) + len(body), len(headers))
    head += struct.pack(">I", binascii.crc32(head))
    message = head + headers + body
    return message + struct.pack(">I", binascii.crc32(message))


_AWS = b"".join(
    _framed(kind, payload)
    for kind, payload in (
        ("messageStart", {"role": "assistant"}),
        ("contentBlockDelta", {"delta": {"text": "hi"}, "contentBlockIndex": 0}),
        ("contentBlockStop", {"contentBlockIndex": 0}),
        ("messageStop", {"stopReason": "end_turn"}),
        ("metadata", {"usage": _CONVERSED["usage"], "metrics": {"latencyMs": 1}}),
    )
)
_JSON, _SSE = "application/json", "text/event-stream"


def _events(*events: dict[str, Any], named: bool = False) -> tuple[str, bytes]:
    lines: list[bytes] = []
    for event in events:
        if named:
            lines.append(b"event: " + str(event["type"]).encode() + b"\n")
        lines.append(b"data: " + json.dumps(event).encode() + b"\n\n")
    return _SSE, b"".join(lines)


def _whole(body: Any) -> tuple[str, bytes]:
    return _JSON, json.dumps(body).encode()


def _answer(path: str, streamed: bool) -> tuple[str, bytes]:
    """Content type and body of the answer to a request."""
    end = path.rpartition("/")[2]
    if end == "completions":
        kind, body = _events(_chat("delta")) if streamed else _whole(_chat("message"))
        return kind, body + b"data: [DONE]\n\n" * streamed
    if end == "responses":
        done = {"type": "response.completed", "sequence_number": 1, "response": _RESPONSE}
        return _events(done, named=True) if streamed else _whole(_RESPONSE)
    if end == "messages":
        return _events(*_MESSAGE_EVENTS, named=True) if streamed else _whole(_MESSAGE)
    if end.endswith("treamGenerateContent"):
        return _events(_GEMINI)
    if end.endswith("generateContent"):
        return _whole(_GEMINI)
    if path.endswith("/v2/chat"):
        return _events(*_COHERE_EVENTS, named=True) if streamed else _whole(_COHERE)
    if path.endswith(("/api/chat", "/api/generate")):
        return "application/x-ndjson", json.dumps(_OLLAMA).encode() + b"\n"
    if end in ("converse-stream", "invoke-with-response-stream"):
        return "application/vnd.amazon.eventstream", _AWS
    if end == "converse":
        return _whole(_CONVERSED)
    if end == "embed" and path.endswith("/v2/embed"):
        return _whole({"id": "e", "embeddings": {"float": [[0.5]]}, "texts": ["hi"], "meta": {}})
    if end in ("embeddings", "embed"):
        return _whole(_VECTORS)
    if end.endswith("mbedContents"):
        return _whole({"embeddings": [{"values": [0.5]}]})
    if end == "generations" or end == "edits":
        return _whole(_IMAGES)
    if end == "speech":
        return "audio/mpeg", b"\xff\xfb\x90\x00"
    if end == "feature-extraction":
        return _whole([[0.5]])
    return _whole({"id": "x", "text": "hi", "results": [], "status": "in_progress"})


class Provider:
    """What it was asked; ``url``, ``socket_url`` and ``grpc_address`` are where it listens."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        """``POST /v1/chat/completions`` and the like: what may cost something."""
        self.free: list[str] = []
        self.all: list[tuple[str, str]] = []
        """Method and path of each."""
        self.url = ""
        self.socket_url = ""
        self.grpc_address = ""

    def note(self, method: str, path: str) -> None:
        """A request came."""
        path = path.partition("?")[0]
        self.all.append((method, path))
        is_free = method in ("GET", "HEAD", "DELETE") or FREE.fullmatch(path) is not None
        (self.free if is_free else self.asked).append(f"{method} {path}")


def _handler(provider: Provider) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # a body would wait 40 ms for its head

        def do_POST(self) -> None:
            """Count it, and answer."""
            sent = self._body()
            provider.note(self.command, self.path)
            path = self.path.partition("?")[0]
            streamed = b'"stream":true' in sent.replace(b" ", b"") or "stream" in path.lower()
            kind, body = _answer(path, streamed)
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_PUT = do_PATCH = do_DELETE = do_POST

        def _body(self) -> bytes:
            if "chunked" not in self.headers.get("Transfer-Encoding", ""):
                return self.rfile.read(int(self.headers.get("Content-Length") or 0))
            found = b""
            while size := int(self.rfile.readline(), 16):
                found += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return found

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    return Handler


def _nothing(*_: Any) -> bytes:
    return b""


class _AnyMethod(grpc.GenericRpcHandler):  # type: ignore[misc]
    """Counts any call, and answers with an empty message."""

    def __init__(self, provider: Provider) -> None:
        self._provider = provider

    def service(self, handler_call_details: Any) -> Any:
        """What answers a call."""
        self._provider.note("GRPC", handler_call_details.method)
        unary: Any = grpc.unary_unary_rpc_method_handler
        return unary(_nothing)


@contextmanager
def provider() -> Generator[Provider]:
    """A provider that listens meanwhile."""
    found = Provider()

    def note(socket: ServerConnection, request: Request) -> None:  # before it is answered
        found.note("WEBSOCKET", request.path)

    http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(found))
    http.daemon_threads = True
    sockets = serve(ServerConnection.close, "127.0.0.1", 0, process_request=note)
    calls = grpc.server(ThreadPoolExecutor(2), handlers=[_AnyMethod(found)])
    found.url = f"http://127.0.0.1:{http.server_address[1]}"
    found.socket_url = f"ws://127.0.0.1:{sockets.socket.getsockname()[1]}"
    found.grpc_address = f"127.0.0.1:{calls.add_insecure_port('127.0.0.1:0')}"
    calls.start()
    for server in (http, sockets):
        threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield found
    finally:
        http.shutdown()
        http.server_close()
        sockets.shutdown()
        calls.stop(None)
