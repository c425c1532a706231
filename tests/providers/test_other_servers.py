"""Servers that speak OpenAI's language with words of their own: errors, counts, streamed fields."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import anthropic
import openai
import pytest

import turnspan
from support.model_replies import chat, chunk
from support.normalised import Rows, provider
from support.sdks import HTTP
from turnspan.content.convert import RequestParts, join_request
from turnspan.content.ledger import ledger
from turnspan.content.rebuild import rebuild_record
from turnspan_clickhouse.records import Message

HELLO: list[Any] = [{"role": "user", "content": "hello"}]
LONG = "x" * 100_000


@pytest.fixture
def rows() -> Iterator[Rows]:
    """Where everything lands that is recorded."""
    rows = Rows()
    made = provider(rows)
    ledger.attach()
    turnspan.instrument(tracer_provider=made)
    yield rows
    turnspan.uninstrument()
    ledger.detach()
    made.shutdown()


def answering(response: Any) -> Any:
    """A client for whom every server answers this."""

    def answer(request: Any) -> Any:
        return response

    return HTTP.Client(transport=HTTP.MockTransport(answer))


def gpt(response: Any, host: str = "api.example.com") -> openai.OpenAI:
    """OpenAI's client, for a server of the internet."""
    return openai.OpenAI(
        base_url=f"https://{host}/v1", api_key="k", max_retries=0, http_client=answering(response)
    )


def claude(response: Any) -> anthropic.Anthropic:
    """Anthropic's."""
    return anthropic.Anthropic(
        base_url="https://api.example.com",
        api_key="k",
        max_retries=0,
        http_client=answering(response),
    )


def ask_chat(response: Any) -> None:
    """A chat completion."""
    gpt(response).chat.completions.create(model="m", messages=HELLO)


def ask_responses(response: Any) -> None:
    """A response."""
    gpt(response).responses.create(model="m", input=HELLO)


def ask_messages(response: Any) -> None:
    """A message of Anthropic's."""
    claude(response).messages.create(model="m", max_tokens=3, messages=HELLO)


APIS = [
    ask_chat,
    pytest.param(ask_responses, marks=pytest.mark.needs("openai.resources.responses")),
    ask_messages,
]
BODIES: list[tuple[int, Any, str]] = [
    (404, {"error": "no such model"}, "no such model"),
    (400, [{"error": {"code": 400, "message": "key not valid"}}], "key not valid"),
    (422, {"detail": [{"loc": ["body"], "msg": "field required"}]}, "field required"),
    (500, {"detail": "it broke"}, "it broke"),
    (529, {"type": "error", "error": {"type": "overloaded_error", "message": "Busy"}}, "Busy"),
    (401, {"message": "Unauthorized", "statusCode": 401}, "Unauthorized"),
    (400, {"error": {"message": 'a "quoted"\nline'}}, "quoted"),
    (429, {"error": {"code": 429, "message": "slow down", "metadata": {"raw": LONG}}}, "slow down"),
    (502, f"<html>Bad gateway {LONG}</html>", "Bad gateway"),
    (400, {"odd": {"thing": 1}}, "thing"),
    (503, "", ""),
]


@pytest.mark.parametrize("ask", APIS)
@pytest.mark.parametrize(
    ("status", "body", "said"), BODIES, ids=[str(b)[:30] for _, b, _ in BODIES]
)
def test_an_errors_text_is_recorded_whatever_its_form(
    rows: Rows, ask: Callable[[Any], None], status: int, body: Any, said: str
) -> None:
    """What the server said is in the message, cut; the type is a word of few values."""
    text = body if isinstance(body, str) else json.dumps(body)
    kind = "text/html" if isinstance(body, str) else "application/json"
    with pytest.raises((openai.APIStatusError, anthropic.APIStatusError)) as raised:
        ask(HTTP.Response(status, text=text, headers={"content-type": kind}))

    (call,) = rows.calls
    assert call.error_type in (type(raised.value).__name__, "overloaded_error")
    assert said in call.error_message
    assert 0 < len(call.error_message) <= 2_000
    (turn,) = rows.turns
    assert turn.stop_reason == "error"


