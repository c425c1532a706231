"""Conversion of single messages: every shape of part, images, styles, odd inputs."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from support.sealing import rebuild_record, seal_message
from turnspan.content.json_codec import arguments_part, arguments_text
from turnspan.content.media import digest_media
from turnspan.content.model import as_dict, dumps, last_user_text
from turnspan.dialects.convert import (
    convert,
    convert_message,
    join_request,
    output_messages,
    split_request,
)
from turnspan.runtime.guard import errors

PIXEL = base64.b64encode(b"\x89PNG not really an image" * 10).decode()
DIGEST = hashlib.sha256(base64.b64decode(PIXEL)).hexdigest()
SIZE = len(base64.b64decode(PIXEL))
PLACEHOLDER = f"sha256:{DIGEST};size={SIZE}"


@pytest.fixture(autouse=True)
def _no_swallowed_errors() -> Iterator[None]:  # pyright: ignore[reportUnusedFunction]
    errors.reset()
    yield
    assert errors.counts() == {}


def returned(dialect: str, raw: Any, *, needs_source: bool = False) -> list[dict[str, Any]]:
    """The parts of a message, after checking that it comes back exactly from its record."""
    sealed = seal_message(dialect, raw)
    rebuilt = rebuild_record(dialect, sealed.role, sealed.name, sealed.parts, sealed.source)
    assert orjson.dumps(rebuilt) == orjson.dumps(digest_media(raw))
    assert bool(sealed.source) is needs_source
    parts: list[dict[str, Any]] = json.loads(sealed.parts)
    return parts


def call(arguments: Any, **more: Any) -> dict[str, Any]:
    """A tool call of the chat API."""
    return {
        "id": "call_1",
        "type": "function",
        "function": {"name": "f", "arguments": arguments},
        **more,
    }


CHAT: list[Any] = [
    {"role": "user", "content": "hi"},
    {"content": "hi", "role": "user"},
    {"role": "user", "content": ""},
    {"role": "user", "name": "bob", "content": "hi"},
    {"role": "user", "content": "hi", "name": "bob"},
    {"role": "user", "content": [{"type": "text", "text": "hi"}]},
    {"role": "user", "content": [{"text": "a", "type": "text"}, {"type": "text", "text": "b"}]},
    {"role": "assistant", "content": None, "tool_calls": [call("{}")]},
    {"role": "assistant", "content": "so", "tool_calls": [call("{}"), call('{"a":1}')]},
    {"role": "assistant", "tool_calls": [call("{}")]},
    {"tool_calls": [call("{}", index=0)], "content": "", "role": "assistant"},
    {
        "content": None,
        "refusal": None,
        "role": "assistant",
        "annotations": [],
        "tool_calls": [
            {
                "id": "call_1",
                "function": {"arguments": "{}", "name": "f"},
                "type": "function",
            }
        ],
    },
    {"role": "assistant", "content": None, "refusal": "I can not help with that."},
    {"role": "assistant", "content": "4", "reasoning_content": "2 + 2 is 4"},
    {"role": "assistant", "content": "x", "tool_calls": None, "audio": {"id": "a"}},
    {"role": "assistant", "content": "x", "tool_calls": []},
    {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c", "type": "custom", "custom": {"name": "sh", "input": "ls -l"}}],
    },
    {"role": "tool", "tool_call_id": "c", "content": "42"},
    {"role": "tool", "content": "42", "tool_call_id": "c"},
    {"role": "tool", "tool_call_id": "c", "name": "f", "content": '{"a": 1}'},
    {"role": "tool", "tool_call_id": "c", "content": [{"type": "text", "text": "42"}]},
    {"role": "function", "name": "f", "content": "42"},
    {"role": "developer", "content": "be brief"},
    {
        "role": "user",
        "content": [{"type": "file", "file": {"file_id": "file-1"}}, {"type": "new", "x": [1]}],
    },
    "only a text",
]


@pytest.mark.parametrize("raw", CHAT)
def test_chat_messages_come_back_exactly(raw: Any) -> None:
    """Common and less common shapes of the chat API need no source."""
    returned("openai.chat", raw)


ANTHROPIC: list[Any] = [
    {"role": "user", "content": "hi"},
    {"role": "user", "content": [{"type": "text", "text": "hi"}]},
    {
        "role": "user",
        "content": [
            {"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}},
        ],
    },
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
            {"type": "redacted_thinking", "data": "b3BhcXVl"},
            {"citations": None, "text": "I look it up", "type": "text"},
            {"type": "tool_use", "id": "t", "name": "f", "input": {"a": 1.0, "b": {}}},
            {"id": "t", "input": {}, "name": "f", "type": "tool_use"},
        ],
    },
    {
        "content": [{"type": "tool_result", "tool_use_id": "t", "content": "42"}],
        "role": "user",
    },
    {
        "role": "user",
        "content": [
            {
                "type": "tool_result",
                "tool_use_id": "t",
                "is_error": True,
                "content": [{"type": "text", "text": "no"}],
            }
        ],
    },
    {
        "role": "assistant",
        "content": [
            {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"q": "x"}},
            {
                "type": "web_search_tool_result",
                "tool_use_id": "s",
                "content": [{"type": "web_search_result", "url": "https://x"}],
            },
            {"type": "a_block_of_tomorrow", "value": [1, {"x": None}]},
        ],
    },
    {
        "role": "user",
        "content": [{"type": "image", "source": {"type": "url", "url": "https://x/y.png"}}],
    },
    {
        "role": "user",
        "content": [{"type": "document", "source": {"type": "file", "file_id": "f"}}],
    },
]


@pytest.mark.parametrize("raw", ANTHROPIC)
def test_anthropic_messages_come_back_exactly(raw: Any) -> None:
    """Texts, thinking, tools, server tools, files and unknown blocks need no source."""
    returned("anthropic.messages", raw)


RESPONSES: list[Any] = [
    "hi",
    {"role": "user", "content": "hi"},
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]},
    {
        "id": "msg_1",
        "type": "message",
        "status": "completed",
        "role": "assistant",
        "content": [{"type": "output_text", "annotations": [], "text": "hello"}],
    },
    {"type": "function_call", "call_id": "c", "name": "f", "arguments": '{"a": 1}'},
    {
        "id": "fc_1",
        "type": "function_call",
        "status": "completed",
        "arguments": "{}",
        "call_id": "c",
        "name": "f",
    },
    {"type": "function_call_output", "call_id": "c", "output": "42"},
    {"type": "custom_tool_call", "call_id": "c", "name": "sh", "input": "ls"},
    {"type": "web_search_call", "id": "w", "status": "completed", "action": {"query": "x"}},
]


@pytest.mark.parametrize("raw", RESPONSES)
def test_response_items_come_back_exactly(raw: Any) -> None:
    """Messages, calls, outputs and items of other types need no source."""
    returned("openai.responses", raw)


@pytest.mark.parametrize(
    "written",
    [
        "{}",
        '{"a":1}',
        '{"a": 1, "b": [1, 2]}',
        '{"a": "\\u00e9"}',
        '{"a": "é"}',
        '{"a":"é"}',
        json.dumps({"a": [1, {"b": 2}]}, indent=2),
        json.dumps({"a": [1, {"b": 2}]}, indent=4),
        '{ "a" :1}',
        '{"a":1.10}',
        '{"a":1,"a":2}',
        '{"a":12345678901234567890123}',
        "[1,2]",
        "",
        "{broken",
        '"text"',
        "null",
    ],
)
def test_arguments_come_back_as_the_model_wrote_them(written: str) -> None:
    """JSON objects are parsed, and still every byte of the text is kept."""
    raw = {"role": "assistant", "content": None, "tool_calls": [call(written)]}
    (part,) = returned("openai.chat", raw)
    if written[:1] in ("{", "[") and written != "{broken":
        assert part["arguments"] == orjson.loads(written)
    else:
        assert part["arguments"] == written


def test_parts_are_those_of_the_genai_schema() -> None:
    """The plain shapes carry nothing but the schema's keys."""
    assert convert_message("openai.chat", {"role": "user", "content": "hi"}) == {
        "role": "user",
        "parts": [{"type": "text", "content": "hi"}],
    }
    asking = {"role": "assistant", "content": None, "tool_calls": [call('{"a":1}')]}
    assert convert_message("openai.chat", asking)["parts"] == [
        {"type": "tool_call", "id": "call_1", "name": "f", "arguments": {"a": 1}}
    ]
    answer = {"role": "tool", "tool_call_id": "call_1", "content": "42"}
    assert convert_message("openai.chat", answer) == {
        "role": "tool",
        "parts": [{"type": "tool_call_response", "id": "call_1", "response": "42"}],
    }
    blocks = [
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "text", "text": "so"},
        {"type": "tool_use", "id": "t", "name": "f", "input": {"a": 1}},
    ]
    assert convert_message("anthropic.messages", {"role": "assistant", "content": blocks}) == {
        "role": "assistant",
        "parts": [
            {"type": "reasoning", "content": "hm", "signature": "s"},
            {"type": "text", "content": "so"},
            {"type": "tool_call", "id": "t", "name": "f", "arguments": {"a": 1}},
        ],
    }


