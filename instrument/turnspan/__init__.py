"""Turnspan: the flight recorder of LLM agents.

import turnspan

turnspan.configure(service_name="my-agent")
turnspan.instrument()

@turnspan.agent
def answer(question: str) -> str: ...
"""

from __future__ import annotations

from turnspan._version import __version__ as __version__
from turnspan.annotations import annotate, evaluation, prefer, rank, withdraw
from turnspan.decorators import agent, step, tool, workflow
from turnspan.inference import inference
from turnspan.instrumentation import instrument, uninstrument
from turnspan.lifecycle import Recorder, configure, flush, shutdown
from turnspan.loop.artifacts import artifact
from turnspan.loop.consortia.runs import consortium
from turnspan.loop.evolutions import evolve, insight
from turnspan.loop.lineages import experiment
from turnspan.runtime.errors import TurnspanError
from turnspan.runtime.stats import FlushResult
from turnspan.sessions import session
from turnspan.tracing.context import active_turn
from turnspan.tracing.context_blocks import ContextAssembly, context_assembly
from turnspan.tracing.propagation import extract, inject
from turnspan.turn.turn import NO_TURN, Turn
from turnspan.wiring import wire

__all__ = [
    "ContextAssembly",
    "FlushResult",
    "Recorder",
    "Turn",
    "TurnspanError",
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
    "prefer",
    "rank",
    "session",
    "shutdown",
    "step",
    "tool",
    "uninstrument",
    "withdraw",
    "workflow",
]


wire()


def current_turn() -> Turn:
    """The innermost turn around this code; outside any turn an inert one, never ``None``."""
    return active_turn() or NO_TURN
