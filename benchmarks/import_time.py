"""What ``import turnspan`` adds to an application that has opentelemetry-api already.

    python benchmarks/import_time.py

Each figure is the median over fresh interpreters, with compiled bytecode; the goal is under 60 ms.
"""

from __future__ import annotations

import statistics
import subprocess
import sys

RUNS = 21
TIMED = """
import time
import opentelemetry.context, opentelemetry.trace
began = time.perf_counter()
import {module}
print((time.perf_counter() - began) * 1000)
"""


def milliseconds(module: str) -> list[float]:
    """The import's duration in each of RUNS fresh interpreters."""
    command = [sys.executable, "-c", TIMED.format(module=module)]
    return [
        float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        for _ in range(RUNS)
    ]


def main() -> None:
    """Print one line a module."""
    for module in ("turnspan", "opentelemetry.sdk.trace"):
        times = milliseconds(module)
        print(
            f"import {module:<26} median {statistics.median(times):6.1f} ms"
            f"   best {min(times):6.1f} ms   worst {max(times):6.1f} ms"
        )


if __name__ == "__main__":
    main()
