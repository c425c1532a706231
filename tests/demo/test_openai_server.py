"""The model server speaks OpenAI's chat completions to the real SDK."""

from __future__ import annotations

import asyncio
from typing import Any

import openai
import pytest

from turnspan_demo.agents.openai_agent import opening, request_of
from turnspan_demo.model import Run
from turnspan_demo.server import ModelServer


def said(run: Run, turns: int) -> list[Any]:
    """The messages up to and with the user message of a turn, counted from 0."""
    messages = opening(run)
    for turn in run.turns[:turns]:
        messages.append({"role": "user", "content": turn.user})
        for reply in turn.replies:
            calls = [
                {
                    "id": tool.id,
                    "type": "function",
                    "function": {"name": tool.name, "arguments": tool.arguments},
                }
                for tool in reply.tools
            ]
            message: dict[str, Any] = {"role": "assistant", "content": reply.text}
            messages.append({**message, "tool_calls": calls} if calls else message)
            messages += [
                {"role": "tool", "tool_call_id": tool.id, "content": tool.result}
                for tool in reply.tools
            ]
    return [*messages, {"role": "user", "content": run.turns[turns].user}]


def ask(client: openai.OpenAI, run: Run, turn: int, **options: Any) -> Any:
    """The model call that opens a turn."""
    request = {**request_of(run), **options}
    create: Any = client.chat.completions.create
    return create(messages=said(run, turn), **request)


def test_reply_with_parallel_tool_calls(openai_client: openai.OpenAI, run: Run) -> None:
    """A reply has the recorded text, both tool calls and token counts that add up."""
    response = ask(openai_client, run, 0)

    choice = response.choices[0]
    assert choice.finish_reason == "tool_calls"
    assert choice.message.content == "Let me look."
    assert [(c.id, c.function.name, c.function.arguments) for c in choice.message.tool_calls] == [
        ("call_weather_talk_1_1_1", "get_weather", '{"city": "Oslo"}'),
        ("call_weather_talk_1_1_2", "get_weather", '{"city": "Rome"}'),
    ]
    assert response.model == "gpt-4o"
    usage = response.usage
    assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens
    assert usage.completion_tokens_details.reasoning_tokens == 6
    assert 0 < usage.completion_tokens_details.reasoning_tokens < usage.completion_tokens


def test_same_request_same_tokens_other_id(openai_client: openai.OpenAI, run: Run) -> None:
    """Token counts depend on the texts only; every reply has an id of its own."""
    first, second = ask(openai_client, run, 0), ask(openai_client, run, 0)

    assert first.usage == second.usage
    assert first.id != second.id


def test_length_is_the_finish_reason(openai_client: openai.OpenAI, run: Run) -> None:
    """A reply that was cut off says so."""
    assert ask(openai_client, run, 1).choices[0].finish_reason == "length"


def test_stream_gives_the_same_reply_in_pieces(openai_client: openai.OpenAI, run: Run) -> None:
    """The SDK's own accumulator puts the streamed chunks together to the same reply."""
    whole = ask(openai_client, run, 0)
    options: dict[str, Any] = request_of(run)
    with openai_client.chat.completions.stream(
        messages=said(run, 0), stream_options={"include_usage": True}, **options
    ) as stream:
        chunks = [event.chunk for event in stream if event.type == "chunk"]
        final = stream.get_final_completion()

    message = final.choices[0].message
    assert message.content == "Let me look."
    assert message.tool_calls is not None
    assert [(c.id, c.function.name, c.function.arguments) for c in message.tool_calls] == [
        (c.id, c.function.name, c.function.arguments) for c in whole.choices[0].message.tool_calls
    ]
    assert final.choices[0].finish_reason == "tool_calls"
    assert final.usage is not None
    assert final.usage.prompt_tokens == whole.usage.prompt_tokens
    assert final.usage.completion_tokens == whole.usage.completion_tokens
    assert len(chunks) > 8
    assert len({chunk.id for chunk in chunks}) == 1


@pytest.mark.parametrize("asked", [False, True])
def test_usage_is_streamed_only_when_asked_for(
    openai_client: openai.OpenAI, run: Run, asked: bool
) -> None:
    """One last chunk without choices carries the usage, and only with ``include_usage``."""
    options = {"stream_options": {"include_usage": True}} if asked else {}
    chunks = list(ask(openai_client, run, 0, stream=True, **options))

    assert [chunk.usage is not None for chunk in chunks].count(True) == asked
    assert (chunks[-1].choices == []) is asked
    assert ("usage" in chunks[0].model_fields_set) is asked


