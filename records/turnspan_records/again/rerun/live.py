"""A request that goes on to its provider, and the answer that comes back as it is."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Generator, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse
from typing import Final
from urllib.parse import urlsplit

_OURS: Final = "x-turnspan-"
_HOP: Final = frozenset(
    {"connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding"}
    | {"upgrade", "content-length", "host"}
)
"""Headers that are of one connection, or written anew (RFC 9110, section 7.6.1)."""
_TIMEOUT: Final = 600.0


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
    host, secure = parts.hostname, parts.scheme == "https"
    if parts.scheme not in ("http", "https") or not host:
        raise OriginError(f"{origin!r} is no address: write https://host[:port]")
    kept = {k: v for k, v in headers.items() if k not in _HOP and not k.startswith(_OURS)}
    kept |= {"host": parts.netloc.rpartition("@")[2], "connection": "close"}
    kept["content-length"] = str(len(request.body))
    head = [f"{method} {parts.path.rstrip('/')}{request.target} HTTP/1.1"]
    head += [f"{name}: {value}" for name, value in kept.items()]
    # Not http.client's connection, which a rerun in this process redirects.
    try:
        with ExitStack() as opened:
            address = (host, parts.port or (443 if secure else 80))
            plain = opened.enter_context(socket.create_connection(address, _TIMEOUT))
            sent: socket.socket = plain
            if secure:
                context = ssl.create_default_context()
                sent = opened.enter_context(context.wrap_socket(plain, server_hostname=host))
            sent.sendall("\r\n".join([*head, "", ""]).encode("latin-1") + request.body)
            answer = opened.enter_context(closing(HTTPResponse(sent, method=method)))
            answer.begin()
            kept_open = opened.pop_all()
    except (OSError, HTTPException) as error:
        raise OriginError(f"{origin} cannot be reached: {error}") from error
    with kept_open:
        yield answer


def passed_headers(answer: HTTPResponse) -> Iterator[tuple[str, str]]:
    """The headers of an answer that go on to the program."""
    for name, value in answer.getheaders():
        if name.lower() not in _HOP:
            yield name, value
