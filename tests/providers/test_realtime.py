"""OpenAI's Realtime API: each response of a connection is a call and, alone, a turn."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

import openai
import pytest
from opentelemetry import trace

import turnspan
from providers.conftest import Spans
from support.normalised import Landed
from support.realtime_events import (
    USAGE,
    Event,
    added,
    answered,
    audio,
    call,
    created,
    delta,
    done,
    encoded,
    failure,
    heard,
    listening,
    said,
    session,
    spoken,
    transcribed,
    typed,
    written,
)
from support.socket_server import CLOSED, LOST, SocketServer, socket_server
from turnspan import config
from turnspan.testing import record
from turnspan_clickhouse.rows.native_types import EncodedMap
from turnspan_clickhouse.rows.tables import LlmCall

pytestmark = [
    pytest.mark.needs("openai.resources.realtime"),
    pytest.mark.filterwarnings("ignore:connect.. must be used as a context:DeprecationWarning"),
]

ASK: Event = {"type": "response.create"}
END = "response.done"


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
    return kind(api_key="k", websocket_base_url=provider.url)


def take(connection: Any, until: str = END, count: int = 1) -> list[Any]:
    """Read events until so many of a kind have come."""
    events: list[Any] = []
    for event in connection:
        events.append(event)
        count -= event.type == until
        if not count:
            break
    return events


def item(said: Event) -> Event:
    """What adds an item to the conversation."""
    return {"type": "conversation.item.create", "item": said}


def talk(gpt: Any, *events: Event, until: str = END, count: int = 1) -> list[Any]:
    """Connect, send, read."""
    with gpt.realtime.connect(model="gpt-realtime") as connection:
        for event in events:
            connection.send(event)
        return take(connection, until, count)


def messages_of(rows: Landed, hashes: list[bytes]) -> list[tuple[str, dict[str, Any]]]:
    """Messages by their hashes: role, and the parts by their type."""
    said = rows.said(hashes)
    return [(role, {part.pop("type"): part for part in parts}) for role, parts in said]


def words(rows: Landed, hashes: list[bytes]) -> list[tuple[str, str]]:
    """Who said what."""
    found = messages_of(rows, hashes)
    return [(role, parts.get("text", {}).get("content", "")) for role, parts in found]


def details(row: LlmCall) -> dict[str, Any]:
    """A call's attributes."""
    return EncodedMap.of(row.attributes).texts()


def test_a_spoken_answer_to_a_text(provider: SocketServer, gpt: Any, rows: Landed) -> None:
    """A row as that of any other call: content, tokens by modality, price, first chunk; audio is a
    hash and seconds."""
    sound = [audio(0.5, 1), audio(0.25, 2)]
    script = [
        session(),
        "response.create",
        *added(typed("item_u", "Hello")),
        *said("item_a", "Good day", *sound),
    ]
    provider.play(*script)

    events = talk(gpt, item(typed("item_u", "Hello")), ASK)

    sent = [step for step in script if isinstance(step, dict)]
    assert [event.type for event in events] == [step["type"] for step in sent]
    (row,) = rows.calls
    assert (row.operation, row.provider, row.request_model) == ("chat", "openai", "gpt-realtime")
    assert (row.response_id, row.finish_reasons, row.stream_outcome) == (
        "resp_1",
        ["completed"],
        "complete",
    )
    assert (row.response_text, row.stream, row.session_id) == ("Good day", True, "sess_1")
    assert (row.input_tokens, row.output_tokens, row.cache_read_tokens) == (200, 100, 64)
    counted = {key: value for key, value in details(row).items() if ".usage." in key}
    assert counted == {
        "gen_ai.usage.text.input_tokens": "120",
        "gen_ai.usage.audio.input_tokens": "80",
        "gen_ai.usage.text.output_tokens": "30",
        "gen_ai.usage.audio.output_tokens": "70",
        "gen_ai.usage.text.cache_read.input_tokens": "40",
        "gen_ai.usage.audio.cache_read.input_tokens": "24",
    }
    expected = (120 - 40) * 4 + 40 * 0.4 + (80 - 24) * 32 + 24 * 0.4 + 30 * 16 + 70 * 64
    assert float(row.cost_usd or 0) == pytest.approx(expected / 1e6)
    assert row.time_to_first_chunk is not None
    assert 0 < row.time_to_first_chunk < 5
    assert words(rows, row.input_messages) == [("user", "Hello")]
    whole = sound[0] + sound[1]
    whole = sound[0] + sound[1]
    ((role, parts),) = messages_of(rows, row.output_messages)
    assert (role, parts["text"]["content"]) == ("assistant", "Good day")
    assert parts["blob"] == {
        "modality": "audio",
        "mime_type": "audio/pcm",
        "sha256": written(whole),
        "size": len(whole),
        "seconds": 0.75,
    }
    assert "Be kind." in str(rows.defined(row.system_prompt))
    assert "weather" in str(rows.defined(row.tool_definitions))
    parameters = json.loads(row.request_parameters)
    assert parameters["audio"]["output"]["voice"] == "marin"
    assert "expires_at" not in parameters
    (turn,) = rows.turns
    assert (turn.stop_reason, turn.session_id) == ("completed", "sess_1")
    assert (turn.user_message, turn.response_text) == ("Hello", "Good day")


