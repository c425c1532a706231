"""A loopback proxy before a ClickHouse server that cuts, delays and garbles inserts.

Only inserts are disturbed (requests with a deduplication token), so that what a test asks meanwhile
is answered. A connection of the client is one thread here and one connection to the server.
"""

from __future__ import annotations

import contextlib
import enum
import socket
import struct
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import BinaryIO


class Fault(enum.Enum):
    """What happens to an insert."""

    RESET_BEFORE_BODY = "reset before the body"
    RESET_IN_BODY = "reset during the body"
    LOST_RESPONSE = "response lost after the insert"
    CUT_RESPONSE = "response cut in its middle"
    HALF_HEAD = "response ends in its head"
    GARBLED_RESPONSE = "response garbled"
    GARBLED_BODY = "body garbled on its way"
    LATE = "answer after the client's patience"
    SLOW = "a slow line"
    EXCEPTION_IN_HEADER = "200 with an exception's code"
    EXCEPTION_IN_BODY = "200 with an exception in its body"
    EXCEPTION_LATE = "200 with an exception behind progress"
    EXCEPTION_UNNAMED = "200 with an exception cut short"
    STRANGE_BODY = "200 with a page in its body"
    NO_SUMMARY = "200 with a query id only"
    BODY_LOST = "body lost on its way"
    STATUS_200 = "200"
    STATUS_201 = "201"
    STATUS_202 = "202"
    STATUS_204 = "204"
    STATUS_206 = "206"
    STATUS_301 = "301"
    STATUS_302 = "302"
    STATUS_303 = "303"
    STATUS_307 = "307"
    STATUS_308 = "308"
    STATUS_401 = "401"
    STATUS_403 = "403"
    STATUS_413 = "413"
    STATUS_500 = "500"
    STATUS_502 = "502"
    STATUS_503 = "503"
    STATUS_504 = "504"


_OURS = b"X-ClickHouse-Query-Id: 1f83bcec-1280-4bf7-b04e-b1839cb41fd3\r\n"
_SUMMARY = b'X-ClickHouse-Summary: {"read_rows":"2","written_rows":"2"}\r\n'
_MEMORY = b"Code: 241. DB::Exception: (total) memory limit exceeded (MEMORY_LIMIT_EXCEEDED)\n"
_TAG = b"__exception__\r\nwigbcmyccqjqwmnp\r\n"
_CLICKHOUSE = {
    Fault.EXCEPTION_IN_HEADER: (_OURS + b"X-ClickHouse-Exception-Code: 241\r\n", _MEMORY),
    Fault.EXCEPTION_IN_BODY: (_OURS + _SUMMARY, _MEMORY),
    Fault.EXCEPTION_LATE: (_OURS + _SUMMARY, b"\n" * 99 + b"\r\n" + _TAG + _MEMORY + b"84 x\r\n"),
    Fault.EXCEPTION_UNNAMED: (_OURS + _SUMMARY, b"\n\r\n" + _TAG[:20]),
    Fault.STRANGE_BODY: (_OURS + _SUMMARY, b"<html>welcome</html>"),
    Fault.NO_SUMMARY: (_OURS, b""),
}
"""Headers and body of answers that are, or seem to be, ClickHouse's own."""


