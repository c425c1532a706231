"""What the conventions 0.1.0 name: a compacted conversation, a prompt that a provider keeps."""

from __future__ import annotations

from typing import Any

import anthropic
import openai
import pytest

from providers.conftest import Spans
from support.model_replies import message
from turnspan.testing import ModelServer

COMPACTED = "gen_ai.conversation.compacted"
ANSWER: dict[str, Any] = {
    "id": "resp_1",
    "object": "response",
    "created_at": 1,
    "status": "completed",
    "model": "gpt-4o",
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
}


def said(text: str) -> dict[str, Any]:
    """A message of a response."""
    block: dict[str, Any] = {"type": "output_text", "text": text, "annotations": []}
    return {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [block],
    }


@pytest.mark.needs("openai.resources.responses")
@pytest.mark.parametrize("compacted", [True, False])
def test_a_response_that_compacted_its_conversation(
    spans: Spans, server: ModelServer, compacted: bool
) -> None:
    """Said only where it is so; a prompt that OpenAI keeps has its name and version."""
    item = {"id": "c", "type": "compaction", "encrypted_content": "x"}
    server.answer({**ANSWER, "output": [*([item] if compacted else ()), said("Hi")]})
    with openai.OpenAI(base_url=server.url, api_key="k") as client:
        client.responses.create(
            model="gpt-4o",
            input="hi",
            prompt={"id": "pmpt_1", "version": "3", "variables": {"city": "Rome"}},
        )
    attributes = spans.attributes()

    assert attributes.get(COMPACTED) == (True if compacted else None)
    assert attributes["gen_ai.prompt.name"] == "pmpt_1"
    assert attributes["gen_ai.prompt.version"] == "3"
    assert "Rome" not in str(attributes)


@pytest.mark.parametrize(
    ("summary", "compacted"), [("They greeted.", True), (None, None)], ids=["done", "failed"]
)
def test_a_message_that_compacted_its_conversation(
    spans: Spans, server: ModelServer, summary: str | None, compacted: bool | None
) -> None:
    """A block without a summary is a compaction that failed: the model had it all."""
    block = {"type": "compaction", "content": summary}
    server.answer(message(block, {"type": "text", "text": "Hi"}))
    with anthropic.Anthropic(base_url=server.url, api_key="k") as client:
        client.beta.messages.create(
            model="claude-test", max_tokens=9, messages=[{"role": "user", "content": "hi"}]
        )

    assert spans.attributes().get(COMPACTED) is compacted
