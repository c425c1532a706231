"""Answers that are packed: what can be undone is read; of the rest the gap has a name.

Whatever an answer is packed in, each client gives the application what it gives it unrecorded.
"""

from __future__ import annotations

import gc
import gzip
import json
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import anthropic
import httpx
import pytest
from backports import zstd

from support.model_replies import chat
from support.plain_clients import CLIENTS
from support.recorded_server import RecordedAnswer, RecordedServer
from turnspan.runtime.guard import errors
from turnspan.testing import record
from turnspan.wire import answer_bytes
from turnspan.wire.gaps import Unrecorded, remedy, watch
from turnspan_clickhouse.rows.tables import LlmCall
from turnspan_clickhouse.spool.unrecorded_calls import write_unrecorded
from turnspan_console.checks.instrumentation import unrecorded_checks

# A client that fails leaves its connection to the collector, which would tell a later test.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")

WHOLE = json.dumps(chat()).encode()
STREAM = (
    b'data: {"id":"c","choices":[{"index":0,"delta":{"content":"Hello"}}]}\n\n'
    b'data: {"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
)
Pack = Callable[[bytes], bytes]


def bare_deflate(data: bytes) -> bytes:
    """``deflate`` as some servers have it: without zlib's head."""
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


READ: dict[str, Pack] = {
    "gzip": gzip.compress,
    "X-GZip": gzip.compress,
    "deflate": bare_deflate,
    "zstd": zstd.compress,
    "identity, gzip": gzip.compress,
    "gzip, zstd": lambda data: zstd.compress(gzip.compress(data)),
    "deflate, gzip": lambda data: gzip.compress(zlib.compress(data)),
}
"""What is undone here, by what the header says."""
UNREAD = {"br": "br", "x-own": "x-own", "gzip, br": "br", "x-own, gzip": "x-own", "e\x1bé": "e??"}
"""What nothing undoes where brotli is not installed, and what the gap calls it."""


@pytest.fixture
def server() -> Iterator[RecordedServer]:
    """A server of models."""
    with RecordedServer() as server:
        watch.forget()
        watch.start()
        yield server
        watch.stop()
        watch.forget()
    gc.collect(1)


def got(server: RecordedServer, client: str, *, streamed: bool) -> Any:
    """What the application gets: status and bytes, or the kind of the client's error."""
    body = json.dumps({"model": "m", "messages": [], "stream": streamed}).encode()
    headers = {"content-type": "application/json"}
    try:
        return CLIENTS[client](f"{server.url}/v1/chat/completions", body, headers)
    except Exception as error:  # noqa: BLE001  whichever the client has for this
        return type(error)


def gaps() -> list[str]:
    """What the watch has seen, as it says it."""
    return [str(one) for one in watch.seen()]


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("client", CLIENTS)
def test_what_is_undone_is_read(client: str, streamed: bool, server: RecordedServer) -> None:
    """Also by a client that hands the bytes on as they came."""
    for encoding, pack in READ.items():
        body = pack(STREAM if streamed else WHOLE)
        kind = "text/event-stream" if streamed else "application/json"
        server.answer = RecordedAnswer(200, kind, body, 7 if streamed else 0, encoding=encoding)
        without = got(server, client, streamed=streamed)
        watch.forget()
        with record() as recorded:
            assert got(server, client, streamed=streamed) == without, encoding
        (row,) = recorded.rows(LlmCall)
        if isinstance(without, tuple):
            facts = (row.response_text, row.finish_reasons, row.error_type)
            assert facts == ("Hello", ["stop"], ""), encoding
        assert gaps() == [], encoding
    assert errors.counts() == {}


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("client", CLIENTS)
def test_what_nothing_undoes_is_a_named_gap(
    client: str, streamed: bool, server: RecordedServer
) -> None:
    """The call lands without its answer, and is an error only where the client makes it one."""
    for encoding, name in UNREAD.items():
        kind = "text/event-stream" if streamed else "application/json"
        body = b"\x0b\x02\x80packed"
        server.answer = RecordedAnswer(200, kind, body, 3 if streamed else 0, encoding=encoding)
        without = got(server, client, streamed=streamed)
        watch.forget()
        with record() as recorded:
            assert got(server, client, streamed=streamed) == without, encoding
        (row,) = recorded.rows(LlmCall)
        assert (row.request_model, row.response_text) == ("m", "")
        if isinstance(without, tuple):
            assert row.error_type == "", encoding
        if isinstance(without, tuple) or not row.error_type:
            assert gaps() == [f"1 answer (127.0.0.1 packed in {name}) could not be read"]
    assert errors.counts() == {}


