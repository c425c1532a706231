"""What no page of ours would ask: every endpoint answers it, in a sentence."""

from __future__ import annotations

import contextlib
import selectors
import signal
import socket
import time
from http.client import HTTPConnection
from typing import Any
from urllib.parse import quote

import orjson
import pytest

from support.pages import Reply, ServedPage
from turnspan_clickhouse.receive.connections import MAX_HEAD_BYTES, HeadLimits
from turnspan_console.web.api import endpoints
from turnspan_console.web.connections import MAX_HEADS
from turnspan_console.web.endpoints import WebEndpoint
from turnspan_console.web.guard import SECURITY_HEADERS
from turnspan_console.web.openapi import schemas

ODD = ("", "'; DROP TABLE turn_summary --", "\x00\u202e\ud7ff", "{f0:String}", "9" * 40, "-1")
BODIES = (b"", b"[]", b"{", b"\xff", b'{"no":1}', b'"\\ud800"', b"null", b"[" * 2_000)
ALL = endpoints()


@pytest.mark.parametrize("endpoint", ALL, ids=[one.path for one in ALL])
def test_no_request_is_an_internal_error(
    endpoint: WebEndpoint[Any, Any], demo_page: ServedPage
) -> None:
    """Whatever stands in its parameters; what is refused says why."""
    names = list(schemas([endpoint])[endpoint.query.__name__]["properties"])
    answers: list[Reply] = []
    if endpoint.method == "GET":
        for odd in ODD:
            text = "&".join(f"{name}={quote(odd)}" for name in names)
            answers.append(demo_page.ask(f"{endpoint.path}?{text}"))
        answers.append(demo_page.ask(f"{endpoint.path}?no=1"))
        answers.append(demo_page.ask(f"{endpoint.path}?%ff=%ff"))
    else:
        given: tuple[object, ...] = (*ODD, None, 1, [], {})
        values = [orjson.dumps(dict.fromkeys(names, odd)) for odd in given]
        answers += [
            demo_page.ask(endpoint.path, method="POST", body=body, content_type="application/json")
            for body in (*BODIES, *values)
        ]
    assert {one.status for one in answers} <= {200, 400, 404, 422}
    for one in answers:
        assert one.status == 200 or one.json()["error"]


@pytest.mark.parametrize("size", [MAX_HEAD_BYTES, 2 * MAX_HEAD_BYTES, 3 * 2**20])
def test_a_head_that_is_too_large_is_answered(demo_page: ServedPage, size: int) -> None:
    """The answer arrives, however much is still being sent; a head below the limit is read."""
    host = demo_page.address.removeprefix("http://").rstrip("/")
    for status, path, headers in (
        (414, f"/turns?q={'x' * size}", {}),
        (431, "/turns", {"x-long": "x" * size}),
    ):
        with contextlib.closing(HTTPConnection(host, timeout=10)) as asked:
            asked.request("GET", path, headers=headers)
            answer = asked.getresponse()
            assert answer.status == status
            assert "64 kB" in orjson.loads(answer.read())["error"]
            assert {name: answer.headers[name] for name, _ in SECURITY_HEADERS} == dict(
                SECURITY_HEADERS
            )
    assert demo_page.ask(f"/turns?q={'x' * (MAX_HEAD_BYTES - 1_000)}").status == 200


@pytest.mark.release  # ten seconds of waiting; the next one answers 408 too
def test_half_a_head_is_not_waited_for(demo_page: ServedPage) -> None:
    """Neither where it never ends, nor where it comes in drops; with no byte it is closed without a
    word, and what is kept open goes on."""
    with contextlib.ExitStack() as stack:
        silent, half, slow = (stack.enter_context(connected(demo_page)) for _ in range(3))
        half.sendall(b"GET /turns HTTP/1.1\r\nhost:")
        begun = time.monotonic()
        with contextlib.suppress(OSError):
            while not says(slow, 0.05):
                slow.sendall(b"G")
        assert time.monotonic() - begun < HeadLimits.head_seconds + 5
        assert half.recv(100).startswith(b"HTTP/1.1 408 ")
        assert silent.recv(100) == b""
    assert demo_page.ask("/turns").status == 200


def test_half_heads_are_bounded(demo_page: ServedPage) -> None:
    """The one that began first makes room, and a whole request is answered beside all of them."""
    with contextlib.ExitStack() as stack:
        halves = [stack.enter_context(connected(demo_page)) for _ in range(MAX_HEADS)]
        for one in halves:
            one.sendall(b"GET /")
        for _ in range(20):
            assert demo_page.ask("/turns").status == 200
        more = [stack.enter_context(connected(demo_page)) for _ in range(20)]
        assert halves[0].recv(100).startswith(b"HTTP/1.1 408 ")
        assert not says(more[-1], 0)


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="processes are not stopped here")
def test_what_was_asked_while_the_page_stood_still_is_answered(demo_page: ServedPage) -> None:
    """More whole requests than half ones may wait: none is taken for a half one."""
    host = demo_page.address.removeprefix("http://").rstrip("/")
    with contextlib.ExitStack() as stack:
        demo_page.process.send_signal(signal.SIGSTOP)
        try:
            many = MAX_HEADS + 20
            asked = [stack.enter_context(connected(demo_page)) for _ in range(many)]
            for one in asked:
                one.sendall(f"GET / HTTP/1.1\r\nhost: {host}\r\n\r\n".encode())
        finally:
            demo_page.process.send_signal(signal.SIGCONT)
        answers = [one.recv(12) for one in asked]
    assert set(answers) == {b"HTTP/1.1 200"}


def test_a_half_head_that_goes_on_is_told(demo_page: ServedPage) -> None:
    """The refusal arrives, whatever is sent meanwhile."""
    with contextlib.ExitStack() as stack:
        half = stack.enter_context(connected(demo_page))
        half.sendall(b"GET /")
        more = [stack.enter_context(connected(demo_page)) for _ in range(MAX_HEADS)]
        del more
        while not says(half, 0.05):
            half.sendall(b"x")
        half.sendall(b"x")
        assert half.recv(100).startswith(b"HTTP/1.1 408 ")


def says(one: socket.socket, seconds: float) -> bool:
    """Whether a connection has something to read, or has ended. (Not by ``select``: with so many
    files open as in a long run it takes no more.)"""
    with selectors.DefaultSelector() as selector:
        selector.register(one, selectors.EVENT_READ)
        return bool(selector.select(seconds))


def connected(page: ServedPage) -> socket.socket:
    """A connection that has said nothing yet."""
    host, _, port = page.address.removeprefix("http://").rstrip("/").partition(":")
    return socket.create_connection((host, int(port)), timeout=20)
