"""Importing what Phoenix exports: the same records from every form of export."""

from __future__ import annotations

import base64
import importlib
import json
from dataclasses import fields
from datetime import datetime
from pathlib import Path
from typing import Any, cast

import pytest

from support.imported import OLDEN, Imported, even, import_files, iso, written
from turnspan import config
from turnspan_clickhouse.rows.native_types import EncodedMap
from turnspan_clickhouse.rows.tables import Annotation, MessageRow, SpanRow
from turnspan_records.importing.exports.phoenix import Phoenix
from turnspan_records.importing.sources import SourceLogError

PHOENIX_TRACE = "1" * 31 + "2"


def phoenix_span(number: int, kind: str, parent: int, **attributes: Any) -> dict[str, Any]:
    return {
        "id": f"U3Bhbjo{number}",
        "name": f"span {number}",
        "context": {"trace_id": PHOENIX_TRACE, "span_id": f"{number:016x}"},
        "span_kind": kind,
        "parent_id": f"{parent:016x}" if parent else None,
        "start_time": iso(number),
        "end_time": iso(10 if kind == "AGENT" else number + 0.5),
        "status_code": "OK",
        "status_message": "",
        "attributes": {"session.id": "p 1", **attributes},
        "events": [],
    }


def phoenix_message(place: str, role: str, content: str) -> dict[str, str]:
    return {f"{place}.message.role": role, f"{place}.message.content": content}


FAILED: dict[str, Any] = {
    **phoenix_span(4, "LLM", 1, **{"llm.model_name": "gpt-4o"}),
    "status_code": "ERROR",
    "status_message": "RateLimitError: slow down",
    "events": [
        {
            "name": "exception",
            "timestamp": iso(4.5),
            "attributes": {"exception.type": "RateLimitError", "exception.message": "slow down"},
        }
    ],
}
PHOENIX: list[dict[str, Any]] = [
    FAILED,
    phoenix_span(1, "AGENT", 0, **{"input.value": "add", "agent.name": "adder"}),
    phoenix_span(
        2,
        "LLM",
        1,
        **{
            "llm.model_name": "house-model-1",
            "llm.token_count.prompt": 12,
            "llm.token_count.completion": 3,
            "llm.cost.total": 0.5,
            "llm.invocation_parameters": '{"temperature": 0}',
            **phoenix_message("llm.input_messages.0", "user", "add"),
            "llm.output_messages.0.message.role": "assistant",
            "llm.output_messages.0.message.tool_calls.0.tool_call.id": "c1",
            "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "sum",
            "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": '{"a":1}',
        },
    ),
    phoenix_span(
        3, "TOOL", 1, **{"tool.name": "sum", "input.value": '{"a":1}', "output.value": "3"}
    ),
]
RESULT = {"label": "good", "score": 0.9, "explanation": "yes"}
ANNOTATIONS: list[dict[str, Any]] = [
    {
        "id": "U1",
        "span_id": f"{2:016x}",
        "name": "quality",
        "annotator_kind": "HUMAN",
        "result": RESULT,
        "created_at": iso(50),
        "updated_at": iso(51),
        "source": "APP",
        "identifier": "",
        "user_id": "ada",
    },
    {"id": "U2", "trace_id": PHOENIX_TRACE, "name": "t", "annotator_kind": "LLM", "result": RESULT},
]


def frame_row(span: dict[str, Any]) -> dict[str, Any]:
    """A row of ``get_spans_dataframe``: conventions are columns, messages are nested in them."""
    row = {key: value for key, value in span.items() if key not in ("id", "context", "attributes")}
    row |= {f"context.{key}": value for key, value in span["context"].items()}
    nested: dict[str, Any] = {}
    for key, value in span["attributes"].items():
        head, _, rest = key.partition(".0.")
        if not rest:
            nested[key] = float(value) if isinstance(value, int) else value
            continue
        message = nested.setdefault(head, [{}])[0]
        inner, _, leaf = rest.partition(".0.")
        if leaf:
            message.setdefault(inner, [{}])[0][leaf] = value
        else:
            message[rest] = value
    return row | {f"attributes.{key}": value for key, value in nested.items()}


def as_otlp(span: dict[str, Any]) -> dict[str, Any]:
    """A span of ``/spans/otlpv1``."""

    def pair(key: str, value: Any) -> dict[str, Any]:
        name = "int_value" if isinstance(value, int) else "string_value"
        name = "double_value" if isinstance(value, float) else name
        return {"key": key, "value": {name: value}}

    def pairs(attributes: dict[str, Any]) -> list[Any]:
        return [pair(key, value) for key, value in attributes.items()]

    def nano(text: str) -> int:
        return round(datetime.fromisoformat(text).timestamp() * 1000) * 10**6

    kind = {"openinference.span.kind": span["span_kind"]}
    return {
        "trace_id": span["context"]["trace_id"],
        "span_id": span["context"]["span_id"],
        "parent_span_id": span["parent_id"],
        "name": span["name"],
        "start_time_unix_nano": nano(span["start_time"]),
        "end_time_unix_nano": nano(span["end_time"]),
        "attributes": pairs({**span["attributes"], **kind}),
        "events": [
            {
                "name": event["name"],
                "attributes": pairs(event["attributes"]),
                "time_unix_nano": nano(event["timestamp"]),
            }
            for event in span["events"]
        ],
        "status": {
            "code": 2 if span["status_code"] == "ERROR" else 1,
            "message": span["status_message"],
        },
    }


