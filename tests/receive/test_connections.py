"""Clients that keep connections and send little; pages that reach for a receiver."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from receive.otlp import request
from receive.serving import JSON, PROTOBUF, Served, serving
from receive.test_command import receiving
from receive.test_order import TWO_AGENTS
from turnspan_clickhouse.store.dsn import Dsn

pytestmark = pytest.mark.with_schema

BODY = request("c", TWO_AGENTS).SerializeToString()


@pytest.fixture
def hurried(embedded_dsn: Dsn) -> Iterator[Served]:
    """A receiver with short deadlines and few connections."""
    with serving(
        embedded_dsn, head_timeout=0.6, read_timeout=0.8, max_connections=8, event_patience=0
    ) as served:
        yield served


def connect(served: Served) -> socket.socket:
    return socket.create_connection(("127.0.0.1", served.port), timeout=60)


def head(length: int, *more: str, host: str = "127.0.0.1") -> bytes:
    lines = ("POST /v1/traces HTTP/1.1", f"host: {host}", f"content-length: {length}",
             "content-type: application/x-protobuf", *more)  # fmt: skip
    return "\r\n".join([*lines, "", ""]).encode()


def rest(connection: socket.socket) -> bytes:
    """What comes until the other side closes."""
    said = b""
    with contextlib.suppress(ConnectionResetError):
        while piece := connection.recv(65_536):
            said += piece
    return said


def drip(connection: socket.socket, text: bytes, pause: float) -> float:
    """Send byte by byte until the other side has had enough; returns after how long."""
    begun = time.monotonic()
    connection.settimeout(0.01)
    for at in range(len(text)):
        try:
            connection.sendall(text[at : at + 1])
            with contextlib.suppress(TimeoutError):
                connection.recv(1, socket.MSG_PEEK)
                break
        except OSError:
            break
        time.sleep(pause)
    connection.settimeout(60)
    return time.monotonic() - begun


def test_a_connection_that_says_nothing_is_closed(hurried: Served) -> None:
    begun = time.monotonic()
    with connect(hurried) as connection:
        assert rest(connection) == b""
    assert 0.3 < time.monotonic() - begun < 30


def test_a_head_that_drips_in_is_closed_with_408(hurried: Served) -> None:
    """However often a byte comes: the deadline is the whole head's."""
    with connect(hurried) as connection:
        took = drip(connection, head(len(BODY)) * 50, 0.05)
        assert rest(connection).startswith(b"HTTP/1.1 408 ")
    assert took < 30
    assert hurried.receiver.answers["408"] == 1


def test_the_second_head_of_a_kept_connection_has_the_same_deadline(hurried: Served) -> None:
    with connect(hurried) as connection:
        for _ in range(2):  # two whole requests on it
            connection.sendall(head(len(BODY)) + BODY)
            assert connection.recv(65_536).startswith(b"HTTP/1.1 200 ")
        assert drip(connection, b"POST /v1/traces HTTP/1.1\r\nx-a: " + b"a" * 500, 0.05) < 30
        assert rest(connection).startswith(b"HTTP/1.1 408 ")


def test_a_body_that_drips_in_is_closed_with_408(hurried: Served) -> None:
    with connect(hurried) as connection:
        connection.sendall(head(len(BODY)))
        assert drip(connection, BODY, 0.05) < 30
        assert rest(connection).startswith(b"HTTP/1.1 408 ")


def test_a_body_within_its_deadline_is_not_hurried_by_that_of_the_head(embedded_dsn: Dsn) -> None:
    with (
        serving(embedded_dsn, head_timeout=0.3, read_timeout=20, event_patience=0) as served,
        connect(served) as connection,
    ):
        connection.sendall(head(len(BODY), "connection: close"))
        time.sleep(0.8)
        connection.sendall(BODY[:100])
        time.sleep(0.8)
        connection.sendall(BODY[100:])
        assert rest(connection).startswith(b"HTTP/1.1 200 ")


