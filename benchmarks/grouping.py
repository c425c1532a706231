"""How long it takes to find the consortium runs in a log of llm's, and what it holds in memory.

    python benchmarks/grouping.py [FOLDER] [--rows 20778] [--rows 207780]

Logs of these sizes are made in FOLDER, the same for the same seed: runs of one to six members in
one to three iterations, four at a time, a third of them with the same question and models that
answer alike; answers of 300 words, a tenth of them hostile. Each is grouped by a process of its
own: CPU time and peak memory are that process's; beside the peak stands what it had before. The
truth is known, so the rows attached wrongly are counted as well.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.consortium_runs import Shape, made_log
from turnspan_llm.grouping.runs import group

ROWS_A_RUN = 7.6
SIZES = (20_778, 207_780)


def peak() -> float:
    """The process's peak memory so far, in MB."""
    status = Path("/proc/self/status")
    if status.exists():  # ru_maxrss has what the parent had before the process began
        told = status.read_text().partition("VmHWM:")[2].split()[0]
        return int(told) / 2**10
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used / (2**20 if sys.platform == "darwin" else 2**10)


def one(path: Path) -> None:
    """Group a log, and print what it took as JSON."""
    before, began = peak(), time.process_time()
    found = group(path)
    told = {
        "seconds": time.process_time() - began,
        "before": before,
        "peak": peak(),
        "rows": found.seen,
        "runs": len(found.runs),
        "whole": sum(run.complete for run in found.runs),
        "places": {
            each.row.id: [run.output.row.id, each.role] for run in found.runs for each in run.rows()
        },
    }
    print(json.dumps(told))


def measured(folder: Path, rows: int, kind: str) -> None:
    """Make a log of about so many rows and group it."""
    path = folder / f"{kind}-{rows}.db"
    shape = Shape(
        *(round(rows / ROWS_A_RUN), 4, 0.3, 0.3, 0.1, 0.05, 0.05), standalone=0.2, text=300
    )
    truth = made_log(path, 1, shape, kind)
    done = subprocess.run(
        [sys.executable, __file__, "--one", str(path)], check=True, capture_output=True, text=True
    )
    told = json.loads(done.stdout)
    wrong = sum(truth.rows.get(row) != tuple(place) for row, place in told["places"].items())
    print(
        f"{kind:10} {told['rows']:8,} rows {path.stat().st_size / 2**20:7.0f} MB "
        f"{told['runs']:7,} runs {told['whole']:7,} whole {wrong:3} rows wrong "
        f"{told['seconds']:6.1f} s CPU {told['peak']:5.0f} MB ({told['before']:.0f} before)",
        flush=True,
    )
    path.unlink()


def main() -> None:
    """Measure each size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--rows", type=int, action="append")
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.one is not None:
        one(chosen.one)
        return
    with tempfile.TemporaryDirectory(dir=chosen.folder) as made:
        for rows in chosen.rows or SIZES:
            for kind in ("tools", "turns"):
                measured(Path(made), rows, kind)


if __name__ == "__main__":
    main()
