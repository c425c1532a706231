"""Plays recorded runs: one session each, through the real SDKs, recorded by Turnspan."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, TypeAlias

import turnspan
from turnspan_demo.agents.desk import Desk
from turnspan_demo.model import Provider, Run, Turn, as_sent
from turnspan_demo.server.wire import INSTANCE_HEADER, RUN_HEADER

if TYPE_CHECKING:
    from anthropic import Anthropic, AsyncAnthropic
    from openai import AsyncOpenAI, OpenAI

    from turnspan_demo.agents.anthropic_agent import AnthropicAgent, AsyncAnthropicAgent
    from turnspan_demo.agents.openai_agent import AsyncOpenAIAgent, OpenAIAgent

    Client: TypeAlias = OpenAI | Anthropic
    AsyncClient: TypeAlias = AsyncOpenAI | AsyncAnthropic

API_KEY = "replay"
"""Any key will do: the model server does not look at it."""


@dataclass(slots=True)
class Played:
    """A run that was played: its session, and what the agent answered turn by turn."""

    run: Run
    provider: Provider
    session_id: str
    replies: list[str] = field(default_factory=list[str])


def play(run: Run, client: Client, session_id: str, *, stream: bool | None = None) -> Played:
    """Play a run with an SDK's client whose ``base_url`` is the model server.

    ``stream`` ``None`` streams where the run says so. A turn whose reply is lost (a fault that no
    retry mends) ends with the SDK's exception, which the application here survives.
    """
    provider = provider_of(client)
    recorded = as_sent(run, provider)
    agent = _agent(recorded, client, session_id, run.stream if stream is None else stream)
    played = Played(run, provider, session_id)

    def nested(inner: Run) -> str:
        return play(inner, client, session_id, stream=stream).replies[-1]

    with turnspan.session(session_id, user_id=run.user_id):
        answer = turnspan.agent(run.agent, max_rounds=run.max_rounds)(agent.answer)
        for turn in recorded.turns:
            with _Survived(turn):
                played.replies.append(answer(turn.user, Desk(recorded, turn, nested)))
    return played


async def play_async(
    run: Run, client: AsyncClient, session_id: str, *, stream: bool | None = None
) -> Played:
    """The same with an asynchronous client (nested agents stay synchronous)."""
    provider = provider_of(client)
    recorded = as_sent(run, provider)
    agent = _async_agent(recorded, client, session_id, run.stream if stream is None else stream)
    played = Played(run, provider, session_id)

    def nested(inner: Run) -> str:
        with connect(provider, str(client.base_url)) as twin:
            return play(inner, twin, session_id, stream=stream).replies[-1]

    with turnspan.session(session_id, user_id=run.user_id):
        answer = turnspan.agent(run.agent, max_rounds=run.max_rounds)(agent.answer)
        for turn in recorded.turns:
            with _Survived(turn):
                played.replies.append(await answer(turn.user, Desk(recorded, turn, nested)))
    return played


def connect(provider: Provider, url: str) -> Client:
    """An SDK's client for a model server; ``url`` is the SDK's ``base_url``."""
    if provider == "openai":
        from openai import OpenAI

        return OpenAI(base_url=url, api_key=API_KEY)
    from anthropic import Anthropic

    return Anthropic(base_url=url, api_key=API_KEY)


def provider_of(client: object) -> Provider:
    """Which provider's SDK a client belongs to."""
    return "anthropic" if type(client).__module__.startswith("anthropic") else "openai"


def _agent(run: Run, client: Client, instance: str, stream: bool) -> OpenAIAgent | AnthropicAgent:
    headers = {RUN_HEADER: run.id, INSTANCE_HEADER: instance}
    from openai import OpenAI

    if isinstance(client, OpenAI):
        from turnspan_demo.agents.openai_agent import OpenAIAgent

        return OpenAIAgent(client.with_options(default_headers=headers), run, stream=stream)
    from turnspan_demo.agents.anthropic_agent import AnthropicAgent

    return AnthropicAgent(client.with_options(default_headers=headers), run, stream=stream)


def _async_agent(
    run: Run, client: AsyncClient, instance: str, stream: bool
) -> AsyncOpenAIAgent | AsyncAnthropicAgent:
    headers = {RUN_HEADER: run.id, INSTANCE_HEADER: instance}
    from openai import AsyncOpenAI

    if isinstance(client, AsyncOpenAI):
        from turnspan_demo.agents.openai_agent import AsyncOpenAIAgent

        return AsyncOpenAIAgent(client.with_options(default_headers=headers), run, stream=stream)
    from turnspan_demo.agents.anthropic_agent import AsyncAnthropicAgent

    return AsyncAnthropicAgent(client.with_options(default_headers=headers), run, stream=stream)


class _Survived:
    """Swallows a turn's exception where the recording says that its reply never arrives."""

    def __init__(self, turn: Turn) -> None:
        self._lost = turn.replies[-1].lost

    def __enter__(self) -> None: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        return self._lost and isinstance(error, Exception)