class FaultyProxy:
    """Forwards to ``127.0.0.1:upstream``; ``fault`` may be set and cleared at any time, or
    ``choose`` replaced, which is asked at every insert."""

    def __init__(self, upstream: int) -> None:
        self.upstream = upstream
        self.fault: Fault | None = None
        self.largest = 0
        """Bodies up to so many bytes pass, whatever the fault."""
        self.location = "/elsewhere"
        """Where redirects lead."""
        self.late = 1.0
        """Seconds that LATE waits before it answers."""
        self.answers_lost = False
        """Whether answers to reads come without their body, as from a server with a full disk."""
        self.inserts = 0
        """Inserts that reached the server, whole."""
        self.choose: Callable[[], Fault | None] = lambda: self.fault
        """What happens to the next insert."""
        self._open: set[socket.socket] = set()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    # -- going away and coming back ------------------

    def close(self) -> None:
        """Refuse connections and break those that are open."""
        # Closing alone does not wake a thread that waits in accept().
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for connection in list(self._open):
            _reset(connection)

    def open(self) -> None:
        """Listen again, at the same port."""
        self._listener = socket.create_server(("127.0.0.1", self.port))
        threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    # -- one connection ------------------

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            self._open.add(client)
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, socket.create_connection(("127.0.0.1", self.upstream)) as server:
            with contextlib.suppress(OSError):
                reader: BinaryIO = client.makefile("rb")
                while self._request(client, server, reader):
                    pass
            self._open.discard(client)

    def _request(self, client: socket.socket, server: socket.socket, reader: BinaryIO) -> bool:
        head = _head(reader)
        if not head:
            return False
        insert = b"insert_deduplication_token" in head.partition(b"\r\n")[0]
        fault = self.choose() if insert else None
        size = _length(head)
        if size <= self.largest:
            fault = None
        if fault is Fault.RESET_BEFORE_BODY:
            return _reset(client)
        if fault is Fault.RESET_IN_BODY:
            server.sendall(head + reader.read(size // 2))
            time.sleep(0.05)  # so that the server has begun to read it
            _reset(server)
            return _reset(client)
        body = reader.read(size)
        if fault is not None and fault.name.startswith("STATUS_"):
            return _answer(client, int(fault.value), self.location)
        if fault in _CLICKHOUSE:
            return _say(client, *_CLICKHOUSE[fault])
        if fault is Fault.BODY_LOST:
            head, body = _without_body(head), b""
        if fault is Fault.HALF_HEAD:
            server.sendall(head + body)
            head, _, _ = _response(server).partition(b"X-ClickHouse-Query-Id")
            client.sendall(head)
            return False
        if fault is Fault.GARBLED_BODY:
            middle = size // 2
            body = (
                body[:middle]
                + bytes(byte ^ 0x5A for byte in body[middle : middle + 8])
                + (body[middle + 8 :])
            )
        if fault is Fault.SLOW:
            server.sendall(head)
            for start in range(0, size, max(1, size // 10)):
                server.sendall(body[start : start + max(1, size // 10)])
                time.sleep(0.03)
        else:
            server.sendall(head + body)
        response = _response(server)
        self.inserts += insert
        if self.answers_lost and not insert:
            response = response.partition(b"\r\n\r\n")[0] + b"\r\n\r\n0\r\n\r\n"
        if fault is Fault.LATE:
            time.sleep(self.late)
        elif fault is Fault.LOST_RESPONSE:
            return _reset(client)
        elif fault is Fault.CUT_RESPONSE:
            client.sendall(response[: len(response) // 2])
            return _reset(client)
        elif fault is Fault.GARBLED_RESPONSE:
            response = bytes(byte ^ 0x5A for byte in response)
        client.sendall(response)
        return True


@contextmanager
def faulty_proxy(upstream: int) -> Generator[FaultyProxy]:
    """A proxy before the server at this port."""
    proxy = FaultyProxy(upstream)
    try:
        yield proxy
    finally:
        proxy.close()


def _head(reader: BinaryIO) -> bytes:
    lines: list[bytes] = []
    while line := reader.readline():
        lines.append(line)
        if line == b"\r\n":
            return b"".join(lines)
    return b""


def _length(head: bytes) -> int:
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return int(line.partition(b":")[2])
    return 0


def _response(server: socket.socket) -> bytes:
    """The whole answer, its body by length or in chunks."""
    with server.makefile("rb") as reader:
        head = _head(reader)
        if b"transfer-encoding: chunked" not in head.lower():
            return head + reader.read(_length(head))
        parts = [head]
        while True:
            line = reader.readline()
            size = int(line.strip() or b"0", 16)
            parts += [line, reader.read(size + 2)]
            if not size:
                return b"".join(parts)


def _answer(client: socket.socket, status: int, location: str) -> bool:
    """A proxy's own words: a page, and nothing that ClickHouse would say."""
    page = b"" if status == 204 else b"<html>not now</html>"
    more = b"Location: %s\r\n" % location.encode() if 300 <= status < 400 else b""
    length = b"" if status == 204 else b"Content-Length: %d\r\n" % len(page)
    client.sendall(b"HTTP/1.1 %d Nope\r\n" % status + more + length + b"\r\n" + page)
    return True


def _say(client: socket.socket, headers: bytes, body: bytes) -> bool:
    """What ClickHouse says once it has begun to answer, in two pieces."""
    client.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n" + headers + b"\r\n")
    for piece in (body[: len(body) // 2], body[len(body) // 2 :]):
        if piece:
            client.sendall(b"%x\r\n" % len(piece) + piece + b"\r\n")
            time.sleep(0.01)
    client.sendall(b"0\r\n\r\n")
    return True


def _without_body(head: bytes) -> bytes:
    dropped = (b"content-length:", b"content-encoding:")
    lines = [line for line in head.split(b"\r\n") if not line.lower().startswith(dropped)]
    return b"\r\n".join([lines[0], b"Content-Length: 0", *lines[1:]])


def _reset(connection: socket.socket) -> bool:
    """End a connection with RST instead of FIN."""
    with contextlib.suppress(OSError):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.shutdown(socket.SHUT_RD)
    connection.close()
    return False
