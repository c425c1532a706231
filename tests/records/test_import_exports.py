"""Importing what Langfuse and Phoenix export: the same records from every form of export."""

from __future__ import annotations

import csv
import importlib
import json
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

from support.imported import Imported, import_files, written
from turnspan.content.model import as_dict
from turnspan_clickhouse.rows.tables import Annotation, SpanRow
from turnspan_records.importing.exports.exported_rows import snake
from turnspan_records.importing.exports.langfuse import Langfuse
from turnspan_records.importing.exports.phoenix import Phoenix

BEGAN = 1_420_000_000
"""At the end of 2014."""
TRACE = "0af7651916cd43dd8448eb211c80319c"
OLD_TRACE = "5f0c1b1e-8f0a-4c59-a2a5-1b8c7d9e0f11"


def iso(seconds: float) -> str:
    return datetime.fromtimestamp(BEGAN + seconds, timezone.utc).isoformat(timespec="milliseconds")


def as_clickhouse(value: Any) -> Any:
    """A time as the blob storage integration writes it."""
    if isinstance(value, str) and value.endswith("+00:00"):
        return value.replace("T", " ").replace("+00:00", "000")
    return value


def observation(identity: str, kind: str, start: float, end: float, **more: Any) -> dict[str, Any]:
    return {
        "id": identity,
        "traceId": TRACE,
        "projectId": "p",
        "type": kind,
        "name": identity,
        "startTime": iso(start),
        "endTime": iso(end),
        "parentObservationId": None,
        "level": "DEFAULT",
        "statusMessage": None,
        "environment": "prod",
        "version": "v7",
        **more,
    }


USER = {"role": "user", "content": "weather in Bern?"}
ASKED: dict[str, Any] = {
    "role": "assistant",
    "content": None,
    "tool_calls": [
        {
            "id": "call_1",
            "type": "function",
            "function": {"name": "look", "arguments": '{"at": "Bern"}'},
        }
    ],
}
TOLD = {"role": "tool", "tool_call_id": "call_1", "content": "rain"}
SAID = {"role": "assistant", "content": "It rains."}
MODEL: dict[str, Any] = {
    "model": "gpt-4o",
    "modelParameters": {"temperature": 0.2},
    "usageDetails": {"input": 20, "input_cached_tokens": 80, "output": 5, "total": 105},
    "promptName": "weather",
    "promptVersion": 3,
}
UNKNOWN_MODEL: dict[str, Any] = {
    **MODEL,
    "model": "house-model-1",
    "costDetails": {"input": 0.1, "total": 0.25},
}
OBSERVATIONS: list[dict[str, Any]] = [
    observation("aaaaaaaaaaaaaaa1", "AGENT", 0, 9, input="weather in Bern?", output="It rains."),
    observation(
        "aaaaaaaaaaaaaaa2",
        "GENERATION",
        1,
        2,
        parentObservationId="aaaaaaaaaaaaaaa1",
        input=[USER],
        output=ASKED,
        completionStartTime=iso(1.5),
        metadata={"attempt": "1"},
        **MODEL,
    ),
    observation(
        "aaaaaaaaaaaaaaa3",
        "TOOL",
        3,
        4,
        parentObservationId="aaaaaaaaaaaaaaa1",
        name="look",
        input={"at": "Bern"},
        output="rain",
    ),
    observation(
        "aaaaaaaaaaaaaaa4",
        "GENERATION",
        5,
        6,
        parentObservationId="aaaaaaaaaaaaaaa1",
        input=[USER, ASKED, TOLD],
        output=SAID,
        **UNKNOWN_MODEL,
    ),
    observation(
        "aaaaaaaaaaaaaaa5",
        "GENERATION",
        7,
        8,
        parentObservationId="aaaaaaaaaaaaaaa1",
        input=[USER],
        level="ERROR",
        statusMessage="overloaded",
        model="gpt-4o",
    ),
]
TRACES: list[dict[str, Any]] = [
    {
        "id": TRACE,
        "timestamp": iso(0),
        "name": "weather",
        "userId": "ada",
        "sessionId": "s 1",
        "release": "r9",
        "version": "v7",
        "environment": "prod",
        "tags": ["one", "two"],
        "public": False,
        "bookmarked": False,
        "input": "weather in Bern?",
        "output": "It rains.",
        "metadata": {"plan": "pro"},
    },
    {
        "id": OLD_TRACE,
        "timestamp": iso(20),
        "name": "old",
        "userId": None,
        "sessionId": "s 2",
        "release": None,
        "version": None,
        "environment": "prod",
        "tags": [],
        "public": False,
        "bookmarked": False,
        "input": {"question": "hi"},
        "output": "hello",
        "metadata": None,
    },
]
OLD = observation(
    "0b0c1b1e-8f0a-4c59-a2a5-1b8c7d9e0f99",
    "GENERATION",
    20,
    21,
    input=[{"role": "user", "content": "hi"}],
    output={"role": "assistant", "content": "hello"},
    model="gpt-4o",
    usage={"input": 3, "output": 4, "total": 7, "unit": "TOKENS"},
)
OLD["traceId"] = OLD_TRACE