def voice(identity: str, *pieces: bytes) -> list[Event]:
    """What the application sends of the user's voice."""
    append = "input_audio_buffer.append"
    return [{"type": append, "audio": encoded(piece), "event_id": identity} for piece in pieces]


APPEND = "input_audio_buffer.append"
LIMITS: Event = {
    "type": "rate_limits.updated",
    "event_id": "event_r",
    "rate_limits": [{"name": "requests", "limit": 9, "remaining": 8, "reset_seconds": 1.0}],
}


def test_voices_are_turns_of_one_session(provider: SocketServer, gpt: Any, rows: Landed) -> None:
    """The server hears when the user stops; the transcript may come while it answers."""
    first, second = audio(2.0, 3), audio(0.5, 4)
    answer, heard_first = said("item_a", "Hi there", audio(0.1)), listening("item_u", 250, 1750)
    provider.play(
        session(),
        *(APPEND, APPEND),
        *heard_first[:-1],
        *(answer[0], heard_first[-1], *answer[1:3], transcribed("item_u", "Hello?")),
        *(*answer[3:], LIMITS),
        APPEND,
        *(*listening("item_v", 2000, 2400), transcribed("item_v", "Bye")),
        *said("item_b", "See you", audio(0.2), id="resp_2", previous="item_v"),
    )

    with gpt.realtime.connect(model="gpt-realtime") as connection:
        for event in voice("a", first[:48_000], first[48_000:]):
            connection.send(event)
        take(connection, "rate_limits.updated")
        connection.input_audio_buffer.append(audio=encoded(second))
        take(connection)

    one, two = rows.calls
    ((_, parts),) = messages_of(rows, one.input_messages)
    assert (parts["text"]["content"], parts["blob"]["seconds"]) == ("Hello?", 1.5)
    assert (parts["blob"]["sha256"], parts["blob"]["size"]) == (written(first), len(first))
    assert [role for role, _ in rows.said(two.input_messages)] == ["user", "assistant", "user"]
    assert two.input_messages[:2] == [*one.input_messages, *one.output_messages]
    assert messages_of(rows, two.input_messages)[2][1]["blob"]["sha256"] == written(second)
    assert {row.session_id for row in rows.calls} == {"sess_1"}
    turns = [(turn.user_message, turn.response_text, turn.rounds) for turn in rows.turns]
    assert turns == [("Hello?", "Hi there", 1), ("Bye", "See you", 1)]