def phoenix_forms(folder: Path) -> dict[str, Path]:
    arrow: Any = importlib.import_module("pyarrow")
    files: Any = importlib.import_module("pyarrow.parquet")
    frame = even([frame_row(span) for span in PHOENIX])
    by_column = {name: {str(n): row[name] for n, row in enumerate(frame)} for name in frame[0]}
    by_column["start_time"] = {
        key: round(datetime.fromisoformat(value).timestamp() * 1000)
        for key, value in by_column["start_time"].items()
    }
    files.write_table(arrow.Table.from_pylist(frame), folder / "frame.parquet")
    return {
        "api": written(folder / "api.json", {"data": PHOENIX, "next_cursor": None}),
        "otlp": written(folder / "otlp.json", {"data": [as_otlp(span) for span in PHOENIX]}),
        "rows": written(folder / "rows.jsonl", *frame),
        "columns": written(folder / "columns.json", by_column),
        "parquet": folder / "frame.parquet",
    }


@pytest.mark.parametrize("form", ["api", "otlp", "rows", "columns", "parquet"])
def test_what_phoenix_exports_in_any_form(tmp_path: Path, form: str) -> None:
    path = phoenix_forms(tmp_path)[form]
    notes = written(tmp_path / "annotations.json", {"data": ANNOTATIONS, "next_cursor": None})

    made = import_files(Phoenix(), [path, notes])

    assert not made.problems
    call, failed = made.calls
    turn = f"{1:016x}"
    assert (call.session_id, call.turn_id, call.round) == ("p 1", turn, 1)
    assert (call.request_model, call.input_tokens, call.output_tokens) == ("house-model-1", 12, 3)
    assert (str(call.cost_usd), call.price_version) == ("0.5000000000", "phoenix")
    assert made.said(call.input_messages) == [("user", ["add"])]
    assert json.loads(call.tool_calls)[0]["name"] == "sum"
    assert (failed.error_type, failed.error_message) == (
        "RateLimitError",
        "RateLimitError: slow down",
    )
    assert [(tool.name, tool.result, tool.turn_id) for tool in made.tools] == [("sum", "3", turn)]
    assert [(row.turn_id, row.agent_name, row.rounds) for row in made.turns] == [(turn, "adder", 2)]
    assert {row.start_time // 10**9 for row in made.of(SpanRow)} == {OLDEN + n for n in range(1, 5)}
    said = [
        (row.subject_kind, row.subject_id, row.kind, row.score, row.outcome, row.author)
        for row in made.of(Annotation)
    ]
    assert sorted(said) == [
        ("call", f"{2:016x}", "evaluation:quality", 0.9, "good", "ada"),
        ("turn", turn, "evaluation:t", 0.9, "good", "llm"),
    ]


def test_a_span_without_ids_is_told_of(tmp_path: Path) -> None:
    odd = {**PHOENIX[1], "context": {"trace_id": "x", "span_id": "y"}}
    path = written(tmp_path / "odd.jsonl", odd, PHOENIX[1], {"neither": 1})

    made = import_files(Phoenix(), [path])

    assert [problem.row for problem in made.problems] == ["odd.jsonl:3", "odd.jsonl:1"]
    assert len(made.of(SpanRow)) == 1


REAL = Path(__file__).parents[1] / "data" / "phoenix"
SPANS = (
    "spans.parquet", "spans.json", "spans_index.json", "spans_split.json", "spans_records.json",
    "spans_lines.jsonl",
)  # fmt: skip
JUDGED = (
    "annotations.parquet", "annotations.csv", "annotations.json", "annotations_index.json",
    "annotations_split.json", "annotations_table.json", "annotations_lines.jsonl",
)  # fmt: skip


def fields_of(made: Imported) -> dict[Any, dict[str, Any]]:
    """Each row without what frames do not keep: the types and the order of attributes."""
    return {
        key: {
            each.name: getattr(row, each.name)
            for each in fields(cast("Any", row))
            if each.name not in ("attributes", "resource")
        }
        for key, row in made.rows.items()
    }


@pytest.mark.parametrize("form", SPANS)
def test_a_real_data_frame_is_what_the_api_says(form: str) -> None:
    """However pandas saved it: columns with the part before their dot in common, lists of unequal
    lengths beside each other, objects that other spans do not have."""
    api = import_files(Phoenix(), [REAL / "spans_api.json"])

    made = import_files(Phoenix(), [REAL / form])

    assert not made.problems
    assert fields_of(made) == fields_of(api)
    (turn,) = made.turns
    assert (turn.rounds, turn.tool_call_count, len(made.of(SpanRow))) == (3, 1, 7)
    assert [row.name for row in made.of(SpanRow) if "tool.parameters" in repr(row.attributes)] == [
        "sum"
    ]


@pytest.mark.parametrize("form", JUDGED)
def test_a_real_data_frame_of_annotations(form: str) -> None:
    """Of which span it is may stand in the index alone, whose name pandas does not write."""
    made = import_files(Phoenix(), [REAL / "spans.parquet", REAL / form])

    assert not made.problems
    said = [
        (row.subject_kind, row.kind, row.score, row.outcome, row.author)
        for row in made.of(Annotation)
    ]
    assert sorted(said) == [
        ("call", "evaluation:quality", 0.9, "good", "human"),
        ("tool", "evaluation:right", 1.0, "yes", "code"),
    ]


def test_evaluations_by_the_index(tmp_path: Path) -> None:
    """As ``phoenix.evals`` makes them, before their index has become a column."""
    frame = {"label": {f"{2:016x}": "good"}, "score": {f"{2:016x}": 1}, "explanation": {}}
    of_traces = {PHOENIX_TRACE: {"label": "bad", "score": 0}}
    paths = [written(tmp_path / "c.json", frame), written(tmp_path / "i.json", of_traces)]

    made = import_files(Phoenix(), paths)

    said = [(row.subject_kind, row.subject_id, row.outcome) for row in made.of(Annotation)]
    assert sorted(said) == [("span", f"{2:016x}", "good"), ("turn", PHOENIX_TRACE, "bad")]


def test_a_form_that_cannot_carry_the_data_is_refused_with_the_one_that_can() -> None:
    with pytest.raises(SourceLogError, match=r"CSV.*to_parquet\(\) or to_json\(\)"):
        import_files(Phoenix(), [REAL / "spans.csv"])
    for form in ("annotations_records.json", "spans_values.json"):
        made = import_files(Phoenix(), [REAL / form])
        assert not made.rows
        assert len(made.problems) == made.seen.total() > 0
    lost = import_files(Phoenix(), [REAL / "annotations_records.json"])
    assert "reset_index()" in lost.problems[0].reason


IMAGE = base64.b64encode(bytes(range(256)) * 3).decode()
URL = f"data:image/png;base64,{IMAGE}"
REQUESTS: list[dict[str, Any]] = [
    {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": URL}}]}]},
    {"input": [{"role": "user", "content": [{"type": "input_image", "image_url": URL}]}]},
    {"messages": [{"role": "user", "content": [{"type": "image", "source": {
        "type": "base64", "media_type": "image/png", "data": IMAGE}}]}]},
    {"contents": [{"parts": [{"inline_data": {"mime_type": "image/png", "data": IMAGE}}]}]},
    {"text": f"![a plot]({URL})"},
]  # fmt: skip
"""What OpenInference's instrumentations put into ``input.value`` beside the messages."""


def with_image(number: int, asked: str) -> dict[str, Any]:
    """A call as they record it, as Phoenix exports it."""
    block = "llm.input_messages.0.message.contents.0.message_content"
    return phoenix_span(number, "LLM", 1, **{
        "llm.model_name": "m", "input.value": asked, "input.mime_type": "application/json",
        "llm.input_messages.0.message.role": "user", f"{block}.type": "image",
        f"{block}.image.image.url": URL, "output.value": URL,
    })  # fmt: skip


@pytest.mark.parametrize("form", ["api", "otlp", "rows"])
@pytest.mark.parametrize("capture", [False, True])
def test_bytes_of_images_stay_only_where_media_are_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str, capture: bool
) -> None:
    """In no column of any row, and the image's hash and size in its message."""
    monkeypatch.setattr(config, "_active", config.Settings(capture_media=capture))
    monkeypatch.setattr(config, "look_up", None)  # whatever recorders other tests have made
    asked = [json.dumps(request) for request in REQUESTS]
    asked += [f"{asked[0][:-9]}", f"see {URL} and {URL}"]
    spans = [with_image(number, text) for number, text in enumerate(asked, 2)]
    forms = {"api": spans, "otlp": [as_otlp(span) for span in spans], "rows": []}
    path = written(tmp_path / "x.json", {"data": forms[form]})
    if form == "rows":
        path = written(tmp_path / "x.jsonl", *even([frame_row(span) for span in spans]))

    made = import_files(Phoenix(), [path])

    assert not made.problems and len(made.calls) == len(asked)
    kept = [
        (type(row).__name__, name)
        for row in made.rows.values()
        for name in [field.name for field in fields(cast("Any", row))]
        if IMAGE[100:140] in _shown(getattr(row, name, ""))
    ]
    assert bool(kept) is capture, kept
    blobs = [part for row in made.of(MessageRow) for part in json.loads(row.parts)]
    assert {part["size"] for part in blobs if "size" in part} == (set() if capture else {768})


def _shown(value: Any) -> str:
    return repr([value.keys, value.values] if isinstance(value, EncodedMap) else value)
