"""The application: the guard, the built files, and the endpoints of ``api/``."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import time
from collections.abc import AsyncGenerator, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from turnspan_clickhouse.errors import (
    MayNotInsertError,
    NoStoreError,
    QueryError,
    SpoolError,
    StoreBusyError,
    StoreError,
    StoreUnavailableError,
)
from turnspan_clickhouse.store.read_only import Cancellation
from turnspan_console.web import openapi
from turnspan_console.web.api import endpoints
from turnspan_console.web.api.address import Serving
from turnspan_console.web.endpoints import (
    BadRequestError,
    DetailedError,
    NothingFoundError,
    WebEndpoint,
    written,
)
from turnspan_console.web.guard import LOOPBACK, App, Guard, RequestTooLargeError
from turnspan_console.web.reader import StoreReader

_log = logging.getLogger(__name__)


def make_app(
    reader: StoreReader,
    *,
    tokens: Sequence[str],
    port: int,
    names: Iterable[str] = (),
    address: str = "",
    token_file: str = "",
) -> App:
    """The page over a reader's store. ``tokens``, ``port`` and ``names`` are those of ``Guard``;
    ``address`` and ``token_file`` are shown in Settings."""
    names = tuple(names)
    serving = Serving(address, (*(f"{name}:{port}" for name in LOOPBACK), *names), token_file)

    @contextlib.asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncGenerator[None]:
        yield
        reader.close()

    routes = [_route(one, reader) for one in endpoints(serving)]
    routes += [
        Route("/api/openapi.json", _described, methods=["GET"]),
        Route("/api/{rest:path}", _unknown, methods=["GET", "POST"]),
        Route("/static/{name}", _file, methods=["GET"]),
        # Any other address is one of the page's own, which reads it.
        Route("/{rest:path}", _file, methods=["GET"]),
    ]
    inner = Starlette(routes=routes, lifespan=lifespan)
    return Guard(inner, tokens=tokens, port=port, names=names)


def _route(endpoint: WebEndpoint[Any, Any], reader: StoreReader) -> Route:
    async def handle(request: Request) -> Response:
        try:
            body = await request.body() if endpoint.method == "POST" else b""
            query = endpoint.read(request.query_params.multi_items(), body)
            if endpoint.storeless:
                told = await asyncio.to_thread(endpoint.answered_without, reader.dsn, query)
                return Response(written(told), media_type="application/json")
            begun = time.perf_counter()
            cancellation = Cancellation()
            asking = reader.ask(
                lambda store: written(endpoint.answered(store, query, cancellation)),
                apart=endpoint.apart,
                create=endpoint.creates,
            )
            answer = await (
                _waited_for(request, asking, cancellation) if endpoint.apart else asking
            )
            took = (time.perf_counter() - begun) * 1_000
        except Exception as error:  # noqa: BLE001  every error is answered, with what to do
            return _refused(endpoint, error)
        return Response(
            answer,
            media_type="application/json",
            headers={"server-timing": f"store;dur={took:.1f}"},
        )

    return Route(endpoint.path, handle, methods=[endpoint.method])


async def _waited_for(
    request: Request, asking: Coroutine[Any, Any, bytes], cancellation: Cancellation
) -> bytes:
    """The answer; where the browser does not wait for it any more, what runs is ended."""
    answering = asyncio.ensure_future(asking)
    # The body has been read: all that can come is that the browser is gone.
    leaving = asyncio.ensure_future(request.receive())
    try:
        await asyncio.wait((answering, leaving), return_when=asyncio.FIRST_COMPLETED)
        if not answering.done():
            try:
                await asyncio.to_thread(cancellation.cancel)
            except StoreError as error:
                _log.warning("a query ends by its limits, it could not be cancelled: %s", error)
        return await answering
    finally:
        leaving.cancel()


_STATUS: tuple[tuple[type[Exception], int], ...] = (
    (BadRequestError, 400),
    (NothingFoundError, 404),
    (RequestTooLargeError, 413),
    (NoStoreError, 503),
    (MayNotInsertError, 403),
    (StoreBusyError, 503),
    (StoreUnavailableError, 503),
    (QueryError, 422),
    (StoreError, 503),
    (SpoolError, 503),
)


def _refused(endpoint: WebEndpoint[Any, Any], error: Exception) -> Response:
    """The sentence of an error that says what to do; of another one only that there was one, since
    it may quote what was recorded."""
    if isinstance(error, ClientDisconnect):  # nobody is there to read it
        return Response(status_code=400)
    said: dict[str, object] = {}
    if isinstance(error, DetailedError):
        said["details"] = error.details
        error = error.error
    if isinstance(error, NoStoreError):
        said["details"] = "no store"  # the page greets a newcomer instead of raising an alarm
    for kind, status in _STATUS:
        if isinstance(error, kind):
            message = "A request may have 1 MB at most." if status == 413 else str(error)
            body = written({"error": message, **said})
            return Response(body, status, media_type="application/json")
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    where = "" if place is None else f"{place.tb_frame.f_code.co_filename}:{place.tb_lineno}"
    _log.error("%s failed with %s at %s", endpoint.path, type(error).__name__, where)
    sentence = f"{endpoint.path} failed with {type(error).__name__}: see the console's terminal."
    return JSONResponse({"error": sentence}, 500)


async def _described(_request: Request) -> Response:
    return Response(written(openapi.description(endpoints())), media_type="application/json")


async def _unknown(request: Request) -> Response:
    return JSONResponse({"error": f"There is no {request.url.path}: see /api/openapi.json."}, 404)


DOCUMENT = "index.html"

_KINDS = {
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "svg": "image/svg+xml",
    "txt": "text/plain; charset=utf-8",
    "map": "application/json",  # of a build with source maps
}


@dataclass(frozen=True, slots=True)
class StaticFile:
    """A file with what is said of it."""

    body: bytes
    kind: str
    etag: str


# Their names never change, so a browser asks each time, and is told that it has the newest already.
# One that asks by the hash of a file keeps it.
# They hold nothing of anybody's and need no token.
@cache
def static_files() -> Mapping[str, StaticFile]:
    """The files by name."""
    folder = resources.files("turnspan_console.web") / "static"
    found = {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}
    return {
        name: StaticFile(
            body, _KINDS[name.rpartition(".")[2]], f'"{hashlib.sha256(body).hexdigest()}"'
        )
        for name, body in found.items()
    }


async def _file(request: Request) -> Response:
    """A file, or that the browser has it."""
    file = static_files().get(request.path_params.get("name", DOCUMENT))
    if file is None:
        return Response("There is no such file.\n", 404, media_type="text/plain")
    kept = file.etag == f'"{request.url.query}"'
    headers = {
        "etag": file.etag,
        "cache-control": "max-age=31536000, immutable" if kept else "no-cache",
    }
    if file.etag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(file.body, headers=headers, media_type=file.kind)
