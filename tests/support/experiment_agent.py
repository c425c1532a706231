"""An application that runs an experiment, and may be killed while it does.

``python -m support.experiment_agent STORE VERSION LOG``: every call of the agent is a line of LOG.
"""

from __future__ import annotations

import os
import sys
import time

import turnspan
import turnspan_records


@turnspan.agent
def answer(question: str) -> str:
    """Answer right, but for numbers that end in 3; fails at those that end in 7."""
    with open(sys.argv[3], "a") as log:
        log.write(f"{question}\n")
    time.sleep(0.02)
    number = int(question.split()[1])
    if number % 10 == 7:
        raise ValueError(question)
    return str(double(number) + (number % 10 == 3))


@turnspan.tool
def double(number: int) -> int:
    """Twice the number."""
    return 2 * number


def main() -> None:
    """Run what is left of one version, and print what was done."""
    run = turnspan_records.run_experiment(
        "doubles",
        dataset="doubles",
        agent=answer,
        scorers=["exact,tools:exact"],
        version=sys.argv[2],
        store=sys.argv[1],
    )
    print(run.earlier, run.ran, run.failed, run.left)


if __name__ == "__main__":
    os.environ.pop("OTEL_SERVICE_NAME", None)
    main()
