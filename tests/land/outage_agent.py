"""An agent whose outcome must not depend on telemetry; prints what its callers saw.

usage: outage_agent.py bare|traced   (the store comes from TURNSPAN_STORE)
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import turnspan

Answer = Callable[[str], str]


def answer(question: str) -> str:
    """Raise for an odd question, answer an even one."""
    if len(question) % 2:
        raise ValueError(f"cannot answer {question!r}")
    return question[::-1]


def main(mode: str) -> None:
    """Ask twenty questions; print each outcome, then how long it took."""
    ask: Answer = answer
    if mode == "traced":
        turnspan.configure(service_name="outage", flush_interval=0.05)
        ask = turnspan.agent(answer)
    started = time.monotonic()
    for number in range(20):
        question = "q" * (number + 1)
        try:
            print("returned", ask(question))
        except ValueError as error:
            print("raised", repr(error))
    print("took", time.monotonic() - started, file=sys.stderr)
    if mode == "traced":
        time.sleep(0.3)
        result = turnspan.flush(timeout=3)
        print("flush", result.ok, result.remaining > 0, file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1])
