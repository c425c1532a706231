"""What it costs to ask what a request is, beside what Python takes to split its address.

Interleaved; the best of the rounds, in nanoseconds a call and as a ratio.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any
from urllib.parse import SplitResult, urlsplit

from turnspan.wire.operations import asks_a_model_anywhere, operation_of

ROUNDS, CALLS = 40, 5_000
PATHS = {
    "GET": ("GET", "/v1/orders/7"),
    "POST elsewhere": ("POST", "/api/orders"),
    "POST elsewhere, long": ("POST", "/v1/users/123/orders/456/lines?expand=prices"),
    "POST elsewhere, with a dot": ("POST", f"/files/{'x' * 200}/report.json"),
    "chat": ("POST", "/v1/chat/completions"),
    "free": ("POST", "/v1/threads/thread_x1/messages"),
}


def _split(method: str, path: str) -> SplitResult:
    cached: Any = urlsplit
    cached.cache_clear()
    return urlsplit(path)


def _time(function: Callable[[str, str], object], method: str, path: str) -> float:
    begun = time.process_time_ns()
    for _ in range(CALLS):
        function(method, path)
    return (time.process_time_ns() - begun) / CALLS


def main() -> None:
    """Print the table."""
    functions = (operation_of, asks_a_model_anywhere, _split)
    print(f"{'':28} {'operation':>10} {'anywhere':>10} {'urlsplit':>10} {'ratio':>7}")
    for name, (method, path) in PATHS.items():
        rounds = [[_time(each, method, path) for each in functions] for _ in range(ROUNDS)]
        what, where, split = (min(times) for times in zip(*rounds, strict=True))
        ratio = (what + where) / split
        print(f"{name:28} {what:7,.0f} ns {where:7,.0f} ns {split:7,.0f} ns {ratio:7.2f}")


if __name__ == "__main__":
    main()
