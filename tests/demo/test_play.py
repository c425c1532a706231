"""Recorded runs are played to the end by plain agent loops over the real SDKs."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import anthropic
import openai
import pytest

from support.shared import enough, trajectories
from turnspan_demo.agents import connect, play, play_async
from turnspan_demo.model import Provider, Run
from turnspan_demo.server import ModelServer
from turnspan_demo.trajectories import load
from turnspan_demo.written import shipped

SAMPLE = 2
SHIPPED = {run.id: run for run in shipped()}


def answers(run: Run) -> list[str]:
    """What the agent must answer, turn by turn; a lost reply answers nothing."""
    last = [turn.replies[-1] for turn in run.turns]
    return [reply.text for reply in last if not reply.lost]


def url(server: ModelServer, provider: Provider) -> str:
    """The base URL for a provider's SDK."""
    return server.openai_url if provider == "openai" else server.anthropic_url


@pytest.fixture(scope="module")
def shipped_server() -> Iterator[ModelServer]:
    """A server with the shipped runs."""
    with ModelServer(SHIPPED.values()) as server:
        yield server


CASES = [(name, provider) for name, run in SHIPPED.items() for provider in run.providers]


@pytest.mark.parametrize(("name", "provider"), CASES)
def test_shipped_run(shipped_server: ModelServer, name: str, provider: Provider) -> None:
    """The agent gives the recorded answers, past retries, failing tools and lost replies."""
    run = SHIPPED[name]
    with connect(provider, url(shipped_server, provider)) as client:
        assert play(run, client, f"sync-{name}").replies == answers(run)


@pytest.mark.parametrize(
    ("name", "stream"),
    [("travel-rebooking", True), ("data-broken-query", False), ("wiki-new-article", True)],
)
def test_shipped_run_with_the_async_sdks(
    shipped_server: ModelServer, name: str, stream: bool
) -> None:
    """The asynchronous loops give the same answers."""
    run = SHIPPED[name]

    async def both() -> list[list[str]]:
        async with (
            openai.AsyncOpenAI(base_url=shipped_server.openai_url, api_key="any") as first,
            anthropic.AsyncAnthropic(
                base_url=shipped_server.anthropic_url, api_key="any"
            ) as second,
        ):
            return [
                (await play_async(run, client, f"async-{name}", stream=stream)).replies
                for client in (first, second)
            ]

    assert asyncio.run(both()) == [answers(run), answers(run)]


@pytest.mark.release
def test_every_trajectory_file_can_be_played() -> None:
    """A few runs of each file give its recorded answers, half of them streamed."""
    files = trajectories()
    assert len(files) == enough(12, 4)
    runs = [run for file in files for run in load(file, SAMPLE)]
    assert len(runs) == SAMPLE * len(files)
    providers: tuple[Provider, ...] = ("openai", "anthropic")
    with ModelServer(runs) as server:
        for provider in providers:
            with connect(provider, url(server, provider)) as client:
                for number, run in enumerate(runs):
                    played = play(run, client, f"{run.id}-play", stream=number % 2 == 0)
                    assert played.replies == answers(run), run.id


def test_a_run_that_the_server_lacks_is_the_sdks_error() -> None:
    """The loop does not hide the server's 404 from its caller."""
    run = SHIPPED["weather"]
    with (
        ModelServer() as server,
        connect("openai", server.openai_url) as client,
        pytest.raises(openai.NotFoundError, match="no recorded runs"),
    ):
        play(run, client, "nothing")