IMAGES = [
    pytest.param(
        "openai.chat",
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}},
        {"modality": "image", "mime_type": "image/png"},
        id="chat image",
    ),
    pytest.param(
        "openai.chat",
        {
            "type": "image_url",
            "image_url": {"url": f"data:image/png;base64,{PIXEL}", "detail": "low"},
        },
        {"modality": "image", "mime_type": "image/png", "detail": "low"},
        id="chat image with detail",
    ),
    pytest.param(
        "openai.chat",
        {"type": "input_audio", "input_audio": {"data": PIXEL, "format": "wav"}},
        {"modality": "audio", "mime_type": "audio/wav"},
        id="chat audio",
    ),
    pytest.param(
        "openai.chat",
        {
            "type": "file",
            "file": {"filename": "a.pdf", "file_data": f"data:application/pdf;base64,{PIXEL}"},
        },
        {"modality": "document", "mime_type": "application/pdf", "filename": "a.pdf"},
        id="chat file",
    ),
    pytest.param(
        "openai.responses",
        {"type": "input_image", "image_url": f"data:image/jpeg;base64,{PIXEL}"},
        {"modality": "image", "mime_type": "image/jpeg"},
        id="responses image",
    ),
    pytest.param(
        "anthropic.messages",
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}},
        {"modality": "image", "mime_type": "image/png"},
        id="anthropic image",
    ),
    pytest.param(
        "anthropic.messages",
        {
            "type": "document",
            "source": {"type": "base64", "media_type": "application/pdf", "data": PIXEL},
            "title": "A title",
        },
        {"modality": "document", "mime_type": "application/pdf", "title": "A title"},
        id="anthropic document",
    ),
]


