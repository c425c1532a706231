"""What carrying turns into threads adds to ``submit`` and to the work itself.

    python benchmarks/threads.py

Thread CPU time, interleaved runs; the median of RUNS and its ratio to the bare executor. The worker
is held back while the calling thread submits, so that neither disturbs the other's figure.
"""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib.util import find_spec

from opentelemetry.instrumentation.instrumentor import (  # type: ignore[attr-defined]  # it opts out of type checks
    BaseInstrumentor,
)
from opentelemetry.sdk.trace import TracerProvider

import turnspan
from turnspan.patching.threads import ThreadingInstrumentor
from turnspan.tracing.state import default

RUNS = 25
TASKS = 2_000
_OTHER = "opentelemetry.instrumentation.threading"


def nothing() -> None:
    """The work."""


@contextmanager
def instrumented(instrumentor: BaseInstrumentor, turn: bool) -> Generator[None]:
    """Threads carry contexts; inside a turn or outside any."""
    instrumentor.instrument()
    try:
        with turnspan.agent("benchmark") if turn else nullcontext():
            yield
    finally:
        instrumentor.uninstrument()


def once() -> tuple[float, float]:
    """Microseconds a task: submitting it, and running it."""
    released = threading.Event()
    spent: list[int] = []
    with ThreadPoolExecutor(1) as pool:
        pool.submit(released.wait)
        began = time.thread_time_ns()
        for _ in range(TASKS):
            pool.submit(nothing)
        submitting = time.thread_time_ns() - began
        # The worker's thread does nothing but run them, so its CPU time is theirs.
        last = pool.submit(lambda: spent.append(time.thread_time_ns()))
        released.set()
        last.result()
        running = spent[0]
    return submitting / TASKS / 1_000, running / TASKS / 1_000


def variants() -> dict[str, Callable[[], AbstractContextManager[None]]]:
    """What is compared."""
    ours = ThreadingInstrumentor()
    found: dict[str, Callable[[], AbstractContextManager[None]]] = {
        "bare": nullcontext,
        "turnspan, no turn": lambda: instrumented(ours, turn=False),
        "turnspan, in a turn": lambda: instrumented(ours, turn=True),
    }
    if find_spec(_OTHER) is not None:
        from importlib import import_module

        other = import_module(_OTHER).ThreadingInstrumentor()
        found["official, no turn"] = lambda: instrumented(other, turn=False)
        found["official, in a turn"] = lambda: instrumented(other, turn=True)
    return found


def main() -> None:
    """Print one line a variant."""
    default.provider = TracerProvider()
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in variants()}
    for _ in range(RUNS):
        for name, enter in variants().items():
            with enter():
                times[name].append(once())
    bare = [statistics.median(run[part] for run in times["bare"]) for part in (0, 1)]
    print(f"{'':<22}{'submit, us':>12}{'added':>8}{'ratio':>7}{'run, us':>12}{'added':>8}")
    for name, runs in times.items():
        submit, run = (statistics.median(r[part] for r in runs) for part in (0, 1))
        print(
            f"{name:<22}{submit:>12.2f}{submit - bare[0]:>8.2f}{submit / bare[0]:>7.2f}"
            f"{run:>12.2f}{run - bare[1]:>8.2f}"
        )


if __name__ == "__main__":
    main()
