"""Importing what Helicone exports: the same records from every form, and as its bodies say them."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from support.cassettes import recorded_calls
from support.import_kinds import ANSWERED, ASKED, helicone_row
from support.imported import Imported, import_files, iso, written
from support.representatives import few
from turnspan.content.model import as_dict
from turnspan_clickhouse.rows.native_types import EncodedMap
from turnspan_clickhouse.rows.tables import Annotation, SpanRow
from turnspan_records.importing.exports.helicone import Helicone
from turnspan_records.importing.transcripts.anthropic import ANTHROPIC
from turnspan_records.importing.transcripts.openai import OPENAI
from turnspan_records.importing.transcripts.transcript_lines import Transcripts


def with_bodies_beside(row: dict[str, Any]) -> dict[str, Any]:
    """As the example in Python keeps them: what the API has in their place says where they are."""
    note = {"helicone_message": "fetching body from signed_url... contact engineering"}
    bodies = {"request": row["request_body"], "response": row["response_body"]}
    return {
        **row,
        "request_body": note,
        "response_body": note,
        "signed_body_content": bodies,
        "costUSD": row["cost"],
        "cost": None,
    }


COLUMNS = (
    "response_id", "response_created_at", "response_status", "request_created_at", "request_body",
    "request_properties", "request_user_id", "model", "prompt_tokens", "completion_tokens",
    "latency", "cost",
)  # fmt: skip


def as_csv(path: Path, *rows: dict[str, Any]) -> Path:
    """As the export tool writes it: JSON's quotation marks doubled before CSV doubles them."""
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows:
        named = {**row, "latency": row["delay_ms"], "model": row["request_model"]}
        values = [named[name] for name in COLUMNS]
        writer.writerow(
            json.dumps(value).replace('"', '""') if isinstance(value, dict) else value
            for value in values
        )
    path.write_text(text.getvalue(), encoding="utf-8")
    return path


def of(tmp_path: Path, *rows: Any) -> Imported:
    return import_files(Helicone(), [written(tmp_path / "helicone.jsonl", *rows)])


def attributes(row: Any) -> dict[str, Any]:
    said = row.attributes
    return dict(said.texts() if isinstance(said, EncodedMap) else said)


def test_every_form_makes_the_same_records(tmp_path: Path) -> None:
    rows = [helicone_row(1), helicone_row(2)]
    forms = {
        "lines": written(tmp_path / "a.jsonl", *rows),
        "list": written(tmp_path / "b.json", rows),
        "page": written(tmp_path / "c.json", {"data": rows, "error": None}),
        "beside": written(tmp_path / "d.jsonl", *map(with_bodies_beside, rows)),
        "texts": written(
            tmp_path / "e.jsonl",
            *({**row, "request_body": json.dumps(row["request_body"])} for row in rows),
        ),
    }
    made = {form: import_files(Helicone(), [path]) for form, path in forms.items()}
    whole = import_files(Helicone(), list(forms.values()))
    sheet = import_files(Helicone(), [as_csv(tmp_path / "f.csv", *rows)])

    first = made["lines"]
    for each in made.values():
        assert not each.problems
        assert {key: repr(row) for key, row in each.rows.items()} == {
            key: repr(row) for key, row in first.rows.items()
        }
    assert whole.rows.keys() == first.rows.keys()
    assert sum(n for (_, what), n in whole.seen.items() if what == "a call that came again") == 8
    call, again = first.calls
    assert (call.session_id, call.provider, call.request_model) == ("s 1", "openai", "gpt-4o")
    assert (call.input_tokens, call.output_tokens, call.response_id) == (10, 5, "chatcmpl-1")
    assert call.duration == 0.8
    assert call.time_to_first_chunk == 0.25
    assert first.said(call.input_messages) == [("user", ['say "" and \\" and nothing'])]
    assert call.response_text == 'so "be" it'
    assert {turn.user_id for turn in first.turns} == {"ada"}
    assert again.trace_id != call.trace_id
    assert not sheet.problems
    (row, _) = sheet.calls
    assert sheet.said(row.input_messages) == first.said(call.input_messages)
    assert (row.input_tokens, row.response_text, row.session_id) == (10, "", "s 1")


def test_what_is_beside_the_bodies_is_kept(tmp_path: Path) -> None:
    judged = {
        "helicone-score-feedback": 1,
        "accuracy": {"value": 7, "valueType": "number"},
        "none": None,
    }
    unknown = {**ASKED, "model": "house-1"}
    row = helicone_row(
        1,
        request_body=unknown,
        response_body={**ANSWERED, "model": "house-1"},
        request_model="house-1",
        cache_reference_id="9",
        prompt_id="p",
        scores=judged,
    )
    older = helicone_row(2, feedback_rating=False, feedback_created_at=iso(60), scores={})

    made = of(tmp_path, row, older)

    call, _ = made.calls
    assert (str(call.cost_usd), call.price_version) == ("0.2500000000", "helicone")
    kept = attributes(made.of(SpanRow)[0])
    assert kept["helicone.property.environment"] == "test"
    assert kept["helicone.cache_reference_id"] == "9"
    assert kept["gen_ai.prompt.name"] == "p"
    said = [(row.subject_kind, row.kind, row.score) for row in made.of(Annotation)]
    assert sorted(said) == [
        ("call", "evaluation:accuracy", 7.0),
        ("call", "evaluation:feedback", 0.0),
        ("call", "evaluation:feedback", 1.0),
    ]


