"""Claude Managed Agents: what the events of a session land as, streamed, listed or both."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import anthropic
import pytest

import turnspan
from support.agent_events import MODEL, Story, serve, text, two_turns, use
from support.recorded_server import RecordedServer
from turnspan.testing import Recorded, record
from turnspan_clickhouse.rows.tables import LlmCall, MessageRow, ToolCall, TurnSummary

OPEN: list[anthropic.Anthropic] = []


@pytest.fixture
def server() -> Iterator[RecordedServer]:
    """A server of sessions."""
    with RecordedServer() as server:
        yield server
    while OPEN:
        OPEN.pop().close()


@pytest.fixture
def recorded() -> Iterator[Recorded]:
    """Everything instrumented, recording in memory."""
    with record() as recorded:
        yield recorded


def claude(server: RecordedServer) -> anthropic.Anthropic:
    """A client."""
    OPEN.append(anthropic.Anthropic(base_url=server.url, api_key="k", max_retries=0))
    return OPEN[-1]


def made(server: RecordedServer, session: str, story: Story, **options: Any) -> Any:
    """A client that has made the session."""
    serve(server, session, story, **options)
    client = claude(server)
    client.beta.sessions.create(agent="agent_1", environment_id="env_1")
    return client


def calls(recorded: Recorded) -> list[LlmCall]:
    """The calls of agents' models."""
    return [row for row in recorded.rows(LlmCall) if row.operation != "agent_session"]


def check(recorded: Recorded, session: str) -> None:
    """That the two turns have landed, once."""
    rows = calls(recorded)
    assert [row.response_text for row in rows] == ["I look.", "There is a.txt.", "My pleasure."]
    for row in rows:
        assert (row.operation, row.provider, row.request_model) == ("chat", "anthropic", MODEL)
        assert (row.input_tokens, row.output_tokens, row.cache_read_tokens) == (110, 5, 100)
        assert (row.session_id, row.agent_name) == (session, "helper")
        assert row.cost_usd is not None
    assert [list(row.finish_reasons) for row in rows] == [["tool_use"], ["end_turn"], ["end_turn"]]
    assert rows[0].duration == 4
    assert rows[1].start_time - rows[0].start_time == 7 * 10**9
    assert [len(row.input_messages) for row in rows] == [1, 3, 5]
    turns = recorded.rows(TurnSummary)
    assert [turn.user_message for turn in turns] == ["what is there?", "thanks"]
    assert [turn.session_id for turn in turns] == [session, session]
    tools = recorded.rows(ToolCall)
    assert [(tool.name, tool.failed) for tool in tools] == [("bash", False), ("find", True)]


def test_streamed(server: RecordedServer, recorded: Recorded) -> None:
    """The session is one of ours; what the agent does about a message is a turn of it."""
    story = two_turns()
    client = made(server, "sesn_s", story)
    with client.beta.sessions.events.stream("sesn_s") as stream:
        said: Any = [{"type": "user.message", "content": [{"type": "text", "text": "x"}]}]
        client.beta.sessions.events.send("sesn_s", events=said)
        assert [event.id for event in stream] == [event["id"] for event in story.events]
    check(recorded, "sesn_s")


@pytest.mark.parametrize("newest_first", [False, True])
def test_listed(server: RecordedServer, recorded: Recorded, newest_first: bool) -> None:
    """In either order, and after they were streamed: no event is taken twice."""
    session = f"sesn_l{newest_first}"
    client = made(server, session, two_turns(), newest_first=newest_first)
    assert len(list(client.beta.sessions.events.list(session))) == len(two_turns().events)
    list(client.beta.sessions.events.list(session))
    list(client.beta.sessions.events.stream(session))
    check(recorded, session)


def test_async_and_left(server: RecordedServer, recorded: Recorded) -> None:
    """Readers at once, and one that leaves in the middle."""
    serve(server, "sesn_a", two_turns())

    async def several() -> None:
        async with anthropic.AsyncAnthropic(base_url=server.url, api_key="k") as client:
            await client.beta.sessions.retrieve("sesn_a")

            async def read(count: int) -> None:
                async with await client.beta.sessions.events.stream("sesn_a") as stream:
                    async for _ in stream:
                        count -= 1
                        if not count:
                            break

            await asyncio.gather(read(99), read(4), read(99))
            [each async for each in client.beta.sessions.events.list("sesn_a")]

    asyncio.run(several())
    check(recorded, "sesn_a")


def test_errors_and_custom_tools(server: RecordedServer, recorded: Recorded) -> None:
    """A request that failed, and a tool that the application executes itself."""
    story = Story()
    story.say("hi")
    error: Any = {"type": "model_overloaded_error", "message": "try later", "retry_status": {}}
    story.request(error=True)
    story.events.insert(
        -1, {"id": "e", "type": "session.error", "error": error, "processed_at": ""}
    )
    (custom,) = story.request(use("agent.custom_tool_use", name="ask"))
    story.tell(
        "session.status_idle", stop_reason={"type": "requires_action", "event_ids": [custom]}
    )
    content = [{"type": "text", "text": "42"}]
    story.tell("user.custom_tool_result", custom_tool_use_id=custom, content=content)
    story.tell(*use(session_thread_id="sthr_1")[:1], **use(session_thread_id="sthr_1")[1])
    story.request(text("It is 42."))
    list(made(server, "sesn_e", story).beta.sessions.events.stream("sesn_e"))

    failed, asks, says = calls(recorded)
    assert failed.error_type == "model_overloaded_error"
    assert "try later" in failed.error_message
    assert failed.input_tokens == 110
    assert json.loads(asks.tool_calls)[0]["name"] == "ask"
    assert says.response_text == "It is 42."
    assert [tool.name for tool in recorded.rows(ToolCall)] == ["ask"]
    assert len(recorded.rows(TurnSummary)) == 1


def test_content_off_and_a_turn_around(server: RecordedServer) -> None:
    """No text is kept; the agent's calls are no rounds of the turn that reads its events."""
    with record(capture_content=False) as recorded:
        client = made(server, "sesn_c", two_turns())

        @turnspan.agent
        def reads() -> None:
            list(client.beta.sessions.events.stream("sesn_c"))

        reads()
        assert [row.input_tokens for row in calls(recorded)] == [110] * 3
        assert recorded.rows(MessageRow) == []
        (turn,) = (turn for turn in recorded.rows(TurnSummary) if turn.agent_name == "reads")
        assert turn.rounds == 0


def test_events_of_no_known_form(server: RecordedServer, recorded: Recorded) -> None:
    """What is not understood passes by."""
    story = Story()
    story.tell("agent.message", content="text")
    story.tell("agent.tool_use")
    story.tell("span.model_request_end")
    story.tell("agent.tool_result")
    story.tell("user.message", content=None)
    story.tell("session.error", error="text")
    story.tell("session.updated", agent="text")
    story.tell("session.brand_new")
    story.events += [{"type": "agent.message"}, {}]
    list(made(server, "sesn_n", story).beta.sessions.events.stream("sesn_n"))
    assert len(calls(recorded)) == 1
