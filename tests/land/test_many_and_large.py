"""Very many small spans, and one very large prompt: nothing is dropped."""

from __future__ import annotations

import base64
import hashlib
import json
import random
import time
from collections.abc import Iterator
from typing import Any

import pytest
from openai import OpenAI
from opentelemetry.sdk.trace import TracerProvider

import turnspan
from support.model_stub import ModelStub
from support.representatives import first_on
from turnspan_clickhouse.ship.shipper import ship
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.migrations import migrate
from turnspan_clickhouse.store.opening import open_store

pytestmark = pytest.mark.with_schema

PER_SECOND = 100_000 // 60
SECONDS = 2


@pytest.fixture
def provider(store_dsn: Dsn) -> Iterator[TracerProvider]:
    """What an application records to a fresh store with."""
    with open_store(store_dsn) as store:
        migrate(store)
    made = TracerProvider()
    yield made
    turnspan.shutdown()
    made.shutdown()


def ask(dsn: Dsn, sql: str) -> list[tuple[Any, ...]]:
    """The rows of a query once all has landed; duplicates would show."""
    flushed = turnspan.flush(timeout=60)
    assert flushed.ok
    assert flushed.dropped == {}
    ship(dsn)
    with open_store(dsn) as store:
        return [tuple(row) for row in store.query(sql, settings={"final": 0}).rows]


@first_on("server")
def test_a_hundred_thousand_spans_a_minute(store_dsn: Dsn, provider: TracerProvider) -> None:
    """At that pace for some seconds, then as many again at once."""
    turnspan.configure(store=str(store_dsn), exporters=["turnspan"], tracer_provider=provider)
    tracer = provider.get_tracer("tiny")
    began, emitted = time.monotonic(), 0
    while emitted < PER_SECOND * SECONDS:
        due = int((time.monotonic() - began) * PER_SECOND) + 1
        for number in range(emitted, min(due, PER_SECOND * SECONDS)):
            tracer.start_span(f"tiny {number}").end()
        emitted = max(emitted, min(due, PER_SECOND * SECONDS))
        time.sleep(0.005)
    for number in range(emitted, 2 * emitted):
        tracer.start_span(f"tiny {number}").end()
    counted = ask(store_dsn, "SELECT count(), uniqExact(span_id), uniqExact(name) FROM span")
    assert counted == [(2 * emitted,) * 3]


@pytest.mark.release
@pytest.mark.parametrize(
    ("store_kind", "kept"),
    [("server", True), ("embedded", False)],
    ids=["bytes kept", "by hash"],
    indirect=["store_kind"],
)
def test_a_prompt_of_20_mb_through_the_sdk(
    store_dsn: Dsn, provider: TracerProvider, kept: bool
) -> None:
    """30 images in one message, sent by the real SDK after a small call, and again: all land, the
    images byte for byte or by hash, and once."""
    turnspan.configure(
        store=str(store_dsn), exporters=["turnspan"], tracer_provider=provider, capture_media=kept
    )
    source = random.Random(7)
    pictures = [source.randbytes(500_000) for _ in range(30)]
    content: list[Any] = [{"type": "text", "text": "compare"}]
    for picture in pictures:
        url = "data:image/png;base64," + base64.b64encode(picture).decode()
        content.append({"type": "image_url", "image_url": {"url": url}})
    messages: list[Any] = [{"role": "user", "content": content}]
    turnspan.instrument()
    try:
        with (
            ModelStub() as stub,
            OpenAI(base_url=f"{stub.url}/v1", api_key="-") as client,
            turnspan.session("s"),
            turnspan.agent("large"),
        ):
            small: Any = {"role": "user", "content": "small"}
            for asked in ([small], messages, [*messages, small]):
                client.chat.completions.create(model="m", messages=asked)
    finally:
        turnspan.uninstrument()
    counts = "length(input_messages), input_tokens, round"
    calls = ask(store_dsn, f"SELECT {counts} FROM llm_call ORDER BY round")
    assert calls == [(1, 100, 1), (1, 100, 2), (2, 100, 3)]
    ((parts,),) = ask(store_dsn, "SELECT parts FROM message WHERE position(parts, 'blob') > 0")
    blobs = [part for part in json.loads(parts) if part["type"] == "blob"]
    assert len(blobs) == 30
    if kept:
        assert [base64.b64decode(blob["content"]) for blob in blobs] == pictures
    else:
        assert [blob["sha256"] for blob in blobs] == [
            hashlib.sha256(picture).hexdigest() for picture in pictures
        ]