def test_a_function_call_and_its_output_are_rounds_of_a_turn(
    provider: SocketServer, gpt: Any, rows: Landed
) -> None:
    """Also streamed, with the output sent by an item without an id."""
    begun = {**call("item_f", ""), "status": "in_progress"}
    place = {"event_id": "event_o", "response_id": "resp_1", "output_index": 0}
    output = answered("item_o", "item_f", "rain")
    provider.play(
        session(),
        *("response.create", *added(typed("item_u", "Rain?")), created()),
        {"type": "response.output_item.added", **place, "item": begun},
        *(delta("function_call_arguments", piece, "item_f") for piece in ('{"city"', ':"Oslo"}')),
        {"type": "response.output_item.done", **place, "item": call("item_f")},
        *(*added(call("item_f"), "item_u"), done(call("item_f"))),
        *("response.create", *added(output, "item_f")),
        *said("item_a", "It rains", id="resp_2", previous="item_o"),
    )

    with gpt.realtime.connect(model="gpt-realtime") as connection:
        connection.conversation.item.create(item=typed("item_u", "Rain?"))
        connection.response.create()
        take(connection)
        without_id = {key: value for key, value in output.items() if key != "id"}
        connection.conversation.item.create(item=without_id)
        connection.response.create()
        take(connection)

    one, two = rows.calls
    assert json.loads(one.tool_calls) == [
        {"id": "call_item_f", "name": "weather", "arguments": {"city": "Oslo"}}
    ]
    roles = [role for role, _ in rows.said(two.input_messages)]
    assert roles == ["user", "assistant", "tool"]
    (turn,) = rows.turns
    assert (turn.rounds, turn.tool_call_count, turn.response_text) == (2, 1, "It rains")
    (tool,) = rows.tools
    assert (tool.name, tool.result) == ("weather", "rain")


def interrupted(reason: str) -> list[Event]:
    """A response that is not spoken to its end."""
    details = {"type": "cancelled", "reason": reason}
    part = spoken("item_a", "I think that", "incomplete")
    begun = said("item_a", "I think that", audio(1.0))[:-3]
    return [*begun, added(part)[1], done(part, status="cancelled", status_details=details)]


@pytest.mark.parametrize("reason", ["client_cancelled", "turn_detected"])
def test_an_interruption(provider: SocketServer, gpt: Any, rows: Landed, reason: str) -> None:
    """The row has what was said, and why it ended; what the user did not hear is no input of the
    next, nor what was deleted."""
    cut = {"item_id": "item_a", "content_index": 0, "audio_end_ms": 400, "event_id": "event_t"}
    gone = {"type": "conversation.item.deleted", "item_id": "item_x", "event_id": "event_d"}
    provider.play(
        session(),
        *("response.create", *added(typed("item_x", "Aside")), *added(typed("item_u", "Say"))),
        *interrupted(reason),
        *({"type": "conversation.item.truncated", **cut}, gone, *added(spoken("item_a", "no"))),
        *("response.create", *added(typed("item_v", "Go on"), "item_a")),
        *said("item_b", "Sure", id="resp_2", previous="item_v"),
    )

    with gpt.realtime.connect(model="gpt-realtime") as connection:
        connection.send(ASK)
        take(connection)
        connection.send(ASK)
        take(connection)

    one, two = rows.calls
    assert (one.finish_reasons, one.stream_outcome) == (["cancelled"], "cancelled")
    assert (one.response_text, one.error_type) == ("I think that", "")
    assert json.loads(details(one)["turnspan.response.details"]) == {"reason": reason}
    assert (one.input_tokens, one.output_tokens) == (200, 100)
    messages = rows.said(two.input_messages)
    assert [role for role, _ in messages] == ["user", "assistant", "user"]
    ((kept,),) = [parts for role, parts in messages if role == "assistant"]
    assert (kept["type"], kept["seconds"], kept["truncated"]) == ("blob", 0.4, True)
    assert "I think" not in json.dumps(messages)
    assert [turn.stop_reason for turn in rows.turns] == ["user_aborted", "completed"]


FAILED: Event = {
    "status": "failed",
    "usage": None,
    "status_details": {"type": "failed", "error": {"type": "server_error", "code": "broken"}},
}
CUT: Event = {
    "status": "incomplete",
    "status_details": {"type": "incomplete", "reason": "max_output_tokens"},
}


@pytest.mark.parametrize(
    ("ending", "reason", "error", "outcome", "stop"),
    [
        (FAILED, "failed", "broken", "error", "error"),
        (CUT, "max_output_tokens", "", "complete", "max_tokens"),
    ],
)
def test_how_responses_end(
    provider: SocketServer,
    gpt: Any,
    rows: Landed,
    ending: Event,
    reason: str,
    error: str,
    outcome: str,
    stop: str,
) -> None:
    """Status, error and stop reason are those of any other call."""
    items = [] if error else [spoken("item_a", "Well")]
    provider.play(session(), "response.create", created(), done(*items, **ending))

    talk(gpt, ASK)

    (row,) = rows.calls
    assert (row.finish_reasons, row.error_type, row.stream_outcome) == ([reason], error, outcome)
    (turn,) = rows.turns
    assert turn.stop_reason == stop