def test_a_client_that_has_read_it_already(server: RecordedServer) -> None:
    """httpx with a transport of the application's: unpacked it is read, else the gap is named."""
    for encoding, body in (("gzip", gzip.compress(WHOLE)), ("x-own", b"\x01")):
        reply = httpx.Response(200, headers={"content-encoding": encoding}, content=body)
        transport = httpx.MockTransport(lambda _, reply=reply: reply)
        watch.forget()
        with record() as recorded, httpx.Client(transport=transport) as client:
            client.post("https://api.openai.com/v1/chat/completions", json={"model": "m"})
        read = encoding == "gzip"
        assert recorded.call().text == ("Hello" if read else "")
        assert len(gaps()) == (not read)
    assert errors.counts() == {}


def test_damaged_and_too_long(server: RecordedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the client fails at as well is the call's error; what is too long for us is none."""
    monkeypatch.setattr(answer_bytes, "MAX_KEPT", 60)
    for encoding, body in (("gzip", b"no gzip"), ("zstd", b"no zstd"), ("", STREAM)):
        server.answer = RecordedAnswer(200, "text/event-stream", body, encoding=encoding)
        with record() as recorded:
            got(server, "requests", streamed=True)
        (row,) = recorded.rows(LlmCall)
        assert row.error_type == ("DamagedError" if encoding else ""), encoding
    assert errors.counts() == {}
    assert gaps() == []


def test_fetched_results(server: RecordedServer) -> None:
    """Results of a batch that cannot be read are no calls, and a gap with the library's name."""
    line = {"custom_id": "c", "result": {"type": "succeeded", "message": {"model": "m"}}}
    packed = {"zstd": zstd.compress(json.dumps(line).encode() + b"\n"), "x-own": b"\x01"}
    with anthropic.Anthropic(base_url=server.url, api_key="k", max_retries=0) as client:
        for encoding, body in packed.items():
            answer = RecordedAnswer(200, "application/x-jsonl", body, encoding=encoding)
            server.answers["GET /v1/messages/batches/b/results"] = answer
            with record() as recorded:
                # What the SDK makes of the address in this answer is the line above.
                about = {"id": "b", "results_url": f"{server.url}/v1/messages/batches/b/results"}
                server.answer = RecordedAnswer(200, "application/json", json.dumps(about).encode())
                client.get(about["results_url"], cast_to=bytes)
            assert len(recorded.rows(LlmCall)) == (encoding == "zstd")
    assert gaps() == ["1 answer of anthropic (127.0.0.1 packed in x-own) could not be read"]
    assert errors.counts() == {}


def test_what_is_advised(tmp_path: Any) -> None:
    """The package that undoes it, or an encoding that can be undone; the doctor says so too."""
    assert remedy("", "h packed in br") == "install brotli, or send Accept-Encoding: gzip"
    assert remedy("", "h packed in x-own") == "send Accept-Encoding: gzip"
    seen = Unrecorded("", "h packed in zstd", 2, 4e9, remedy("", "h packed in zstd"))
    write_unrecorded(tmp_path, "a", [seen])
    (check,) = unrecorded_checks(tmp_path)
    assert "2 answers (h packed in zstd) could not be read" in check.finding
    assert "install backports.zstd, or send Accept-Encoding: gzip" in check.remedy
