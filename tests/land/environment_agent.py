"""A small application in whatever environment: it must end as it would without us.

usage: environment_agent.py WAY   (PYTHONPATH=tests)
"""

from __future__ import annotations

import logging
import sys
from typing import Any


def main() -> None:
    """Configure by code or by nothing, record, and go."""
    logging.basicConfig(format="%(levelname)s %(name)s %(message)s", level=logging.WARNING)
    import turnspan

    if sys.argv[1] == "configure":
        turnspan.configure(service_name="small")
    elif sys.argv[1] == "auto":
        from turnspan.auto import TurnspanConfigurator, TurnspanDistro

        starting: list[Any] = [TurnspanDistro, TurnspanConfigurator]
        for kind in starting:
            kind().configure()
    elif sys.argv[1] == "sdk":
        from opentelemetry.sdk import _configuration

        initialize: Any = getattr(_configuration, "_initialize_components")  # noqa: B009
        initialize(trace_exporter_names=["turnspan"])

    @turnspan.tool
    def add(left: int, right: int) -> int:
        return left + right

    with turnspan.session("s"), turnspan.agent("a"):
        print("sum", add(1, 2))
    turnspan.flush(timeout=5)
    print("end")


if __name__ == "__main__":
    main()
