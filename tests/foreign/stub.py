"""A local server that answers as OpenAI's and Anthropic's do: a tool call first, then a text."""

from __future__ import annotations

import json
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SAID = "Let me look."
ANSWER = "It is sunny in Rome."


def _openai(answered: bool) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": ANSWER if answered else SAID}
    if not answered:
        message["tool_calls"] = [
            {
                "id": "call_1",
                "type": "function",
                "function": {"name": "get_weather", "arguments": '{"city":"Rome"}'},
            }
        ]
    return {
        "id": "chatcmpl-2" if answered else "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": "gpt-4o-2024-08-06",
        "choices": [
            {
                "index": 0,
                "message": message,
                "finish_reason": "stop" if answered else "tool_calls",
            }
        ],
        "usage": {
            "prompt_tokens": 100,
            "completion_tokens": 20,
            "total_tokens": 120,
            "prompt_tokens_details": {"cached_tokens": 64},
            "completion_tokens_details": {"reasoning_tokens": 8},
        },
    }


def _anthropic(answered: bool) -> dict[str, Any]:
    content: list[dict[str, Any]] = [{"type": "text", "text": ANSWER if answered else SAID}]
    if not answered:
        content.append(
            {"type": "tool_use", "id": "call_1", "name": "get_weather", "input": {"city": "Rome"}}
        )
    return {
        "id": "msg_2" if answered else "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-opus-4-5-20251101",
        "content": content,
        "stop_reason": "end_turn" if answered else "tool_use",
        "stop_sequence": None,
        "usage": {
            "input_tokens": 30,
            "output_tokens": 20,
            "cache_read_input_tokens": 64,
            "cache_creation_input_tokens": 6,
        },
    }


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # a body would wait 40 ms for its head

    def do_POST(self) -> None:
        """Answer with the tool call, or once its result is there with the text."""
        sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answered = any('"call_1"' in json.dumps(message) for message in sent["messages"])
        reply = _anthropic(answered) if self.path.endswith("/messages") else _openai(answered)
        body = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@contextmanager
def serving() -> Generator[str, None, None]:
    """The address of a server that runs meanwhile."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
