"""OpenAI's Responses API over a WebSocket: the same records as over HTTP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import openai
import pytest

import turnspan
from support.normalised import Landed
from support.socket_server import LOST, SocketServer, Step, socket_server
from turnspan.testing import ModelServer

pytestmark = [
    pytest.mark.needs("openai.types.responses.responses_client_event"),
    pytest.mark.filterwarnings("ignore:connect.. must be used as a context:DeprecationWarning"),
]

Event = dict[str, Any]
CREATE = "response.create"
CALL: Event = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "call_1",
    "name": "look",
    "arguments": "{}",
    "status": "completed",
}
USAGE: Event = {
    "input_tokens": 100,
    "input_tokens_details": {"cached_tokens": 40},
    "output_tokens": 10,
    "output_tokens_details": {"reasoning_tokens": 4},
    "total_tokens": 110,
}


@pytest.fixture
def provider() -> Iterator[SocketServer]:
    """A provider that plays scripts."""
    with socket_server() as server:
        yield server


@pytest.fixture
def gpt(provider: SocketServer) -> Any:
    """OpenAI's client."""
    return client_of(openai.OpenAI, provider)


def client_of(kind: Any, provider: SocketServer) -> Any:
    """A client of the SDK that connects to the local provider."""
    return kind(api_key="k", websocket_base_url=provider.url, base_url="http://127.0.0.1:9/v1")


def message(text: str) -> Event:
    """What the model says."""
    block: Event = {"type": "output_text", "text": text, "annotations": []}
    head = {"type": "message", "id": "msg_1", "status": "completed", "role": "assistant"}
    return {**head, "content": [block]}


def response(identity: str, status: str, *output: Event, **more: Any) -> Event:
    """A response."""
    said: Event = {"object": "response", "model": "gpt-5", "created_at": 1, "tools": []}
    usage = None if status == "in_progress" else USAGE
    return {
        "id": identity,
        "status": status,
        "output": list(output),
        "usage": usage,
        **said,
        **more,
    }


def answer(identity: str, *output: Event, ending: str = "completed", **more: Any) -> list[Event]:
    """The events of a response; those of a text with their pieces."""
    events: list[Event] = [
        {"type": "response.created", "response": response(identity, "in_progress")}
    ]
    for index, item in enumerate(output):
        place = {"output_index": index, "item_id": item["id"], "content_index": 0}
        for block in item.get("content", ()):
            for piece in block["text"].split(" "):
                delta: Event = {"type": "response.output_text.delta", "delta": piece}
                events.append({**delta, "logprobs": [], **place})
        events.append({"type": "response.output_item.done", "output_index": index, "item": item})
    last = response(identity, ending, *output, **more)
    return [*events, {"type": f"response.{ending}", "response": last}]


def on(lane: str, events: list[Event]) -> list[Event]:
    """Events of a lane."""
    return [{**event, "stream_id": lane} for event in events]


def take(connection: Any, *kinds: str) -> list[Any]:
    """Read events until one of these kinds has come."""
    events: list[Any] = []
    for event in connection:
        events.append(event)
        if event.type in (kinds or ("response.completed",)):
            break
    return events


def test_the_records_are_those_of_http(
    provider: SocketServer, gpt: Any, server: ModelServer, rows: Landed
) -> None:
    """Field by field, but where and when."""
    request: Event = {
        "model": "gpt-5",
        "input": [{"role": "user", "content": "Look"}],
        "instructions": "Be kind.",
        "tools": [{"type": "function", "name": "look", "parameters": {"type": "object"}}],
        "max_output_tokens": 50,
    }
    events = answer("resp_1", message("I look"), CALL)
    provider.play(CREATE, *events)
    with gpt.responses.connect() as connection:
        connection.response.create(**request)
        take(connection)
    server.stream([*events])
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="k") as client:
        list(client.responses.create(**request, stream=True))

    socket, http = rows.calls
    for name in (
        *("operation", "provider", "request_model", "response_model", "response_id", "stream"),
        *("finish_reasons", "stream_outcome", "response_text", "tool_calls", "input_messages"),
        *("output_messages", "input_tokens", "output_tokens", "cache_read_tokens", "cost_usd"),
        *("reasoning_tokens", "error_type", "system_prompt", "tool_definitions", "round"),
    ):
        if not name.endswith("_messages"):
            assert getattr(socket, name) == getattr(http, name), name
        else:
            assert rows.said(getattr(socket, name)) == rows.said(getattr(http, name)), name
    assert json.loads(socket.request_parameters) == json.loads(http.request_parameters)
    assert socket.time_to_first_chunk is not None


def test_a_response_goes_on_with_another(provider: SocketServer, gpt: Any, rows: Landed) -> None:
    """A tool's output is a round of the turn; the user's next words are another turn."""
    provider.play(
        *(CREATE, *answer("resp_1", CALL)),
        *(CREATE, *answer("resp_2", message("Seen"))),
        *(CREATE, *answer("resp_3", message("Bye"))),
    )
    output = {"type": "function_call_output", "call_id": "call_1", "output": "a cat"}
    with gpt.responses.connect() as connection:
        create = connection.response.create
        create(model="gpt-5", input="Look")
        take(connection)
        create(model="gpt-5", input=[output], previous_response_id="resp_1")
        take(connection)
        create(model="gpt-5", input="Thanks", previous_response_id="resp_2")
        take(connection)

    told = [(turn.user_message, turn.rounds, turn.response_text) for turn in rows.turns]
    assert told == [("Look", 2, "Seen"), ("Thanks", 1, "Bye")]
    assert len({row.session_id for row in rows.calls}) == 1
    (tool,) = rows.tools
    assert tool.result == "a cat"


