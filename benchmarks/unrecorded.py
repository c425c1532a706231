"""What watching for unrecorded calls costs the requests that are none, and those that are.

Interleaved with the same function unwatched; the median of the rounds, in nanoseconds a call.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

from turnspan.unrecorded import watch

ROUNDS, CALLS = 30, 5_000


class Connection:
    """Stands in for Python's HTTP client: sending would take all the time."""

    host = "api.example.com"

    def putrequest(self, method: str, url: str) -> None:
        """Send nothing."""


class Provider(Connection):
    """One to a provider."""

    host = "api.mistral.ai"


class _Module:
    HTTPConnection = Connection


def _time(function: Callable[..., Any], *args: Any) -> float:
    begun = time.perf_counter_ns()
    for _ in range(CALLS):
        function(*args)
    return (time.perf_counter_ns() - begun) / CALLS


def main() -> None:
    """Print the table."""
    from turnspan.unrecorded import watch_http_client

    plain = Connection.putrequest
    watch.active = True
    watch_http_client(watch, _Module)
    watched = Connection.putrequest
    other, provider = Connection(), Provider()
    cases = {
        "GET": (other, "GET", "/index.html"),
        "POST elsewhere": (other, "POST", "/api/orders"),
        "POST that asks no provider": (other, "POST", "/api/chat"),
        "POST that is counted": (provider, "POST", "/v1/chat/completions"),
    }
    for name, args in cases.items():
        costs = [_time(watched, *args) - _time(plain, *args) for _ in range(ROUNDS)]
        print(f"{name:28} {statistics.median(costs):8,.0f} ns")
    watch.stop()


if __name__ == "__main__":
    main()
