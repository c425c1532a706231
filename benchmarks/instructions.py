"""How many instructions a call and a finished span take, of some checkouts: what a change costs,
to a part in a hundred, on a machine whose clock says nothing that small.

    python benchmarks/instructions.py CHECKOUT[=FOLDER] [...]

Each is a checkout, with its own benchmarks; ``FOLDER`` is where its compiled wheel is installed
(``pip install --no-deps --target FOLDER``), else its sources are run. Counted by valgrind, which
must be there with a C compiler, between two marks in one process: what a call with Turnspan adds
to the SDK's own (``calling_thread.py``), and what the worker does from ``span.end()`` to the spool
(``worker.py``), a span of recorded agents and a plain one. The same count comes again within half a
part in a hundred.
"""

from __future__ import annotations

import ctypes
import gc
import os
import re
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

CALLS = 200
RUNS = 12
MARKS = """
#include <valgrind/callgrind.h>
void begin(void) { CALLGRIND_START_INSTRUMENTATION; CALLGRIND_ZERO_STATS; }
void end(void) { CALLGRIND_STOP_INSTRUMENTATION; }
"""
PACKAGES = ("instrument", "exporter", "records", "console", "llm")
CASES = ("small", "realistic", "large", "stream of 50")
LOADS = ("a span of the mix", "a plain span")


def calling_thread(case: str, variant: str, marks: Any) -> int:
    """Make some calls; returns how many."""
    module: Any = import_module("calling_thread")
    bench = module.Bench()
    module.default.content.attach()
    bench.parts = module.chunks(50)
    streamed = {**module.CASES["small"], "stream": True}
    prepared = bench.prepare(module.CASES.get(case, streamed))
    bench.learn(prepared)
    bench.instrumented(variant == "ours")
    for _ in range(40):
        bench.plain(prepared)
    bench.drain()
    gc.collect()
    gc.disable()
    marks.begin()
    for _ in range(CALLS):
        bench.plain(prepared)
    marks.end()
    return CALLS


def worker(load: str, marks: Any) -> int:
    """Do what the worker does with some spans; returns how many."""
    module: Any = import_module("worker")
    recorded = module.record(RUNS)[0]
    plain = module.Recorded([module.Ended(span, None) for span in module.plain_spans(CALLS)])
    nowhere = SimpleNamespace(dsn=str)  # nothing is shipped
    done = 0
    chosen = plain if load == LOADS[1] else recorded
    for spans, counted in ((recorded, False), (plain, False), (chosen, True)):
        with tempfile.TemporaryDirectory() as folder:
            one = module.Worker(Path(folder), nowhere, whole=True)
            for ended, contents in spans.batches(module.BATCH):
                module.hand_over(ended, contents, one._ledger)
                one._ledger.take_facts()
                batch = module.Batch(one._writer.token, one._clock.now())
                gc.collect()
                gc.disable()
                if counted:
                    marks.begin()
                one._normalise(ended, batch, module.Pass())
                one._write(batch, module.Pass())
                if counted:
                    marks.end()
                    done += len(ended)
                gc.enable()
    return done


def instructions(checkout: Path, site: str, marks: Path, *what: str) -> float:
    """Instructions of one call or span, in a process of its own."""
    sources = os.pathsep.join(str(checkout / package) for package in PACKAGES)
    environment = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONPATH": site or sources}
    with tempfile.NamedTemporaryFile() as file:
        count = [f"--callgrind-out-file={file.name}", "--instr-atstart=no"]
        child = [sys.executable, __file__, "--child", str(checkout), str(marks), *what]
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", *count, *child],
            env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
    counted = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or counted is None:
        raise SystemExit(f"{' '.join(what)} of {checkout}: {done.stderr[-2000:]}")
    return int(counted[1]) / int(done.stdout.split()[-1])


def child(checkout: Path, library: str, what: str, variant: str = "") -> None:
    """Count one thing in this process."""
    sys.path[:0] = [str(checkout / name) for name in ("benchmarks", "tests", "examples")]
    marks = ctypes.CDLL(library)
    print(calling_thread(what, variant, marks) if variant else worker(what, marks), flush=True)
    os._exit(0)  # what runs at the end is not counted, and takes valgrind a minute


def main() -> None:
    """Print a line for each thing, and how the later checkouts compare to the first."""
    if sys.argv[1:2] == ["--child"]:
        child(Path(sys.argv[2]), *sys.argv[3:])
    chosen = [one.partition("=")[::2] for one in sys.argv[1:]]
    if not chosen:
        raise SystemExit((__doc__ or "").strip())
    with tempfile.TemporaryDirectory() as folder:
        marks = Path(folder) / "marks.so"
        build = ["cc", "-O1", "-shared", "-fPIC", "-x", "c", "-", "-o", str(marks)]
        subprocess.run(build, input=MARKS, text=True, check=True)
        for what in (*CASES, *LOADS):
            found: list[float] = []
            for name, site in chosen:
                checkout = Path(name).resolve()
                if what in LOADS:
                    found.append(instructions(checkout, site, marks, what))
                    continue
                ours, alone = (
                    instructions(checkout, site, marks, what, variant)
                    for variant in ("ours", "plain")
                )
                found.append(ours - alone)
            shown = "".join(f"{one:>12,.0f} {one / found[0]:6.3f}" for one in found)
            print(f"{what:<20}{shown}", flush=True)


if __name__ == "__main__":
    main()
