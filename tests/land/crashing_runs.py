"""Processes that make consortium runs until they are killed: for ``test_consortia_killed.py``.

Each prints what is certain by then, because it is on disk: ``began ID`` and ``ended ID``. The
parent's own run is open until its standard input ends, and is never told to have ended.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time

import turnspan


def made_forever(store: str, began: int) -> None:
    """Runs of two members and an arbiter, one after the other; the first is told of by a byte."""
    turnspan.configure(service_name="jury", store=store, exporters=["turnspan"])
    while True:
        with turnspan.consortium("Which?", name="jury") as run:
            said("began", run.id)
            os.write(began, b".")
            for model in ("a", "b"):
                with run.member(model), turnspan.inference(model=model) as call:
                    time.sleep(0.03)  # long enough that most are killed inside a run
                    call.response(text="yes")
            with run.arbiter(model="judge") as arbiter:
                arbiter.decided("yes", confidence=0.5)
            run.final("yes")
        said("ended", run.id)


def said(what: str, run: str) -> None:
    turnspan.flush(local=True)
    os.write(1, f"{what} {run}\n".encode())


def killed(store: str, seed: int) -> None:
    """One such process, killed at a moment that the seed says."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        made_forever(store, writing)
    os.close(writing)
    os.read(reading, 1)
    time.sleep(random.Random(seed).uniform(0, 0.2))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(reading)


def main(store: str, seeds: list[str]) -> None:
    for seed in seeds:
        killed(store, int(seed))
    turnspan.configure(service_name="jury", store=store, exporters=["turnspan"])
    with turnspan.consortium("Still?", name="alive") as run:
        said("open", run.id)
        sys.stdin.read()
        os._exit(9)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