@pytest.mark.parametrize(("dialect", "block", "expected"), IMAGES)
def test_files_become_hash_size_and_type(
    dialect: str, block: dict[str, Any], expected: dict[str, Any]
) -> None:
    """The hash is that of the file's bytes; the base64 text is in no part of the record."""
    kind = "input_text" if dialect == "openai.responses" else "text"
    raw = {"role": "user", "content": [{"type": kind, "text": "look"}, block]}
    part = returned(dialect, raw)[1]
    assert part == {"type": "blob", "sha256": DIGEST, "size": SIZE, **expected}
    sealed = seal_message(dialect, raw)
    assert PIXEL not in sealed.parts + sealed.source
    assert PIXEL in json.dumps(raw), "the application's own message is not changed"


@pytest.mark.parametrize(("dialect", "block", "expected"), IMAGES)
def test_files_are_kept_if_asked_for(
    dialect: str, block: dict[str, Any], expected: dict[str, Any]
) -> None:
    """With keep_bytes the part carries the base64 text, and the message comes back whole."""
    raw = {"role": "user", "content": [block]}
    sealed = seal_message(dialect, raw, keep_bytes=True)
    assert json.loads(sealed.parts)[0]["content"] == PIXEL
    rebuilt = rebuild_record(dialect, sealed.role, sealed.name, sealed.parts, sealed.source)
    assert rebuilt == raw


def test_files_inside_tool_results_are_reduced() -> None:
    """A screenshot that a tool returned is landed by its hash as well."""
    image = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": PIXEL},
    }
    raw = {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "t", "content": [image]}],
    }
    (part,) = returned("anthropic.messages", raw)
    assert part["response"][0]["source"]["data"] == PLACEHOLDER


def test_text_that_only_looks_like_a_file_is_kept() -> None:
    """Plain-text documents and texts that begin with "data:" stay what they are."""
    source = {"type": "text", "media_type": "text/plain", "data": "a plain text"}
    for raw in (
        {"role": "user", "content": [{"type": "document", "source": source}]},
        {"role": "user", "content": "data: the plural of datum"},
        {"role": "user", "content": "data:text/plain,hello"},
    ):
        assert digest_media(raw) is raw
        returned("anthropic.messages", raw)


class Strange:
    """An object that a message should not hold."""


