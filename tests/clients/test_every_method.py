"""Every method of the newest SDKs that can be called by its signature: each request that is not
known to cost nothing is one record or named gap. Silent: 0; twice: 0; invented: 0.

What was called is kept in ``methods.json``, of which docs/coverage.md is made (``make reference``);
``TURNSPAN_TEST_METHODS=write`` writes it anew.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import os
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from clients.kinds import CLIENTS
from clients.methods import arguments, aws_methods, call, methods
from clients.provider import Provider
from turnspan.runtime.guard import errors
from turnspan.testing import record
from turnspan.wire.gaps import watch
from turnspan.wire.operations import FREE, operation_of
from turnspan_clickhouse.rows.tables import LlmCall

KEPT = Path(__file__).with_name("methods.json")
SDKS = {
    "openai": ("openai", 90),
    "anthropic": ("anthropic", 40),
    "google-genai": ("google_genai", 10),
    "mistralai": ("mistralai", 25),
    "cohere": ("cohere", 15),
    "groq": ("groq", 8),
    "ollama": ("ollama", 8),
    "together": ("together", 25),
    "huggingface_hub": ("huggingface_hub", 10),
    "boto3": ("bedrock", 8),
}
"""The library's name as the watch has it, and how many methods send a request at least."""
FETCHES = ("responses.cancel", "interactions.cancel")
"""What costs nothing, but brings the answer of a call that was made in the background."""
ELSEWHERE = ("web_fetch", "web_search")
"""What asks a host of the provider's, whatever address the client has."""
Calls = list[tuple[str, Any, dict[str, Any]]]


def calls(name: str, client: Any) -> Calls:
    """The methods of a client, each with arguments; those that can stream a second time."""
    if name == "boto3":
        return list(aws_methods(client))
    found: Calls = []
    for path, function in methods(client):
        for streamed in (False, True):
            try:
                given = arguments(function, streamed=streamed)
            except (TypeError, ValueError):  # without a signature
                continue
            if given is not None and not path.endswith((*FETCHES, *ELSEWHERE)):
                found.append((path, function, given))
    return found


def client_of(name: str, url: str, *, asynchronous: bool) -> Any:
    """The client itself, where the kinds call it by something else."""
    if name == "mistralai":
        return import_module("mistralai.client").Mistral(api_key="k", server_url=url)
    return CLIENTS[f"{name}, asynchronous" if asynchronous else name].make(url)


@pytest.mark.parametrize("asynchronous", [False, True], ids=["synchronous", "asynchronous"])
@pytest.mark.parametrize("name", SDKS)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.timeout(600)
def test_every_request_is_a_record_or_costs_nothing(
    name: str, asynchronous: bool, counting: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever becomes of the answer in the SDK."""
    if asynchronous and name == "boto3":
        return  # it has no such client
    monkeypatch.setenv("OPENAI_ADMIN_KEY", "k")
    library, least = SDKS[name]
    wrong: list[str] = []
    asking: set[str] = set()
    costing = free = 0
    loop = asyncio.new_event_loop()
    watch.forget()
    errors.reset()
    with record() as recorded:
        client = client_of(name, counting.url, asynchronous=asynchronous)
        for path, function, given in calls(name, client):
            if name == "mistralai" and path.endswith("_async") != asynchronous:
                continue
            before, rows, gaps = len(counting.all), len(recorded.rows(LlmCall)), watch.total()
            refused = call(loop, function, given)
            received = counting.all[before:]
            asked = [one for one in received if operation_of(*one, f"127.0.0.1 {library}") != FREE]
            made = recorded.rows(LlmCall)[rows:]
            asking |= {path} if received else set()
            costing += len(asked)
            free += len(received) - len(asked)
            if len(made) + watch.total() - gaps != len(asked):
                became = [row.operation for row in made]
                wrong.append(f"{path}{sorted(given)}: {asked} became {became} ({refused})")
        closed = client.close() if inspect.ismethod(getattr(client, "close", None)) else None
        if inspect.isawaitable(closed):
            loop.run_until_complete(closed)
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()
    watch.forget()
    counted = {"methods": len(asking), "requests": costing, "free": free}
    key = f"{name}, asynchronous" if asynchronous else name
    print(f"{key}: {counted}")
    assert not wrong, "\n".join(wrong)
    assert errors.counts() == {}
    assert len(asking) >= least, counted
    kept: dict[str, Any] = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    if os.environ.get("TURNSPAN_TEST_METHODS") == "write":
        kept[key] = counted
        KEPT.write_text(json.dumps(dict(sorted(kept.items())), indent=1) + "\n", encoding="utf-8")
    assert kept[key] == counted
