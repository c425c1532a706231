"""A server on loopback that speaks just enough of OpenAI's and Anthropic's APIs.

A model named ``refuse`` is answered with an error of the provider's own shape.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

_CHAT_USAGE = {
    "prompt_tokens": 100,
    "completion_tokens": 20,
    "total_tokens": 120,
    "prompt_tokens_details": {"cached_tokens": 60},
    "completion_tokens_details": {"reasoning_tokens": 5},
}
_MESSAGE_USAGE = {
    "input_tokens": 30,
    "cache_read_input_tokens": 60,
    "cache_creation_input_tokens": 10,
    "cache_creation": {"ephemeral_5m_input_tokens": 4, "ephemeral_1h_input_tokens": 6},
    "output_tokens": 20,
    "service_tier": "standard",
}
_TEXTS = ("Hel", "lo", " there")


class ModelStub:
    """The server; a context manager."""

    def __init__(self) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}
        )

    @property
    def url(self) -> str:
        """Its base URL."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> ModelStub:
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


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # a body would wait 40 ms for its head

    def do_POST(self) -> None:
        asked: Any = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        path = self.path.partition("?")[0]
        if asked["model"] == "refuse":
            return self._send(429, _refusal(path))
        if path.endswith("/embeddings"):
            return self._send(200, _embeddings(asked))
        if path.endswith("/responses"):
            return self._send(200, _response(asked))
        if path.endswith("/messages"):
            if asked.get("stream"):
                return self._stream(_message_events(asked))
            return self._send(200, _message(asked))
        if asked.get("stream"):
            return self._stream(_chat_chunks(asked))
        return self._send(200, _completion(asked))

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""

    def _send(self, status: int, body: Mapping[str, Any]) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, events: Iterable[tuple[str, Any]]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        for name, event in events:
            head = f"event: {name}\n" if name else ""
            data = event if isinstance(event, str) else json.dumps(event)
            self.wfile.write(f"{head}data: {data}\n\n".encode())


def _refusal(path: str) -> dict[str, Any]:
    if path.endswith("/messages"):
        return {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}
    return {"error": {"message": "slow down", "type": "requests", "code": "rate_limit_exceeded"}}


def _completion(asked: Mapping[str, Any]) -> dict[str, Any]:
    choices: list[dict[str, Any]] = []
    for index in range(asked.get("n", 1)):
        message: dict[str, Any] = {"role": "assistant", "content": "Hello there"}
        reason = "stop"
        if asked.get("tools"):
            function = {"name": "look", "arguments": '{"path": "/a"}'}
            message["tool_calls"] = [{"id": "call_1", "type": "function", "function": function}]
            reason = "tool_calls"
        choices.append({"index": index, "message": message, "finish_reason": reason})
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": f"{asked['model']}-2026-01-01",
        "service_tier": "default",
        "system_fingerprint": "fp_1",
        "choices": choices,
        "usage": _CHAT_USAGE,
    }


def _chat_chunks(asked: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    head = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": f"{asked['model']}-2026-01-01",
        "service_tier": "default",
    }
    for index, text in enumerate(_TEXTS):
        delta = {"content": text, **({"role": "assistant"} if index == 0 else {})}
        yield "", {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    yield "", {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    options: Any = asked.get("stream_options")
    if options and options.get("include_usage"):
        yield "", {**head, "choices": [], "usage": _CHAT_USAGE}
    yield "", "[DONE]"


def _message(asked: Mapping[str, Any]) -> dict[str, Any]:
    content: list[dict[str, Any]] = [{"type": "text", "text": "Hello there"}]
    reason = "end_turn"
    if asked.get("tools"):
        content.append({"type": "tool_use", "id": "t1", "name": "look", "input": {"path": "/a"}})
        reason = "tool_use"
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": f"{asked['model']}-20260101",
        "content": content,
        "stop_reason": reason,
        "stop_sequence": None,
        "usage": _MESSAGE_USAGE,
    }


def _message_events(asked: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    whole = _message({"model": asked["model"]})
    begun: dict[str, Any] = {
        **whole,
        "content": [],
        "stop_reason": None,
        "usage": {**_MESSAGE_USAGE},
    }
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": begun},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    ]
    for text in _TEXTS:
        delta = {"type": "text_delta", "text": text}
        events.append({"type": "content_block_delta", "index": 0, "delta": delta})
    ended = {"stop_reason": "end_turn", "stop_sequence": None}
    events += [
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": ended, "usage": {"output_tokens": 20}},
        {"type": "message_stop"},
    ]
    for event in events:
        yield event["type"], event


def _embeddings(asked: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "object": "list",
        "model": asked["model"],
        "data": [{"object": "embedding", "index": 0, "embedding": [0.1, 0.2]}],
        "usage": {"prompt_tokens": 4, "total_tokens": 4},
    }


def _response(asked: Mapping[str, Any]) -> dict[str, Any]:
    text: dict[str, Any] = {"type": "output_text", "text": "Hello there", "annotations": []}
    message: dict[str, Any] = {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "content": [text],
    }
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "status": "completed",
        "model": f"{asked['model']}-2026-01-01",
        "output": [message],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": 100,
            "input_tokens_details": {"cached_tokens": 60},
            "output_tokens": 20,
            "output_tokens_details": {"reasoning_tokens": 5},
            "total_tokens": 120,
        },
    }
