"""Responses made in the background: what fetching them later means for the call that made them."""

from __future__ import annotations

import asyncio
from typing import Any

import openai
import pytest

import turnspan
from support.normalised import Landed
from turnspan import config
from turnspan.testing import ModelServer
from turnspan_clickhouse.rows.tables import LlmCall

pytestmark = pytest.mark.needs("openai.resources.responses")

CALL: dict[str, Any] = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "c1",
    "name": "look",
    "arguments": "{}",
    "status": "completed",
}


def body(status: str, *output: dict[str, Any], id: str = "resp_1", **more: Any) -> dict[str, Any]:
    """A response; one that has ended has its usage."""
    usage = {
        "input_tokens": 100,
        "input_tokens_details": {"cached_tokens": 40},
        "output_tokens": 10,
        "output_tokens_details": {"reasoning_tokens": 4},
        "total_tokens": 110,
    }
    pending = status in ("queued", "in_progress", "cancelled")
    return {
        "id": id,
        "object": "response",
        "created_at": 1,
        "status": status,
        "model": "gpt-5",
        "output": list(output),
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": None if pending else usage,
        **more,
    }


def spoken(text: str) -> dict[str, Any]:
    """A message of a response."""
    block: dict[str, Any] = {"type": "output_text", "text": text, "annotations": []}
    return {
        "type": "message",
        "id": "msg_1",
        "status": "completed",
        "role": "assistant",
        "content": [block],
    }


DONE = body("completed", spoken("done"))


def the_call(rows: Landed) -> LlmCall:
    """The row of the only call that made a response."""
    (call,) = [call for call in rows.calls if call.operation == "chat"]
    return call


def tokens(row: Any) -> tuple[Any, ...]:
    """Its counts."""
    return (row.input_tokens, row.output_tokens, row.cache_read_tokens, row.reasoning_tokens)


def create(gpt: openai.OpenAI, **more: Any) -> Any:
    """Make one in the background."""
    responses: Any = gpt.responses
    return responses.create(model="gpt-5", input="work", background=True, **more)


@pytest.mark.parametrize("captured", [True, False], ids=["with content", "without"])
@pytest.mark.parametrize("decorated", [False, True], ids=["plain", "decorated"])
def test_the_first_fetch_that_finds_it_ended_completes_the_call(
    server: ModelServer,
    gpt: openai.OpenAI,
    settings: None,
    rows: Landed,
    decorated: bool,
    captured: bool,
) -> None:
    """Answer, tokens, cost and how it finished are the call's, once, however often it is asked."""
    config.activate(config.resolve({"capture_content": captured}))
    for answer in (body("queued"), body("in_progress"), DONE, DONE):
        server.answer(answer)

    def work() -> None:
        create(gpt)
        for _ in range(3):
            gpt.responses.retrieve("resp_1")

    (turnspan.agent("a")(work) if decorated else work)()

    call = the_call(rows)
    assert tokens(call) == (100, 10, 40, 4)
    assert call.finish_reasons == ["completed"]
    assert call.response_text == ("done" if captured else "")
    assert bool(call.output_messages) is captured
    assert call.cost_usd is not None
    fetched = [row for row in rows.calls if row.operation == "fetch_response"]
    assert {tokens(row) for row in fetched} <= {(None, None, None, None)}
    assert {row.cost_usd for row in fetched} <= {None}
    (turn,) = rows.turns
    assert tokens(turn) == (100, 10, 40, 4)
    assert turn.cost_usd == call.cost_usd
    assert (turn.stop_reason, turn.rounds, turn.llm_call_count) == ("completed", 1, 1)
    assert turn.response_text == ("done" if captured else "")


ENDS: list[tuple[dict[str, Any], list[str], str, str]] = [
    (
        body("failed", error={"code": "server_error", "message": "it broke"}),
        ["failed"],
        "server_error",
        "error",
    ),
    (
        body("incomplete", spoken("do"), incomplete_details={"reason": "max_output_tokens"}),
        ["max_output_tokens"],
        "",
        "max_tokens",
    ),
    (
        body("completed", {**spoken(""), "content": [{"type": "refusal", "refusal": "No."}]}),
        ["completed"],
        "",
        "refusal",
    ),
    (body("completed"), ["completed"], "", "empty_no_tools"),
]


@pytest.mark.parametrize("decorated", [False, True], ids=["plain", "decorated"])
@pytest.mark.parametrize(("end", "reasons", "error", "stop"), ENDS)
def test_how_it_ended_is_how_the_call_ended(
    server: ModelServer,
    gpt: openai.OpenAI,
    rows: Landed,
    end: dict[str, Any],
    reasons: list[str],
    error: str,
    stop: str,
    decorated: bool,
) -> None:
    """Failed, cut, refused or blank: as if the call had waited for it."""
    server.answer(body("queued"))
    server.answer(end)

    def work() -> None:
        create(gpt)
        gpt.responses.retrieve("resp_1")

    (turnspan.agent("a")(work) if decorated else work)()

    call = the_call(rows)
    assert (call.finish_reasons, call.error_type) == (reasons, error)
    assert tokens(call) == (100, 10, 40, 4)
    assert [turn.stop_reason for turn in rows.turns] == [stop]


def test_a_cancelled_one(server: ModelServer, gpt: openai.OpenAI, rows: Landed) -> None:
    """``cancel`` brings the end as well; the turn was cancelled from outside."""
    server.answer(body("queued"))
    server.answer(body("cancelled"))
    create(gpt)
    gpt.responses.cancel("resp_1")

    call = the_call(rows)
    assert (call.finish_reasons, tokens(call)) == (["cancelled"], (None, None, None, None))
    assert [row.operation for row in rows.calls] == ["chat", "cancel_response"]
    assert [turn.stop_reason for turn in rows.turns] == ["user_aborted"]


