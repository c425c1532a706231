"""What an attempt costs the thread that enters and leaves it, beside ``turnspan.session``.

CPU time of the calling thread, both interleaved, the median of the rounds. Each makes a new object
and runs an empty block. What a round told is forgotten between rounds, so that nothing waits.

    python benchmarks/attempts.py [--rounds 151] [--blocks 400]
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import turnspan
from turnspan.tracing.state import default


def measured(variants: dict[str, Callable[[], None]], rounds: int, blocks: int) -> dict[str, float]:
    """Nanoseconds that a block of each variant takes."""
    taken: dict[str, list[float]] = {name: [] for name in variants}
    for _ in range(rounds):
        for name, block in variants.items():
            default.content.take_facts()
            began = time.thread_time_ns()
            for _ in range(blocks):
                block()
            taken[name].append((time.thread_time_ns() - began) / blocks)
    return {name: statistics.median(each) for name, each in taken.items()}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=151)
    parser.add_argument("--blocks", type=int, default=400)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = f"chdb://{Path(folder, 'store')}"
        turnspan.configure(service_name="bench", store=store, exporters=["turnspan"])
        lineage = turnspan.experiment("bench").lineage("A")
        lineage.version({"system_prompt": "You help."})
        rollout = lineage.rollout(1)

        def session() -> None:
            with turnspan.session("conversation-7", user_id="ada"):
                pass

        def attempt() -> None:
            with rollout.attempt(model="gpt-4o"):
                pass

        found = measured({"session": session, "attempt": attempt}, given.rounds, given.blocks)
        for name, nanoseconds in found.items():
            print(f"{name:8} {nanoseconds / 1e3:6.2f} µs")
        print(f"ratio    {found['attempt'] / found['session']:6.2f}")
        default.content.take_facts()
        turnspan.shutdown()


if __name__ == "__main__":
    main()