ODD: list[Any] = [
    None,
    7,
    3.5,
    True,
    [],
    ["a", 1],
    {},
    {"role": 5},
    {"role": None, "content": None},
    {"content": "no role"},
    {"role": "user"},
    {"role": "user", "content": 5},
    {"role": "user", "content": {"a": 1}},
    {"role": "user", "content": [None, 5, "text", {}, {"type": 5}, {"type": "text"}]},
    {"role": "user", "content": [{"type": "text", "text": None}]},
    {"role": "user", "content": [{"type": "image_url", "image_url": 5}]},
    {"role": "user", "content": [{"type": "text", "text": "a", "content": "b"}]},
    {"role": "user", "content": [{"type": "new", "layout": "x", "keys": 1}]},
    {"role": "user", "content": [{"type": "image", "source": 5}]},
    {"role": "user", "content": [{"type": "tool_use", "id": "x"}]},
    {"role": "assistant", "content": None, "tool_calls": 5},
    {"role": "assistant", "content": None, "tool_calls": [None, 5, {}, {"function": 5}]},
    {"role": "assistant", "tool_calls": [{"function": {"name": "f"}, "layout": "x"}]},
    {"role": "tool", "content": "no id"},
    {"role": "tool", "tool_call_id": 5, "content": None},
    {"role": "a role, with a comma", "content": "x", "a,b": 1},
    {"type": "function_call"},
    {"type": "function_call", "call_id": None, "name": None, "arguments": None},
    {"type": "reasoning", "summary": 5, "content": [5]},
    {"type": "message", "role": "user", "content": [{"type": "refusal"}]},
    {"role": "user", "parts": [None, {"type": "text"}, {"type": "tool_call"}, "a"]},
    {1: 2, "role": "user", "content": "keys that are no text"},
    {"role": "user", "content": "\ud800 alone"},
    {"role": "user", "content": 2**70},
    {"role": "user", "content": float("nan")},
    {"role": "user", "content": b"\xff\x00"},
    {"role": "user", "content": Strange()},
]


@pytest.mark.parametrize(
    "dialect",
    [
        "openai.chat",
        "openai.responses",
        "anthropic.messages",
        "gemini",
        "gemini.interactions",
        "genai",
    ],
)
@pytest.mark.parametrize("raw", ODD)
def test_odd_inputs_land_and_raise_nothing(dialect: str, raw: Any) -> None:
    """Whatever is handed in, a message comes out, is JSON, and keeps the provider's value."""
    message = convert_message(dialect, raw)
    assert isinstance(message["role"], str)
    for part in message["parts"]:
        assert isinstance(part["type"], str)
    sealed = seal_message(dialect, raw)
    rebuilt = rebuild_record(dialect, sealed.role, sealed.name, sealed.parts, sealed.source)
    assert dumps(rebuilt) == dumps(orjson.loads(dumps(digest_media(raw))))


ODD_CALLS: list[Any] = [
    (None, None),
    ("text", "text"),
    ({}, {}),
    ({"messages": None, "input": None, "tools": None, "system": None}, 5),
    ({"messages": "text", "tools": {"a": 1}, "system": 5}, {"choices": None}),
    ({"messages": {}, "tools": [None, 5, {"function": 5}]}, {"choices": [None, {}, 5]}),
    ({"messages": [], "tools": []}, {"output": 5, "content": 5, "messages": 5}),
    ({"messages": [5], "input": [5]}, {"choices": [{"message": None}], "content": None}),
    ({"contents": [5], "systemInstruction": 5, "tools": [{"a": 1}, 5]}, {"candidates": [5, {}]}),
    ({"contents": "text", "tools": 5}, {"candidates": [{"content": 5}], "promptFeedback": 5}),
]


@pytest.mark.parametrize(
    "dialect",
    [
        "openai.chat",
        "openai.responses",
        "anthropic.messages",
        "gemini",
        "gemini.interactions",
        "genai",
    ],
)
@pytest.mark.parametrize(("request_body", "response"), ODD_CALLS)
def test_odd_requests_and_responses_raise_nothing(
    dialect: str, request_body: Any, response: Any
) -> None:
    """Requests and responses of any shape are taken apart without loss and without an error."""
    found = convert(dialect, request_body, response)
    parts = split_request(dialect, request_body)
    assert len(found.input) == len(parts.messages_raw)
    assert len(found.output) == len(output_messages(dialect, response)[0])
    assert isinstance(found.response_text, str)
    joined = join_request(dialect, parts)
    sent = as_dict(request_body) or {}
    assert {key: joined[key] for key in sent} == sent


