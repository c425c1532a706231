"""Which requests go to a rerun's server, and what is refused because it cannot."""

from __future__ import annotations

import errno
from typing import Final, NoReturn

from turnspan.patching.models_on_the_wire import is_provider
from turnspan.runtime.errors import TurnspanError
from turnspan.runtime.guard import logger
from turnspan.wire.requests_seen import seen
from turnspan.wire.rerunning.server_client import ServerClient

WEBSOCKET: Final = "WEBSOCKET"


class RerunRefusedError(TurnspanError, ConnectionError):
    """A rerun refuses to let something leave the process; the text says what to do.

    ``errno`` is EACCES: libraries that quote an error of the system quote the text then.
    """

    def __str__(self) -> str:
        return str(self.strerror)


class Redirects:
    """The rerun under way in this process, for what sends requests; none before ``begin``."""

    def __init__(self) -> None:
        self.server: ServerClient | None = None
        self._told: set[str] = set()

    @property
    def port(self) -> int:
        """The server's port."""
        return self.server.port if self.server is not None else 0

    def begin(self, server: ServerClient) -> None:
        """Redirect from now on."""
        self.server = server
        self._told = set()

    def end(self) -> None:
        """Redirect no more."""
        self.server = None

    def headers(
        self, method: str, scheme: str, host: str, port: int | None, path: str
    ) -> dict[str, str] | None:
        """What a request to this place carries to the server; ``None`` if it goes where it is for.

        A provider's host is redirected whatever it is asked for, any other host where it is asked
        as only models are.

        Raises:
            RerunRefusedError: it opens a WebSocket to a model.
        """
        server = self.server
        if server is None or server.is_it(host, port):
            return None
        if not is_provider(host) and seen(method, host, path) is None:
            return None
        if method == WEBSOCKET:
            self.refuse_model(f"a WebSocket to {host}")
        return server.headers(scheme, host, port)

    def refuse_model(self, what: str) -> NoReturn:
        """Refuse to ask a model in a way that no server can answer.

        Raises:
            RerunRefusedError: always.
        """
        self.refuse(
            "unredirected",
            what,
            f"A rerun cannot answer {what}: have the program ask over HTTP, or run it without the "
            "rerun.",
        )

    def refuse(self, kind: str, what: str, text: str) -> NoReturn:
        """Refuse something, and note it.

        Raises:
            RerunRefusedError: always, with this text. The log says it as well, once: some libraries
                raise an error of their own that leaves the text out.
        """
        if self.note(kind, what):
            logger.warning("%s", text)
        raise RerunRefusedError(errno.EACCES, text)

    def note(self, kind: str, text: str) -> bool:
        """Have the report say something, once; whether this was the first time."""
        server = self.server
        if server is None or text in self._told:
            return False
        self._told.add(text)
        server.note(kind, text)
        return True


redirects: Final = Redirects()
"""The process's."""
