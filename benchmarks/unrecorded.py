"""What looking for requests to models costs a request that is none, and one that is recorded.

The wrappers around Python's HTTP client, interleaved with the same functions without them; the
median of the rounds, in nanoseconds a request.
"""

from __future__ import annotations

import http.client
import statistics
import time
from collections.abc import Callable
from typing import Any

from turnspan.wire.gaps import watch

ROUNDS, CALLS = 30, 3_000


def _request(host: str, path: str) -> Callable[[], None]:
    """Begin a request; sending would take all the time."""
    connection = http.client.HTTPConnection(host)

    def begin() -> None:
        connection._HTTPConnection__state = "Idle"  # type: ignore[attr-defined]
        connection.putrequest("POST", path)
        connection._buffer.clear()  # type: ignore[attr-defined]

    return begin


def _time(function: Callable[..., Any]) -> float:
    begun = time.perf_counter_ns()
    for _ in range(CALLS):
        function()
    return (time.perf_counter_ns() - begun) / CALLS


def main() -> None:
    """Print the table."""
    cases = {
        "POST elsewhere": _request("api.example.com", "/api/orders"),
        "POST elsewhere, with an id": _request("api.example.com", "/v1/orders/1b7f/items"),
        "POST that costs nothing": _request("api.openai.com", "/v1/files"),
        "POST that is counted": _request("api.mistral.ai", "/v1/chat/completions"),
    }
    for name, begin in cases.items():
        costs: list[float] = []
        for _ in range(ROUNDS):
            watch.start()
            watched = _time(begin)
            watch.stop()
            costs.append(watched - _time(begin))
        print(f"{name:28} {statistics.median(costs):8,.0f} ns")


if __name__ == "__main__":
    main()
