"""Batches: what their results land as, whoever reads them, and how often."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anthropic
import httpx
import openai
import pytest
from opentelemetry.instrumentation.utils import suppress_instrumentation

import turnspan
from support.batch_provider import GPT, JSON, MODEL, START, jsonl, provide
from support.recorded_server import RecordedAnswer, RecordedServer
from turnspan import config
from turnspan.testing import Recorded, record
from turnspan_clickhouse.rows.tables import LlmCall, MessageRow, TurnSummary


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


async def upload(server: RecordedServer, file: Any) -> openai.types.FileObject:
    """Upload a batch's requests."""
    async with openai.AsyncOpenAI(base_url=f"{server.url}/v1", api_key="k") as client:
        return await client.files.create(file=file, purpose="batch")


@pytest.mark.parametrize("given", ["path", "bytes", "file", "async"])
def test_openai(server: RecordedServer, recorded: Recorded, tmp_path: Path, given: str) -> None:
    """Results and errors are in two files, requests in a third, however that is given."""
    provide(server, given)
    client = gpt(server)
    lines = [
        {"custom_id": f"c{n}", "method": "POST", "url": "/v1/chat/completions", "body": asked(n)}
        for n in range(3)
    ]
    path = tmp_path / "in.jsonl"
    path.write_bytes(jsonl(lines))
    with path.open("rb") as file:
        if given == "async":
            sent = asyncio.run(upload(server, file))
        else:
            ways: dict[str, Any] = {"path": path, "bytes": ("in.jsonl", jsonl(lines)), "file": file}
            sent = client.files.create(file=ways[given], purpose="batch")
        assert file.closed is False
    assert jsonl(lines) in server.received[-1].body
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
    assert attribute(row, "turnspan.response.service_tier") == "batch"
    assert float(row.cost_usd or 0) == pytest.approx((1_000 * 0.15 + 500 * 0.6) / 2 / 1e6)
    assert attribute(row, "turnspan.batch.id") == f"batch_{given}"
    assert {row.request_model for row in found.values()} == {MODEL}
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
    assert len(list(client.beta.messages.batches.results("msgbatch_t"))) == 4
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


def test_read_piece_by_piece(server: RecordedServer, recorded: Recorded) -> None:
    """As a file is streamed, each result is recorded when it has passed."""
    provide(server, "w", piece=100)
    client = gpt(server)
    with client.files.with_streaming_response.content("file-errw") as response:
        pieces = response.iter_bytes(1)
        seen = b""
        while seen.count(b"\n") < 1:
            seen += next(pieces)
        assert "c1" in calls(recorded)
        seen += b"".join(pieces)
    assert seen == server.answers["GET /v1/files/file-errw/content"].body
    assert list(calls(recorded)) == ["c1", "c2"]


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


def test_each_recorder_and_secrets(server: RecordedServer) -> None:
    """What a test's recording has seen, the next one has not. A key in a request is masked."""
    provide(server, "r")
    client = claude(server)
    key = "sk-ant-api03-" + "a1B2c3D4e5" * 9 + "AA"
    for _ in range(2):
        with record() as recorded:
            said = [{"role": "user", "content": f"my key is {key}"}]
            requests: Any = [{"custom_id": "c0", "params": {**asked(0), "messages": said}}]
            client.messages.batches.create(requests=requests)
            list(client.messages.batches.results("msgbatch_r"))
            assert list(calls(recorded)) == ["c0", "c1", "c2", "c3"]
            parts = [m.parts for m in recorded.rows(MessageRow) if "my key" in m.parts]
            assert len(parts) == 1
            assert key not in parts[0]


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
