"""Fields that servers add to OpenAI's schema, streamed or not, and what embeddings are made of."""

from __future__ import annotations

import json
from typing import Any

import pytest

from support.model_replies import chat, chunk
from support.normalised import Landed
from support.other_servers import events, gpt
from support.sdks import HTTP
from support.sealing import rebuild_record
from turnspan.content.model import RequestParts
from turnspan.dialects.convert import join_request
from turnspan_clickhouse.rows.tables import MessageRow

HELLO: list[Any] = [{"role": "user", "content": "hello"}]


def ask_chat(response: Any) -> None:
    """A chat completion."""
    gpt(response).chat.completions.create(model="m", messages=HELLO)


STREAMED: list[tuple[list[dict[str, Any]], dict[str, Any]]] = [
    (
        [
            {"reasoning_details": [{"type": "reasoning.text", "text": "I"}]},
            {"reasoning_details": [{"type": "reasoning.text", "text": " am", "signature": "S"}]},
            {"content": "4", "reasoning_details": []},
        ],
        {
            "content": "4",
            "reasoning_details": [{"type": "reasoning.text", "text": "I am", "signature": "S"}],
        },
    ),
    (
        [
            {"reasoning_details": [{"index": 0, "type": "reasoning.summary", "summary": "a"}]},
            {"reasoning_details": [{"index": 1, "type": "reasoning.encrypted", "data": "QQ"}]},
            {"reasoning_details": [{"index": 0, "type": "reasoning.summary", "summary": "b"}]},
        ],
        {
            "content": None,
            "reasoning_details": [
                {"index": 0, "type": "reasoning.summary", "summary": "ab"},
                {"index": 1, "type": "reasoning.encrypted", "data": "QQ"},
            ],
        },
    ),
    (
        [
            {"executed_tools": [{"index": 0, "type": "python", "arguments": "{}", "output": None}]},
            {"executed_tools": [{"index": 0, "type": "python", "arguments": "{}", "output": "4"}]},
            {"executed_tools": [{"index": 1, "type": "search", "arguments": "{}"}]},
        ],
        {
            "content": None,
            "executed_tools": [
                {"index": 0, "type": "python", "arguments": "{}", "output": "4"},
                {"index": 1, "type": "search", "arguments": "{}"},
            ],
        },
    ),
    (
        [
            {"annotations": [{"type": "url_citation", "url_citation": {"url": "a"}}]},
            {"annotations": [{"type": "url_citation", "url_citation": {"url": "b"}}]},
        ],
        {
            "content": None,
            "annotations": [
                {"type": "url_citation", "url_citation": {"url": "a"}},
                {"type": "url_citation", "url_citation": {"url": "b"}},
            ],
        },
    ),
    (
        [{"citations": ["a"]}, {"citations": ["a", "b"]}, {"citations": ["a", "b"]}],
        {"content": None, "citations": ["a", "b"]},
    ),
    ([{"citations": ["a"]}, {"citations": ["b"]}], {"content": None, "citations": ["a", "b"]}),
    (
        [
            {"audio": {"id": "au", "transcript": "Hel"}},
            {"audio": {"data": "QUJD"}},
            {"audio": {"transcript": "lo", "data": "REVG"}},
            {"audio": {"expires_at": 5}},
        ],
        {
            "content": None,
            "audio": {"id": "au", "transcript": "Hello", "data": "QUJDREVG", "expires_at": 5},
        },
    ),
    (
        [{"grounding": {"sources": [{"uri": "a"}]}}, {"grounding": {"sources": [{"uri": "b"}]}}],
        {"content": None, "grounding": {"sources": [{"uri": "a"}, {"uri": "b"}]}},
    ),
    (
        [{"reasoning_content": "I "}, {"reasoning_content": "am"}, {"score": 1}, {"score": 2}],
        {"content": None, "reasoning_content": "I am", "score": 2},
    ),
    (
        [
            {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}}]},
            {"tool_calls": [{"index": 0, "id": "b", "function": {"name": "f", "arguments": "{"}}]},
            {"tool_calls": [{"index": 0, "function": {"arguments": "}"}}]},
        ],
        {
            "content": None,
            "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}},
                {"id": "b", "type": "function", "function": {"name": "f", "arguments": "{}"}},
            ],
        },
    ),
    (
        [
            {"tool_calls": [{"index": 0, "id": "x1", "function": {"name": "f", "arguments": "{"}}]},
            {"tool_calls": [{"index": 0, "id": "x2", "function": {"arguments": "}"}}]},
        ],
        {
            "content": None,
            "tool_calls": [
                {"id": "x1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
            ],
        },
    ),
    (
        [
            {"tool_calls": [{"index": 0, "id": "a", "type": "custom", "custom": {"name": "f"}}]},
            {"tool_calls": [{"index": 0, "custom": {"input": "4 "}}]},
            {"tool_calls": [{"index": 0, "custom": {"input": "+ 4"}}]},
        ],
        {
            "content": None,
            "tool_calls": [
                {"id": "a", "type": "custom", "custom": {"name": "f", "input": "4 + 4"}}
            ],
        },
    ),
    (
        [
            {
                "tool_calls": [
                    {
                        "index": 0,
                        "id": "a",
                        "function": {"name": "f", "arguments": "{}"},
                        "extra_content": {"google": {"thought_signature": "S"}},
                    }
                ]
            }
        ],
        {
            "content": None,
            "tool_calls": [
                {
                    "id": "a",
                    "type": "function",
                    "function": {"name": "f", "arguments": "{}"},
                    "extra_content": {"google": {"thought_signature": "S"}},
                }
            ],
        },
    ),
]


