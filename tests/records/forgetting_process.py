"""Forgets somebody's session in a process of its own, which kills itself.

``python forgetting_process.py STORE NAME STATEMENT SECONDS``: so long after the statement of this
number has begun.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from typing import Any

from support.forgetting import session_of
from support.rows import PROJECT
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.dsn import parse
from turnspan_clickhouse.store.opening import open_store
from turnspan_records.keeping import ForgetSubject, forget


def count_down(statement: int, seconds: float) -> None:
    """Have this process killed."""
    left = [statement]

    def die() -> None:
        time.sleep(seconds)
        os.kill(os.getpid(), signal.SIGKILL)

    def counted(method: Any) -> Any:
        def call(self: Store, *arguments: Any, **options: Any) -> Any:
            left[0] -= 1
            if left[0] == 0:
                threading.Thread(target=die).start()
            return method(self, *arguments, **options)

        return call

    for name in ("query", "command", "insert_native"):
        setattr(Store, name, counted(getattr(Store, name)))


def main() -> None:
    """Forget, and be killed."""
    text, name, statement, seconds = sys.argv[1:]
    with open_store(parse(text)) as store:
        count_down(int(statement), float(seconds))
        forget(store, ForgetSubject("session", session_of(name), PROJECT), settle=0.0)


if __name__ == "__main__":
    main()
