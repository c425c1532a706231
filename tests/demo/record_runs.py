"""Plays trajectory files through the real SDKs in a process of its own, recorded by Turnspan.

    python record_runs.py STORE STAMP PROVIDERS FILE...

Prints what ``turnspan.shutdown()`` said, as JSON.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import turnspan
from turnspan_demo.model import PROVIDERS, Provider
from turnspan_demo.runner import play_all, sessions
from turnspan_demo.trajectories import load


def main() -> None:
    """Record every run of the files with every provider."""
    store, stamp, providers, *files = sys.argv[1:]
    turnspan.configure(
        service_name="acceptance",
        project="acceptance",
        store=store,
        flush_interval=5.0,  # fewer and larger segments: two stores load them
        batch_size=2048,
    )
    turnspan.instrument()
    runs = [run for file in files for run in load(Path(file))]
    chosen: tuple[Provider, ...] = tuple(
        known for known in PROVIDERS if known in providers.split(",")
    )
    play_all(sessions(runs, chosen, stamp=stamp), workers=4)
    result = turnspan.shutdown()
    print(json.dumps({"ok": result.ok, "left": result.remaining, "dropped": dict(result.dropped)}))


if __name__ == "__main__":
    main()
