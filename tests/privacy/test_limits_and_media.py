"""The limit on content, and the bytes of images: on request, whole; else by hash, size and type."""

from __future__ import annotations

import base64
import hashlib
import json
import random
import time
from collections.abc import Callable, Iterator
from typing import Any

import orjson
import pytest
from opentelemetry.sdk.trace import TracerProvider

import turnspan
from support.representatives import few
from support.sealing import rebuild_record
from turnspan import config
from turnspan.content.frozen_history import FrozenHistory
from turnspan.dialects.convert import convert_message
from turnspan.redaction.redactor import Redactor
from turnspan.redaction.truncate import limit_parts, limit_text, limit_value
from turnspan.tracing.content_store import InferenceContent
from turnspan.tracing.state import default
from turnspan_clickhouse import ClickHouseSpanExporter
from turnspan_clickhouse.rows import native_encoder
from turnspan_clickhouse.ship.shipper import ship
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.migrations import migrate
from turnspan_clickhouse.store.opening import open_store

pytestmark = [pytest.mark.with_schema, pytest.mark.usefixtures("kept_engine")]

Rows = Callable[[str], list[dict[str, Any]]]


class Application:
    """Records calls and tools to an embedded store under some settings."""

    def __init__(self, dsn: Dsn, settings: config.Settings) -> None:
        config.activate(settings)
        self.dsn = dsn
        self.exporter = ClickHouseSpanExporter(str(dsn))
        self.provider = TracerProvider()
        default.provider = self.provider
        self.spans: list[Any] = []

    def call(self, request: dict[str, Any], reply: str = "fine") -> None:
        """One model call of session ``s``."""
        tracer = self.provider.get_tracer("turnspan.openai")
        span: Any = tracer.start_span(
            "chat m",
            attributes={
                "gen_ai.operation.name": "chat",
                "gen_ai.request.model": "m",
                "gen_ai.conversation.id": "s",
                "turnspan.turn.id": "0123456789abcdef",
                "gen_ai.usage.input_tokens": 3,
            },
        )
        message = {"role": "assistant", "content": reply}
        response = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
        identity = span.get_span_context()
        content = InferenceContent("openai.chat", request, response)
        default.content.put(identity.trace_id, identity.span_id, content)
        span.end()
        self.spans.append(span)

    def rows(self, sql: str) -> list[dict[str, Any]]:
        """Land everything, then ask."""
        if self.spans:
            self.exporter.export(self.spans)
            self.spans = []
        with open_store(self.dsn) as store:
            migrate(store)
        ship(self.dsn, deadline=time.monotonic() + 30)
        with open_store(self.dsn) as store:
            return store.query(sql).dicts()


@pytest.fixture
def application(embedded_dsn: Dsn) -> Iterator[Callable[[config.Settings], Application]]:
    """Makes applications; the settings are put back afterwards."""
    made: list[Application] = []
    before = config.active()

    def make(settings: config.Settings) -> Application:
        made.append(Application(embedded_dsn, settings))
        return made[-1]

    yield make
    for one in made:
        one.exporter.shutdown()
    config.activate(before)
    default.provider = None


Make = Callable[[config.Settings], Application]


# -- the limit -------------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", range(1, 12))
def test_text_is_cut_at_a_character(limit: int) -> None:
    """At most so many bytes, always whole characters, and the size it had."""
    text = "aé日🙂z"
    cut, size = limit_text(text, limit)
    assert len(cut.encode()) <= limit
    assert text.startswith(cut)
    assert size == (0 if limit >= 11 else 11)
    assert limit_text(text, 0) == (text, 0)


