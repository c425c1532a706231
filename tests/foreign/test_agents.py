"""Agents of a real framework: one turn, each call and tool once, whoever else records them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider

import turnspan
from foreign.exchange import QUESTION, Rows, provider
from foreign.stub import ANSWER
from turnspan.pipeline.processor import RecordProcessor
from turnspan.providers.openai.instrumentor import OpenAIInstrumentor
from turnspan.tracing.state import default


def get_weather(city: str) -> str:
    """The weather."""
    return "sunny"


def agent(url: str, made: Any, name: str = "weather", tool: Any = get_weather) -> Any:
    """A pydantic-ai agent with a tool, recorded by pydantic-ai itself."""
    models: Any = import_module("pydantic_ai.models.openai")
    server: Any = import_module("pydantic_ai.providers.openai").OpenAIProvider
    settings: Any = import_module("pydantic_ai.models.instrumented").InstrumentationSettings
    model = models.OpenAIChatModel("gpt-4o", provider=server(base_url=f"{url}/v1", api_key="k"))
    found: Any = import_module("pydantic_ai").Agent(model, name=name, system_prompt="Be brief.")
    found.instrument = settings(tracer_provider=made)
    found.tool_plain(tool)
    return found


@pytest.mark.parametrize("both", [False, True], ids=["alone", "with ours over the SDK"])
def test_a_foreign_agent_is_one_turn(url: str, both: bool) -> None:
    """Two calls, one tool, one turn with its counters; two instrumentations change nothing."""
    rows = Rows()
    made = provider(rows)
    if both:
        OpenAIInstrumentor().instrument(tracer_provider=made, skip_dep_check=True)
    try:
        with made.get_tracer("web").start_as_current_span("POST /ask"):
            assert agent(url, made).run_sync(QUESTION).output == ANSWER
    finally:
        if both:
            OpenAIInstrumentor().uninstrument()

    (turn,) = rows.turns
    assert (turn.agent_name, turn.status, turn.stop_reason) == ("weather", "final", "completed")
    assert (turn.rounds, turn.llm_call_count, turn.tool_call_count) == (2, 2, 1)
    assert (turn.input_tokens, turn.output_tokens, turn.cache_read_tokens) == (200, 40, 128)
    assert (turn.user_message, turn.response_text) == (QUESTION, ANSWER)
    assert [call.turn_id for call in rows.calls] == [turn.turn_id] * 2
    assert [call.round for call in rows.calls] == [1, 2]
    assert turn.cost_usd == sum(call.cost_usd or 0 for call in rows.calls)
    (tool,) = rows.tools
    assert (tool.turn_id, tool.name, tool.call_id) == (turn.turn_id, "get_weather", "call_1")
    assert (tool.arguments, tool.result, tool.round) == ('{"city":"Rome"}', "sunny", 1)


def test_a_foreign_agent_in_a_decorated_turn_is_that_turn(url: str) -> None:
    """The decorated turn is the one turn, and knows the calls and tools it was not told of."""
    rows = Rows()
    made = TracerProvider()
    made.add_span_processor(RecordProcessor(rows))
    default.provider = made
    try:
        with turnspan.agent("desk"):
            assert agent(url, made).run_sync(QUESTION).output == ANSWER
        assert made.force_flush()
    finally:
        default.provider = None
        made.shutdown()

    (turn,) = rows.turns
    assert (turn.agent_name, turn.stop_reason) == ("desk", "completed")
    assert (turn.rounds, turn.llm_call_count, turn.tool_call_count) == (2, 2, 1)
    assert (turn.input_tokens, turn.output_tokens) == (200, 40)
    assert {row.turn_id for row in rows.calls} == {row.turn_id for row in rows.tools}
    assert {row.turn_id for row in rows.calls} == {turn.turn_id}
    assert (len(rows.calls), len(rows.tools)) == (2, 1)


def test_a_nested_foreign_agent_has_a_turn_of_its_own(url: str) -> None:
    """An agent used as another's tool: its calls are its own, the outer one is its parent."""
    rows = Rows()
    made = provider(rows)
    inner = agent(url, made, "inner")

    async def get_weather(city: str) -> str:
        """The weather."""
        return str((await inner.run(QUESTION)).output)

    outer = agent(url, made, "outer", get_weather)
    assert outer.run_sync(QUESTION).output == ANSWER

    turns = {turn.agent_name: turn for turn in rows.turns}
    assert len(rows.turns) == 2
    assert turns["inner"].parent_turn_id == turns["outer"].turn_id
    assert turns["inner"].turn_id != turns["outer"].turn_id
    for turn in turns.values():
        assert (turn.llm_call_count, turn.tool_call_count) == (2, 1)
        assert sum(call.turn_id == turn.turn_id for call in rows.calls) == 2
        assert sum(tool.turn_id == turn.turn_id for tool in rows.tools) == 1
    assert turns["inner"].input_tokens == 200
    assert turns["outer"].input_tokens == 400
