"""A request that goes on to its provider, and the answer that comes back as it is."""

from __future__ import annotations

import ssl
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import Final
from urllib.parse import urlsplit

_OURS: Final = "x-turnspan-"
_HOP: Final = frozenset(
    {"connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding"}
    | {"upgrade", "content-length", "host"}
)
"""Headers that are of one connection, or written anew (RFC 9110, section 7.6.1)."""
_TIMEOUT: Final = 600.0
_PIECE: Final = 65_536


@dataclass(frozen=True, slots=True)
class LiveRequest:
    """A request that goes on: ``origin`` is scheme, host and port, and a path that stands before
    ``target``, which is path and query."""

    origin: str
    target: str
    body: bytes


class OriginError(Exception):
    """A provider cannot be reached; ``str(error)`` says why."""


@contextmanager
def sent_on(
    request: LiveRequest, method: str, headers: Mapping[str, str]
) -> Generator[HTTPResponse]:
    """The answer to a request, to be read as it comes.

    Args:
        request: what is sent, and where to.
        method: the HTTP method.
        headers: those of the program; ours and those of its connection are left out.

    Raises:
        OriginError: the provider cannot be reached, or breaks off before it answers.
    """
    origin, parts = request.origin, urlsplit(request.origin)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise OriginError(f"{origin!r} is no address: write https://host[:port]")
    if parts.scheme == "https":
        connection: HTTPConnection = HTTPSConnection(
            parts.hostname, parts.port, timeout=_TIMEOUT, context=ssl.create_default_context()
        )
    else:
        connection = HTTPConnection(parts.hostname, parts.port, timeout=_TIMEOUT)
    try:
        try:
            kept = {k: v for k, v in headers.items() if k not in _HOP and not k.startswith(_OURS)}
            path = parts.path.rstrip("/") + request.target
            kept |= {
                "host": parts.netloc.rpartition("@")[2],
                "content-length": str(len(request.body)),
            }
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in kept.items():
                connection.putheader(name, value)
            connection.endheaders(request.body)
            answer = connection.getresponse()
        except (OSError, HTTPException) as error:
            raise OriginError(f"{origin} cannot be reached: {error}") from error
        yield answer
    finally:
        connection.close()


def pieces_as_they_come(answer: HTTPResponse) -> Iterator[bytes]:
    """The bytes of an answer, each piece as soon as it is there."""
    while data := answer.read1(_PIECE):
        yield data


def passed_headers(answer: HTTPResponse) -> Iterator[tuple[str, str]]:
    """The headers of an answer that go on to the program."""
    for name, value in answer.getheaders():
        if name.lower() not in _HOP:
            yield name, value
