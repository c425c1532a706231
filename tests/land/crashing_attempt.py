"""A process that dies in the middle of an attempt, after one that ended: for ``test_loop.py``."""

from __future__ import annotations

import os
import sys

import turnspan


def main(store: str) -> None:
    turnspan.configure(service_name="camp", store=store, exporters=["turnspan"])
    rollout = turnspan.experiment("camp").lineage("A").rollout(1)
    with rollout, rollout.attempt() as ended, turnspan.inference(model="m") as call:
        call.response(text="one")
    print(ended.id, flush=True)
    with rollout, rollout.attempt() as attempt, turnspan.agent("writer"):
        with turnspan.inference(model="m") as call:
            call.response(text="two")
        print(attempt.id, flush=True)
        turnspan.flush(local=True)
        os._exit(9)


if __name__ == "__main__":
    main(sys.argv[1])
