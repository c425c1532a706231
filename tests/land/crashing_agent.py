"""An agent process that is meant to die: it runs tools for ever and logs each one that ended.

usage: crashing_agent.py LOG   (the store comes from TURNSPAN_STORE)
"""

from __future__ import annotations

import sys
import time

import turnspan


def main(log: str) -> None:
    """Turn after turn: finished ones of five tools, and one that is never finished."""
    turnspan.configure(service_name="crasher", flush_interval=0.1)
    with open(log, "w", buffering=1, encoding="ascii") as ended:
        with turnspan.session("s"), turnspan.agent("whole"):
            for number in range(5):
                with turnspan.tool("work", call_id=f"whole-{number}", arguments={"n": number}):
                    pass
                ended.write(f"whole-{number} {time.time()}\n")
        with turnspan.session("s"), turnspan.agent("endless"):
            number = 0
            while True:
                number += 1
                with turnspan.tool("work", call_id=f"endless-{number}", arguments={"n": number}):
                    pass
                ended.write(f"endless-{number} {time.time()}\n")
                time.sleep(0.0005)


if __name__ == "__main__":
    main(sys.argv[1])
