"""Agents that run as processes of their own: what they ask their models leaves from there."""

from __future__ import annotations

from typing import Any, Final

from turnspan.patching.patches import Args, Function, Kwargs, Patches
from turnspan.runtime.guard import guard
from turnspan.wire.gaps import watch

_STARTED: Final = guard("unrecorded.seen")


def started(wrapped: Function, process: Any, args: Args, kwargs: Kwargs) -> Any:
    """Around the start of a process; one that could not be started is none."""
    result = wrapped(*args, **kwargs)
    with _STARTED:
        watch.started(args[0] if args else kwargs.get("args"))
    return result


def patch(patches: Patches) -> None:
    """Put the wrapper on."""
    patches.wrap("subprocess", "Popen.__init__", started)
