"""What a call used, by kind and modality, and what it cost: of every API that tells it."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import anthropic
import openai
import pytest

from support.gemini_bodies import content
from support.google_sdk import genai
from support.normalised import Landed
from turnspan.testing import ModelServer
from turnspan_clickhouse.rows.tables import LlmCall

CHAT = {
    "prompt_tokens": 100,
    "completion_tokens": 60,
    "total_tokens": 160,
    "prompt_tokens_details": {
        "cached_tokens": 20,
        "audio_tokens": 70,
        "cached_tokens_details": {"text_tokens": 15, "audio_tokens": 5},
    },
    "completion_tokens_details": {"audio_tokens": 50, "text_tokens": 10, "reasoning_tokens": 0},
}
HEARD = {
    "gen_ai.usage.audio.input_tokens": "70",
    "gen_ai.usage.text.cache_read.input_tokens": "15",
    "gen_ai.usage.audio.cache_read.input_tokens": "5",
    "gen_ai.usage.audio.output_tokens": "50",
    "gen_ai.usage.text.output_tokens": "10",
}
IMAGE = "gemini-2.5-flash-image"
IMAGES = {
    "input_tokens": 100,
    "output_tokens": 60,
    "total_tokens": 160,
    "input_tokens_details": {"cached_tokens": 0, "image_tokens": 80, "text_tokens": 20},
    "output_tokens_details": {"reasoning_tokens": 0},
}


def kinds(row: LlmCall) -> dict[str, str]:
    """The attributes of usage that have no column."""
    attributes: Any = row.attributes
    found: dict[str, str] = attributes.texts()
    return {name: value for name, value in found.items() if ".usage." in name}


def chat(usage: Any) -> dict[str, Any]:
    """A chat completion of OpenAI."""
    message = {"role": "assistant", "content": "Yes."}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    head = {"id": "c", "object": "chat.completion", "created": 1, "model": "gpt-audio"}
    return {**head, "choices": [choice], "usage": usage}


def chunks(usage: Any) -> list[dict[str, Any]]:
    """The same as a stream."""
    whole = chat(None)
    head = {**whole, "object": "chat.completion.chunk"}
    delta = {"index": 0, "delta": {"role": "assistant", "content": "Yes."}, "finish_reason": "stop"}
    return [{**head, "choices": [delta]}, {**head, "choices": [], "usage": usage}]


@pytest.mark.parametrize("streamed", [False, True])
def test_audio_of_chat_completions(
    streamed: bool, server: ModelServer, gpt: openai.OpenAI, rows: Landed
) -> None:
    """Tokens heard and spoken have their own price: 10 of text and 65 of audio new, 20 read."""
    asked: Any = {"model": "gpt-audio", "messages": [{"role": "user", "content": "hi"}]}
    if streamed:
        server.stream(chunks(CHAT))
        list(gpt.chat.completions.create(stream=True, **asked))
    else:
        server.answer(chat(CHAT))
        gpt.chat.completions.create(**asked)

    (row,) = rows.calls
    assert kinds(row) == HEARD
    assert (row.input_tokens, row.output_tokens, row.cache_read_tokens) == (100, 60, 20)
    # 30 of text and 70 of audio in (no price for cached ones), 10 of text and 50 of audio out
    assert row.cost_usd == Decimal("0.005615")


def test_no_audio_leaves_no_kinds(server: ModelServer, gpt: openai.OpenAI, rows: Landed) -> None:
    """OpenAI tells zeros with every answer."""
    none = {"audio_tokens": 0, "cached_tokens": 0}
    server.answer(
        chat({**CHAT, "prompt_tokens_details": none, "completion_tokens_details": {**none}})
    )
    gpt.chat.completions.create(model="gpt-audio", messages=[{"role": "user", "content": "hi"}])

    (row,) = rows.calls
    assert kinds(row) == {}
    assert row.cost_usd == Decimal("0.00085")


@pytest.mark.needs("openai.resources.responses:Responses")
@pytest.mark.parametrize("drawn", [False, True])
def test_searches_and_images_of_responses(
    drawn: bool, server: ModelServer, gpt: openai.OpenAI, rows: Landed
) -> None:
    """A search is charged; what is done with a page that was found is not. What another model
    charges for an image that it draws is not known."""
    actions = ["search", "open_page", "find_in_page", "search"]
    output: list[Any] = [
        {"type": "web_search_call", "id": f"w{n}", "status": "completed", "action": {"type": kind}}
        for n, kind in enumerate(actions)
    ]
    output.append({"type": "file_search_call", "id": "f", "status": "completed", "queries": ["q"]})
    if drawn:
        made = {"status": "completed", "result": "iVBORw0KGgo=", "action": "generate"}
        output.append({"type": "image_generation_call", "id": "i", **made})
    head: dict[str, Any] = {
        "id": "r",
        "object": "response",
        "created_at": 1,
        "model": "gpt-5",
        "tools": [],
    }
    server.answer({**head, "status": "completed", "output": output, "usage": IMAGES})
    gpt.responses.create(model="gpt-5", input="hi")

    (row,) = rows.calls
    assert kinds(row) == {
        "gen_ai.usage.image.input_tokens": "80",
        "gen_ai.usage.text.input_tokens": "20",
        "turnspan.usage.web_searches": "2",
        "turnspan.usage.file_searches": "1",
        **({"turnspan.usage.image_generations": "1"} if drawn else {}),
    }
    assert row.cost_usd == (None if drawn else Decimal("0.023225"))


@pytest.mark.parametrize("streamed", [False, True])
def test_searches_of_anthropic(
    streamed: bool, server: ModelServer, claude: anthropic.Anthropic, rows: Landed
) -> None:
    """As its usage counts them, also where that comes at a stream's end."""
    used = {"input_tokens": 100, "output_tokens": 10}
    searched = {**used, "server_tool_use": {"web_search_requests": 3}}
    message: dict[str, Any] = {"id": "m", "type": "message", "role": "assistant"}
    message |= {"model": "claude-haiku-4-5", "content": [], "stop_reason": None}
    asked: Any = {"model": "claude-haiku-4-5", "max_tokens": 9}
    asked["messages"] = [{"role": "user", "content": "hi"}]
    if streamed:
        ended = {"stop_reason": "end_turn", "stop_sequence": None}
        server.stream(
            [
                ("message_start", {"type": "message_start", "message": {**message, "usage": used}}),
                ("message_delta", {"type": "message_delta", "delta": ended, "usage": searched}),
                ("message_stop", {"type": "message_stop"}),
            ]
        )
        list(claude.messages.create(stream=True, **asked))
    else:
        server.answer({**message, "stop_reason": "end_turn", "usage": searched})
        claude.messages.create(**asked)

    (row,) = rows.calls
    assert kinds(row) == {"turnspan.usage.web_searches": "3"}
    assert row.cost_usd == Decimal("0.03015")