def test_a_chat_call_in_full() -> None:
    """System prompt, messages, tools, parameters, reply: each is where it belongs."""
    tool: Any = {
        "type": "function",
        "function": {"name": "f", "description": "d", "parameters": {}},
    }
    request: dict[str, Any] = {
        "model": "gpt-4o",
        "messages": [
            {"role": "system", "content": "be brief"},
            {"role": "user", "content": "one"},
            {"role": "assistant", "content": "1"},
            {"role": "user", "content": [{"type": "text", "text": "two"}]},
            {"role": "tool", "tool_call_id": "c", "content": "x"},
        ],
        "tools": [tool],
        "tool_choice": "auto",
        "temperature": 0.5,
        "response_format": {"type": "json_object"},
    }
    response = {
        "choices": [
            {"index": 0, "finish_reason": "tool_calls", "message": {
                "role": "assistant", "content": "so", "tool_calls": [call('{"a":1}')]}},
            {"index": 1, "finish_reason": "stop", "message": {
                "role": "assistant", "content": "other"}},
        ]
    }  # fmt: skip
    found = convert("openai.chat", request, response)
    assert found.system == [{"type": "text", "content": "be brief"}]
    assert found.tools == [{"type": "function", "name": "f", "description": "d", "parameters": {}}]
    assert found.parameters == {
        "model": "gpt-4o",
        "tool_choice": "auto",
        "temperature": 0.5,
        "response_format": {"type": "json_object"},
    }
    assert last_user_text(found.input) == "two"
    assert found.response_text == "so"
    assert found.tool_calls == [{"id": "call_1", "name": "f", "arguments": {"a": 1}}]
    assert found.finish_reasons == ["tool_calls", "stop"]
    assert [m["role"] for m in found.output] == ["assistant", "assistant"]


def test_an_anthropic_call_in_full() -> None:
    """The system field, tools, thinking and the reply as it is sent back later."""
    request = {
        "model": "claude",
        "max_tokens": 10,
        "system": [{"type": "text", "text": "be brief", "cache_control": {"type": "ephemeral"}}],
        "messages": [
            {"role": "user", "content": "hi"},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t"}]},
        ],
        "tools": [
            {"name": "f", "description": "d", "input_schema": {"type": "object"}},
            {"type": "web_search_20250305", "name": "web_search"},
        ],
    }
    blocks = [
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "text", "text": "Paris "},
        {"type": "text", "text": "it is"},
    ]
    response = {"id": "m", "role": "assistant", "content": blocks, "stop_reason": "end_turn"}
    found = convert("anthropic.messages", request, response)
    assert found.system[0]["content"] == "be brief"
    assert found.system[0]["cache_control"] == {"type": "ephemeral"}
    assert found.raw_system == request["system"]
    assert found.tools == [
        {"type": "function", "name": "f", "description": "d", "parameters": {"type": "object"}},
        {"type": "web_search_20250305", "name": "web_search"},
    ]
    assert last_user_text(found.input) == "hi"
    assert found.response_text == "Paris it is"
    assert found.response_thoughts == "hm"
    replies, _ = output_messages("anthropic.messages", response)
    assert replies == [{"role": "assistant", "content": blocks}]
    assert found.finish_reasons == ["end_turn"]
    assert found.parameters == {"model": "claude", "max_tokens": 10}


def test_the_genai_schema_passes_as_it_is() -> None:
    """Messages in the schema stay what they are; short forms are completed."""
    message = {"role": "user", "parts": [{"type": "text", "content": "hi"}], "name": "bob"}
    request = {"messages": [message, {"role": "user", "content": "short"}], "system": "be brief"}
    reply = {"role": "assistant", "parts": [{"type": "text", "content": "ok"}]}
    found = convert("genai", request, reply)
    assert found.input == [
        message,
        {"role": "user", "parts": [{"type": "text", "content": "short"}]},
    ]
    assert found.system == [{"type": "text", "content": "be brief"}]
    assert found.output == [reply]
    assert found.response_text == "ok"
    returned("genai", message)
    old = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c", "result": 5}]}
    (part,) = returned("genai", old, needs_source=True)
    assert part == {"type": "tool_call_response", "id": "c", "response": 5}


@pytest.mark.parametrize("depth", [253, 254, 255, 900, 1023, 1024, 2000])
def test_arguments_of_any_depth(depth: int) -> None:
    """JSON can be read to another depth than it can be written: text comes back as it was."""
    text = '{"a":' * depth + "1" + "}" * depth
    part = arguments_part("f", text)
    assert arguments_text(part) == text
    assert dumps(part)