def stream(*responses: tuple[str, dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    """Events that bring the whole response."""
    return [
        (kind, {"type": kind, "sequence_number": number, "response": response})
        for number, (kind, response) in enumerate(responses)
    ]


def test_a_stream_that_broke_off_and_was_resumed(
    server: ModelServer, gpt: openai.OpenAI, rows: Landed
) -> None:
    """The resumed stream is fetched; what it brings is the first call's."""
    events = stream(("response.created", body("in_progress")), ("response.completed", DONE))
    server.stream(events, stop_after=1)
    server.stream(events[1:])
    with pytest.raises(Exception, match=r"incomplete|closed|Connection"):
        list(create(gpt, stream=True))
    list(gpt.responses.retrieve("resp_1", stream=True, starting_after=0))

    call = the_call(rows)
    assert tokens(call) == (100, 10, 40, 4)
    assert (call.finish_reasons, call.error_type) == (["completed"], "")
    assert (call.response_text, call.stream_outcome) == ("done", "complete")
    (turn,) = rows.turns
    assert (turn.stop_reason, turn.response_text) == ("completed", "done")


def test_tools_that_it_asks_for_are_the_turns(
    server: ModelServer, gpt: openai.OpenAI, rows: Landed
) -> None:
    """An undecorated agent goes on with the result: one turn, its tool and both its calls."""
    for answer in (body("queued"), body("completed", CALL), DONE | {"id": "resp_2"}):
        server.answer(answer)
    result = {"type": "function_call_output", "call_id": "c1", "output": "sunny"}
    asked = {"role": "user", "content": "work"}
    with turnspan.session("s"):
        history: list[Any] = [asked]
        gpt.responses.create(model="gpt-5", input=history, background=True)
        gpt.responses.retrieve("resp_1")
        history += [CALL, result]
        gpt.responses.create(model="gpt-5", input=history)

    assert [(tool.name, tool.call_id, tool.result) for tool in rows.tools] == [
        ("look", "c1", "sunny")
    ]
    (turn,) = rows.turns
    assert (turn.rounds, turn.tool_call_count, turn.stop_reason) == (2, 1, "completed")
    assert tokens(turn) == (200, 20, 80, 8)


@pytest.mark.parametrize("way", ["after its turn", "by another turn", "inside its turn"])
def test_tokens_are_those_of_the_turn_that_made_it(
    server: ModelServer, gpt: openai.OpenAI, rows: Landed, way: str
) -> None:
    """Whoever fetches it, and whenever: the sums of turns and calls agree."""
    server.answer(body("queued"))
    server.answer(DONE)

    @turnspan.agent("fetches")
    def fetches() -> str:
        return gpt.responses.retrieve("resp_1").output_text

    @turnspan.agent("makes")
    def makes() -> str:
        create(gpt)
        return fetches() if way == "inside its turn" else "begun"

    makes()
    if way == "after its turn":
        gpt.responses.retrieve("resp_1")
    elif way == "by another turn":
        fetches()

    call = the_call(rows)
    assert tokens(call) == (100, 10, 40, 4)
    turns = {turn.agent_name: turn for turn in rows.turns}
    assert tokens(turns["makes"]) == (100, 10, 40, 4)
    assert turns["makes"].cost_usd == call.cost_usd
    if "fetches" in turns:
        assert tokens(turns["fetches"]) == (None, None, None, None)
        assert turns["fetches"].cost_usd is None
        assert turns["fetches"].response_text == "done"


def test_asynchronous_clients_and_many_at_once(server: ModelServer, rows: Landed) -> None:
    """Each call gets its own end, in whatever order they come."""

    async def work() -> None:
        async with openai.AsyncOpenAI(base_url=f"{server.url}/v1", api_key="k") as client:
            for number in range(3):
                server.answer(body("queued", id=f"resp_{number}"))
                await client.responses.create(model="gpt-5", input=f"{number}", background=True)
            for number in (2, 0, 1):
                server.answer(body("completed", spoken(f"done {number}"), id=f"resp_{number}"))
                await client.responses.retrieve(f"resp_{number}")

    asyncio.run(work())

    made = {row.response_id: row for row in rows.calls if row.operation == "chat"}
    assert {key: row.response_text for key, row in made.items()} == {
        f"resp_{number}": f"done {number}" for number in range(3)
    }


def test_one_that_another_process_made_has_no_tokens_here(
    server: ModelServer, gpt: openai.OpenAI, rows: Landed
) -> None:
    """The limit: the call's row is not known here, and nothing is counted twice."""
    server.answer(DONE)
    gpt.responses.retrieve("resp_1")

    (row,) = rows.calls
    assert (row.operation, row.response_text) == ("fetch_response", "done")
    assert tokens(row) == (None, None, None, None)


def test_a_fetch_that_fails_ends_nothing(
    server: ModelServer, gpt: openai.OpenAI, rows: Landed
) -> None:
    """The response goes on all the same."""
    server.answer(body("queued"))
    server.answer({"error": {"message": "slow down"}}, status=429)
    server.answer(DONE)

    @turnspan.agent("a")
    def work() -> None:
        create(gpt)
        with pytest.raises(openai.RateLimitError):
            gpt.responses.retrieve("resp_1")
        gpt.responses.retrieve("resp_1")

    work()
    assert tokens(the_call(rows)) == (100, 10, 40, 4)
    assert [turn.stop_reason for turn in rows.turns] == ["completed"]