@pytest.mark.parametrize(
    ("counts", "expected", "cost"),
    [
        pytest.param(
            {
                "promptTokenCount": 100,
                "candidatesTokenCount": 1300,
                "promptTokensDetails": [
                    {"modality": "TEXT", "tokenCount": 20},
                    {"modality": "IMAGE", "tokenCount": 50},
                    {"modality": "DOCUMENT", "tokenCount": 30},
                ],
                "candidatesTokensDetails": [{"modality": "IMAGE", "tokenCount": 1290}],
            },
            {
                "gen_ai.usage.text.input_tokens": "20",
                "gen_ai.usage.image.input_tokens": "80",
                "gen_ai.usage.image.output_tokens": "1290",
            },
            "0.038755",
            id="an image is made of a document and an image",
        ),
        pytest.param(
            {
                "promptTokenCount": 100,
                "candidatesTokenCount": 10,
                "promptTokensDetails": [{"modality": "TEXT"}, {"tokenCount": 4}, 7, None],
                "cacheTokensDetails": {"modality": "TEXT"},
                "candidatesTokensDetails": [{"modality": "SMELL", "tokenCount": 5}],
                "toolUsePromptTokensDetails": [{"modality": "TEXT", "tokenCount": "5"}],
            },
            {},
            "0.000055",
            id="nothing that is known",
        ),
    ],
)
def test_modalities_of_gemini(
    counts: dict[str, Any],
    expected: dict[str, str],
    cost: str,
    server: ModelServer,
    rows: Landed,
) -> None:
    """Pages of documents are images; what is odd counts as nothing, and costs what text does."""
    answered(server, content({"text": "x"}, usageMetadata=counts, modelVersion=IMAGE))

    (row,) = rows.calls
    assert kinds(row) == expected
    assert row.cost_usd == Decimal(cost)