def test_lanes_go_on_side_by_side(
    provider: SocketServer, loop: asyncio.AbstractEventLoop, rows: Landed
) -> None:
    """Each event is of the response on its lane; one that nobody asked for is a call as well."""
    one, two = on("a", answer("resp_1", message("One"))), on("b", answer("resp_2", message("Two")))
    steered = answer("resp_3", message("Three"), previous_response_id="resp_1")
    mixed: list[Step] = [event for pair in zip(one, two, strict=True) for event in pair]
    provider.play(CREATE, CREATE, *mixed, *on("a", steered))

    async def run() -> None:
        async with client_of(openai.AsyncOpenAI, provider).responses.connect() as connection:
            for lane, text in (("a", "1"), ("b", "2")):
                create: Event = {"type": CREATE, "stream_id": lane, "model": "gpt-5"}
                await connection.send({**create, "input": text})
            ended = 0
            async for event in connection:
                ended += event.type == "response.completed"
                if ended == 3:
                    return

    loop.run_until_complete(run())

    found = {row.response_id: row for row in rows.calls}
    assert {key: row.response_text for key, row in found.items()} == {
        "resp_1": "One",
        "resp_2": "Two",
        "resp_3": "Three",
    }
    asked = [
        rows.said(found[key].input_messages)[0][1][0]["content"] for key in ("resp_1", "resp_2")
    ]
    assert asked == ["1", "2"]
    assert found["resp_3"].request_model == "gpt-5"


REFUSED: Event = {
    "type": "error",
    "status": 400,
    "error": {
        "type": "invalid_request_error",
        "code": "previous_response_not_found",
        "message": "no",
    },
}


@pytest.mark.parametrize("begun", [False, True])
def test_errors_of_the_server(provider: SocketServer, gpt: Any, rows: Landed, begun: bool) -> None:
    """Before a response has begun, and in its middle."""
    pieces = answer("resp_1", message("Well then"))[: 2 if begun else 0]
    provider.play(CREATE, *pieces, REFUSED)

    with gpt.responses.connect() as connection:
        connection.response.create(model="gpt-5", input="Look")
        take(connection, "error")

    (row,) = rows.calls
    assert (row.error_type, row.stream_outcome) == ("previous_response_not_found", "error")
    assert (row.error_message, row.response_text) == ("no", "Well" if begun else "")


@pytest.mark.parametrize("ending", ["failed", "incomplete"])
def test_responses_that_are_not_completed(
    provider: SocketServer, gpt: Any, rows: Landed, ending: str
) -> None:
    """As over HTTP."""
    more: Event = {"incomplete_details": {"reason": "max_output_tokens"}}
    if ending == "failed":
        more = {"error": {"code": "server_error", "message": "it broke"}}
    provider.play(CREATE, *answer("resp_1", message("Well"), ending=ending, **more))

    with gpt.responses.connect() as connection:
        connection.response.create(model="gpt-5", input="Look")
        take(connection, f"response.{ending}")

    (row,) = rows.calls
    assert row.error_type == ("server_error" if ending == "failed" else "")
    assert row.finish_reasons == [more.get("incomplete_details", {}).get("reason", "failed")]


@pytest.mark.parametrize("ending", ["left", LOST])
@pytest.mark.parametrize("decorated", [False, True])
def test_a_connection_that_ends_in_the_middle(
    provider: SocketServer, gpt: Any, rows: Landed, ending: str, decorated: bool
) -> None:
    """The row has what had come."""
    steps: list[Step] = [CREATE, *answer("resp_1", message("Well then"))[:3]]
    provider.play(*steps, *([] if ending == "left" else [ending]))

    def ask() -> None:
        with gpt.responses.connect() as connection:
            connection.response.create(model="gpt-5", input="Look")
            for _ in steps[1:]:
                connection.recv()
            if ending == LOST:
                with pytest.raises(Exception, match="close"):
                    connection.recv()

    (turnspan.agent("a")(ask) if decorated else ask)()

    (row,) = rows.calls
    assert row.response_text == "Wellthen"
    assert row.finish_reasons == ["error"]
    assert row.stream_outcome == ("abandoned" if ending == "left" else "error")
    (turn,) = rows.turns
    assert (row.turn_id, turn.llm_call_count) == (turn.turn_id, 1)


@pytest.mark.needs("openai.lib.responses_websocket")
def test_the_sdk_s_session_of_lanes(
    provider: SocketServer, loop: asyncio.AbstractEventLoop, rows: Landed
) -> None:
    """It reads raw messages."""
    module: Any = import_module("openai.lib.responses_websocket")
    provider.play(CREATE, *on("talk", answer("resp_1", message("Hi"))))
    limits = module.ResponsesWebSocketLimits(
        max_lanes=4, max_events_per_lane=99, max_events=99, max_bytes_per_lane=9999, max_bytes=99999
    )

    async def run() -> str:
        client = client_of(openai.AsyncOpenAI, provider)
        kind = module.AsyncResponsesWebSocketSession
        async with (
            client.responses.connect() as connection,
            kind(connection, limits=limits) as session,
        ):
            lane = session.lane("talk")
            await lane.send({"type": CREATE, "model": "gpt-5", "input": "Hello"})
            said: str = (await lane.get_final_response()).output_text
            return said

    assert loop.run_until_complete(run()) == "Hi"
    (row,) = rows.calls
    assert (row.response_text, row.stream_outcome) == ("Hi", "complete")
