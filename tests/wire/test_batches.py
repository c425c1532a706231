"""Batches: what their results land as, whoever reads them, and how often."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import anthropic
import httpx
import openai
import pytest
from opentelemetry.instrumentation.utils import suppress_instrumentation

import turnspan
from support.model_replies import chat, message
from support.recorded_server import RecordedAnswer, RecordedServer
from turnspan import config
from turnspan.testing import Recorded, record
from turnspan_clickhouse.rows.tables import LlmCall, MessageRow, TurnSummary

CREATED = "2026-11-20T10:00:00Z"
ENDED = "2026-11-20T11:00:00Z"
START = datetime(2026, 11, 20, 10, tzinfo=timezone.utc)
MODEL = "claude-sonnet-4-5"
GPT = "gpt-4o-mini"
USAGE = {"input_tokens": 1_000, "output_tokens": 500, "service_tier": "batch"}


@pytest.fixture
def server() -> Iterator[RecordedServer]:
    """A provider that has made two batches: ``msgbatch_1`` and ``batch_1``."""
    with RecordedServer() as server:
        provide(server)
        yield server


@pytest.fixture
def recorded() -> Iterator[Recorded]:
    """Everything instrumented, recording in memory."""
    with record() as recorded:
        yield recorded


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


JSON = "application/json"


def reply(status: int, body: Any) -> dict[str, Any]:
    """What a line of OpenAI's results has."""
    return {"status_code": status, "request_id": "r", "body": body}


def jsonl(lines: list[Any]) -> bytes:
    """JSON lines."""
    return b"".join(b"%b\n" % json.dumps(line).encode() for line in lines)


def claude(server: RecordedServer) -> anthropic.Anthropic:
    """A client."""
    return anthropic.Anthropic(base_url=server.url, api_key="k", max_retries=0)


def gpt(server: RecordedServer) -> openai.OpenAI:
    """A client."""
    return openai.OpenAI(base_url=f"{server.url}/v1", api_key="k", max_retries=0)


def asked(number: int) -> dict[str, Any]:
    """A request of a batch."""
    return {
        "model": MODEL,
        "max_tokens": 9,
        "messages": [{"role": "user", "content": f"q{number}"}],
    }


def calls(recorded: Recorded) -> dict[str, LlmCall]:
    """What results landed as, by their ``custom_id``, each once."""
    rows = [row for row in recorded.rows(LlmCall) if row.operation != "batch"]
    found = {attribute(row, "turnspan.batch.custom_id"): row for row in rows}
    assert len(found) == len(rows)
    return found


def attribute(row: LlmCall, name: str) -> str:
    """An attribute of a row."""
    pairs: Any = row.attributes
    texts: dict[str, str] = pairs.texts() if hasattr(pairs, "texts") else dict(pairs)
    return texts.get(name, "")


def test_anthropic(server: RecordedServer, recorded: Recorded) -> None:
    """A call for each result: request, answer, tokens, errors, at half the price, since the batch
    was made. What makes and fetches it is a turn of its own affairs."""
    provide(server, "a")
    client = claude(server)

    @turnspan.agent
    def agent() -> None:
        requests: Any = [{"custom_id": f"c{n}", "params": asked(n)} for n in range(4)]
        made = client.messages.batches.create(requests=requests)
        read = list(client.messages.batches.results(made.id))
        assert [each.custom_id for each in read] == ["c0", "c1", "c2", "c3"]
        assert isinstance(read[0].result.type, str)

    agent()
    found = calls(recorded)
    assert list(found) == ["c0", "c1", "c2", "c3"]
    row = found["c0"]
    assert (row.operation, row.provider, row.request_model) == ("chat", "anthropic", MODEL)
    assert (row.input_tokens, row.output_tokens, list(row.finish_reasons)) == (
        1_000,
        500,
        ["end_turn"],
    )
    assert attribute(row, "turnspan.batch.id") == "msgbatch_a"
    assert attribute(row, "turnspan.response.service_tier") == "batch"
    assert row.start_time == int(START.timestamp()) * 10**9
    assert row.duration == 3_600
    assert json.loads(row.request_parameters)["max_tokens"] == 9
    assert float(row.cost_usd or 0) == pytest.approx((1_000 * 3 + 500 * 15) / 2 / 1e6)
    kinds = [found[f"c{n}"].error_type for n in range(4)]
    assert kinds == ["", "invalid_request_error", "canceled", "expired"]
    assert "too long" in found["c1"].error_message
    asked_for = {m.hash: m for m in recorded.rows(MessageRow)}[found["c3"].input_messages[0]]
    assert "q3" in asked_for.parts
    (turn,) = (turn for turn in recorded.rows(TurnSummary) if turn.agent_name == "agent")
    assert turn.rounds == 0
    assert turn.turn_id not in {row.turn_id for row in found.values()}