def test_what_was_no_plain_call(tmp_path: Path) -> None:
    """Failures, requests under way, tools, events, and streams logged chunk by chunk."""
    chunks = [
        {"id": "c", "choices": [{"index": 0, "delta": {"role": "assistant", "content": "st"}}]},
        {
            "id": "c",
            "choices": [{"index": 0, "delta": {"content": "ream"}, "finish_reason": "stop"}],
        },
    ]
    limited = {"error": {"message": "slow down", "type": "rate_limit", "code": "rate_limited"}}
    message = {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "hi"}]}
    rows = [
        helicone_row(1, response_status=429, response_body=limited),
        helicone_row(2, response_status=502, response_body="<html>bad gateway"),
        helicone_row(3, response_status=-3, response_body=None),
        helicone_row(4, response_status=-2, response_body=None),
        helicone_row(5, response_body={"streamed_data": chunks}),
        helicone_row(6, response_body=message, provider="ANTHROPIC", target_url=None),
        helicone_row(7, provider="anthropic", ai_gateway_body_mapping="OPENAI"),
        helicone_row(
            8,
            provider="GOOGLE",
            target_url="https://oai.helicone.ai/x",
            request_body={"contents": [{"role": "user", "parts": [{"text": "hello"}]}]},
            response_body={
                "candidates": [{"content": {"role": "model", "parts": [{"text": "gemini"}]}}]
            },
        ),
        helicone_row(
            9,
            request_body={"_type": "tool", "toolName": "add", "input": {"a": 1}},
            response_body={"sum": 2},
            scores={"right": 1},
        ),
        helicone_row(
            10,
            request_body={"_type": "vector_db", "operation": "search", "text": "x"},
            response_body={"status": "ok"},
        ),
        helicone_row(11, request_body=None, response_body=None),
        helicone_row(12, response_body='{"cut": '),
    ]

    made = of(tmp_path, *rows, {**helicone_row(13), "request_created_at": None}, {"neither": 1})

    calls = {(call.start_time // 10**9) % 1000: call for call in made.calls}
    assert (calls[1].error_type, calls[1].error_message) == ("rate_limited", "slow down")
    assert (calls[2].error_type, calls[2].error_message) == ("502", "<html>bad gateway")
    assert calls[3].error_type == "cancelled"
    assert (calls[4].error_type, calls[4].response_text) == ("", "")
    assert [calls[n].response_text for n in (5, 6, 7, 8)] == [
        "stream",
        "hi",
        'so "be" it',
        "gemini",
    ]
    assert [calls[n].provider for n in (6, 7, 8)] == ["anthropic", "anthropic", "gcp.gemini"]
    assert [(tool.name, tool.result, tool.session_id) for tool in made.tools] == [
        ("add", '{"sum":2}', "s 1")
    ]
    (event,) = [row for row in made.of(SpanRow) if row.name == "vector_db"]
    assert json.loads(attributes(event)["helicone.response"]) == {"status": "ok"}
    assert [row.subject_kind for row in made.of(Annotation)] == ["tool"]
    seen = Counter({what: n for (_, what), n in made.seen.items()})
    assert seen["a call without bodies: export them with --include-body"] == 1
    assert seen["a call that failed"] == 3
    assert {problem.row: problem.reason for problem in made.problems} == {
        "helicone.jsonl:12": "its response body is not JSON: it was left out",
        "helicone.jsonl:13": "a request that does not say when it began: it was left out",
        "helicone.jsonl:14": "it is no request of Helicone"
        ' (request_created_at with request_id or response_id), and was left out: {"neither":1}',
    }


@pytest.mark.parametrize("share", few([4, 1], [4]))
def test_real_bodies_say_what_they_say_as_logged_calls(tmp_path: Path, share: int) -> None:
    """Each recorded call, or one of so many, as Helicone's proxy logs it, is the call that its
    bodies alone make."""
    recorded = [
        each
        for each in recorded_calls()
        if as_dict(each.response) is not None and each.dialect != "anthropic.messages"
    ]
    claude = [
        each
        for each in recorded_calls()
        if as_dict(each.response) is not None and each.dialect == "anthropic.messages"
    ]
    recorded, claude = recorded[::share], claude[::share]
    assert recorded and claude
    number = 0
    compared = 0
    for provider, calls, kind in (("OPENAI", recorded, OPENAI), ("ANTHROPIC", claude, ANTHROPIC)):
        rows: list[dict[str, Any]] = []
        lines: list[dict[str, Any]] = []
        for each in calls:
            number += 1
            body = {"request": each.request, "response": each.response}
            status = {"status_code": each.status, "body": each.response}
            lines.append({**body, "response": status, "start_time": iso(number)})
            rows.append(
                helicone_row(
                    number,
                    request_body=each.request,
                    response_body=each.response,
                    response_status=each.status,
                    provider=provider,
                    request_model=None,
                    prompt_tokens=None,
                    completion_tokens=None,
                    request_properties={},
                    target_url=None,
                )
            )
        made = import_files(Helicone(), [written(tmp_path / f"{provider}.jsonl", *rows)])
        plain = import_files(Transcripts(kind), [written(tmp_path / f"{kind.kind}.jsonl", *lines)])
        assert not made.problems
        assert [told(made, call) for call in made.calls] == [told(plain, c) for c in plain.calls]
        compared += len(made.calls)
    assert compared == len(recorded) + len(claude)


def told(made: Imported, call: Any) -> tuple[Any, ...]:
    return (
        call.start_time, call.operation, call.provider, call.request_model, call.response_model,
        call.response_id, call.input_tokens, call.output_tokens, call.cache_read_tokens,
        call.finish_reasons, call.error_type, call.error_message, call.response_text,
        call.tool_calls, made.said(call.input_messages), call.request_parameters,
    )  # fmt: skip