SUCCESSES: list[tuple[Any, str, str]] = [
    ({"error": "no such model"}, "failed", "no such model"),
    ({"error": {"code": 502, "message": "upstream died"}}, "502", "upstream died"),
    ({"error": {"type": "upstream_error", "message": "died"}}, "upstream_error", "died"),
    ({"error": ["first", "second"]}, "failed", "first; second"),
    ({"detail": "not today"}, "failed", "not today"),
    ("<html>Log in</html>", "failed", "Log in"),
]


@pytest.mark.parametrize("ask", APIS)
@pytest.mark.parametrize(("body", "code", "said"), SUCCESSES, ids=[str(b) for b, _, _ in SUCCESSES])
def test_a_failure_with_a_status_of_success_is_one(
    rows: Rows, ask: Callable[[Any], None], body: Any, code: str, said: str
) -> None:
    """Gateways answer 200 with an error in it."""
    if isinstance(body, str):
        ask(HTTP.Response(200, text=body, headers={"content-type": "text/html"}))
    else:
        ask(HTTP.Response(200, json=body))

    (call,) = rows.calls
    assert call.error_type == code
    assert said in call.error_message
    assert [turn.stop_reason for turn in rows.turns] == ["error"]


def test_a_choice_that_failed(rows: Rows) -> None:
    """OpenRouter says in the choice that the provider behind it failed."""
    body = chat("", "error")
    body["choices"][0]["error"] = {"code": 502, "message": "provider died"}
    ask_chat(HTTP.Response(200, json=body))

    (call,) = rows.calls
    assert (call.error_type, call.error_message) == ("502", "provider died")


# -- counts ------------------

USAGES: list[tuple[dict[str, Any], tuple[Any, ...]]] = [
    (
        {"prompt_tokens": 90, "completion_tokens": 5, "prompt_cache_hit_tokens": 64},
        (90, 5, 64, None, None),
    ),
    (
        {
            "prompt_tokens": 90,
            "completion_tokens": 5,
            "prompt_tokens_details": {"cached_tokens": 32},
            "prompt_cache_hit_tokens": 64,
        },
        (90, 5, 32, None, None),
    ),
    ({"prompt_tokens": 9, "completion_tokens": 5, "cached_tokens": 4}, (9, 5, 4, None, None)),
    ({"prompt_tokens": 9, "completion_tokens": 5, "num_cached_tokens": 4}, (9, 5, 4, None, None)),
    (
        {
            "prompt_tokens": 9,
            "completion_tokens": 5,
            "cache_read_input_tokens": 4,
            "cache_creation_input_tokens": 2,
        },
        (9, 5, 4, 2, None),
    ),
    ({"prompt_tokens": 9, "completion_tokens": 5, "reasoning_tokens": 3}, (9, 5, None, None, 3)),
    (
        {
            "prompt_tokens": 9,
            "completion_tokens": 5,
            "total_tokens": 114,
            "completion_tokens_details": {"reasoning_tokens": 100},
        },
        (9, 105, None, None, 100),
    ),
    (
        {
            "prompt_tokens": 9,
            "completion_tokens": 105,
            "total_tokens": 114,
            "completion_tokens_details": {"reasoning_tokens": 100},
        },
        (9, 105, None, None, 100),
    ),
    ({"input_tokens": 9, "output_tokens": 5}, (9, 5, None, None, None)),
]


def counts(call: Any) -> tuple[Any, ...]:
    """A row's token counts."""
    return (
        call.input_tokens,
        call.output_tokens,
        call.cache_read_tokens,
        call.cache_write_tokens,
        call.reasoning_tokens,
    )


def events(*chunks: dict[str, Any]) -> Any:
    """A stream of chunks."""
    lines = [f"data: {json.dumps(each)}\n\n" for each in chunks]
    body = "".join([*lines, "data: [DONE]\n\n"]).encode()
    return HTTP.Response(200, content=body, headers={"content-type": "text/event-stream"})


