"""Recorded exchanges as lines of a log: imported, they are the calls that the instrumented SDKs
record of the same exchanges."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import pytest

from providers.conftest import Spans
from support import anthropic_replay, exchanges, recordings
from support.imported import Imported, import_files, written
from support.openai_facts import kind_of, streamed
from support.openai_replay import Replayer
from support.shared import enough
from turnspan import config
from turnspan.content.json_codec import WRITING
from turnspan.tracing.state import default
from turnspan_clickhouse.normalise.normaliser import Normaliser
from turnspan_clickhouse.rows.batch import Batch
from turnspan_clickhouse.rows.tables import NO_HASH, Definition, LlmCall, MessageRow
from turnspan_records.importing.transcripts.anthropic import ANTHROPIC
from turnspan_records.importing.transcripts.openai import OPENAI
from turnspan_records.importing.transcripts.transcript_lines import Transcripts

COLUMNS = (
    *("operation", "request_model", "response_model", "response_id", "finish_reasons", "stream"),
    *("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"),
    *("reasoning_tokens", "response_text", "response_thoughts", "round"),
)
Known = dict[str, Any]


@pytest.fixture(autouse=True)
def _unmasked(settings: None) -> Iterator[None]:  # pyright: ignore[reportUnusedFunction]
    config.activate(config.resolve({"mask_secrets": False}))
    yield


def line(number: int, request: Any, status: int, body: Any) -> dict[str, Any]:
    answer = {"status_code": status, "body": body}
    return {"span_id": f"{number + 1:016x}", "request": request, "response": answer}


def said(row: LlmCall, rows: Iterable[Any]) -> Known:
    """A call with its contents, but how exactly they were written."""
    messages = {each.hash: each for each in rows if isinstance(each, MessageRow)}
    known = {each.hash: each.body for each in rows if isinstance(each, Definition)}

    def told(digests: list[bytes]) -> list[Any]:
        found = [messages[digest] for digest in digests]
        return [(each.role, _parts(orjson.loads(each.parts))) for each in found]

    values: Known = {name: getattr(row, name) for name in COLUMNS}
    calls: list[Any] = json.loads(row.tool_calls) if row.tool_calls else []
    parameters = json.loads(row.request_parameters or "{}")
    return {
        **values,
        "tool_calls": [_plain(call) for call in calls],
        "request_parameters": {"encoding_format": "base64", **parameters},  # which the SDK adds
        "priced": row.cost_usd is not None,  # at the price of its time
        "input": told(row.input_messages),
        "output": told(row.output_messages),
        "system": known[row.system_prompt] if row.system_prompt != NO_HASH else "",
        "tools": known[row.tool_definitions] if row.tool_definitions != NO_HASH else "",
        "failed": bool(row.error_type),
    }


def _parts(parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """In an order that does not depend on that of the fields of the provider's message."""
    return sorted((_plain(part) for part in parts), key=lambda part: str(part["type"]))


def _plain(part: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in part.items() if key not in WRITING and value is not None}


def recorded(spans: Spans, call: Callable[[], object]) -> Known:
    """What the instrumented SDK records of a call."""
    call()
    (span,) = spans.all()
    batch = Batch("test", 1)
    Normaliser(default.content).span(span, batch)
    spans.exporter.clear()
    (row,) = batch.rows[LlmCall]
    assert isinstance(row, LlmCall)
    return said(row, [each for rows in batch.rows.values() for each in rows])


def differing(made: Imported, live: dict[str, Known]) -> list[str]:
    """Where the imported calls are others."""
    rows = {row.span_id: row for row in made.calls}
    assert rows.keys() == live.keys()
    everything = list(made.rows.values())
    found: list[str] = []
    for identity, expected in live.items():
        imported = said(rows[identity], everything)
        if expected["failed"]:  # an exception has the API's words, in its own way
            names = ["failed", "request_model", "input", "tools", "system"]
        else:
            names = [name for name in expected if name != "round"]
        found += [
            f"{identity} {name}: {expected[name]!r} recorded, {imported[name]!r} imported"
            for name in names
            if expected[name] != imported[name]
        ]
    return found


def test_openai_s_exchanges(spans: Spans, tmp_path: Path) -> None:
    wanted = [
        each
        for each in recordings.exchanges()
        if kind_of(each) in ("chat", "responses", "embeddings", "completions")
        and not streamed(each)
        and isinstance(recordings.loaded(each.response), dict)
        and "/deployments/" not in each.url
        and each.sent() is not None
    ][:: enough(4, 1)]
    assert len(wanted) >= enough(160, 10)
    replayer = Replayer()
    live: dict[str, Known] = {}
    lines: list[Any] = []
    for number, each in enumerate(wanted):
        if replayer.unsupported(each):
            continue
        live[f"{number + 1:016x}"] = recorded(spans, partial(replayer.call, each))
        body = recordings.loaded(each.response)
        lines.append({**line(number, each.sent(), each.status, body), "url": each.url})
    replayer.close()

    made = import_files(Transcripts(OPENAI), [written(tmp_path / "log.jsonl", *lines)])

    assert not made.problems
    wrong = differing(made, live)
    assert not wrong, f"{len(wrong)} of {len(live)}:\n" + "\n".join(wrong[:30])


def test_anthropic_s_exchanges(spans: Spans, tmp_path: Path) -> None:
    wanted = [
        each
        for each in exchanges.exchanges("anthropic")
        if each.url.partition("?")[0] == "https://api.anthropic.com/v1/messages"
        and not each.request.get("stream")
        and isinstance(recordings.loaded(each.body), dict)
    ]
    assert len(wanted) >= enough(80, 5)
    live: dict[str, Known] = {}
    lines: list[Any] = []
    for number, each in enumerate(wanted):
        live[f"{number + 1:016x}"] = recorded(spans, partial(anthropic_replay.call, each))
        lines.append(line(number, each.request, each.status, recordings.loaded(each.body)))

    made = import_files(Transcripts(ANTHROPIC), [written(tmp_path / "log.jsonl", *lines)])

    assert not made.problems
    wrong = differing(made, live)
    assert not wrong, f"{len(wrong)} of {len(live)}:\n" + "\n".join(wrong[:30])