def test_async_client(server: ModelServer, run: Run) -> None:
    """The asynchronous SDK gets the same reply, whole and streamed."""

    async def both() -> tuple[str | None, str]:
        async with openai.AsyncOpenAI(base_url=server.openai_url, api_key="any") as client:
            options = request_of(run)
            create: Any = client.chat.completions.create
            whole = await create(messages=said(run, 1), **options)
            chunks = await create(messages=said(run, 1), stream=True, **options)
            text = ""
            async for chunk in chunks:
                text += chunk.choices[0].delta.content or ""
            return whole.choices[0].message.content, text

    assert asyncio.run(both()) == ("I do not", "I do not")


@pytest.mark.parametrize(
    ("turn", "kind", "status"),
    [
        (2, openai.RateLimitError, 429),
        (3, openai.InternalServerError, 500),
        (4, openai.InternalServerError, 503),
    ],
)
def test_a_fault_is_an_error_once(
    openai_client: openai.OpenAI,
    run: Run,
    turn: int,
    kind: type[openai.APIStatusError],
    status: int,
) -> None:
    """The first request fails with the provider's error, the next one is answered."""
    with pytest.raises(kind) as raised:
        ask(openai_client, run, turn)
    assert raised.value.status_code == status
    body: Any = raised.value.body
    assert body["message"]
    if status == 429:
        assert raised.value.code == "rate_limit_exceeded"
        assert raised.value.response.headers["retry-after"] == "1"

    assert ask(openai_client, run, turn).choices[0].message.content == (
        run.turns[turn].replies[0].text
    )


def test_the_sdk_retries_past_a_fault(server: ModelServer, run: Run) -> None:
    """With its usual settings the SDK gets the reply without the caller noticing."""
    with openai.OpenAI(base_url=server.openai_url, api_key="any") as client:
        assert ask(client, run, 2).choices[0].message.content == "Rain."


def test_broken_stream(openai_client: openai.OpenAI, run: Run) -> None:
    """The connection ends in the middle of the reply, every time."""
    for _ in range(2):
        text = ""
        with pytest.raises(openai.APIConnectionError):
            for chunk in ask(openai_client, run, 5, stream=True):
                text += chunk.choices[0].delta.content or ""
        assert text
        assert run.turns[5].replies[0].text.startswith(text)
        assert text != run.turns[5].replies[0].text


def test_unknown_conversation_is_a_helpful_404(openai_client: openai.OpenAI, run: Run) -> None:
    """The error says where the conversation leaves the recording."""
    messages = said(run, 1)
    messages[3]["content"] = "8 degrees"
    with pytest.raises(openai.NotFoundError) as raised:
        openai_client.chat.completions.create(model="gpt-4o", messages=messages)

    assert raised.value.code == "recording_not_found"
    assert "'weather-talk', agrees on 2 messages" in raised.value.message
    assert "tool '8 degrees' where the recording has tool '7 degrees'" in raised.value.message


def test_other_system_prompt_is_said_to_be_unknown(openai_client: openai.OpenAI) -> None:
    """A conversation with a system prompt of no run is told so."""
    with pytest.raises(openai.NotFoundError, match="No recorded run has this system prompt"):
        openai_client.chat.completions.create(
            model="gpt-4o", messages=[{"role": "system", "content": "Be long."}]
        )


def test_bad_requests_are_refused(openai_client: openai.OpenAI) -> None:
    """What the provider would not accept is a 400 that names the field."""
    bad: Any = [{"role": "wizard", "content": "hm"}]
    with pytest.raises(openai.BadRequestError, match=r"messages\[0\]: 'wizard'"):
        openai_client.chat.completions.create(model="gpt-4o", messages=bad)


def test_two_runs_that_begin_alike_are_told_apart(run: Run) -> None:
    """The user field, a header or metadata names the run where the messages do not."""
    from dataclasses import replace

    from turnspan_demo.model import Reply, Turn

    other = replace(run, id="other", turns=(Turn(run.turns[0].user, (Reply("It is night."),)),))
    with (
        ModelServer([run, other]) as server,
        openai.OpenAI(base_url=server.openai_url, api_key="any") as client,
    ):
        assert ask(client, run, 0).choices[0].message.content == "Let me look."
        by_name: list[dict[str, Any]] = [
            {"user": "other"},
            {"metadata": {"run": "other"}},
            {"extra_headers": {"x-replay-run": "other"}},
        ]
        for options in by_name:
            reply = ask(client, run, 0, **options)
            assert reply.choices[0].message.content == "It is night."
