"""Fixtures of the demonstration: a model server with one small run, and SDK clients for it."""

from __future__ import annotations

from collections.abc import Iterator

import anthropic
import openai
import pytest

from turnspan_demo.model import Run
from turnspan_demo.server import ModelServer
from turnspan_demo.written import parse

RUN = """{
  "id": "weather-talk",
  "system": "Be brief.",
  "tools": [{"name": "get_weather", "description": "The weather.", "parameters":
    {"type": "object", "properties": {"city": {"type": "string"}}}}],
  "turns": [
    {"user": "Weather in Oslo and Rome?", "replies": [
      {"text": "Let me look.", "thinking": "Two cities, two calls.", "calls": [
        {"tool": "get_weather", "arguments": {"city": "Oslo"}, "result": "7 degrees"},
        {"tool": "get_weather", "arguments": {"city": "Rome"}, "error": "no such station"}]},
      {"text": "Oslo has 7 degrees \\u2014 for Rome there is no station."}]},
    {"user": "Why?", "replies": [{"text": "I do not", "finish": "length"}]},
    {"user": "And Bergen?", "replies": [{"text": "Rain.", "fault": {"kind": "rate_limit"}}]},
    {"user": "Sure?", "replies": [{"text": "Yes.", "fault": {"kind": "server_error"}}]},
    {"user": "Really?", "replies": [{"text": "Of course.", "fault": {"kind": "overloaded"}}]},
    {"user": "Tell me more.", "replies": [
      {"text": "Bergen has rain on most days of the year, because", "fault":
        {"kind": "broken_stream"}}]}
  ]
}"""


@pytest.fixture(scope="session")
def run() -> Run:
    """A conversation with two tools at once, one of them failing, and four faults."""
    return parse(RUN, "weather-talk")


@pytest.fixture
def server(run: Run) -> Iterator[ModelServer]:
    """A server that plays the run."""
    with ModelServer([run]) as running:
        yield running


@pytest.fixture
def openai_client(server: ModelServer) -> Iterator[openai.OpenAI]:
    """The real OpenAI SDK, pointed at the server; it does not retry."""
    with openai.OpenAI(base_url=server.openai_url, api_key="any", max_retries=0) as client:
        yield client


@pytest.fixture
def anthropic_client(server: ModelServer) -> Iterator[anthropic.Anthropic]:
    """The real Anthropic SDK, pointed at the server; it does not retry."""
    url = server.anthropic_url
    with anthropic.Anthropic(base_url=url, api_key="any", max_retries=0) as client:
        yield client
