"""Real requests and replies: nothing is lost, and what is extracted is what the JSON says.

What is expected is read from the JSON here, without the product's code.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from support.cassettes import RecordedCall, recorded_calls
from support.sealing import rebuild_record, seal_message, source_if_needed
from support.shared import enough, trajectories
from turnspan.content.media import digest_media
from turnspan.content.model import as_dict, dumps
from turnspan.dialects.convert import (
    convert,
    convert_message,
    dialect_of,
    join_request,
    output_messages,
    split_request,
)
from turnspan.runtime.guard import errors

DIALECTS = ("openai.chat", "openai.responses", "anthropic.messages")
TRAJECTORIES = (
    "tau-bench__gpt-4o-airline",
    "tau-bench-fork__assertions-agent-retail",
    "tau-bench-fork__tool-calling-preconditions-retail",
    "tau-bench-fork__tool-calling-retail",
    "tau2__activegraph",
    "tau2__airline-whissle",
    "tau2__telecom-gpt-4o",
)


@pytest.fixture(autouse=True)
def _no_swallowed_errors() -> Iterator[None]:  # pyright: ignore[reportUnusedFunction]
    errors.reset()
    yield
    assert errors.counts() == {}


def calls(dialect: str) -> list[RecordedCall]:
    """The recorded calls of a dialect."""
    found = [call for call in recorded_calls() if call.dialect == dialect]
    assert len(found) >= enough(100, 10)
    return found


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_request_taken_apart_is_put_together_again(dialect: str) -> None:
    """Parameters, messages, system and tools are together exactly the request."""
    for call in calls(dialect):
        assert join_request(dialect, split_request(dialect, call.request)) == call.request, (
            call.path
        )


@pytest.mark.parametrize(("dialect", "share"), list(zip(DIALECTS, (0.01, 0.15, 0.01), strict=True)))
def test_every_message_is_rebuilt_byte_for_byte(dialect: str, share: float) -> None:
    """From its record each message comes back exactly; few need their source kept."""
    total = kept = 0
    for call in calls(dialect):
        sent = split_request(dialect, call.request).messages_raw
        said, _ = output_messages(dialect, call.response)
        for raw in [*sent, *said]:
            sealed = seal_message(dialect, raw)
            rebuilt = rebuild_record(dialect, sealed.role, sealed.name, sealed.parts, sealed.source)
            assert orjson.dumps(rebuilt) == orjson.dumps(digest_media(raw)), call.path
            total += 1
            kept += bool(sealed.source)
    assert kept <= share * total


@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_is_said_to_be_exact_is_so(dialect: str) -> None:
    """The messages that nobody tries to rebuild are rebuilt all the same."""
    for call in calls(dialect):
        sent = split_request(dialect, call.request).messages_raw
        said, _ = output_messages(dialect, call.response)
        for raw in [*sent, *said]:
            fields = as_dict(raw)
            if fields is not None and dialect_of(dialect).is_exact(fields):
                message = convert_message(dialect, raw)
                assert source_if_needed(dialect, raw, message) == "", raw


CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
FIELDS: dict[str, list[Any]] = {
    "content": ["Yes.", "", None, [{"type": "text", "text": "Yes."}], 3],
    "refusal": [None, "", "No."],
    "annotations": [[], None, [{"type": "url_citation"}], "x"],
    "audio": [None, {"id": "a", "data": "sha256"}, ""],
    "function_call": [None, {"name": "f", "arguments": "{}"}],
    "tool_calls": [
        None,
        [],
        [CALL],
        [CALL, {**CALL, "function": {"name": "g", "arguments": '{"a":  1}'}}],
        [{**CALL, "function": {"name": "g", "arguments": "{not JSON"}}],
        [{**CALL, "function": {"arguments": "[1]", "name": "g"}}],
        [{**CALL, "function": {"name": "g", "arguments": {"a": 1}}}],
        [{**CALL, "type": "custom"}],
        [{**CALL, "index": 0}],
        ["call"],
    ],
    "reasoning": ["Hm."],
}
ORDERS = (("role", *FIELDS), (*reversed(FIELDS), "role"))


@pytest.mark.parametrize("order", ORDERS, ids=("role first", "role last"))
def test_replies_said_to_be_exact_are_so_in_every_combination(order: tuple[str, ...]) -> None:
    """Each field that a reply may have, as it may be written or be missing."""
    exact = 0
    missing: list[list[Any]] = [[*values, ...] for values in FIELDS.values()]
    for values in itertools.product(*missing):
        fields = {"role": "assistant", **dict(zip(FIELDS, values, strict=True))}
        raw = {key: fields[key] for key in order if fields[key] is not ...}
        if dialect_of("openai.chat").is_exact(raw):
            exact += 1
            assert (
                source_if_needed("openai.chat", raw, convert_message("openai.chat", raw)) == ""
            ), raw
    assert exact > 100


@pytest.mark.parametrize("path", trajectories(*TRAJECTORIES), ids=lambda path: path.stem)
def test_the_messages_of_real_runs_need_no_source(path: Path) -> None:
    """Every message of the tau-bench runs is rebuilt from role, name and parts alone."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            record: dict[str, Any] = json.loads(line)["record"]
            messages: list[Any] = record.get("traj") or record.get("messages") or []
            for raw in messages:
                message = convert_message("openai.chat", raw)
                assert source_if_needed("openai.chat", raw, message) == ""