@pytest.mark.parametrize("decorated", [False, True], ids=["plain", "decorated"])
@pytest.mark.parametrize(("usage", "expected"), USAGES)
def test_counts_are_found_where_servers_put_them(
    rows: Rows, usage: dict[str, Any], expected: tuple[Any, ...], decorated: bool
) -> None:
    """Whole or streamed: in the usage, in Groq's own field, in Moonshot's choice."""
    last = chunk({}, "stop")
    in_choice = chunk({}, "stop")
    in_choice["choices"][0]["usage"] = usage
    answers = [
        HTTP.Response(200, json={**chat(), "usage": usage}),
        events(chunk({"content": "Hi"}), {**last, "usage": usage}),
        events(chunk({"content": "Hi"}), {**last, "x_groq": {"id": "r", "usage": usage}}),
        events(chunk({"content": "Hi"}), in_choice),
    ]

    def asked() -> None:
        for number, answer in enumerate(answers):
            client = gpt(answer)
            if number:
                list(client.chat.completions.create(model="m", messages=HELLO, stream=True))
            else:
                client.chat.completions.create(model="m", messages=HELLO)

    (turnspan.agent("a")(asked) if decorated else asked)()

    assert [counts(call) for call in rows.calls] == [expected] * len(answers)


@pytest.mark.parametrize(
    ("host", "usage", "cost", "version"),
    [
        ("openrouter.ai", {"cost": 0.00125}, "0.00125", "provider"),
        (
            "openrouter.ai",
            {
                "cost": 0.001,
                "is_byok": True,
                "cost_details": {"upstream_inference_cost": 0.02},
            },
            "0.021",
            "provider",
        ),
        ("api.perplexity.ai", {"cost": {"total_cost": 0.006, "input": 0.001}}, "0.006", "provider"),
        ("api.example.com", {"cost": 12}, "0.0000975", "genai-prices"),
    ],
)
def test_what_a_server_says_that_it_cost(
    rows: Rows, host: str, usage: dict[str, Any], cost: str, version: str
) -> None:
    """Told in dollars it is the price; elsewhere nobody knows what money it is."""
    body = chat()
    body["model"] = "gpt-4o"
    body["usage"] = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18, **usage}
    gpt(HTTP.Response(200, json=body), host).chat.completions.create(model="gpt-4o", messages=HELLO)

    (call,) = rows.calls
    assert call.price_version.startswith(version)
    assert call.cost_usd == Decimal(cost)


# -- streamed fields ------------------

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
    rows: Rows, deltas: list[dict[str, Any]], message: dict[str, Any]
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
def test_a_custom_tools_call_is_one(rows: Rows, order: tuple[str, ...]) -> None:
    """Its fields come in any order."""
    fields = {"name": "math", "input": "4 + 4"}
    call = {"id": "k1", "type": "custom", "custom": {key: fields[key] for key in order}}
    ask_chat(HTTP.Response(200, json=chat(None, "tool_calls", tool_calls=[call])))

    (row,) = rows.calls
    assert json.loads(row.tool_calls) == [{"id": "k1", "name": "math", "arguments": "4 + 4"}]


# -- embeddings ------------------

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
def test_every_text_to_embed_is_a_message(rows: Rows, given: Any, messages: list[Any]) -> None:
    """A text, token numbers, or a list of either; the request can be put together from the row."""
    item = {"object": "embedding", "index": 0, "embedding": [0.5, 0.5]}
    usage = {"prompt_tokens": 5, "total_tokens": 5}
    body = {"id": "embd-1", "object": "list", "model": "e", "data": [item], "usage": usage}
    gpt(HTTP.Response(200, json=body)).embeddings.create(model="e", input=given)

    (call,) = rows.calls
    assert (call.response_id, call.input_tokens) == ("embd-1", 5)
    known = {message.hash: message for message in rows.of(Message)}
    found = [known[digest] for digest in call.input_messages]
    dialect = "openai.embeddings"
    raw = [rebuild_record(dialect, m.role, m.name, m.parts, m.source) for m in found]
    assert raw == messages
    parameters = json.loads(call.request_parameters)
    if isinstance(given, str) or len(given) > 1:
        assert parameters.keys() == {"model", "encoding_format"}
    parts = RequestParts(None, raw, None, parameters)
    assert join_request(dialect, parts)["input"] == given
