"""Servers that speak OpenAI's language with words of their own: errors, counts, streamed fields."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import anthropic
import openai
import pytest

import turnspan
from support.model_replies import chat, chunk
from support.normalised import Landed
from support.other_servers import answering, events, gpt
from support.sdks import HTTP

HELLO: list[Any] = [{"role": "user", "content": "hello"}]
LONG = "x" * 100_000


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
    rows: Landed, ask: Callable[[Any], None], status: int, body: Any, said: str
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
    rows: Landed, ask: Callable[[Any], None], body: Any, code: str, said: str
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


def test_a_choice_that_failed(rows: Landed) -> None:
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


@pytest.mark.parametrize("decorated", [False, True], ids=["plain", "decorated"])
@pytest.mark.parametrize(("usage", "expected"), USAGES)
def test_counts_are_found_where_servers_put_them(
    rows: Landed, usage: dict[str, Any], expected: tuple[Any, ...], decorated: bool
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
    rows: Landed, host: str, usage: dict[str, Any], cost: str, version: str
) -> None:
    """Told in dollars it is the price; elsewhere nobody knows what money it is."""
    body = chat()
    body["model"] = "gpt-4o"
    body["usage"] = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18, **usage}
    gpt(HTTP.Response(200, json=body), host).chat.completions.create(model="gpt-4o", messages=HELLO)

    (call,) = rows.calls
    assert call.price_version.startswith(version)
    assert call.cost_usd == Decimal(cost)