@pytest.mark.parametrize(
    "problem",
    [
        failure("invalid_value", event_id="mine"),
        failure("invalid_value", param="response.instructions"),
        failure("conversation_already_has_active_response"),
        failure("conversation_already_has_active_response", event_id="another"),
        failure(None, type="server_error"),
    ],
)
def test_a_response_that_the_server_refuses(
    provider: SocketServer, gpt: Any, rows: Landed, problem: Event
) -> None:
    """It is a failed call, whatever tells which the server means."""
    provider.play(session(), "response.create", *added(typed("item_u", "Hello")), problem)

    talk(gpt, {**ASK, "event_id": "mine"}, until="error")

    row = next(row for row in rows.calls if row.error_type)
    assert row.error_type == (problem["error"]["code"] or "server_error")
    assert (row.error_message, row.stream_outcome, row.session_id) == ("no", "error", "sess_1")
    assert len(row.input_messages) == 1
    assert len(rows.calls) == 1 + (problem["error"].get("event_id") == "another")


def test_another_error_is_no_call(provider: SocketServer, gpt: Any, rows: Landed) -> None:
    """One of what the application sent beside the response that it asked for."""
    problems = (failure("invalid_value", event_id="other"), failure("item_unknown"))
    provider.play(session(), "response.create", *problems, *said("item_a", "Hi"))

    talk(gpt, {**ASK, "event_id": "mine"})

    (row,) = rows.calls
    assert (row.error_type, row.response_text) == ("", "Hi")


@pytest.mark.parametrize("ending", [LOST, CLOSED, "left"])
@pytest.mark.parametrize("begun", [True, False])
def test_a_connection_that_ends_in_the_middle(
    provider: SocketServer, gpt: Any, rows: Landed, ending: str, begun: bool
) -> None:
    """The open response, or the one that was asked for, has a row, with what came of it."""
    answer = said("item_a", "Good day", audio(0.5))[:-3] if begun else []
    marker = LIMITS
    provider.play(
        session(), "response.create", *answer, marker, *([] if ending == "left" else [ending])
    )

    with gpt.realtime.connect(model="gpt-realtime") as connection:
        connection.send(ASK)
        take(connection, "rate_limits.updated")
        if ending == CLOSED:
            take(connection)
        elif ending == LOST:
            with pytest.raises(Exception, match="close"):
                take(connection)

    (row,) = rows.calls
    assert row.response_text == ("Goodday" if begun else "")  # as the pieces came
    assert row.finish_reasons == ["error"]
    expected = {
        "left": ("abandoned", ""),
        LOST: ("error", "ConnectionClosedError"),
        CLOSED: ("error", "ConnectionClosedOK"),
    }
    assert (row.stream_outcome, row.error_type) == expected[ending]


def test_one_task_sends_and_another_receives(
    provider: SocketServer, loop: asyncio.AbstractEventLoop, rows: Landed
) -> None:
    """Also where a receiver gives up and reads on later: nothing is lost, nothing ends."""
    provider.play(session(), "response.create", *said("item_a", "Hi", audio(0.1)))

    async def run() -> list[str]:
        client = client_of(openai.AsyncOpenAI, provider)
        async with client.realtime.connect(model="gpt-realtime") as connection:
            kinds = [(await connection.recv()).type]
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(connection.recv(), 0.05)

            async def receive() -> None:
                async for event in connection:
                    kinds.append(event.type)
                    if event.type == END:
                        return

            receiver = asyncio.create_task(receive())
            await asyncio.create_task(connection.response.create())
            await receiver
            return kinds

    kinds = loop.run_until_complete(run())

    assert (kinds[0], kinds[-1], len(kinds)) == ("session.created", END, 9)
    (row,) = rows.calls
    assert (row.response_text, row.stream_outcome) == ("Hi", "complete")