@pytest.mark.parametrize(("deltas", "message"), STREAMED)
def test_a_stream_is_what_the_whole_answer_would_have_been(
    rows: Landed, deltas: list[dict[str, Any]], message: dict[str, Any]
) -> None:
    """The same message lands, field by field, as from an answer that came whole."""
    chunks = [*map(chunk, [{"role": "assistant"}, *deltas]), chunk({}, "stop")]
    list(gpt(events(*chunks)).chat.completions.create(model="m", messages=HELLO, stream=True))
    whole = {**chat(None), "choices": [{"index": 0, "finish_reason": "stop", "message": message}]}
    whole["choices"][0]["message"] = {"role": "assistant", **message}
    ask_chat(HTTP.Response(200, json=whole))

    streamed, plain = rows.calls
    assert rows.said(streamed.output_messages) == rows.said(plain.output_messages)
    assert streamed.tool_calls == plain.tool_calls


@pytest.mark.parametrize("order", [("name", "input"), ("input", "name")])
def test_a_custom_tools_call_is_one(rows: Landed, order: tuple[str, ...]) -> None:
    """Its fields come in any order."""
    fields = {"name": "math", "input": "4 + 4"}
    call = {"id": "k1", "type": "custom", "custom": {key: fields[key] for key in order}}
    ask_chat(HTTP.Response(200, json=chat(None, "tool_calls", tool_calls=[call])))

    (row,) = rows.calls
    assert json.loads(row.tool_calls) == [{"id": "k1", "name": "math", "arguments": "4 + 4"}]


INPUTS: list[tuple[Any, list[Any]]] = [
    ("text", ["text"]),
    (["a", "b"], ["a", "b"]),
    ([1, 2, 3], [[1, 2, 3]]),
    ([[1, 2], [3]], [[1, 2], [3]]),
    (["one"], ["one"]),
    ([[1, 2]], [[1, 2]]),
    ([], []),
]


@pytest.mark.parametrize(("given", "messages"), INPUTS)
def test_every_text_to_embed_is_a_message(rows: Landed, given: Any, messages: list[Any]) -> None:
    """A text, token numbers, or a list of either; the request can be put together from the row."""
    item = {"object": "embedding", "index": 0, "embedding": [0.5, 0.5]}
    usage = {"prompt_tokens": 5, "total_tokens": 5}
    body = {"id": "embd-1", "object": "list", "model": "e", "data": [item], "usage": usage}
    gpt(HTTP.Response(200, json=body)).embeddings.create(model="e", input=given)

    (call,) = rows.calls
    assert (call.response_id, call.input_tokens) == ("embd-1", 5)
    known = {message.hash: message for message in rows.of(MessageRow)}
    found = [known[digest] for digest in call.input_messages]
    dialect = "openai.embeddings"
    raw = [rebuild_record(dialect, m.role, m.name, m.parts, m.source) for m in found]
    assert raw == messages
    parameters = json.loads(call.request_parameters)
    if isinstance(given, str) or len(given) > 1:
        assert parameters.keys() == {"model", "encoding_format"}
    parts = RequestParts(None, raw, None, parameters)
    assert join_request(dialect, parts)["input"] == given
