"""What a segment's checksum costs: made when it is written, compared when it is shipped.

    python benchmarks/checksum.py [--rounds 200]

Beside it: what encoding, writing and reading the same segment costs, and what one without a
checksum (of an earlier version) costs to be walked through.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from turnspan_clickhouse.rows.native_encoder import encode_block
from turnspan_clickhouse.rows.tables import LlmCall, Record
from turnspan_clickhouse.spool.segments import read_name
from turnspan_clickhouse.spool.spool import Spool, SpoolWriter
from turnspan_clickhouse.store.migrations import SCHEMA_VERSION

SIZES = (1, 10, 100, 1_000)
"""Rows of a segment; one call's row is about 1 KB here."""


def main() -> None:
    """Print the best of the rounds, in microseconds a segment and a row."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    rounds = parser.parse_args().rounds
    names = ("encode", "write", "read", "checksum, both ends", "a row", "walk")
    print("rows  KB  " + "  ".join(f"{name:>8}" for name in names))
    with tempfile.TemporaryDirectory() as folder:
        writer = SpoolWriter(Spool(Path(folder)))
        for count in SIZES:
            made = rows(count)
            block = encode_block(LlmCall, made)
            path = writer.write("llm_call", SCHEMA_VERSION, block)
            segment = read_name(path, path.stat())
            assert segment is not None
            old = replace(segment, checksum=None)
            figures = [
                best(rounds, lambda: encode_block(LlmCall, made)),  # noqa: B023
                best(rounds, lambda: written(writer, block)),  # noqa: B023
                best(rounds, path.read_bytes),
                2 * best(rounds, lambda: zlib.crc32(block)),  # noqa: B023
                best(max(5, rounds // 10), lambda: old.damage(block)),  # noqa: B023
            ]
            figures.insert(4, figures[3] / count)
            cells = "  ".join(
                f"{f:{max(8, len(n))}.2f}" for f, n in zip(figures, names, strict=True)
            )
            print(f"{count:4} {len(block) / 1024:4.0f}  {cells}")
            assert segment.damage(block) == ""
        writer.close()


def rows(count: int) -> list[Record]:
    """Calls with an answer of 600 characters, each another one."""
    words = "a b c " * 100
    return [
        LlmCall(project="p", session_id="s", span_id=f"{n:016x}", response_text=f"{n} {words}")
        for n in range(count)
    ]


def written(writer: SpoolWriter, block: bytes) -> None:
    """Write a segment and take it away."""
    os.unlink(writer.write("llm_call", SCHEMA_VERSION, block))


def best(rounds: int, work: Callable[[], object]) -> float:
    """The shortest time of many, in microseconds: others use the machine too."""
    found = float("inf")
    for _ in range(rounds):
        started = time.perf_counter()
        work()
        found = min(found, time.perf_counter() - started)
    return found * 1e6


if __name__ == "__main__":
    main()
