"""Turnspan: the flight recorder of LLM agents.

import turnspan

turnspan.configure(service_name="my-agent")
turnspan.instrument()

@turnspan.agent
def answer(question: str) -> str: ...
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from turnspan._version import __version__ as __version__
from turnspan.decorators import agent, step, tool, workflow
from turnspan.inference import Inference, inference
from turnspan.lifecycle import Recorder, configure, flush, shutdown
from turnspan.runtime.errors import RerunDiverged, TurnspanError, TurnspanLimitReached
from turnspan.runtime.stats import FlushResult
from turnspan.sessions import session
from turnspan.tracing.context import active_turn
from turnspan.tracing.limited_calls import CallLimits, limits
from turnspan.turn.session import Session
from turnspan.turn.turn import NO_TURN, Turn
from turnspan.wiring import wire as _wire

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from turnspan.annotations import annotate, evaluation, prefer, rank, withdraw
    from turnspan.instrumentation import Instrumented, instrument, uninstrument
    from turnspan.loop.artifacts import artifact
    from turnspan.loop.attempts import Attempt
    from turnspan.loop.consortia.members import Arbiter, Member
    from turnspan.loop.consortia.runs import Run, consortium
    from turnspan.loop.evolutions import evolve, insight
    from turnspan.loop.lineages import Experiment, Lineage, experiment
    from turnspan.loop.rollouts import Rollout
    from turnspan.loop.versions import Version
    from turnspan.tracing.context_blocks import ContextAssembly, context_assembly
    from turnspan.tracing.propagation import extract, inject

    rerun: Callable[..., AbstractContextManager[Any]]  # of turnspan_records: that imports this

__all__ = [
    "Arbiter",
    "Attempt",
    "CallLimits",
    "ContextAssembly",
    "Experiment",
    "FlushResult",
    "Inference",
    "Instrumented",
    "Lineage",
    "Member",
    "Recorder",
    "RerunDiverged",
    "Rollout",
    "Run",
    "Session",
    "Turn",
    "TurnspanError",
    "TurnspanLimitReached",
    "Version",
    "agent",
    "annotate",
    "artifact",
    "configure",
    "consortium",
    "context_assembly",
    "current_turn",
    "evaluation",
    "evolve",
    "experiment",
    "extract",
    "flush",
    "inference",
    "inject",
    "insight",
    "instrument",
    "limits",
    "prefer",
    "rank",
    "rerun",
    "session",
    "shutdown",
    "step",
    "tool",
    "uninstrument",
    "withdraw",
    "workflow",
]

_LATER = {
    "turnspan.annotations": "annotate evaluation prefer rank withdraw",
    "turnspan.instrumentation": "Instrumented instrument uninstrument",
    "turnspan.loop.artifacts": "artifact",
    "turnspan.loop.attempts": "Attempt",
    "turnspan.loop.consortia.members": "Arbiter Member",
    "turnspan.loop.consortia.runs": "Run consortium",
    "turnspan.loop.evolutions": "evolve insight",
    "turnspan.loop.lineages": "Experiment Lineage experiment",
    "turnspan.loop.rollouts": "Rollout",
    "turnspan.loop.versions": "Version",
    "turnspan.tracing.context_blocks": "ContextAssembly context_assembly",
    "turnspan.tracing.propagation": "extract inject",
    "turnspan_records.again.rerun": "rerun",
}
"""Modules, with the names that are loaded from them when they are first used: most applications use
few of them, and a program that calls ``instrument()`` does so once."""


def __getattr__(name: str) -> Any:
    module = next((module for module, names in _LATER.items() if name in names.split()), None)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    found = getattr(importlib.import_module(module), name)
    globals()[name] = found
    return found


_wire()
if "TURNSPAN_RERUN" in os.environ:
    import importlib as _importlib

    _importlib.import_module("turnspan.wire.rerunning")  # redirects this program's requests


def current_turn() -> Turn:
    """The innermost turn around this code. Outside any turn, a turn that records nothing; never
    ``None``."""
    return active_turn() or NO_TURN
