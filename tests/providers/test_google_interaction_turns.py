"""Google's interactions in sessions and turns, in the background, beside other packages."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

import turnspan
from providers.conftest import Spans
from support import interaction_bodies as bodies
from support.interaction_bodies import (
    IMAGE,
    MODEL,
    events,
    function_call,
    function_result,
    interaction,
    model_output,
    search_steps,
    thought_step,
)
from support.normalised import Landed, Rows, provider
from turnspan import config
from turnspan.testing import ModelServer
from turnspan.tracing.state import default
from turnspan_clickhouse.rows.tables import Definition, MessageRow

pytestmark = pytest.mark.needs("google.genai._gaos.interactions")


class TestConversations:
    """Calls that go on with an interaction, in and out of turns."""

    def tool_loop(self, google: Any, server: ModelServer) -> None:
        """Ask, look, and go on."""
        server.answer(interaction(function_call(at="Rome"), id="v1_a"))
        server.answer(interaction(model_output("Sunny."), id="v1_b"))
        create = google.interactions.create
        first = create(model=MODEL, input="how is Rome?", tools=[bodies.FUNCTION])
        create(model=MODEL, previous_interaction_id=first.id, input=[function_result("sun")])

    @pytest.mark.parametrize("captured", [True, False], ids=["with content", "without"])
    def test_undecorated(
        self, captured: bool, settings: None, rows: Landed, server: ModelServer, google: Any
    ) -> None:
        """The interaction that a call names joins it to a session; what brings tools' results goes
        on with the turn, what a user says begins the next."""
        config.activate(config.resolve({"capture_content": captured}))
        self.tool_loop(google, server)
        server.answer(interaction(model_output("Rainy."), id="v1_c"))
        google.interactions.create(model=MODEL, previous_interaction_id="v1_b", input="and Oslo?")
        server.answer(interaction(model_output("Hello."), id="v1_d"))
        google.interactions.create(model=MODEL, input="another")

        one, two, three, four = rows.calls
        assert one.session_id == two.session_id == three.session_id != four.session_id
        first, second, other = rows.turns
        assert (first.rounds, first.tool_call_count, first.stop_reason) == (2, 1, "completed")
        assert (second.rounds, other.rounds) == (1, 1)
        assert [bool(call.input_messages) for call in rows.calls] == [captured] * 4
        if captured:
            assert [turn.user_message for turn in rows.turns] == [
                "how is Rome?",
                "and Oslo?",
                "another",
            ]
            assert [turn.response_text for turn in rows.turns] == ["Sunny.", "Rainy.", "Hello."]
            (tool,) = rows.tools
            assert (tool.name, tool.result) == ("look", "sun")

    @pytest.mark.parametrize("fails", [False, True])
    def test_decorated(self, fails: bool, rows: Landed, server: ModelServer, google: Any) -> None:
        """A turn counts rounds, tools that were asked for and tokens."""

        @turnspan.tool
        def look(at: str) -> str:
            if fails:
                raise KeyError(at)
            return "sun"

        @turnspan.agent
        def agent() -> str:
            server.answer(interaction(function_call(at="Rome"), id="v1_a"))
            server.answer(interaction(model_output("Sunny."), id="v1_b"))
            create = google.interactions.create
            first = create(model=MODEL, input="how is Rome?", tools=[bodies.FUNCTION])
            try:
                step = function_result(look(**first.steps[0].arguments))
            except KeyError:
                step = function_result("no", is_error=True)
            last = create(model=MODEL, previous_interaction_id=first.id, input=[step])
            return str(last.output_text)

        agent()

        (turn,) = rows.turns
        assert (turn.rounds, turn.llm_call_count, turn.tool_call_count) == (2, 2, 1)
        assert (turn.input_tokens, turn.output_tokens) == (260, 60)
        assert turn.stop_reason == ("tool_failure" if fails else "completed")
        assert (turn.user_message, turn.response_text) == ("how is Rome?", "Sunny.")
        assert [call.round for call in rows.calls] == [1, 2]
        (tool,) = rows.tools
        assert tool.call_id == "c1"

    def test_round_cap(self, rows: Landed, server: ModelServer, google: Any) -> None:
        """A turn whose last reply asks for tools at its last round."""
        server.answer(interaction(function_call()))

        @turnspan.agent(max_rounds=1)
        def agent() -> None:
            google.interactions.create(model=MODEL, input="x", tools=[bodies.FUNCTION])

        agent()
        assert [turn.stop_reason for turn in rows.turns] == ["round_cap"]

    def test_masked(self, rows: Landed, server: ModelServer, google: Any) -> None:
        """Secrets in inputs, results, arguments and answers are masked before they land."""
        key = "AIzaSyA-0123456789abcdefghijklmnopqrstu"
        server.answer(
            interaction(
                *search_steps(key), thought_step(key), model_output(key), function_call(at=key)
            )
        )
        google.interactions.create(
            model=MODEL,
            input=[{"type": "text", "text": key}, IMAGE],
            system_instruction=key,
            labels={"a": "b"},
        )

        landed = [rows.calls, rows.turns, rows.tools, rows.of(MessageRow), rows.of(Definition)]
        assert key not in repr(landed)


Fetch = Callable[[Any], Any]


def _get(google: Any) -> Any:
    return google.interactions.get(id="v1_a")


def _get_stream(google: Any) -> Any:
    return list(google.interactions.get("v1_a", stream=True))


def _cancel(google: Any) -> Any:
    return google.interactions.cancel(id="v1_a")


class TestBackground:
    """Interactions made in the background, of models and of agents."""

    @pytest.mark.parametrize("fetch", [_get, _get_stream, _cancel])
    @pytest.mark.parametrize("captured", [True, False], ids=["with content", "without"])
    @pytest.mark.parametrize("decorated", [False, True], ids=["plain", "decorated"])
    def test_the_fetch_that_finds_it_ended_completes_the_call(
        self,
        fetch: Fetch,
        captured: bool,
        decorated: bool,
        settings: None,
        rows: Landed,
        server: ModelServer,
        google: Any,
    ) -> None:
        """Answer, tokens, cost and how it finished are the call's, once."""
        config.activate(config.resolve({"capture_content": captured}))
        done = interaction({"type": "user_input", "content": []}, model_output("done"))

        def work() -> None:
            server.answer(interaction(status="in_progress"))
            server.answer(interaction(status="in_progress"))
            google.interactions.create(model=MODEL, input="work", background=True)
            google.interactions.get(id="v1_a")
            for _ in range(2):
                server.stream(events(done)) if fetch is _get_stream else server.answer(done)
                fetch(google)

        (turnspan.agent(work) if decorated else work)()

        (call,) = [call for call in rows.calls if call.operation == "generate_content"]
        assert (call.input_tokens, call.output_tokens, call.reasoning_tokens) == (130, 30, 10)
        assert call.finish_reasons == ["stop"]
        assert call.response_text == ("done" if captured else "")
        assert len(call.output_messages) == int(captured)
        assert call.cost_usd is not None
        fetched = [row for row in rows.calls if row.operation != "generate_content"]
        assert {row.operation for row in fetched} <= {"fetch_response", "cancel_response"}
        assert {(row.input_tokens, row.cost_usd) for row in fetched} <= {(None, None)}
        (turn,) = rows.turns
        assert (turn.rounds, turn.llm_call_count, turn.stop_reason) == (1, 1, "completed")
        assert (turn.input_tokens, turn.cost_usd) == (130, call.cost_usd)

    def test_an_agent(self, rows: Landed, server: ModelServer, google: Any) -> None:
        """Deep research is a call whose agent stands in the place of the model."""
        server.answer(interaction(status="in_progress", model=None, agent="deep-research"))
        server.answer(
            interaction(thought_step("Plan."), *search_steps(), model_output("A report."))
        )

        google.interactions.create(
            agent="deep-research-pro-preview-12-2025",
            agent_config={"type": "deep-research", "thinking_summaries": "auto"},
            input="tides",
            background=True,
        )
        google.interactions.get(id="v1_a")

        call = rows.calls[0]
        assert call.request_model == "deep-research-pro-preview-12-2025"
        assert (call.response_text, call.response_thoughts) == ("A report.", "Plan.")
        assert call.finish_reasons == ["stop"]

    def test_resumed(self, spans: Spans, server: ModelServer, google: Any) -> None:
        """A stream that goes on where another broke off says from where."""
        sent = events(interaction(model_output("It ", "may.")))[4:]
        server.stream(sent)

        list(google.interactions.get("v1_a", stream=True, last_event_id="e7"))

        (span,) = spans.all()
        attributes = dict(span.attributes or {})
        assert span.name == "fetch_response"
        assert attributes["gen_ai.request.stream_cursor"] == "e7"
        assert spans.content(span).response["steps"] == [model_output("may.")]

    def test_asynchronously(
        self, rows: Landed, server: ModelServer, google: Any, loop: asyncio.AbstractEventLoop
    ) -> None:
        """By ``aio``, several at once."""
        ids = ("v1_a", "v1_b", "v1_c")
        server.answer(interaction(id="v1_a", status="in_progress"))
        server.answer(interaction(id="v1_b", status="queued"))
        server.answer(interaction(id="v1_c", status="in_progress"))
        for id_ in reversed(ids):
            server.answer(interaction(model_output(id_), id=id_))

        async def run() -> None:
            interactions = google.aio.interactions
            for _ in ids:
                await interactions.create(model=MODEL, input="work", background=True)
            for id_ in reversed(ids):
                await interactions.get(id=id_)

        loop.run_until_complete(run())
        calls = [call for call in rows.calls if call.operation == "generate_content"]
        assert [call.response_text for call in calls] == list(ids)