def test_openai(server: RecordedServer, recorded: Recorded, tmp_path: Path) -> None:
    """Results and errors are in two files, requests in a third."""
    provide(server, "o")
    client = gpt(server)
    lines = [
        {"custom_id": f"c{n}", "method": "POST", "url": "/v1/chat/completions", "body": asked(n)}
        for n in range(3)
    ]
    (tmp_path / "in.jsonl").write_bytes(jsonl(lines))
    sent = client.files.create(file=tmp_path / "in.jsonl", purpose="batch")
    made = client.batches.create(
        input_file_id=sent.id, endpoint="/v1/chat/completions", completion_window="24h"
    )
    done = client.batches.retrieve(made.id)
    assert client.files.content(str(done.output_file_id)).text.count("\n") == 1
    assert client.files.content(str(done.error_file_id)).read().count(b"\n") == 2

    found = calls(recorded)
    assert list(found) == ["c0", "c1", "c2"]
    row = found["c0"]
    assert (row.operation, row.provider, row.response_model) == ("chat", "openai", GPT)
    assert (row.input_tokens, row.output_tokens) == (1_000, 500)
    assert attribute(row, "openai.response.service_tier") == "batch"
    assert float(row.cost_usd or 0) == pytest.approx((1_000 * 0.15 + 500 * 0.6) / 2 / 1e6)
    assert attribute(row, "turnspan.batch.id") == "batch_o"
    assert row.start_time == int(START.timestamp()) * 10**9
    assert row.duration == 60
    assert [found[f"c{n}"].error_type for n in range(3)] == ["", "bad_model", "batch_expired"]
    assert "no such model" in found["c1"].error_message
    assert [r.operation for r in recorded.rows(LlmCall)].count("batch") == 1


def test_once(server: RecordedServer, recorded: Recorded) -> None:
    """Left half-way and fetched again, and at once by async readers: each result is one call."""
    provide(server, "t", piece=3)
    client = claude(server)
    reader = client.messages.batches.results("msgbatch_t")
    assert next(iter(reader)).custom_id == "c0"
    reader.close()
    assert "c0" in calls(recorded)

    async def several() -> None:
        async with anthropic.AsyncAnthropic(base_url=server.url, api_key="k") as twin:

            async def read() -> list[str]:
                return [each.custom_id async for each in await twin.messages.batches.results(b)]

            b = "msgbatch_t"
            assert {len(each) for each in await asyncio.gather(read(), read(), read())} == {4}

    asyncio.run(several())
    list(client.messages.batches.results("msgbatch_t"))
    raw = client.messages.batches.with_raw_response.results("msgbatch_t")
    assert len(list(raw.parse())) == 4
    assert list(calls(recorded)) == ["c0", "c1", "c2", "c3"]


def test_made_elsewhere(server: RecordedServer, recorded: Recorded) -> None:
    """Of a batch that this process knows nothing of, its results tell enough to be calls."""
    provide(server, "e")

    async def read() -> None:
        async with openai.AsyncOpenAI(base_url=f"{server.url}/v1", api_key="k") as client:
            await client.files.content("file-oute")

    asyncio.run(read())
    row = calls(recorded)["c0"]
    assert (row.operation, row.response_model, row.input_tokens) == ("chat", GPT, 1_000)
    assert (row.request_model, attribute(row, "turnspan.batch.id")) == ("", "")


def test_other_files(server: RecordedServer, recorded: Recorded) -> None:
    """A file that is no batch's, and an answer that is an error, are what they were."""
    client = gpt(server)
    route = "GET /v1/files/f/content"
    for body in (
        b"a,b\n1,2\n",
        b'{"messages": []}\n{"custom_id": "x"}\n',
        b"\x00\n" * 99,
        b"",
        b"\n",
    ):
        server.answers[route] = RecordedAnswer(200, "application/octet-stream", body, 7)
        assert client.files.content("f").content == body
    server.answers[route] = RecordedAnswer(404, JSON, b'{"error": {"message": "gone"}}')
    with pytest.raises(openai.NotFoundError):
        client.files.content("f")
    assert recorded.rows(LlmCall) == []


def test_content_off(server: RecordedServer) -> None:
    """No message is kept, tokens and errors are."""
    with record(capture_content=False) as recorded:
        provide(server, "p")
        client = claude(server)
        requests: Any = [{"custom_id": "c0", "params": asked(0)}]
        client.messages.batches.create(requests=requests)
        list(client.messages.batches.results("msgbatch_p"))
        assert calls(recorded)["c0"].input_tokens == 1_000
        assert recorded.rows(MessageRow) == []


def test_switched_off(server: RecordedServer) -> None:
    """Nothing is recorded where requests are not to be recorded from the wire, where nothing is
    to be recorded at all, or from a server that is nobody's."""
    provide(server, "s")
    client = claude(server)
    with record() as recorded:
        httpx.get(f"{server.url}/v1/files/file-outs/content")
        with suppress_instrumentation():
            assert len(list(client.messages.batches.results("msgbatch_s"))) == 4
        config.activate(config.resolve({}, {"TURNSPAN_RECORD_HTTP": "false"}))
        assert len(list(client.messages.batches.results("msgbatch_s"))) == 4
        assert recorded.rows(LlmCall) == []


@pytest.mark.parametrize(
    "line",
    [
        {"custom_id": "x", "result": {}},
        {"custom_id": "x", "result": {"type": "succeeded", "message": "text"}},
        {"custom_id": "x", "result": {"type": "errored", "error": "text"}},
        {"custom_id": "x", "response": "text"},
        {"custom_id": "x", "response": {"status_code": "200", "body": [1]}},
        {"custom_id": "x", "response": {"body": {"object": "list", "data": []}}, "error": None},
        {"custom_id": "x", "response": None, "error": "text"},
        {"custom_id": "x", "response": {"status_code": 500, "body": None}},
    ],
)
def test_lines_of_no_known_form(
    server: RecordedServer, recorded: Recorded, line: dict[str, Any]
) -> None:
    """Each is a call even so, and what is read is what was sent."""
    name = f"file-{hash(json.dumps(line))}"
    route = f"GET /v1/files/{name}/content"
    server.answers[route] = RecordedAnswer(200, "application/octet-stream", jsonl([line]), 5)
    assert gpt(server).files.content(name).content == jsonl([line])
    assert list(calls(recorded)) == ["x"]