def test_a_head_without_end_is_closed(hurried: Served) -> None:
    with connect(hurried) as connection:
        connection.sendall(b"POST /v1/traces HTTP/1.1\r\n")
        for number in range(20_000):
            connection.sendall(f"x-{number}: {'a' * 80}\r\n".encode())
        assert rest(connection).startswith(b"HTTP/1.1 431 ")


@pytest.mark.parametrize("line", ["\r\n", "\n"], ids=["crlf", "lf"])
@pytest.mark.parametrize("cut", [0, 1, 2, 3])
def test_a_large_body_is_no_part_of_its_head(hurried: Served, line: str, cut: int) -> None:
    """Wherever a packet ends in the blank line between them, and however lines end."""
    body = bytes(200_000)
    sent = head(len(body), "connection: close").replace(b"\r\n", line.encode())
    with connect(hurried) as connection:
        connection.sendall(sent[: len(sent) - cut])
        time.sleep(0.1)
        connection.sendall(sent[len(sent) - cut :] + body)
        assert rest(connection).startswith(b"HTTP/1.1 400 ")


def test_connections_are_bounded_and_come_free_again(hurried: Served) -> None:
    """Slow ones fill the places: the next are told to come back, and served after a while."""
    slow = [connect(hurried) for _ in range(8)]
    for connection in slow:
        connection.sendall(b"POST /v1/tr")
    time.sleep(0.2)
    with connect(hurried) as refused:
        said = rest(refused)
    assert said.startswith(b"HTTP/1.1 503 ") and b"retry-after" in said
    with connect(hurried) as refused:  # as an exporter would: all of it is sent, then it reads
        refused.sendall(head(len(BODY), "connection: close") + BODY)
        assert rest(refused) == said
    assert hurried.receiver.answers["503"] == 2
    for connection in slow:
        assert rest(connection).startswith(b"HTTP/1.1 408 ")
        connection.close()
    assert hurried.post(BODY, PROTOBUF).status == 200


OURS = ("127.0.0.1", "127.0.0.1:4318", "localhost", "LOCALHOST:80", "[::1]", "[::1]:4318",
        "localhost.", "agents.internal", "Agents.Internal:8080")  # fmt: skip
THEIRS = (
    "evil.example", "evil.example:4318", "127.0.0.1.evil.example", "localhost.evil.example", "",
    "127.0.0.2", "localhost@evil.example", "[::2]", "0.0.0.0", "agents.internal.evil",
)  # fmt: skip


def test_on_loopback_only_its_own_names_are_answered(embedded_dsn: Dsn) -> None:
    """A page whose name is made to lead to 127.0.0.1 gets nothing in, and nothing out."""
    with serving(embedded_dsn, hosts=["agents.internal"], event_patience=0) as served:
        for host in OURS:
            assert served.post(BODY, {**PROTOBUF, "host": host}).status == 200, host
        for host in THEIRS:
            for method, path in (("POST", "/v1/traces"), ("GET", "/health"), ("GET", "/x")):
                answer = served.ask(method, path, BODY, {**PROTOBUF, "host": host})
                assert answer.status == 421, (host, path)
        assert served.receiver.counts["spans"] > 0
        told = served.ask("POST", "/v1/traces", b"{}", {**JSON, "host": "evil.example"})
        assert b"--allow-host" in told.body


def test_the_command_checks_the_host_on_loopback_alone(embedded_dsn: Dsn, tmp_path: Path) -> None:
    del tmp_path
    for arguments, host, wanted in (
        ((), "evil.example", 421),
        ((), "localhost", 200),
        (("--allow-host", "evil.example"), "evil.example", 200),
        (("--host", "0.0.0.0"), "evil.example", 200),
        (("--host", "0.0.0.0", "--allow-host", "a.example"), "evil.example", 421),
    ):
        with receiving(embedded_dsn, *arguments) as process:
            port = int(process.endpoint.rpartition(":")[2])
            with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
                connection.sendall(head(len(BODY), "connection: close", host=host) + BODY)
                assert rest(connection).split()[1] == str(wanted).encode(), (arguments, host)
