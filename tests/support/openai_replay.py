"""Replaying a recorded exchange through the real ``openai`` package, old or new."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from importlib import import_module
from typing import Any
from urllib.parse import parse_qs

import openai

from support.openai_facts import ENDPOINT, kind_of, streamed
from support.recordings import Exchange

_HTTP: Any = import_module(openai.DefaultHttpxClient.__mro__[1].__module__.partition(".")[0])
"""The HTTP library that this version of the SDK is built on."""


@dataclass
class Outcome:
    """What the application got: what it dumps to, or how it failed; and what was sent."""

    objects: Any = None
    error: tuple[str, str, Any, Any] | None = None
    sent: dict[str, Any] | None = None


class Replayer:
    """Clients whose server answers with what was recorded; if ``real``, the real one is asked."""

    def __init__(self, *, real: bool = False) -> None:
        self._exchange: Any = None
        self._sent: Any = None
        self.bodies: list[bytes] = []
        """Of the requests that were answered here."""
        transport = None if real else _HTTP.MockTransport(self._answer)
        self._sync = _HTTP.Client(transport=transport)
        self._async = _HTTP.AsyncClient(transport=transport)

    def _answer(self, request: Any) -> Any:
        exchange: Exchange = self._exchange
        self.bodies.append(request.content)
        self._sent = import_module("json").loads(request.content or b"{}")
        headers = {"content-type": exchange.content_type, "x-request-id": "req_1"}
        return _HTTP.Response(exchange.status, headers=headers, content=exchange.response)

    def close(self) -> None:
        """No more calls."""
        self._sync.close()

    async def aclose(self) -> None:
        """No more asynchronous calls."""
        await self._async.aclose()

    def unsupported(self, exchange: Exchange) -> str:
        """Why this SDK cannot make the call; empty if it can."""
        kind = kind_of(exchange)
        if kind in ("responses", "retrieve") and not hasattr(openai.OpenAI, "responses"):
            return f"openai {openai.__version__} has no Responses API"
        return ""

    def call(self, exchange: Exchange) -> Outcome:
        """Make the recorded call and read the whole reply."""
        outcome = Outcome()
        self._exchange = exchange
        client = _client(exchange, openai.OpenAI, openai.AzureOpenAI, self._sync)
        method, arguments = sdk_method(client, exchange)
        try:
            result = method(**arguments)
            if streamed(exchange):
                outcome.objects = [_dumped(chunk) for chunk in result]
            else:
                outcome.objects = _dumped(result)
        except openai.OpenAIError as error:
            outcome.error = _told(error)
        outcome.sent = self._sent
        return outcome

    async def acall(self, exchange: Exchange) -> Outcome:
        """``call`` with the asynchronous client."""
        outcome = Outcome()
        self._exchange = exchange
        client = _client(exchange, openai.AsyncOpenAI, openai.AsyncAzureOpenAI, self._async)
        method, arguments = sdk_method(client, exchange)
        try:
            result = await method(**arguments)
            if streamed(exchange):
                outcome.objects = [_dumped(chunk) async for chunk in result]
            else:
                outcome.objects = _dumped(result)
        except openai.OpenAIError as error:
            outcome.error = _told(error)
        outcome.sent = self._sent
        return outcome


def _client(exchange: Exchange, plain: Any, azure: Any, http: Any) -> Any:
    match = ENDPOINT.fullmatch(exchange.url)
    assert match is not None
    base, _, deployment = match["base"].partition("/deployments/")
    version = parse_qs(match["query"] or "").get("api-version")
    common = {"api_key": "k", "http_client": http, "max_retries": 0}
    if version and ".openai.azure.com" in base:
        endpoint = base.rstrip("/").removesuffix("/openai")
        return azure(azure_endpoint=endpoint, api_version=version[0], **common)
    query = {"api-version": version[0]} if version else {}
    if deployment:
        base = f"{base}/deployments/{deployment}"
    return plain(base_url=base, default_query=query, **common)


def sdk_method(client: Any, exchange: Exchange) -> tuple[Any, dict[str, Any]]:
    kind = kind_of(exchange)
    match = ENDPOINT.fullmatch(exchange.url)
    assert match is not None
    if kind == "retrieve":
        return client.responses.retrieve, {"response_id": match["id"]}
    body = dict(exchange.sent() or {})
    deployment = match["base"].partition("/deployments/")[2]
    body.setdefault("model", deployment)
    method = client.chat.completions.create if kind == "chat" else getattr(client, kind).create
    known = inspect.signature(method).parameters
    arguments = {key: value for key, value in body.items() if key in known}
    extra = {key: value for key, value in body.items() if key not in known}
    return method, {**arguments, **({"extra_body": extra} if extra else {})}


def _dumped(value: Any) -> Any:
    dump = getattr(value, "model_dump", None)
    plain = value if dump is None else dump(warnings=False)
    return type(value).__qualname__, repr(plain)  # the text, because NaN differs from itself


def _told(error: openai.OpenAIError) -> tuple[str, str, Any, Any]:
    status = getattr(error, "status_code", None)
    return type(error).__qualname__, str(error), status, getattr(error, "code", None)