@pytest.mark.parametrize(
    ("counts", "tier"),
    [
        ({"serviceTier": "standard", "trafficType": "ON_DEMAND"}, None),
        ({"serviceTier": "flex"}, "flex"),
        ({"trafficType": "ON_DEMAND_PRIORITY"}, "priority"),
        ({"trafficType": "PROVISIONED_THROUGHPUT", "serviceTier": 5}, "provisioned_throughput"),
        ({"trafficType": "TRAFFIC_TYPE_UNSPECIFIED", "serviceTier": None}, None),
    ],
)
def test_tiers_of_gemini(
    counts: dict[str, Any], tier: str | None, server: ModelServer, rows: Landed
) -> None:
    """Named where they are not the usual one; what they cost is not known then."""
    usage = {"promptTokenCount": 100, "candidatesTokenCount": 10, **counts}
    answered(server, content({"text": "x"}, usageMetadata=usage, modelVersion=IMAGE))

    (row,) = rows.calls
    attributes: Any = row.attributes
    assert attributes.texts().get("turnspan.response.service_tier") == tier
    assert row.cost_usd == (Decimal("0.000055") if tier is None else None)


@pytest.mark.parametrize(
    ("grounding", "expected", "cost"),
    [
        ({"webSearchQueries": ["a", "", "b"]}, {"web_searches": "2"}, "0.028"),
        ({"webSearchQueries": ["a"], "imageSearchQueries": ["b"]}, {"web_searches": "2"}, "0.028"),
        ({"searchEntryPoint": {"renderedContent": "<p>"}}, {"web_searches": "1"}, "0.014"),
        ({"groundingChunks": [{"web": {"uri": "u"}}]}, {}, "0"),
        ({"groundingChunks": [{"maps": {"uri": "u"}}, 5]}, {"map_searches": "1"}, None),
        ({"webSearchQueries": "a", "groundingChunks": {"maps": 1}}, {}, "0"),
        ([], {}, "0"),
    ],
)
def test_searches_of_gemini(
    grounding: Any, expected: dict[str, str], cost: str | None, server: ModelServer, rows: Landed
) -> None:
    """Queries that ask something; a page read by its address is none. Maps have no price."""
    usage = {"promptTokenCount": 0, "candidatesTokenCount": 0}
    answer = content({"text": "x"}, usageMetadata=usage, modelVersion="gemini-3.5-flash")
    answer["candidates"][0]["groundingMetadata"] = grounding
    answered(server, answer)

    (row,) = rows.calls
    assert kinds(row) == {f"turnspan.usage.{name}": count for name, count in expected.items()}
    assert row.cost_usd == (None if cost is None else Decimal(cost))


def answered(server: ModelServer, answer: dict[str, Any]) -> None:
    """Ask the image model, as the SDK's methods send, and get this."""
    options: Any = {"base_url": server.url}
    google = genai.Client(api_key="k", http_options=options)
    server.answer(answer)
    body = {"contents": [{"parts": [{"text": "hi"}]}]}
    google._api_client.request("post", f"models/{IMAGE}:generateContent", body, None)
