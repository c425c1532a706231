"""Servers of the internet that answer what a test says, without a connection."""

from __future__ import annotations

import json
from typing import Any

import openai

from support.sdks import HTTP


def answering(response: Any) -> Any:
    """A client for whom every server answers this."""

    def answer(request: Any) -> Any:
        return response

    return HTTP.Client(transport=HTTP.MockTransport(answer))


def gpt(response: Any, host: str = "api.example.com") -> openai.OpenAI:
    """OpenAI's client, for a server of the internet."""
    return openai.OpenAI(
        base_url=f"https://{host}/v1", api_key="k", max_retries=0, http_client=answering(response)
    )


def events(*chunks: dict[str, Any]) -> Any:
    """A stream of chunks."""
    lines = [f"data: {json.dumps(each)}\n\n" for each in chunks]
    body = "".join([*lines, "data: [DONE]\n\n"]).encode()
    return HTTP.Response(200, content=body, headers={"content-type": "text/event-stream"})
