"""What stands between a bot and its wiki: it passes requests on, or fails as it is told."""

from __future__ import annotations

import threading
import time
import urllib.request
from collections import deque
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MAXLAG = b'{"error":{"code":"maxlag","info":"Waiting for a database: 7 seconds lagged.","lag":7}}'


class Front(ThreadingHTTPServer):
    """Passes requests on to an API; each of ``faults`` is what happens to one request instead."""

    daemon_threads = True

    def __init__(self, behind: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.behind = behind
        self.faults: deque[str] = deque()
        self.seen: list[dict[str, Any]] = []
        """Headers and body of every request."""

    @property
    def api(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.server_port}/api.php"


@contextmanager
def front(behind: str) -> Generator[Front]:
    """A front of an API."""
    with Front(behind) as made:
        thread = threading.Thread(target=made.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield made
        finally:
            made.shutdown()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    cookies: Sequence[str] = ()

    @property
    def front(self) -> Front:
        """Where what is to happen is written."""
        assert isinstance(self.server, Front)
        return self.server

    def do_GET(self) -> None:
        self._serve(b"")

    def do_POST(self) -> None:
        self._serve(self.rfile.read(int(self.headers["Content-Length"])))

    def log_message(self, format: str, *args: object) -> None:
        pass

    def _serve(self, body: bytes) -> None:
        query = self.path.partition("?")[2]
        said = body.decode() or query
        self.front.seen.append({"headers": dict(self.headers), "said": said, "path": self.path})
        fault = self.front.faults.popleft() if self.front.faults else ""
        if fault == "lost":  # it arrives, and the answer does not
            self._ask(query, body)
        if fault in ("cut", "lost"):
            self.connection.close()
        elif fault == "maxlag":
            self._answer(200, MAXLAG, {"Retry-After": "3", "MediaWiki-API-Error": "maxlag"})
        elif fault == "slow":  # each piece in time, all of it not
            self._answer(200, b"", {"Content-Length": "40"})
            for _ in range(12):
                time.sleep(0.05)
                self.wfile.write(b" ")
        elif fault == "short":
            self._answer(200, b'{"query":', {"Content-Length": "4000"})
        elif fault == "elsewhere":
            self._answer(302, b"", {"Location": "http://127.0.0.1:9/api.php"})
        elif fault == "html":
            self._answer(200, b"<html>Welcome</html>", {})
        elif fault == "hours":
            self._answer(503, b"down", {"Retry-After": "7200"})
        elif fault.isdecimal():
            self._answer(int(fault), b"no", {"Retry-After": "2"})
        else:
            status, answer, headers = self._ask(query, body, known=fault != "forgotten")
            self._answer(status, answer, headers)

    def _ask(
        self, query: str, body: bytes, *, known: bool = True
    ) -> tuple[int, bytes, dict[str, str]]:
        kept = {
            key: value
            for key, value in self.headers.items()
            if key.lower() in ("cookie", "user-agent", "content-type")
            and (known or key.lower() != "cookie")
        }
        address = f"{self.front.behind}?{query}" if query else self.front.behind
        request = urllib.request.Request(address, data=body or None, headers=kept)
        with urllib.request.urlopen(request, timeout=30) as reply:
            self.cookies = [str(one) for one in reply.headers.get_all("Set-Cookie") or ()]
            return reply.status, reply.read(), {}

    def _answer(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for cookie in self.cookies:
            self.send_header("Set-Cookie", cookie)
        for key, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(key, value)
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = True
