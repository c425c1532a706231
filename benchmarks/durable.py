"""``flush(local=True)``: how long until a turn is safe on the local disk, with no store to reach.

    python benchmarks/durable.py [--turns 300] [--folder FOLDER]

Each round ends a turn with one model call and flushes; beside it, in the same folder, a file of as
many bytes is written and synced, which is what any program pays for the same promise.
"""

from __future__ import annotations

import argparse
import logging
import os
import tempfile
import time
from pathlib import Path

import turnspan

UNREACHABLE = "http://127.0.0.1:9/nowhere"


def main() -> None:
    """Print medians and 99th percentiles, in milliseconds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=300)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    chosen = parser.parse_args()
    logging.disable()
    with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
        os.environ["TURNSPAN_SPOOL"] = f"{folder}/spool"
        turnspan.configure(service_name="durable", store=UNREACHABLE)
        ours: list[float] = []
        bare: list[float] = []
        for number in range(chosen.turns):
            turn(number)
            started = time.perf_counter()
            result = turnspan.flush(local=True)
            ours.append(time.perf_counter() - started)
            assert result.ok
            bare.append(one_file(Path(folder) / "beside"))
            time.sleep(0.01)
        turnspan.shutdown(timeout=0.1)
    for name, taken in (("flush(local=True)", ours), ("one file, synced", bare)):
        taken.sort()
        half, most = taken[len(taken) // 2], taken[len(taken) * 99 // 100]
        print(f"{name:20} p50 {half * 1e3:6.2f} ms   p99 {most * 1e3:6.2f} ms")


def turn(number: int) -> None:
    """A turn with a model call of 4 KB."""
    messages = [{"role": "user", "content": f"{number} " + "word " * 800}]
    with (
        turnspan.agent("a"),
        turnspan.inference(provider="openai", model="gpt-4o", messages=messages) as call,
    ):
        call.response(text="an answer")


def one_file(path: Path) -> float:
    """Seconds for a file of 8 KB to be written and synced."""
    started = time.perf_counter()
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.write(fd, b"x" * 8_192)
    os.fsync(fd)
    os.close(fd)
    path.unlink()
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