@pytest.mark.parametrize("streamed", [False, True])
def test_beside_another_package(streamed: bool, server: ModelServer, google: Any) -> None:
    """A call that a span of another package's is around is one row."""
    whole = interaction(model_output("Yes."))
    rows = Rows()
    spans = provider(rows)
    default.content.attach()
    turnspan.instrument(tracer_provider=spans)
    tracer = spans.get_tracer("openinference.instrumentation.google_genai")
    attributes: dict[str, Any] = {
        "openinference.span.kind": "LLM",
        "llm.model_name": MODEL,
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": "hi",
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": "Yes.",
        "llm.token_count.prompt": 130,
    }

    with tracer.start_as_current_span("InteractionsResource.create", attributes=attributes):
        if streamed:
            server.stream(events(whole))
            list(google.interactions.create(model=MODEL, input="hi", stream=True))
        else:
            server.answer(whole)
            google.interactions.create(model=MODEL, input="hi")

    turnspan.uninstrument()
    default.content.detach()
    (call,) = rows.calls
    assert (call.scope_name, call.response_text) == ("turnspan.google_genai", "Yes.")
    assert [turn.rounds for turn in rows.turns] == [1]


@pytest.mark.parametrize("form", ["is_error", "error"])
def test_a_tool_that_failed(form: str, rows: Landed, server: ModelServer, google: Any) -> None:
    """Without a decorator, a result says it: by its flag, or by the error in it."""
    server.answer(interaction(function_call(), id="v1_a"))
    server.answer(interaction(model_output("Sorry."), id="v1_b"))
    failed: dict[str, Any] = {"is_error": True} if form == "is_error" else {}
    result: Any = "gone" if form == "is_error" else {"error": "gone"}

    google.interactions.create(model=MODEL, input="look", tools=[bodies.FUNCTION])
    step = function_result(result, **failed)
    google.interactions.create(model=MODEL, previous_interaction_id="v1_a", input=[step])

    (turn,) = rows.turns
    assert (turn.tool_call_count, turn.tool_error_count) == (1, 1)
    assert turn.stop_reason == "tool_failure"
