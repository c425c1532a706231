"""Proof that requests to models are recorded here: each installed client asks a model on loopback,
and what lands of it is counted. Nothing leaves the machine, and nothing lands in the store."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Collection, Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

from turnspan.testing import ModelServer, record
from turnspan_clickhouse.rows.tables import LlmCall
from turnspan_console.checks.check import FAIL, OK, Check

_AREA: Final = "proof"
_HELLO: Final = [{"role": "user", "content": "hello"}]
_ASKED: Final[dict[str, Any]] = {"model": "m", "messages": _HELLO}
_HEADERS: Final = {"Content-Type": "application/json"}
_PATH: Final = "/v1/chat/completions"


def proof_checks(only: Collection[str] = ()) -> Iterator[Check]:
    """One check a client, and one of all requests. ``only`` are the libraries of which a client
    is tried; Python's own where none of them is a client."""
    wanted = {name for name in _CLIENTS if name.replace("-", "_") in only} or {"urllib"}
    asked = landed = 0
    with ModelServer() as server, record() as recorded:
        for name, (module, ask) in _CLIENTS.items():
            if (only and name not in wanted) or find_spec(module.partition(".")[0]) is None:
                continue
            server.reply("Hello.")
            before, sent = len(recorded.rows(LlmCall)), len(server.requests)
            ask(import_module(module), server.url)
            rows = len(recorded.rows(LlmCall)) - before
            requests = len(server.requests) - sent
            asked, landed = asked + requests, landed + rows
            yield _check(name, requests, rows)
    yield Check(_AREA, "all clients", OK, f"{asked} requests to models, {landed} records")


def _check(name: str, requests: int, rows: int) -> Check:
    finding = f"{requests} request{'s' * (requests != 1)}, {rows} record{'s' * (rows != 1)}"
    if requests == rows:
        return Check(_AREA, name, OK, finding)
    advice = "See the checks of the application above, and docs/instrumentation.md."
    return Check(_AREA, name, FAIL, finding, advice)


def _openai(library: Any, url: str) -> None:
    with library.OpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0) as client:
        client.chat.completions.create(**_ASKED)


def _anthropic(library: Any, url: str) -> None:
    with library.Anthropic(base_url=url, api_key="k", max_retries=0) as client:
        client.messages.create(max_tokens=9, **_ASKED)


def _google(library: Any, url: str) -> None:
    client = library.Client(api_key="k", http_options={"base_url": url})
    client.models.generate_content(model="m", contents="hello")


def _httpx(library: Any, url: str) -> None:
    library.post(url + _PATH, json=_ASKED)


def _urllib3(library: Any, url: str) -> None:
    body = json.dumps(_ASKED)
    library.PoolManager().request("POST", url + _PATH, body=body, headers=_HEADERS)


def _urllib(library: Any, url: str) -> None:
    data = json.dumps(_ASKED).encode()
    library.urlopen(library.Request(url + _PATH, data=data, headers=_HEADERS)).read()


def _aiohttp(library: Any, url: str) -> None:
    async def ask() -> None:
        async with (
            library.ClientSession() as session,
            session.post(url + _PATH, json=_ASKED) as response,
        ):
            await response.read()

    asyncio.run(ask())


_CLIENTS: Final[dict[str, tuple[str, Callable[[Any, str], None]]]] = {
    "openai": ("openai", _openai),
    "anthropic": ("anthropic", _anthropic),
    "google-genai": ("google.genai", _google),
    "httpx": ("httpx", _httpx),
    "httpx2": ("httpx2", _httpx),
    "requests": ("requests", _httpx),
    "urllib3": ("urllib3", _urllib3),
    "urllib": ("urllib.request", _urllib),
    "aiohttp": ("aiohttp", _aiohttp),
}
"""The clients, by the modules that are imported for them."""
