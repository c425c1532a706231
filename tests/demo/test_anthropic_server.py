"""The model server speaks Anthropic's messages to the real SDK."""

from __future__ import annotations

import asyncio
from typing import Any

import anthropic
import pytest

from turnspan_demo.agents.anthropic_agent import request_of
from turnspan_demo.model import Run, arguments_of, as_sent
from turnspan_demo.server import ModelServer


def said(run: Run, turns: int) -> list[Any]:
    """The messages up to and with the user message of a turn, counted from 0."""
    messages: list[Any] = []
    for turn in as_sent(run, "anthropic").turns[:turns]:
        messages.append({"role": "user", "content": turn.user})
        for reply in turn.replies:
            blocks: list[Any] = [{"type": "text", "text": reply.text}]
            results: list[Any] = []
            for tool in reply.tools:
                use = {"id": tool.id, "name": tool.name, "input": arguments_of(tool.arguments)}
                blocks.append({"type": "tool_use", **use})
                results.append(
                    {"type": "tool_result", "tool_use_id": tool.id, "content": tool.result}
                )
            messages.append({"role": "assistant", "content": blocks})
            if results:
                messages.append({"role": "user", "content": results})
    return [*messages, {"role": "user", "content": run.turns[turns].user}]


def ask(client: anthropic.Anthropic, run: Run, turn: int, **options: Any) -> Any:
    """The model call that opens a turn."""
    create: Any = client.messages.create
    return create(messages=said(run, turn), **{**request_of(run), **options})


def test_reply_with_thinking_text_and_parallel_tools(
    anthropic_client: anthropic.Anthropic, run: Run
) -> None:
    """A reply has signed thinking, the text and both tool uses, in that order."""
    message = ask(anthropic_client, run, 0)

    assert [block.type for block in message.content] == [
        "thinking", "text", "tool_use", "tool_use"
    ]  # fmt: skip
    thinking, text, oslo, rome = message.content
    assert thinking.thinking == "Two cities, two calls."
    assert thinking.signature
    assert text.text == "Let me look."
    assert (oslo.input, rome.input) == ({"city": "Oslo"}, {"city": "Rome"})
    assert oslo.id.startswith("toolu_")
    assert oslo.id != rome.id
    assert message.stop_reason == "tool_use"
    assert message.usage.input_tokens > 0


def test_thinking_comes_only_when_enabled(anthropic_client: anthropic.Anthropic, run: Run) -> None:
    """A request that does not ask for thinking gets none."""
    message = ask(anthropic_client, run, 0, thinking={"type": "disabled"})
    assert [block.type for block in message.content] == ["text", "tool_use", "tool_use"]


def test_stream_gives_the_same_reply_in_pieces(
    anthropic_client: anthropic.Anthropic, run: Run
) -> None:
    """The SDK's accumulator rebuilds the same message, usage included, from the events."""
    whole = ask(anthropic_client, run, 0)
    options: dict[str, Any] = request_of(run)
    with anthropic_client.messages.stream(messages=said(run, 0), **options) as stream:
        kinds = [event.type for event in stream]
        final = stream.get_final_message()

    def content(message: Any) -> list[Any]:
        return [block.model_dump(exclude_unset=True) for block in message.content]

    assert content(final) == content(whole)
    assert final.stop_reason == whole.stop_reason
    assert final.usage.output_tokens == whole.usage.output_tokens
    assert final.usage.input_tokens == whole.usage.input_tokens
    assert kinds[0] == "message_start"
    assert kinds[-1] == "message_stop"
    assert kinds.count("content_block_start") == kinds.count("content_block_stop") == 4
    assert "input_json" in kinds


def test_raw_stream_events(anthropic_client: anthropic.Anthropic, run: Run) -> None:
    """``stream=True`` gives the provider's events; tool input comes as pieces of JSON."""
    events = list(ask(anthropic_client, run, 0, stream=True))
    pieces = [
        event.delta.partial_json
        for event in events
        if event.type == "content_block_delta"
        and event.index == 2
        and event.delta.type == "input_json_delta"
    ]
    assert pieces[0] == ""
    assert "".join(pieces) == '{"city":"Oslo"}'
    assert [event.type for event in events[-2:]] == ["message_delta", "message_stop"]