def test_an_asynchronous_connection_that_is_left(
    provider: SocketServer, loop: asyncio.AbstractEventLoop, rows: Landed
) -> None:
    """A task is cancelled while it waits for the rest."""
    provider.play(session(), "response.create", *said("item_a", "Hi", audio(0.1))[:5])

    async def run() -> None:
        client = client_of(openai.AsyncOpenAI, provider)
        async with client.realtime.connect(model="gpt-realtime") as connection:
            await connection.response.create()
            async for _ in connection:
                pass

    async def left() -> None:
        task = asyncio.create_task(run())
        await asyncio.sleep(0.3)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    loop.run_until_complete(left())

    (row,) = rows.calls
    assert (row.stream_outcome, row.finish_reasons) == ("abandoned", ["error"])


def test_a_turn_around_it(provider: SocketServer, gpt: Any, rows: Landed) -> None:
    """The call is the turn's, wherever it is received: the sender asked for it."""
    provider.play(session(), "response.create", *said("item_a", "Hi", audio(0.1)))
    kinds: list[str] = []

    with gpt.realtime.connect(model="gpt-realtime") as connection:
        thread = threading.Thread(target=lambda: kinds.extend(e.type for e in take(connection)))
        thread.start()

        @turnspan.agent("desk")
        def answer(question: str) -> str:
            connection.send(ASK)
            thread.join()
            return "done"

        answer("Hello?")

    (turn,) = rows.turns
    (row,) = rows.calls
    assert kinds[-1] == END
    assert (row.turn_id, row.session_id) == (turn.turn_id, turn.session_id)
    assert (turn.user_message, turn.rounds, turn.llm_call_count) == ("Hello?", 1, 1)
    assert (turn.input_tokens, turn.cost_usd) == (row.input_tokens, row.cost_usd)


def test_without_content(provider: SocketServer, gpt: Any) -> None:
    """Numbers and how it ended; not a word."""
    provider.play(
        session(),
        *("response.create", *added(typed("item_u", "Hello"))),
        *said("item_a", "Good day", audio(0.1)),
    )
    with record(capture_content=False) as recorded:
        talk(gpt, ASK)

    rows = Landed(recorded.rows)
    (row,) = rows.calls
    assert (row.output_tokens, row.stream_outcome) == (100, "complete")
    assert (row.response_text, row.input_messages, row.output_messages) == ("", [], [])
    (turn,) = rows.turns
    assert (turn.stop_reason, turn.user_message, turn.response_text) == ("completed", "", "")


def test_secrets_are_masked(provider: SocketServer, gpt: Any, rows: Landed) -> None:
    """Those that were spoken, typed, and those in instructions."""
    secret = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
    provider.play(
        session(instructions=f"Use {secret}"),
        *("response.create", *added(typed("item_u", f"It is {secret}"))),
        *said("item_a", f"Yes {secret}", audio(0.1)),
    )

    talk(gpt, ASK)

    (row,) = rows.calls
    assert row.response_text.startswith("Yes ")
    assert secret not in row.response_text
    assert secret not in str(rows.said([*row.input_messages, *row.output_messages]))
    assert secret not in str(rows.defined(row.system_prompt))


def test_responses_beside_the_conversation(provider: SocketServer, gpt: Any, rows: Landed) -> None:
    """Two at once, one of them with instructions and an input of its own."""
    aside: Event = {"conversation": "none", "instructions": "Classify.", "metadata": {"topic": "x"}}
    aside["output_modalities"] = ["text"]
    given = [{"type": "item_reference", "id": "item_u"}, typed("item_n", "Which?")]
    word = {"type": "output_text", "text": "greeting"}
    written_answer = {**spoken("item_c", ""), "content": [word]}
    spoken_answer = said("item_a", "Hi", audio(0.1))
    provider.play(
        session(),
        *("response.create", *added(typed("item_u", "Hello")), *spoken_answer[:4]),
        *("response.create", created("resp_2", conversation_id=None)),
        *(delta("output_text", "greeting", "item_c", "resp_2"), done(written_answer, id="resp_2")),
        *spoken_answer[4:],
    )

    with gpt.realtime.connect(model="gpt-realtime") as connection:
        connection.send(ASK)
        take(connection, "response.output_audio.delta")
        connection.response.create(response={**aside, "input": given})
        take(connection, count=2)

    one, two = sorted(rows.calls, key=lambda row: row.response_id)
    assert (one.response_id, one.response_text, len(one.input_messages)) == ("resp_1", "Hi", 1)
    assert (two.response_id, two.response_text) == ("resp_2", "greeting")
    assert words(rows, two.input_messages) == [("user", "Hello"), ("user", "Which?")]
    assert "Classify." in str(rows.defined(two.system_prompt))
    assert json.loads(two.request_parameters)["metadata"] == {"topic": "x"}
    assert details(two)["gen_ai.output.type"] == "text"
    assert details(one)["gen_ai.output.type"] == "speech"