def test_a_structure_keeps_its_shape_and_stays_json() -> None:
    """The longest texts give way; where the shape alone is too long, the JSON's beginning stays."""
    value = {"path": "/etc/hosts", "body": "ü" * 5_000, "lines": ["x" * 900, "short"]}
    cut, size = limit_value(value, 600)
    assert size == len(orjson.dumps(value))
    assert len(orjson.dumps(cut)) <= 600
    assert cut.keys() == value.keys()
    assert (cut["path"], cut["lines"][1]) == ("/etc/hosts", "short")
    many = list(range(10_000))
    text, size = limit_value(many, 100)
    assert (len(text), size) == (100, len(orjson.dumps(many)))
    assert limit_value({"a": 1}, 600) == ({"a": 1}, 0)


def test_a_secret_at_the_edge_is_masked_not_cut(application: Make) -> None:
    """Redaction comes first: half a secret would be one that no mask knows."""
    secret = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    app = application(config.Settings(content_limit_bytes=100))
    request = {"messages": [{"role": "user", "content": "x" * 90 + " " + secret + "y" * 900}]}
    app.call(request, "z" * 90 + " " + secret)
    found = app.rows(
        "SELECT groupArray(parts) AS parts, any(c.response_text) AS reply"
        " FROM message, (SELECT response_text FROM llm_call) AS c"
    )[0]
    assert "ghp_" not in str(found)
    assert "A1b2" not in str(found)


def test_what_is_too_long_is_cut_part_by_part_and_says_so(application: Make) -> None:
    """Parts are marked, columns are named in the attributes, and everything still parses."""
    app = application(config.Settings(content_limit_bytes=1_000))
    long = "日本" * 2_000
    arguments = json.dumps({"path": "/a", "body": long}, ensure_ascii=False)
    call = {"id": "c1", "type": "function", "function": {"name": "w", "arguments": arguments}}
    history: list[Any] = [
        {
            "role": "user",
            "content": [{"type": "text", "text": long}, {"type": "text", "text": "s"}],
        },
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": long},
        *({"role": "user", "content": f"short {i}"} for i in range(60)),
    ]
    app.call({"model": "m", "messages": history}, long)
    app.call({"model": "m", "messages": [*history, {"role": "user", "content": "more"}]}, "ok")

    calls = app.rows(
        "SELECT length(input_messages) AS n, response_text, attributes FROM llm_call"
        " ORDER BY start_time"
    )
    assert [c["n"] for c in calls] == [63, 64], "the number of messages is never cut"
    assert len(calls[0]["response_text"].encode()) <= 1_000
    assert calls[0]["attributes"]["turnspan.truncated.response_text"] == "12000"
    rows = app.rows("SELECT role, parts, source FROM message ORDER BY first_seen")
    assert len(rows) == 66, "63 messages, the two replies and one more: each once"
    parts = [part for row in rows for part in json.loads(row["parts"])]
    cut = [part for part in parts if part.get("truncated")]
    assert sorted(part["type"] for part in cut) == [
        "text",
        "text",
        "tool_call",
        "tool_call_response",
    ]
    by_type = {part["type"]: part for part in cut}
    assert by_type["tool_call"]["arguments"]["path"] == "/a"
    assert by_type["tool_call"]["original_bytes"] == len(
        arguments.replace('": ', '":').replace(', "', ',"').encode()
    )
    assert (
        by_type["text"]["original_bytes"]
        == by_type["tool_call_response"]["original_bytes"]
        == 12_000
    )
    assert long not in json.dumps(rows, ensure_ascii=False)
    assert {"type": "text", "content": "s"} in parts


def test_a_tools_arguments_and_result_are_cut_too(application: Make) -> None:
    """The columns stay JSON (or text) and the row says how long they were."""
    app = application(config.Settings(content_limit_bytes=200))

    @turnspan.tool
    def read(path: str, body: str) -> str:
        return "r" * 5_000

    from opentelemetry.sdk.trace.export import SimpleSpanProcessor

    app.provider.add_span_processor(SimpleSpanProcessor(app.exporter))
    read("/a", "é" * 900)
    row = app.rows("SELECT arguments, result, attributes FROM tool_call")[0]
    assert json.loads(row["arguments"])["path"] == "/a"
    assert len(row["arguments"].encode()) <= 200
    assert row["result"] == "r" * 200
    assert row["attributes"]["turnspan.truncated.result"] == "5000"
    assert int(row["attributes"]["turnspan.truncated.arguments"]) > 1_800