def test_async_client(server: ModelServer, run: Run) -> None:
    """The asynchronous SDK gets the same reply, whole and streamed."""

    async def both() -> tuple[Any, Any]:
        url = server.anthropic_url
        async with anthropic.AsyncAnthropic(base_url=url, api_key="any") as client:
            options = request_of(run)
            create: Any = client.messages.create
            whole = await create(messages=said(run, 1), **options)
            async with client.messages.stream(messages=said(run, 1), **options) as stream:
                return whole, await stream.get_final_message()

    for message in asyncio.run(both()):
        assert message.content[0].text == "I do not"
        assert message.stop_reason == "max_tokens"


def test_marked_prompt_is_written_to_the_cache_once_and_read_after(
    anthropic_client: anthropic.Anthropic, run: Run
) -> None:
    """With ``cache_control`` the system prompt's tokens move out of ``input_tokens``."""
    plain = ask(anthropic_client, run, 0).usage
    marked = [{"type": "text", "text": run.system, "cache_control": {"type": "ephemeral"}}]
    first = ask(anthropic_client, run, 0, system=marked).usage
    later = ask(anthropic_client, run, 1, system=marked).usage

    assert (plain.cache_creation_input_tokens, plain.cache_read_input_tokens) == (0, 0)
    assert first.cache_creation_input_tokens > 0
    assert first.cache_read_input_tokens == 0
    assert first.input_tokens + first.cache_creation_input_tokens == plain.input_tokens
    assert later.cache_creation_input_tokens == 0
    assert later.cache_read_input_tokens == first.cache_creation_input_tokens


@pytest.mark.parametrize(
    ("turn", "status", "kind"),
    [(2, 429, "rate_limit_error"), (3, 500, "api_error"), (4, 529, "overloaded_error")],
)
def test_a_fault_is_an_error_once(
    anthropic_client: anthropic.Anthropic, run: Run, turn: int, status: int, kind: str
) -> None:
    """The first request fails with the provider's error, the next one is answered."""
    with pytest.raises(anthropic.APIStatusError) as raised:
        ask(anthropic_client, run, turn)
    assert raised.value.status_code == status
    body: Any = raised.value.body
    assert body["error"]["type"] == kind

    assert ask(anthropic_client, run, turn).content[0].text == run.turns[turn].replies[0].text


def test_broken_stream(anthropic_client: anthropic.Anthropic, run: Run) -> None:
    """The connection ends in the middle of the reply."""
    options: dict[str, Any] = request_of(run)
    with (
        pytest.raises(Exception, match="incomplete chunked read"),
        anthropic_client.messages.stream(messages=said(run, 5), **options) as stream,
    ):
        stream.get_final_message()


def test_unknown_conversation_is_a_helpful_404(anthropic_client: anthropic.Anthropic) -> None:
    """The error has the provider's form and says what is wrong."""
    with pytest.raises(anthropic.NotFoundError, match="where the recording has user 'Weather in"):
        anthropic_client.messages.create(
            model="claude-sonnet-5",
            max_tokens=10,
            system="Be brief.",
            messages=[{"role": "user", "content": "Hello?"}],
        )


@pytest.mark.parametrize(
    ("messages", "problem"),
    [
        ([{"role": "assistant", "content": "Hi"}], "first message must use the user role"),
        ([{"role": "system", "content": "Hi"}], "messages.0.role"),
        ([{"role": "user", "content": [{"type": "text", "text": ""}]}], "must be non-empty"),
    ],
)
def test_bad_requests_are_refused(
    anthropic_client: anthropic.Anthropic, messages: Any, problem: str
) -> None:
    """What the provider would not accept is a 400 that names the field."""
    with pytest.raises(anthropic.BadRequestError, match=problem):
        anthropic_client.messages.create(model="claude-sonnet-5", max_tokens=9, messages=messages)
