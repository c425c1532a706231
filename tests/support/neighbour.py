"""A process that has an embedded store open beside the test's own, and does what it is told."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Generator
from types import TracebackType
from typing import Any

from turnspan_clickhouse.store.dsn import Dsn

_SCRIPT = """
import json, sys, time
from turnspan_clickhouse.store.dsn import parse
from turnspan_clickhouse.store.opening import SharedStore
store = SharedStore(parse(sys.argv[1]))
for line in sys.stdin:
    what, sql = json.loads(line)
    with store.using() as opened:
        if what == "keep":
            with opened.held():
                print(json.dumps("kept"), flush=True)
                sys.stdin.readline()
        else:
            while what == "repeat":
                opened.query(sql)
        print(json.dumps([*map(list, opened.query(sql).rows)]), flush=True)
"""


class Neighbour:
    """Another process with the store open; ``pid`` is its own."""

    def __init__(self, dsn: Dsn) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _SCRIPT, str(dsn)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.pid = self._process.pid

    def query(self, sql: str) -> Any:
        """The rows that a statement of its answers with."""
        self.tell("query", sql)
        return self.said()

    @contextlib.contextmanager
    def keeping(self) -> Generator[None]:
        """A block for which it keeps the store, as one long statement does."""
        self.tell("keep", "SELECT 1")
        assert self.said() == "kept"
        yield
        self.tell("go on", "")
        self.said()

    def tell(self, what: str, sql: str) -> None:
        """Have it do something; ``repeat`` goes on until it is ended."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{json.dumps([what, sql])}\n")
        self._process.stdin.flush()

    def said(self) -> Any:
        """What it answers next."""
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()
        self._process.wait()

    def __enter__(self) -> Neighbour:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
