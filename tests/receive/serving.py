"""A receiver that listens, in this process, and plain HTTP requests to it."""

from __future__ import annotations

import http.client
import socket
import threading
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from turnspan_clickhouse.receive import ReceiveApp, Receiver, ReceiveSettings
from turnspan_clickhouse.receive.connections import receiving_server
from turnspan_clickhouse.store.dsn import Dsn

PROTOBUF = {"content-type": "application/x-protobuf"}
JSON = {"content-type": "application/json"}


@dataclass
class Answer:
    """What the server said."""

    status: int
    headers: dict[str, str]
    body: bytes


@dataclass
class Served:
    """A receiver that listens."""

    receiver: Receiver
    app: ReceiveApp
    port: int
    grpc_port: int
    _open: list[http.client.HTTPConnection] = field(default_factory=list[Any])

    @property
    def endpoint(self) -> str:
        """What OTEL_EXPORTER_OTLP_ENDPOINT takes."""
        return f"http://127.0.0.1:{self.port}"

    def post(self, body: bytes, headers: dict[str, str], path: str = "/v1/traces") -> Answer:
        """Send a request on a connection of its own."""
        return self.ask("POST", path, body, headers)

    def ask(
        self, method: str, path: str, body: bytes = b"", headers: dict[str, str] | None = None
    ) -> Answer:
        """Send any request."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, path, body, headers or {})
            reply = connection.getresponse()
            said = {key.lower(): value for key, value in reply.getheaders()}
            return Answer(reply.status, said, reply.read())
        finally:
            connection.close()


@contextmanager
def serving(
    dsn: Dsn,
    *,
    tokens: Sequence[str] = (),
    hosts: Sequence[str] | None = None,
    grpc: bool = False,
    **limits: Any,
) -> Generator[Served]:
    """A receiver that listens on a free port, and has stopped in order when the block ends."""
    receiver = Receiver(dsn, settings=ReceiveSettings(**limits))
    with socket.create_server(("127.0.0.1", 0)) as free:
        grpc_port = int(free.getsockname()[1])
    grpc_address = f"127.0.0.1:{grpc_port}" if grpc else ""
    app = ReceiveApp(receiver, tokens=tokens, hosts=hosts, grpc_address=grpc_address)
    server = receiving_server(app, ending=20)
    listener = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.01)
        yield Served(receiver, app, listener.getsockname()[1], grpc_port)
    finally:
        server.should_exit = True
        thread.join(30)
        listener.close()
        assert not thread.is_alive()
