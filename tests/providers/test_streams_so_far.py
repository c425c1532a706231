"""What has come of a stream is read by another thread while it goes on: that changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import anthropic
import openai
import pytest

import turnspan
from support.google_sdk import genai
from support.interaction_bodies import MODEL, STEPS, events, interaction
from turnspan.testing import ModelServer, RecordedCall, ToolRequest, record
from turnspan.tracing.state import current
from turnspan_clickhouse.rows.tables import LlmCall

HELLO: list[Any] = [{"role": "user", "content": "hi"}]


def chat(url: str) -> tuple[Any, Any]:
    client = openai.OpenAI(base_url=url, api_key="k")
    return client, client.chat.completions.create(model="m", messages=HELLO, stream=True)


def responses(url: str) -> tuple[Any, Any]:
    client = openai.OpenAI(base_url=url, api_key="k")
    return client, client.responses.create(model="m", input="hi", stream=True)


def messages(url: str) -> tuple[Any, Any]:
    client = anthropic.Anthropic(base_url=url, api_key="k")
    return client, client.messages.create(model="m", messages=HELLO, max_tokens=9, stream=True)


def contents(url: str) -> tuple[Any, Any]:
    client = genai.Client(api_key="k", http_options={"base_url": url})
    return client, client.models.generate_content_stream(model="m", contents="hi")


def interactions(url: str) -> tuple[Any, Any]:
    client = genai.Client(api_key="k", http_options={"base_url": url})
    return client, client.interactions.create(model=MODEL, input="hi", stream=True)


def by_hand(_: str) -> tuple[Any, Any]:
    return None, pieces()


def pieces() -> Iterator[str]:
    with turnspan.inference(model="m", messages=HELLO) as call:
        for piece in ("Let ", "me ", "look."):
            call.chunk(piece)
            yield piece
        call.response(tool_calls=[{"id": "t", "name": "weather", "arguments": {"city": "Oslo"}}])
        yield ""


def folded_into(reply: Any) -> dict[str, str]:
    """All that the chunks of a stream are folded into, as text."""
    kept = getattr(reply, "__self__", None)
    slots = [name for kind in type(kept).__mro__ for name in getattr(kind, "__slots__", ())]
    return {name: repr(getattr(kept, name)) for name in slots}


def read(
    begin: Callable[[str], tuple[Any, Any]], looked: bool, most: int
) -> tuple[RecordedCall, LlmCall]:
    """What is recorded of a stream that is read up to so many chunks."""
    with ModelServer() as server:
        if begin is interactions:
            server.stream(events(interaction(*STEPS)))
        else:
            asked = [ToolRequest("weather", {"city": "Oslo"}), ToolRequest("time", {})]
            server.reply("Let me look what the weather is like.", tool_requests=asked)
        with record() as recorded:
            client, stream = begin(server.url)
            for number, _ in enumerate(stream, 1):
                found = [*current().content.open_calls.values()]
                assert len(found) <= 1
                if looked and found and found[0][2] is not None:
                    before = folded_into(found[0][2])
                    assert found[0][2]() == found[0][2]()
                    assert folded_into(found[0][2]) == before
                if number == most:
                    break
            (stream.close if hasattr(stream, "close") else stream.response.close)()
            del stream, client
        return recorded.call(), recorded.rows(LlmCall)[0]


@pytest.mark.parametrize(
    "begin",
    [
        chat,
        pytest.param(responses, marks=pytest.mark.needs("openai.resources.responses")),
        messages,
        contents,
        by_hand,
        pytest.param(interactions, marks=pytest.mark.needs("google.genai._gaos.interactions")),
    ],
)
@pytest.mark.parametrize("most", [3, 6, 1000])
def test_reading_a_stream_so_far(begin: Callable[[str], tuple[Any, Any]], most: int) -> None:
    """Read after every chunk, it is recorded as one that nobody looks at: read to the end, or left
    in the middle."""
    (one, row), (other, same) = (read(begin, looked, most) for looked in (False, True))
    assert (one.text, one.finish_reasons) == (other.text, other.finish_reasons)
    asked = [[(each.name, each.arguments) for each in call.tool_requests] for call in (one, other)]
    assert asked[0] == asked[1]
    assert row.response_thoughts == same.response_thoughts
    assert len(row.output_messages) == len(same.output_messages)
    assert current().content.open_calls == {}