def given(identity: str, name: str, kind: str, **more: Any) -> dict[str, Any]:
    return {
        "id": identity,
        "traceId": TRACE,
        "observationId": None,
        "sessionId": None,
        "name": name,
        "source": "API",
        "dataType": kind,
        "timestamp": iso(30),
        "environment": "prod",
        "authorUserId": None,
        "comment": None,
        **more,
    }


SCORES: list[dict[str, Any]] = [
    given("s1", "right", "NUMERIC", value=0.75, comment="nearly"),
    given("s2", "tone", "CATEGORICAL", value=0, stringValue="polite", source="EVAL"),
    given("s3", "safe", "BOOLEAN", value=1, stringValue="True", observationId="aaaaaaaaaaaaaaa2"),
    given("s4", "note", "TEXT", stringValue="look again", observationId="aaaaaaaaaaaaaaa3"),
    given("s5", "happy", "NUMERIC", value=5, traceId=None, sessionId="s 1", authorUserId="u1"),
]


def in_snake(row: dict[str, Any]) -> dict[str, Any]:
    """A row of the blob storage integration: texts of what was said, maps of texts."""
    made: dict[str, Any] = {}
    for name, value in row.items():
        key = {"model": "provided_model_name"}.get(name, snake(name))
        made[key] = as_clickhouse(value)
        if key in ("input", "output", "model_parameters") and not isinstance(value, str | None):
            made[key] = json.dumps(value)
        counts = as_dict(value) or {}
        if key in ("usage_details", "cost_details"):
            made[key] = {k: str(v) if isinstance(v, int) else v for k, v in counts.items()}
    return made


def of_langfuse(*paths: Path, **how: Any) -> Imported:
    return import_files(Langfuse(), paths, **how)


def api(folder: Path) -> list[Path]:
    """Pages and single traces of the public API."""
    whole = {**TRACES[0], "observations": OBSERVATIONS, "scores": SCORES[:-1], "latency": 9.0}
    path = folder / "page.json"
    path.write_text(json.dumps({"data": [OLD], "meta": {"page": 1}}, indent=1))
    rest = [TRACES[1], SCORES[4]]
    return [written(folder / "traces.json", whole), path, written(folder / "rest.jsonl", *rest)]


def blob(folder: Path) -> list[Path]:
    """The three tables of the blob storage integration, as lines."""
    tables: dict[str, list[dict[str, Any]]] = {
        "traces": TRACES,
        "observations": [*OBSERVATIONS, OLD],
        "scores": SCORES,
    }
    return [
        written(folder / f"{name}.jsonl", *map(in_snake, rows)) for name, rows in tables.items()
    ]


def parquet(folder: Path) -> list[Path]:
    arrow: Any = importlib.import_module("pyarrow")
    files: Any = importlib.import_module("pyarrow.parquet")
    made: list[Path] = []
    tables: dict[str, list[dict[str, Any]]] = {
        "traces": TRACES,
        "observations": [*OBSERVATIONS, OLD],
        "scores": SCORES,
    }
    for name, rows in tables.items():
        path = folder / f"{name}.parquet"
        snaked = [{k: v for k, v in in_snake(row).items() if k != "usage"} for row in rows]
        if name == "observations":
            snaked[-1]["usage_details"] = {"input": "3", "output": "4", "total": "7"}
        files.write_table(arrow.Table.from_pylist(_even(snaked)), path)
        made.append(path)
    return made


