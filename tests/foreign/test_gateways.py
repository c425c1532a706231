"""Libraries in front of an SDK that record calls themselves: LiteLLM, Langfuse."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import wait
from decimal import Decimal
from importlib import import_module
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider

import turnspan
from foreign.exchange import PARAMETERS, QUESTION, Rows, provider
from foreign.stub import ANSWER
from turnspan.providers.openai.instrumentor import OpenAIInstrumentor
from turnspan.tracing.state import default

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # it would fetch one on import

TOOL = {
    "type": "function",
    "function": {"name": "get_weather", "description": "The weather.", "parameters": PARAMETERS},
}
BILL = Decimal("0.00074")
"""Of the two calls: 100 tokens in, 64 of them cached, and 20 out, each."""


def ask(complete: Callable[[list[Any]], Any], run_tool: Callable[[str], str]) -> str:
    """The agent's loop, over any way to complete."""
    messages: list[Any] = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": QUESTION},
    ]
    while True:
        message = complete(messages).choices[0].message
        if not message.tool_calls:
            return str(message.content)
        messages.append(message.model_dump(exclude_none=True))
        messages += [
            {"role": "tool", "tool_call_id": call.id, "content": run_tool("Rome")}
            for call in message.tool_calls
        ]


def by_litellm(url: str) -> Callable[[list[Any]], Any]:
    """Complete through LiteLLM."""
    litellm: Any = import_module("litellm")
    return lambda messages: litellm.completion(
        model="openai/gpt-4o",
        api_key="k",
        api_base=f"{url}/v1",
        messages=messages,
        tools=[TOOL],
        max_tokens=100,
        temperature=0.5,
    )


@pytest.fixture
def landing() -> Iterator[tuple[Rows, TracerProvider]]:
    """Where everything lands, the decorators' spans too."""
    found = Rows()
    made = provider(found)
    default.provider = made
    OpenAIInstrumentor().instrument(tracer_provider=made, skip_dep_check=True)
    yield found, made
    OpenAIInstrumentor().uninstrument()
    default.provider = None
    made.shutdown()


def the_bill(rows: Rows) -> None:
    """One turn, two calls, one tool; what the turn sums is what the provider counts, once."""
    (turn,) = rows.turns
    assert (turn.rounds, turn.llm_call_count, turn.tool_call_count) == (2, 2, 1)
    assert (turn.input_tokens, turn.output_tokens) == (200, 40)
    assert (turn.cache_read_tokens, turn.reasoning_tokens) == (128, 16)
    assert turn.cost_usd == BILL
    assert sum(call.cost_usd or 0 for call in rows.calls) == BILL
    assert [(call.turn_id, call.round) for call in rows.calls] == [
        (turn.turn_id, 1),
        (turn.turn_id, 2),
    ]
    assert [call.finish_reasons for call in rows.calls] == [["tool_calls"], ["stop"]]
    assert len(rows.tools) == 1
    assert (turn.user_message, turn.response_text) == (QUESTION, ANSWER)


def weather(city: str) -> str:
    """The weather."""
    return "sunny"


get_weather = turnspan.tool(name="get_weather")(weather)


def test_litellms_spans_over_ours_count_once(
    landing: tuple[Rows, TracerProvider], url: str
) -> None:
    """OpenInference records the call at LiteLLM, we record it at OpenAI's SDK: it is one call."""
    rows, made = landing
    other: Any = import_module("openinference.instrumentation.litellm").LiteLLMInstrumentor()
    other.instrument(tracer_provider=made)

    @turnspan.agent
    def desk(user_message: str) -> str:
        return ask(by_litellm(url), get_weather)

    try:
        assert desk(QUESTION) == ANSWER
    finally:
        other.uninstrument()

    the_bill(rows)


def _wait_for(pool: Any) -> None:
    """All that the pool has to do is done once each of its threads has come to the same place; it
    goes on for other tests."""
    together = threading.Barrier(pool._max_workers)
    wait([pool.submit(together.wait) for _ in range(pool._max_workers)])


def test_a_callback_that_writes_on_the_span_around_it_is_no_call_of_its_own(
    landing: tuple[Rows, TracerProvider], url: str
) -> None:
    """LiteLLM's own callback puts a call's attributes on whatever span is current: the turn's.

    And beside it a ``raw_gen_ai_request``, from a thread, after the call.
    """
    rows, made = landing
    litellm: Any = import_module("litellm")
    integration: Any = import_module("litellm.integrations.opentelemetry")
    settings = integration.OpenTelemetryConfig(exporter=rows)
    litellm.callbacks = [integration.OpenTelemetry(config=settings, tracer_provider=made)]

    @turnspan.agent
    def desk(user_message: str) -> str:
        return ask(by_litellm(url), get_weather)

    try:
        assert desk(QUESTION) == ANSWER
        _wait_for(import_module("litellm.litellm_core_utils.thread_pool_executor").executor)
    finally:
        litellm.logging_callback_manager._reset_all_callbacks()  # LiteLLM keeps them in six lists

    the_bill(rows)


def test_langfuses_observations_are_turns_calls_and_tools(url: str) -> None:
    """Its client and its decorator, without any instrumentation of ours."""
    langfuse: Any = import_module("langfuse")
    rows = Rows()
    made = provider(rows)
    public = "pk-lf-test"
    langfuse.Langfuse(
        public_key=public, secret_key="none", host="http://127.0.0.1:9", tracer_provider=made
    )
    client: Any = import_module("langfuse.openai").OpenAI(
        api_key="k", base_url=f"{url}/v1", max_retries=0
    )
    observed = langfuse.observe(name="get_weather", as_type="tool")(weather)

    def desk(user_message: str) -> str:
        with langfuse.propagate_attributes(session_id="s-1", user_id="u-1"):
            return ask(
                lambda messages: client.chat.completions.create(
                    model="gpt-4o", messages=messages, tools=[TOOL], temperature=0.5
                ),
                lambda city: str(observed(city=city)),
            )

    assert langfuse.observe(as_type="agent")(desk)(QUESTION) == ANSWER

    (turn,) = rows.turns
    assert (turn.agent_name, turn.session_id, turn.stop_reason) == ("desk", "s-1", "completed")
    assert (turn.rounds, turn.llm_call_count, turn.tool_call_count) == (2, 2, 1)
    assert (turn.input_tokens, turn.output_tokens, turn.cost_usd) == (200, 40, BILL)
    assert (turn.user_message, turn.response_text) == (QUESTION, ANSWER)
    first, last = rows.calls
    assert [len(call.input_messages) for call in (first, last)] == [2, 4]
    assert (first.response_model, last.response_text) == ("gpt-4o-2024-08-06", ANSWER)
    assert '"get_weather"' in first.tool_calls
    assert "get_weather" in str(rows.defined(first.tool_definitions))
    (tool,) = rows.tools
    assert (tool.name, tool.arguments, tool.result) == ("get_weather", '{"city":"Rome"}', "sunny")
    assert tool.turn_id == first.turn_id == last.turn_id == turn.turn_id
    made.shutdown()
