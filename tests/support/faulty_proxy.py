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
    STATUS_200 = "200"
    STATUS_401 = "401"
    STATUS_403 = "403"
    STATUS_413 = "413"
    STATUS_500 = "500"
    STATUS_502 = "502"
    STATUS_503 = "503"


class FaultyProxy:
    """Forwards to ``127.0.0.1:upstream``; ``fault`` may be set and cleared at any time, or
    ``choose`` replaced, which is asked at every insert."""

    def __init__(self, upstream: int) -> None:
        self.upstream = upstream
        self.fault: Fault | None = None
        self.largest = 0
        """With STATUS_413: bodies up to so many bytes pass."""
        self.late = 1.0
        """Seconds that LATE waits before it answers."""
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
        if fault is Fault.RESET_BEFORE_BODY:
            return _reset(client)
        if fault is Fault.RESET_IN_BODY:
            server.sendall(head + reader.read(size // 2))
            time.sleep(0.05)  # so that the server has begun to read it
            _reset(server)
            return _reset(client)
        body = reader.read(size)
        if fault is Fault.STATUS_413 and size <= self.largest:
            fault = None
        if fault is not None and fault.name.startswith("STATUS_"):
            return _answer(client, int(fault.value))
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


def _answer(client: socket.socket, status: int) -> bool:
    """A proxy's own words: a page, and nothing that ClickHouse would say."""
    page = b"<html>not now</html>"
    client.sendall(b"HTTP/1.1 %d Nope\r\nContent-Length: %d\r\n\r\n" % (status, len(page)) + page)
    return True


def _reset(connection: socket.socket) -> bool:
    """End a connection with RST instead of FIN."""
    with contextlib.suppress(OSError):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.shutdown(socket.SHUT_RD)
    connection.close()
    return False