def _even(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Every row with every column."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    return [{name: row.get(name) for name in names} for row in rows]


def ui(folder: Path) -> list[Path]:
    """CSV of the UI's tables, and the scores as lines."""
    made: list[Path] = []
    for name, rows in (("traces", TRACES), ("observations", [*OBSERVATIONS, OLD])):
        path = folder / f"{name}.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            even = _even(rows)
            writer = csv.DictWriter(file, even[0], quoting=csv.QUOTE_ALL)
            writer.writeheader()
            writer.writerows({k: _cell(v) for k, v in row.items()} for row in even)
        made.append(path)
    return [*made, written(folder / "scores.jsonl", *SCORES)]


def _cell(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else json.dumps(value)


def told(made: Imported) -> list[Any]:
    calls = [
        (
            *(call.session_id, call.turn_id, call.round, call.request_model, call.error_type),
            *(call.input_tokens, call.cache_read_tokens, call.output_tokens, call.response_text),
            *(str(call.cost_usd), call.price_version, call.start_time, call.span_id),
            *(call.environment, call.time_to_first_chunk, call.tool_calls),
            made.said(call.input_messages),
        )
        for call in made.calls
    ]
    tools = [(tool.name, tool.turn_id, tool.arguments, tool.result) for tool in made.tools]
    turns = [
        (turn.turn_id, turn.session_id, turn.agent_name, turn.rounds, str(turn.cost_usd))
        for turn in made.turns
    ]
    said = [
        (
            row.subject_kind,
            row.subject_id,
            row.kind,
            row.score,
            row.outcome,
            row.comment,
            row.author,
        )
        for row in made.of(Annotation)
    ]
    return [calls, tools, turns, sorted(said, key=repr)]


def test_what_langfuse_exports_in_any_form(tmp_path: Path) -> None:
    made = of_langfuse(*api(_folder(tmp_path, "api")))

    calls, tools, turns, said = told(made)
    assert not made.problems
    agent, old = "aaaaaaaaaaaaaaa1", OLD_TRACE.replace("-", "")
    assert [turn[:4] for turn in turns] == [
        (agent, "s 1", "aaaaaaaaaaaaaaa1", 3),
        (old, "s 2", "", 1),
    ]
    assert [call[:5] for call in calls] == [
        ("s 1", agent, 1, "gpt-4o", ""),
        ("s 1", agent, 2, "house-model-1", ""),
        ("s 1", agent, 3, "gpt-4o", "_OTHER"),
        ("s 2", old, 1, "gpt-4o", ""),
    ]
    assert calls[0][5:9] == (100, 80, 5, "")
    assert calls[0][14] == 0.5  # to the first token
    assert (calls[1][9], calls[1][10]) == ("0.2500000000", "langfuse")
    assert calls[0][10] not in ("", "langfuse")
    assert calls[3][5:9] == (3, None, 4, "hello")
    assert tools == [("look", agent, '{"at":"Bern"}', "rain")]
    assert said == [
        ("call", "aaaaaaaaaaaaaaa2", "evaluation:safe", 1.0, "True", "", "api"),
        ("session", "s 1", "evaluation:happy", 5.0, "", "", "u1"),
        ("tool", "aaaaaaaaaaaaaaa3", "evaluation:note", None, "", "look again", "api"),
        ("turn", agent, "evaluation:right", 0.75, "", "nearly", "api"),
        ("turn", agent, "evaluation:tone", None, "polite", "", "eval"),
    ]
    assert {row.source for row in made.of(Annotation)} == {"import"}
    first = next(row for row in made.of(SpanRow) if row.span_id == "aaaaaaaaaaaaaaa2")
    attributes: Any = first.attributes
    assert attributes.texts()["langfuse.observation.prompt.version"] == "3"
    for form in (blob, parquet, ui):
        other = of_langfuse(*form(_folder(tmp_path, form.__name__)))
        assert not other.problems, form
        assert told(other) == told(made), form


def _folder(tmp_path: Path, name: str) -> Path:
    folder = tmp_path / name
    folder.mkdir()
    return folder


def test_enriched_observations_need_no_traces_and_columns_of_scores_count(tmp_path: Path) -> None:
    whole = {"session_id": "s 1", "user_id": "ada", "trace_name": "weather", "tags": ["one", "two"]}
    rows = [{**in_snake(row), **whole} for row in OBSERVATIONS]
    lines = written(tmp_path / "observations_v2.jsonl", *rows)
    with_scores = {**OBSERVATIONS[1], "right": [0.5, 1.0], "tone": ["polite"], "odd": {"a": 1}}
    columns = written(tmp_path / "ui.jsonl", with_scores)

    made, of_ui = of_langfuse(lines), of_langfuse(columns)

    assert [call.session_id for call in made.calls] == ["s 1"] * 3
    assert [turn.user_id for turn in made.turns] == ["ada"]
    assert sorted((row.kind, row.score, row.outcome) for row in of_ui.of(Annotation)) == [
        ("evaluation:right", 0.5, ""),
        ("evaluation:right", 1.0, ""),
        ("evaluation:tone", None, "polite"),
    ]
    assert of_ui.seen["ui.jsonl", "left out: the column odd, which is not known"] == 1
    assert not of_ui.problems


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
    frame = _even([frame_row(span) for span in PHOENIX])
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
    assert {row.start_time // 10**9 for row in made.of(SpanRow)} == {BEGAN + n for n in range(1, 5)}
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
