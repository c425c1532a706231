"""What looking for requests to models costs a request that is none, and one that is recorded.

The wrappers around Python's HTTP client, and around httpx's ``send`` over a transport that does
nothing, interleaved with the same functions without them; the median of the rounds, in nanoseconds
of CPU time a request. Cold: 4 MB of other data are read between two requests.
"""

from __future__ import annotations

import http.client
import statistics
import time
from collections.abc import Callable

import httpx

from turnspan.wire.gaps import watch

ROUNDS, CALLS, COLD_CALLS = 10, 3_000, 30
_OTHER_DATA = bytearray(4 * 2**20)
_LINE = 64


def _request(host: str, path: str) -> Callable[[], object]:
    """Begin a request; sending would take all the time."""
    connection = http.client.HTTPConnection(host)

    def begin() -> None:
        connection._HTTPConnection__state = "Idle"  # type: ignore[attr-defined]
        connection.putrequest("POST", path)
        connection._buffer.clear()  # type: ignore[attr-defined]

    return begin


class NoTransport(httpx.BaseTransport):
    """Answers at once."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """An empty answer."""
        return httpx.Response(200)


def _httpx(method: str, address: str) -> Callable[[], object]:
    """Send a request that is made already."""
    client = httpx.Client(transport=NoTransport())
    request = client.build_request(method, address, content=b"{}" if method == "POST" else None)
    return lambda: client.send(request)


def _time(function: Callable[[], object]) -> float:
    begun = time.process_time_ns()
    for _ in range(CALLS):
        function()
    return (time.process_time_ns() - begun) / CALLS


def _time_cold(function: Callable[[], object]) -> float:
    spent = 0
    for _ in range(COLD_CALLS):
        sum(_OTHER_DATA[::_LINE])
        begun = time.process_time_ns()
        function()
        spent += time.process_time_ns() - begun
    return spent / COLD_CALLS


def main() -> None:
    """Print the table."""
    cases = {
        "http.client, POST elsewhere": _request("api.example.com", "/api/orders"),
        "http.client, POST elsewhere, with an id": _request(
            "api.example.com", "/v1/orders/1b7f/items"
        ),
        "http.client, POST that costs nothing": _request("api.openai.com", "/v1/files"),
        "http.client, POST that is counted": _request("api.mistral.ai", "/v1/chat/completions"),
        "httpx, POST elsewhere": _httpx("POST", "https://api.example.com/api/orders"),
        "httpx, POST elsewhere, with an id": _httpx(
            "POST", "https://api.example.com/v1/orders/1b7f/items"
        ),
        "httpx, GET elsewhere": _httpx("GET", "https://api.example.com/api/orders"),
        "httpx, POST that costs nothing": _httpx("POST", "https://api.openai.com/v1/files"),
    }
    for name, begin in cases.items():
        hot: list[float] = []
        cold: list[float] = []
        for _ in range(ROUNDS):
            watch.start()
            watched, watched_cold = _time(begin), _time_cold(begin)
            watch.stop()
            hot.append(watched - _time(begin))
            cold.append(watched_cold - _time_cold(begin))
        print(
            f"{name:40} {statistics.median(hot):8,.0f} ns {statistics.median(cold):8,.0f} ns cold"
        )


if __name__ == "__main__":
    main()