@pytest.mark.parametrize(
    "value",
    [
        "data:image/png;base64,aGk=",
        "DATA:image/png;Base64,aGk=",
        {"type": "base64", "media_type": "image/png", "data": "aGk="},
        {"filename": "a.pdf", "file_data": "aGk="},
        {"b64_json": "aGk="},
        {"partial_image_b64": "aGk="},
        {"type": "image_generation_call", "result": "aGk="},
    ],
)
def test_every_way_to_hold_a_file_is_reduced(value: Any) -> None:
    """Each kind of embedded file that reduction knows, at any depth; its bytes are nowhere."""
    nested = {"role": "user", "content": [{"x": value}]}
    assert "aGk=" not in dumps(digest_media(nested)).decode()


@pytest.mark.parametrize("dialect", DIALECTS)
def test_no_file_is_kept_in_a_message(dialect: str) -> None:
    """Embedded images, sounds and documents are landed as hashes only, in source as well."""
    inline = re.compile(r"base64,[A-Za-z0-9+/]{40}|\"(?:data|file_data)\":\"[A-Za-z0-9+/=]{200}")
    blobs = 0
    for call in calls(dialect):
        for raw in split_request(dialect, call.request).messages_raw:
            sealed = seal_message(dialect, raw)
            landed = sealed.parts + sealed.source
            assert not inline.search(landed), call.path
            blobs += landed.count('"type":"blob"')
    assert blobs > 0 or dialect == "anthropic.messages"  # whose recordings hold no files


def _chat_reply(body: Any) -> tuple[str, list[tuple[Any, Any, Any]], list[str]]:
    message = body["choices"][0]["message"]
    text = message.get("content") or message.get("refusal") or ""
    made: list[tuple[Any, Any, Any]] = []
    calls: list[Any] = message.get("tool_calls") or []
    for call in calls:
        written: str = call["function"]["arguments"] or '""'
        made.append((call["id"], call["function"]["name"], json.loads(written)))
    return text, made, [choice["finish_reason"] for choice in body["choices"]]


def _anthropic_reply(body: Any) -> tuple[str, list[tuple[Any, Any, Any]], list[str]]:
    text = "".join(block["text"] for block in body["content"] if block["type"] == "text")
    uses = [block for block in body["content"] if block["type"] == "tool_use"]
    reasons = [body["stop_reason"]] if body.get("stop_reason") else []
    return text, [(use["id"], use["name"], use["input"]) for use in uses], reasons


def _responses_reply(body: Any) -> tuple[str, list[tuple[Any, Any, Any]], list[str]]:
    text = ""
    made: list[tuple[Any, Any, Any]] = []
    for item in body["output"]:
        if item["type"] == "message":
            text += "".join(part.get("text") or part.get("refusal") for part in item["content"])
        if item["type"] == "function_call":
            made.append((item["call_id"], item["name"], json.loads(item["arguments"])))
        if item["type"] == "custom_tool_call":
            made.append((item["call_id"], item["name"], item["input"]))
    details: dict[str, Any] = body.get("incomplete_details") or {}
    why = details.get("reason") or body["status"]
    return text, made, [why]


_READERS: dict[str, Any] = dict(
    zip(DIALECTS, (_chat_reply, _responses_reply, _anthropic_reply), strict=True)
)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_replies_are_read_as_the_json_says(dialect: str) -> None:
    """Text, tool calls and finish reasons equal an independent reading of the body."""
    seen = with_tools = 0
    for call in calls(dialect):
        body = call.response
        answer = {"openai.chat": "choices", "openai.responses": "output"}.get(dialect, "content")
        if call.status != 200 or not isinstance(body, dict) or answer not in body:
            continue
        text, made, reasons = _READERS[dialect](body)
        found = convert(dialect, call.request, body)
        assert found.response_text == text, call.path
        assert [(c["id"], c["name"], c["arguments"]) for c in found.tool_calls] == made, call.path
        assert found.finish_reasons == reasons, call.path
        assert len(found.output) == len(output_messages(dialect, body)[0])
        assert len(found.input) == len(split_request(dialect, call.request).messages_raw)
        seen += 1
        with_tools += bool(made)
    assert seen >= enough(100, 5)
    assert with_tools >= enough(20, 2)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_parts_follow_the_genai_schema(dialect: str) -> None:
    """Messages and standard parts carry what the schema requires, with the types it requires."""
    required: dict[str, dict[str, type | tuple[type, ...]]] = {
        "text": {"content": str},
        "tool_call": {"name": str},
        "tool_call_response": {"response": object},
        "server_tool_call": {"name": str, "server_tool_call": dict},
        "server_tool_call_response": {"server_tool_call_response": dict},
        "reasoning": {"content": str},
        "blob": {"modality": str, "sha256": str, "size": int},
        "file": {"modality": str, "file_id": str},
        "uri": {"modality": str, "uri": str},
    }
    kinds: set[str] = set()
    for call in calls(dialect):
        found = convert(dialect, call.request, call.response)
        for message in [*found.input, *found.output]:
            assert isinstance(message["role"], str) and message["role"]
            for part in message["parts"]:
                kinds.add(part["type"])
                for key, kind in required.get(part["type"], {}).items():
                    assert isinstance(part[key], kind), (call.path, part)
        for tool in found.tools:
            assert isinstance(tool["type"], str)
        assert json.loads(dumps(found.input)) == found.input
    assert {"text", "tool_call", "tool_call_response"} <= kinds
