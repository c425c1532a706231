"""The real anthropic SDK answered with a recorded reply, and what an application sees of it."""

from __future__ import annotations

import inspect
import json
import warnings
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Final

import anthropic

from support.exchanges import Exchange

HTTP: Any = import_module(anthropic.DefaultHttpxClient.__mro__[1].__module__.partition(".")[0])
"""The HTTP library of the installed SDK: httpx2 since 1.x, httpx before."""

_OMITTED: Any = getattr(anthropic, "omit", anthropic.NOT_GIVEN)
_PIECE: Final = 512


class Recorded:
    """Answers every request with one exchange's reply, piece by piece; if ``real``, the real
    server is asked."""

    def __init__(self, exchange: Exchange, *, real: bool = False) -> None:
        self._exchange = exchange
        self._real = real
        self.sent: list[Any] = []
        """The bodies of the requests that were answered here."""
        self.bodies: list[bytes] = []
        """The same as bytes."""

    def client(self) -> Any:
        """An HTTP client that gets its answers from here."""
        return HTTP.Client(transport=None if self._real else HTTP.MockTransport(self._answer))

    def aclient(self) -> Any:
        """An asynchronous one."""
        transport = None if self._real else HTTP.MockTransport(self._aanswer)
        return HTTP.AsyncClient(transport=transport)

    def _answer(self, request: Any) -> Any:
        self._keep(request.read())
        return self._response(self._pieces())

    async def _aanswer(self, request: Any) -> Any:
        self._keep(await request.aread())
        return self._response(self._apieces())

    def _keep(self, body: bytes) -> None:
        self.bodies.append(body)
        self.sent.append(json.loads(body))

    def _response(self, content: Any) -> Any:
        headers = {"content-type": "application/json", "request-id": "req_recorded"}
        if not self._exchange.body.lstrip().startswith(b"{"):
            headers["content-type"] = "text/event-stream; charset=utf-8"
        return HTTP.Response(self._exchange.status, headers=headers, content=content)

    def _pieces(self) -> Iterator[bytes]:
        body = self._exchange.body
        for start in range(0, len(body), _PIECE):
            yield body[start : start + _PIECE]

    async def _apieces(self) -> AsyncIterator[bytes]:
        for piece in self._pieces():
            yield piece


@dataclass
class View:
    """What the application sees: the objects' types and dumps in order, or the error."""

    seen: list[Any] = field(default_factory=list[Any])
    sent: list[Any] = field(default_factory=list[Any])

    def show(self, value: Any) -> None:
        """One more object of the SDK's."""
        self.seen.append((type(value), dumped(value)))

    def failed(self, error: Exception) -> None:
        """The call raised."""
        status = getattr(error, "status_code", None)
        self.seen.append((type(error), str(error), status, getattr(error, "body", None)))


def dumped(value: Any) -> Any:
    """A model's dump; what is no model as it is."""
    dump = getattr(value, "model_dump", None)
    return dump(warnings=False) if callable(dump) else value


@contextmanager
def _quiet() -> Generator[None, None, None]:
    """Recorded calls use models that the SDK has since deprecated."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.simplefilter("ignore", UserWarning)
        yield


def is_beta(exchange: Exchange) -> bool:
    """Whether the call went through the beta namespace."""
    return "beta=true" in exchange.url


def has_helper(exchange: Exchange) -> bool:
    """Whether the SDK has its ``stream`` helper where the call went; old ones only outside beta."""
    from anthropic.resources.beta.messages import Messages

    return not is_beta(exchange) or hasattr(Messages, "stream")


def sdk_method(client: Any, exchange: Exchange, name: str) -> tuple[Callable[..., Any], Any]:
    """The SDK's method for this call, and its arguments; what it does not know goes beside."""
    api = client.beta.messages if is_beta(exchange) else client.messages
    method = getattr(api, name)
    known = inspect.signature(method).parameters
    given = {"max_tokens": _OMITTED, **exchange.request}
    given.pop("stream", None)
    if name == "create" and exchange.request.get("stream"):
        given["stream"] = True
    # A format is a class in the helpers' signatures; recorded is the schema that was made of it.
    beside = {k: given.pop(k) for k in list(given) if k not in known or k == "output_format"}
    if name == "create" and exchange.request.get("stream") is False:
        beside["stream"] = False
    betas = exchange.request_headers.get("anthropic-beta")
    if betas and is_beta(exchange):
        given["betas"] = betas.split(",")
    return method, {**given, "extra_body": beside or None}


def call(exchange: Exchange, server: Recorded | None = None) -> View:
    """``create``, as it was recorded: whole or streamed."""
    transport, view = server or Recorded(exchange), View()
    with (
        _quiet(),
        anthropic.Anthropic(
            api_key="k",
            max_retries=0,
            timeout=60,
            http_client=transport.client(),
        ) as client,
    ):
        try:
            method, arguments = sdk_method(client, exchange, "create")
            result = method(**arguments)
            if exchange.request.get("stream"):
                view.seen.append(type(result))
                for event in result:
                    view.show(event)
            else:
                view.show(result)
        except anthropic.APIError as error:
            view.failed(error)
    view.sent = transport.sent
    return view


async def acall(exchange: Exchange, server: Recorded | None = None) -> View:
    """``create`` of the asynchronous client."""
    transport, view = server or Recorded(exchange), View()
    with _quiet():
        async with anthropic.AsyncAnthropic(
            api_key="k",
            max_retries=0,
            timeout=60,
            http_client=transport.aclient(),
        ) as client:
            try:
                method, arguments = sdk_method(client, exchange, "create")
                result = await method(**arguments)
                if exchange.request.get("stream"):
                    view.seen.append(type(result))
                    async for event in result:
                        view.show(event)
                else:
                    view.show(result)
            except anthropic.APIError as error:
                view.failed(error)
    view.sent = transport.sent
    return view


def helped(exchange: Exchange) -> View:
    """The ``stream`` helper: its events, its text and its final message."""
    transport, view = Recorded(exchange), View()
    with (
        _quiet(),
        anthropic.Anthropic(api_key="k", max_retries=0, http_client=transport.client()) as client,
    ):
        try:
            method, arguments = sdk_method(client, exchange, "stream")
            with method(**arguments) as stream:
                view.seen.append(type(stream))
                for event in stream:
                    view.show(event)
                view.show(stream.get_final_message())
        except anthropic.APIError as error:
            view.failed(error)
    view.sent = transport.sent
    return view


async def ahelped(exchange: Exchange) -> View:
    """The asynchronous ``stream`` helper."""
    transport, view = Recorded(exchange), View()
    with _quiet():
        async with anthropic.AsyncAnthropic(
            api_key="k", max_retries=0, http_client=transport.aclient()
        ) as client:
            try:
                method, arguments = sdk_method(client, exchange, "stream")
                async with method(**arguments) as stream:
                    view.seen.append(type(stream))
                    async for event in stream:
                        view.show(event)
                    view.show(await stream.get_final_message())
            except anthropic.APIError as error:
                view.failed(error)
    view.sent = transport.sent
    return view
