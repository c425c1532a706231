"""The recorders that record now, and the ways in which the process may leave them."""

from __future__ import annotations

import atexit
from typing import TYPE_CHECKING, Protocol

from turnspan.runtime.forks import in_child

if TYPE_CHECKING:
    from turnspan.pipeline.exit_hooks import ExitHooks


class Leaver(Protocol):
    """What a recorder does when the process leaves it."""

    def at_exit(self) -> None:
        """At the interpreter's end."""
        ...

    def write_out(self, patience: float) -> None:
        """Before the process is gone without an exit, within the seconds."""
        ...

    def after_fork(self) -> None:
        """In a forked child."""
        ...

    @property
    def records(self) -> bool:
        """Whether it has records to write."""
        ...


class OpenRecorders:
    """Those that record, from ``opened`` to ``closed``."""

    def __init__(self) -> None:
        self._recorders: list[Leaver] = []
        self._exit_hooks: ExitHooks | None = None
        in_child(self._after_fork)

    def opened(self, recorder: Leaver) -> None:
        """A recorder records from now on."""
        atexit.unregister(self._at_exit)
        atexit.register(self._at_exit)  # last registered, first run: before the SDK's own handler
        if recorder not in self._recorders:
            self._recorders.append(recorder)
        self.watch()

    def closed(self, recorder: Leaver) -> bool:
        """It does so no more. Whether another one does."""
        if recorder in self._recorders:
            self._recorders.remove(recorder)
        if not self._recorders:
            atexit.unregister(self._at_exit)
            if self._exit_hooks is not None:
                self._exit_hooks.uninstall()
        return bool(self._recorders)

    def watch(self) -> None:
        """Watch the ways to leave the process that run no exit handler."""
        # Only when something is recorded: ``import turnspan`` is to load little.
        from turnspan.pipeline.exit_hooks import ExitHooks

        if self._exit_hooks is None:
            self._exit_hooks = ExitHooks(self._write_out)
        self._exit_hooks.install()

    def _at_exit(self) -> None:
        for recorder in self._recorders:  # the spool is local and fast
            recorder.at_exit()

    def _write_out(self) -> None:
        # As above.
        from turnspan.pipeline.exit_hooks import PATIENCE

        for recorder in self._recorders:
            recorder.write_out(PATIENCE)

    def _after_fork(self) -> None:
        for recorder in self._recorders:
            recorder.after_fork()
        if self._exit_hooks is not None and any(each.records for each in self._recorders):
            self._exit_hooks.forked()