def test_a_long_conversation_is_bounded(provider: SocketServer, gpt: Any, rows: Landed) -> None:
    """The newest items are kept; the row says how many are not."""
    many = [event for n in range(600) for event in added(typed(f"item_{n}", f"word {n}"))]
    provider.play(session(), *many, "response.create", *said("item_a", "Hi"))

    talk(gpt, ASK)

    (row,) = rows.calls
    assert len(row.input_messages) == 500
    assert rows.said(row.input_messages)[-1][1][0]["content"] == "word 599"
    assert json.loads(row.request_parameters)["dropped_items"] == 100


def test_sound_in_an_item_and_where_it_goes(provider: SocketServer, gpt: Any, rows: Landed) -> None:
    """An item that the application makes of sound, put in between."""
    sound = audio(0.25, 7)
    block = {"type": "input_audio", "audio": encoded(sound), "transcript": "Between"}
    between = {**heard("item_n", "Between"), "content": [block]}
    sent = {key: value for key, value in between.items() if key not in ("id", "object", "status")}
    provider.play(
        session(audio={"input": {"format": {"type": "audio/pcmu"}}}),
        *(*added(typed("item_1", "first")), *added(typed("item_2", "last"), "item_1")),
        "response.create",
        *(*added(heard("item_n"), "item_1"), *said("item_a", "Hi")),
    )

    with gpt.realtime.connect(model="gpt-realtime") as connection:
        take(connection, "session.created")
        connection.send(item(sent))
        connection.send(ASK)
        take(connection)

    (row,) = rows.calls
    said_by_user = [text for _, text in words(rows, row.input_messages)]
    assert said_by_user == ["first", "Between", "last"]
    blob = messages_of(rows, row.input_messages)[1][1]["blob"]
    assert (blob["sha256"], blob["mime_type"]) == (written(sound), "audio/pcmu")
    assert blob["seconds"] == len(sound) / 8_000


def test_the_preview_of_the_api(provider: SocketServer, gpt: Any, rows: Landed) -> None:
    """Its events and fields have other names."""
    block = {"type": "audio", "transcript": "Good day"}
    reply = {**spoken("item_a", ""), "content": [block]}
    settings = {
        "object": "realtime.session",
        "id": "sess_1",
        "model": "gpt-4o-realtime-preview",
        "modalities": ["text", "audio"],
        "instructions": "Be kind.",
        "input_audio_format": "pcm16",
        "output_audio_format": "g711_ulaw",
        "max_response_output_tokens": 77,
        "client_secret": {"value": "ek_secret", "expires_at": 1},
    }
    form: Event = {"output_audio_format": "g711_ulaw", "audio": None}
    provider.play(
        {"type": "session.created", "event_id": "e", "session": settings},
        "response.create",
        {**added(typed("item_u", "Hello"))[0], "type": "conversation.item.created"},
        *(created(**form), delta("audio_transcript", "Good day")),
        *(delta("audio", encoded(bytes(4_000))), done(reply, **form)),
    )

    with gpt.beta.realtime.connect(model="gpt-4o-realtime-preview") as connection:
        connection.response.create()
        take(connection)

    (row,) = rows.calls
    assert (row.request_model, row.response_text) == ("gpt-4o-realtime-preview", "Good day")
    assert messages_of(rows, row.output_messages)[0][1]["blob"]["seconds"] == 0.5
    assert len(row.input_messages) == 1
    assert details(row)["gen_ai.request.max_tokens"] == "77"
    assert "ek_secret" not in row.request_parameters


