"""What ``import turnspan`` adds to an application that has opentelemetry-api already.

    python benchmarks/import_time.py

Each figure is the median over fresh interpreters, with compiled bytecode, the modules taking turns;
the goal is under 60 ms.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys

RUNS = 21
MODULES = ("turnspan", "opentelemetry.sdk.trace")
TIMED = """
import time
import opentelemetry.context, opentelemetry.trace
began = time.perf_counter()
import {module}
print((time.perf_counter() - began) * 1000)
"""


def milliseconds(module: str) -> float:
    """The import's duration in a fresh interpreter."""
    command = [sys.executable, "-c", TIMED.format(module=module)]
    # Where bytecode is not to be written, every import compiles, and that is what one would time.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    run = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return float(run.stdout)


def main() -> None:
    """Print one line a module."""
    for module in MODULES:
        milliseconds(module)  # compiles
    rounds = [[milliseconds(module) for module in MODULES] for _ in range(RUNS)]
    for module, times in zip(MODULES, zip(*rounds, strict=True), strict=True):
        print(
            f"import {module:<26} median {statistics.median(times):6.1f} ms"
            f"   best {min(times):6.1f} ms   worst {max(times):6.1f} ms"
        )


if __name__ == "__main__":
    main()
