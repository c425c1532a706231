"""What the masks cost at the worst: CPU per MB of texts made to be slow, and how it grows.

    make bench ARGS=hostile        (or: python benchmarks/hostile.py [--size 200000] [--all])

A family is a text of one beginning repeated: every head of a rule, every name that announces a
secret, runs of each kind of character, quotes and brackets that do not close, near misses. Linear
is a ratio of 2 for a text of twice the length. The last lines are ordinary text, for comparison.
"""

from __future__ import annotations

import argparse
import random
import string
import sys
import time
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "tests")]

from support.hostile import families  # noqa: E402
from turnspan.redaction.secrets import find_secrets  # noqa: E402


def seconds(text: str, repeats: int = 3) -> float:
    """The least CPU time of a scan."""
    best = float("inf")
    for _ in range(repeats):
        begun = time.thread_time()
        find_secrets(text)
        best = min(best, time.thread_time() - begun)
    return best


def ordinary(size: int) -> Iterator[tuple[str, str]]:
    """Ordinary texts: code, and prose without a sign."""
    code = "\n".join(path.read_text() for path in sorted(Path(random.__file__).parent.glob("*.py")))
    yield "the standard library's sources", code[:size]
    words = "the customer asked for a refund of the order and the agent explained why not. "
    yield "prose", (words * (size // len(words) + 1))[:size]
    chosen = random.Random(1).choices(string.ascii_letters + string.digits + "+/", k=size)
    yield "base64", "".join(chosen)


def main() -> None:
    """Print the families, the slowest first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=200_000)
    parser.add_argument("--all", action="store_true", help="not only the twenty slowest")
    options = parser.parse_args()
    rows: list[tuple[float, float, str]] = []
    for name, piece in families():
        text = (piece * (options.size // len(piece) + 1))[: options.size]
        half = seconds(text[: options.size // 2], 1)
        whole = seconds(text, 1)
        rows.append((whole / options.size * 1e9, whole / half, name))
    rows.sort(reverse=True)
    print(f"{len(rows)} families, {options.size:,} characters each")
    print(f"{'ms/MB':>8} {'ratio':>6}  family")
    for cost, ratio, name in rows if options.all else rows[:20]:
        print(f"{cost:8.1f} {ratio:6.2f}  {name}")
    for name, text in ordinary(options.size):
        print(f"{seconds(text) / len(text) * 1e9:8.1f} {'':6}  {name}")


if __name__ == "__main__":
    main()