def test_what_is_sent_before_it_connects(provider: SocketServer, gpt: Any, rows: Landed) -> None:
    """The SDK queues it; and raw messages are read as well as events."""
    provider.play("response.create", session(), *said("item_a", "Hi"))
    manager = gpt.realtime.connect(model="gpt-realtime")
    manager.send(ASK)

    with manager as connection:
        kinds: list[str] = []
        while not kinds or kinds[-1] != END:
            kinds.append(connection.parse_event(connection.recv_bytes()).type)

    (row,) = rows.calls
    assert (row.response_text, row.session_id) == ("Hi", "sess_1")


def test_azure(provider: SocketServer, rows: Landed) -> None:
    """The platform is the provider; the session says which model a deployment is."""
    provider.play(session(), "response.create", *said("item_a", "Hi"))
    client = openai.AzureOpenAI(
        api_key="k",
        api_version="2026-01-01",
        azure_endpoint="https://desk.openai.azure.com",
        websocket_base_url=provider.url,
    )

    with client.realtime.connect(model="voice") as connection:
        connection.response.create()
        take(connection)

    (row,) = rows.calls
    assert (row.provider, row.request_model) == ("azure.ai.openai", "gpt-realtime")
    assert "deployment=voice" in provider.paths[0]


def test_a_connection_made_again(provider: SocketServer, gpt: Any, rows: Landed) -> None:
    """It goes on in the session that it began in."""
    provider.play(session(), "response.create", created(), LOST)
    provider.play(session(id="sess_2"), "response.create", *said("item_b", "Again", id="resp_2"))

    again: list[Any] = []
    with gpt.realtime.connect(
        model="gpt-realtime", on_reconnecting=again.append, initial_delay=0.01
    ) as connection:
        connection.send(ASK)
        for event in connection:
            if event.type == "session.created" and again:
                connection.send(ASK)
            if event.type == END:
                break

    one, two = rows.calls
    assert (one.response_id, one.stream_outcome) == ("resp_1", "error")
    assert (two.response_text, two.stream_outcome) == ("Again", "complete")
    assert {row.session_id for row in rows.calls} == {"sess_1"}


ODD: list[Event] = [
    {"no": "type"},
    {"type": 5},
    {"type": "session.updated"},
    {"type": "session.updated", "session": {"audio": 5, "tools": "none"}},
    {"type": "conversation.item.added"},
    {"type": "conversation.item.added", "item": {"id": "item_x", "content": ["a", 5]}},
    {"type": "conversation.item.added", "item": {"id": "item_y", "role": "user", "content": "b"}},
    {"type": "conversation.item.truncated"},
    {"type": "conversation.item.truncated", "item_id": "item_x", "audio_end_ms": 5},
    {"type": "conversation.item.deleted", "item_id": None},
    {"type": "conversation.item.input_audio_transcription.completed", "item_id": "item_x"},
    {"type": "input_audio_buffer.speech_stopped"},
    {"type": "input_audio_buffer.committed"},
    {"type": "response.created"},
    {"type": "response.created", "response": None},
    {"type": "response.output_audio.delta", "response_id": "None", "delta": "%%%"},
    {"type": "response.output_audio_transcript.delta", "response_id": "None", "delta": None},
    {"type": "response.done", "response": {"id": "None", "output": ["a"], "usage": 5}},
    {"type": "response.done"},
    {"type": "error"},
    {"type": "error", "error": "none"},
]


def test_odd_messages(provider: SocketServer, gpt: Any, rows: Landed) -> None:
    """What no API says is passed on, and does no harm to what comes after it."""
    provider.play(*ODD, session(), "response.create", *said("item_a", "Hi"))

    with gpt.realtime.connect(model="gpt-realtime") as connection:
        got = [json.loads(connection.recv_bytes()) for _ in ODD]
        for odd in ("5", "[]", "{}", '{"type": "input_audio_buffer.append", "audio": "%"}'):
            connection.send_raw(odd)
        connection.send(ASK)
        take(connection)

    assert got == ODD
    assert rows.calls[-1].response_text == "Hi"