def test_parts_within_the_limit_are_the_same_objects() -> None:
    """No limit and no need cost nothing; kept files are never cut."""
    parts: list[dict[str, Any]] = [
        {"type": "text", "content": "short"},
        {"type": "blob", "modality": "image", "content": "QUJD" * 100},
    ]
    assert limit_parts(parts, 0) is parts
    assert all(a is b for a, b in zip(limit_parts(parts, 100), parts, strict=True))


# -- images ----------------------------------------------------------------------------------------


def images(count: int, size: int) -> list[bytes]:
    """Random bytes, the same each time."""
    source = random.Random(7)
    return [source.randbytes(size) for _ in range(count)]


def prompt(pictures: list[bytes]) -> dict[str, Any]:
    """A chat request with pictures in one message."""
    content: list[Any] = [{"type": "text", "text": "compare"}]
    for picture in pictures:
        url = "data:image/png;base64," + base64.b64encode(picture).decode()
        content.append({"type": "image_url", "image_url": {"url": url, "detail": "low"}})
    return {"model": "m", "messages": [{"role": "user", "content": content}]}


@pytest.mark.parametrize("kept", few([True, False], [True]), ids=["bytes kept", "by hash"])
def test_a_prompt_of_20_mb_lands_whole_or_by_hash(
    kept: bool, application: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """30 images: losslessly where asked for, else hash, size and type; the batch loses nothing."""
    pictures = images(30, 500_000)
    request = prompt(pictures)
    assert len(json.dumps(request)) > 20_000_000
    app = application(config.Settings(capture_media=kept))
    monkeypatch.setattr(native_encoder, "MAX_BLOCK", 4 * 2**20)
    app.call({"model": "m", "messages": [{"role": "user", "content": "before"}]})
    app.call(request)
    app.call(request)
    app.call({"model": "m", "messages": [{"role": "user", "content": "after"}]})
    app.exporter.export(app.spans)
    app.spans = []
    sizes = [s.size for s in Spool(app.dsn.spool).segments() if s.rows() > 1]
    assert sizes
    assert max(sizes) <= 4 * 2**20

    assert app.rows("SELECT count() AS n FROM llm_call") == [{"n": 4}]
    rows = app.rows(
        "SELECT role, name, parts, source FROM message WHERE position(parts, 'blob') > 0"
    )
    assert len(rows) == 1, "the same prompt twice is stored once"
    row = rows[0]
    blobs = [part for part in json.loads(row["parts"]) if part["type"] == "blob"]
    assert [b["mime_type"] for b in blobs] == ["image/png"] * 30
    if kept:
        assert [base64.b64decode(b["content"]) for b in blobs] == pictures
        rebuilt = rebuild_record(
            "openai.chat", row["role"], row["name"], row["parts"], row["source"]
        )
        assert rebuilt == request["messages"][0]
    else:
        assert [(b["sha256"], b["size"]) for b in blobs] == [
            (hashlib.sha256(p).hexdigest(), len(p)) for p in pictures
        ]
        assert len(row["parts"]) < 10_000


def test_images_cost_the_calling_thread_nothing() -> None:
    """Freezing a 20 MB prompt copies no text and hashes nothing."""
    request = prompt(images(30, 500_000))
    history = FrozenHistory()
    frozen: Any = history.freeze(request["messages"])
    began = time.thread_time()
    for _ in range(100):
        frozen = history.freeze(request["messages"])
    assert (time.thread_time() - began) / 100 < 0.001
    first: Any = frozen[0]["content"][1]["image_url"]["url"]
    assert first is request["messages"][0]["content"][1]["image_url"]["url"]


def test_kept_images_pass_the_masks_and_the_hook_unseen() -> None:
    """Base64 of a file is no text; what only says that it is a file is looked at."""
    seen: list[str] = []

    def hook(text: str, where: str) -> str:
        seen.append(text)
        return text.upper()

    redactor = Redactor(config.Settings(redact=hook))
    message = convert_message("openai.chat", prompt(images(1, 600))["messages"][0], keep_bytes=True)
    redacted = redactor.parts(message["parts"], "input")
    assert redacted[0]["content"] == "COMPARE"
    assert redacted[1]["content"] == message["parts"][1]["content"]
    assert not any(len(text) > 100 for text in seen)
    disguised = {"type": "blob", "content": "a secret, no base64"}
    assert redactor.parts([disguised], "input")[0]["content"] == "A SECRET, NO BASE64"


def test_files_of_tools_and_turns_are_reduced_in_their_columns(application: Make) -> None:
    """A tool's bytes land by hash, or on request as a data URL; a turn's never do."""
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor

    picture = images(1, 3_000)[0]
    for kept in (False, True):
        app = application(config.Settings(capture_media=kept))
        app.provider.add_span_processor(SimpleSpanProcessor(app.exporter))

        @turnspan.tool
        def shoot() -> bytes:
            return picture

        @turnspan.agent("photographer")
        def agent(message: Any) -> str:
            shoot()
            return "done"

        agent(prompt([picture])["messages"][0]["content"])
    results = [r["result"] for r in app.rows("SELECT result FROM tool_call ORDER BY start_time")]
    digest = hashlib.sha256(picture).hexdigest()
    encoded = base64.b64encode(picture).decode()
    assert results == [
        f"sha256:{digest};size=3000",
        f"data:application/octet-stream;base64,{encoded}",
    ]
    asked = app.rows("SELECT user_message FROM turn_summary")
    assert all(
        digest in row["user_message"] and encoded not in row["user_message"] for row in asked
    )


# -- what the model was offered --------------------------------------------------------------------


def test_a_tool_ignored_differs_from_a_tool_not_offered(application: Make) -> None:
    """One row says which tools were offered, how they had to be used, and every parameter."""
    app = application(config.Settings())
    search = {"type": "function", "function": {"name": "search", "parameters": {"type": "object"}}}
    other = {"type": "function", "function": {"name": "other", "parameters": {"type": "object"}}}
    schema = {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "object"}}}
    asked = [{"role": "user", "content": "find shoes"}]
    base: dict[str, Any] = {
        "model": "m",
        "messages": asked,
        "temperature": 0.25,
        "top_p": 0.5,
        "seed": 7,
        "response_format": schema,
    }
    app.call({**base, "tools": [search, other], "tool_choice": "auto"})
    app.call({**base, "tools": [other], "tool_choice": "auto"})
    app.call({**base, "tools": [search], "tool_choice": "none"})
    app.call(base)
    found = app.rows(
        """
        SELECT multiIf(position(tool_calls, '"search"') > 0, 'called',
                       NOT has(offered, 'search'), 'not offered',
                       JSONExtractString(request_parameters, 'tool_choice') = 'none', 'forbidden',
                       'ignored') AS fate,
               JSONExtractFloat(request_parameters, 'temperature') AS temperature,
               JSONExtractInt(request_parameters, 'seed') AS seed,
               JSONExtractString(request_parameters, 'response_format', 'type') AS format
        FROM (SELECT c.*, arrayMap(t -> JSONExtractString(t, 'name'),
                                   JSONExtractArrayRaw(d.body)) AS offered
              FROM llm_call AS c LEFT JOIN definition AS d
              ON d.project = c.project AND d.hash = c.tool_definitions)
        ORDER BY start_time
        """
    )
    assert [row["fate"] for row in found] == ["ignored", "not offered", "forbidden", "not offered"]
    assert {(r["temperature"], r["seed"], r["format"]) for r in found} == {(0.25, 7, "json_schema")}
