"""A provider that has made batches, served by hand-made answers in the APIs' form."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from typing import Any

from support.model_replies import chat, message
from support.recorded_server import RecordedAnswer, RecordedServer

JSON = "application/json"
CREATED = "2026-11-20T10:00:00Z"
ENDED = "2026-11-20T11:00:00Z"
START = datetime(2026, 11, 20, 10, tzinfo=timezone.utc)
MODEL = "claude-sonnet-4-5"
GPT = "gpt-4o-mini"
USAGE = {"input_tokens": 1_000, "output_tokens": 500, "service_tier": "batch"}


def provide(server: RecordedServer, name: str = "1", *, piece: int = 50) -> None:
    """Serve batches of this name. Ids are the process's to remember: each test has its own."""

    def put(route: str, body: Any, kind: str = "application/json") -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        server.answers[route] = RecordedAnswer(200, kind, data, piece * (kind != JSON))

    identity = f"msgbatch_{name}"
    path = f"/v1/messages/batches/{identity}"
    made = {
        "id": identity,
        "type": "message_batch",
        "created_at": CREATED,
        "ended_at": ENDED,
        "processing_status": "ended",
        "results_url": f"{server.url}{path}/results",
    }
    put("POST /v1/messages/batches", {**made, "processing_status": "in_progress"})
    put(f"GET {path}", made)
    error = {"type": "invalid_request_error", "message": "too long"}
    results = [
        {"type": "succeeded", "message": {**message(), "model": MODEL, "usage": USAGE}},
        {"type": "errored", "error": {"type": "error", "error": error, "request_id": "r"}},
        {"type": "canceled"},
        {"type": "expired"},
    ]
    lines = [{"custom_id": f"c{n}", "result": each} for n, each in enumerate(results)]
    put(f"GET {path}/results", jsonl(lines), "application/x-jsonl")

    batch: dict[str, Any] = {
        "id": f"batch_{name}",
        "object": "batch",
        "endpoint": "/v1/chat/completions",
        "input_file_id": f"file-in{name}",
        "output_file_id": f"file-out{name}",
        "error_file_id": f"file-err{name}",
        "created_at": int(START.timestamp()),
        "completed_at": int(START.timestamp()) + 60,
        "status": "completed",
        "completion_window": "24h",
    }
    put("POST /v1/files", {"id": f"file-in{name}", "object": "file", "purpose": "batch"})
    put("POST /v1/batches", {**batch, "output_file_id": None, "status": "validating"})
    put(f"GET /v1/batches/batch_{name}", batch)
    body = {**chat(), "model": GPT, "service_tier": "default"}
    body["usage"] = {"prompt_tokens": 1_000, "completion_tokens": 500, "total_tokens": 1_500}
    lines = [{"id": "q0", "custom_id": "c0", "response": reply(200, body), "error": None}]
    put(f"GET /v1/files/file-out{name}/content", jsonl(lines), "application/octet-stream")
    refused = {"error": {"code": "bad_model", "message": "no such model", "type": "x"}}
    late = {"code": "batch_expired", "message": "not in time"}
    lines = [
        {"id": "q1", "custom_id": "c1", "response": reply(400, refused), "error": None},
        {"id": "q2", "custom_id": "c2", "response": None, "error": late},
    ]
    put(f"GET /v1/files/file-err{name}/content", jsonl(lines), "application/octet-stream")


def reply(status: int, body: Any) -> dict[str, Any]:
    """What a line of OpenAI's results has."""
    return {"status_code": status, "request_id": "r", "body": body}


def jsonl(lines: list[Any]) -> bytes:
    """JSON lines."""
    return b"".join(b"%b\n" % json.dumps(line).encode() for line in lines)
