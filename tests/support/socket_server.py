"""A model provider on loopback that speaks over WebSockets, as a script says."""

from __future__ import annotations

import json
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any, Final, TypeAlias

from websockets.exceptions import ConnectionClosed
from websockets.sync.server import ServerConnection, serve

LOST: Final = "(the connection is lost)"
CLOSED: Final = "(the server closes the connection)"

Step: TypeAlias = Any
"""An event that the server sends; the type of the client's event that it waits for; how it ends."""


class SocketServer:
    """Plays one script a connection; without one it waits until the client leaves."""

    def __init__(self) -> None:
        self.scripts: list[Sequence[Step]] = []
        self.scripts_by_model: dict[str, Sequence[Step]] = {}
        """For connections at once, by the model that they name."""
        self.received: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.url = ""

    def play(self, *steps: Step) -> None:
        """The script of the next connection."""
        self.scripts.append(steps)

    def handle(self, socket: ServerConnection) -> None:
        """A connection."""
        assert socket.request is not None
        self.paths.append(socket.request.path)
        model = socket.request.path.rpartition("model=")[2]
        script = self.scripts_by_model.pop(model, None) or ()
        if not script and self.scripts:
            script = self.scripts.pop(0)
        try:
            for step in script:
                if isinstance(step, dict):
                    socket.send(json.dumps(step))
                elif step == LOST:
                    socket.close_socket()
                    return
                elif step == CLOSED:
                    socket.close()
                    return
                else:
                    self._wait(socket, step)
            while True:
                self.received.append(json.loads(socket.recv()))
        except ConnectionClosed:
            return

    def _wait(self, socket: ServerConnection, kind: str) -> None:
        while True:
            event: Any = json.loads(socket.recv())
            self.received.append(event)
            if hasattr(event, "get") and event.get("type") == kind:
                return


@contextmanager
def socket_server() -> Generator[SocketServer]:
    """A server of the test's own."""
    server = SocketServer()
    made: Any = serve(server.handle, "127.0.0.1", 0)
    with made as running:
        port = running.socket.getsockname()[1]
        server.url = f"ws://127.0.0.1:{port}/v1"
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            running.shutdown()
            thread.join()