def test_requests_that_nobody_answers(provider: SocketServer, gpt: Any, rows: Landed) -> None:
    """Each is a row, however many there are."""
    provider.play(session())
    with gpt.realtime.connect(model="gpt-realtime") as connection:
        for _ in range(70):
            connection.send(ASK)
        assert len(rows.calls) == 6  # no more are kept

    assert [row.stream_outcome for row in rows.calls] == ["abandoned"] * 70


def test_sessions_at_once(
    provider: SocketServer, loop: asyncio.AbstractEventLoop, rows: Landed
) -> None:
    """Each connection is a session of its own, whoever asks in between."""

    def talk_of(number: int) -> list[Event | str]:
        reply = said("item_a", f"Number {number}", audio(0.01 * number), id=f"resp_{number}")
        hello = added(typed("item_u", f"I am {number}"))
        return [session(id=f"sess_{number}"), "response.create", *hello, *reply]

    async def run(number: int) -> None:
        client = client_of(openai.AsyncOpenAI, provider)
        provider.scripts_by_model[str(number)] = talk_of(number)
        async with client.realtime.connect(model=str(number)) as connection:
            await connection.response.create()
            async for event in connection:
                if event.type == END:
                    break

    async def all_of_them() -> None:
        await asyncio.gather(*(run(number) for number in range(1, 9)))

    loop.run_until_complete(all_of_them())

    for row in rows.calls:
        number = row.session_id.removeprefix("sess_")
        assert row.response_text == f"Number {number}"
        assert words(rows, row.input_messages) == [("user", f"I am {number}")]
    assert len(rows.calls) == len(rows.turns) == 8


def test_what_the_counter_of_unrecorded_calls_sees(
    provider: SocketServer, gpt: Any, rows: Landed
) -> None:
    """That the connection is of what is recorded; afterwards nothing is marked."""
    from websockets.sync.client import ClientConnection

    from turnspan.patching.models_on_the_wire import INSIDE

    seen: list[bool] = []

    class Seen(ClientConnection):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            seen.append(bool(INSIDE.get()))
            super().__init__(*args, **kwargs)

    options: Any = {"create_connection": Seen}
    with gpt.realtime.connect(model="m", websocket_connection_options=options):
        assert not INSIDE.get()
    with gpt.realtime.connect(
        extra_query={"intent": "transcription"}, websocket_connection_options=options
    ):
        pass
    assert seen == [True, False]
    assert rows.calls == []


def test_inside_a_span_of_another_package(provider: SocketServer, gpt: Any, spans: Spans) -> None:
    """The call is its child, and its span is current nowhere in the application."""
    provider.play(session(), "response.create", *said("item_a", "Hi"))

    application = spans.provider.get_tracer("app")
    with (
        application.start_as_current_span("work") as work,
        gpt.realtime.connect(model="gpt-realtime") as connection,
    ):
        connection.send(ASK)
        assert trace.get_current_span() is work
        for event in connection:
            assert trace.get_current_span() is work
            if event.type == END:
                break

    parent = spans.call().parent
    assert parent is not None
    assert parent.span_id == work.get_span_context().span_id
    assert spans.attributes()["server.address"] == "127.0.0.1"
    assert spans.attributes()["gen_ai.conversation.id"] == "sess_1"


def test_the_application_gets_what_it_gets_without_us(provider: SocketServer, gpt: Any) -> None:
    """The same events and errors, also where recording ends in the middle."""
    script = [
        session(),
        "response.create",
        *said("item_a", "Hi", audio(0.1)),
        "response.create",
        LOST,
    ]

    def run(stop: Callable[[], object] = lambda: None) -> list[Any]:
        provider.play(*script)
        with gpt.realtime.connect(model="gpt-realtime") as connection:
            connection.send(ASK)
            events = take(connection)
            stop()
            connection.send(ASK)
            with pytest.raises(Exception, match="close") as caught:
                connection.recv()
            return [*(event.model_dump() for event in events), repr(caught.value)]

    plain = run()
    with record() as recorded:
        assert run() == plain
        assert [row.response_id for row in Landed(recorded.rows).calls] == ["resp_1", ""]
        assert run(turnspan.uninstrument) == plain
    assert config.active().enabled
    assert USAGE in [event.get("response", {}).get("usage") for event in plain[:-1]]
