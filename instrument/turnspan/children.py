"""Child processes of ``multiprocessing``: they leave without the interpreter's exit handlers.

Such a child ends with ``os._exit`` after it ran the finalizers of ``multiprocessing.util``, so what
it recorded last is written by one of those.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

from turnspan.guard import guard


class ChildExit:
    """Calls ``leave`` when a child process that was forked from here, or is this one, ends."""

    def __init__(self, leave: Callable[[], None]) -> None:
        self._leave = leave
        os.register_at_fork(after_in_child=self._forked)

    def watch_this_process(self) -> None:
        """Watch the process that runs this, where it is a child of ``multiprocessing``."""
        module = sys.modules.get("multiprocessing.process")
        if module is not None and module.parent_process() is not None:
            self._bootstrapped()

    def _forked(self) -> None:
        with guard("children.fork"):
            util: Any = sys.modules.get("multiprocessing.util")
            if util is not None:
                # Not yet: the child forgets the finalizers of its parent first.
                util.register_after_fork(self, ChildExit._bootstrapped)

    def _bootstrapped(self) -> None:
        with guard("children.finalize"):
            util: Any = sys.modules["multiprocessing.util"]
            util.Finalize(None, self._leave, exitpriority=100)
