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
from turnspan.propagation import extract, inject
from turnspan.runtime.errors import TurnspanError
from turnspan.runtime.stats import FlushResult
from turnspan.sessions import session
from turnspan.tracing.context import active_turn
from turnspan.turn.turn import NO_TURN, Turn
from turnspan.wiring import wire

__all__ = [
    "FlushResult",
    "Recorder",
    "Turn",
    "TurnspanError",
    "agent",
    "annotate",
    "configure",
    "current_turn",
    "evaluation",
    "extract",
    "flush",
    "inference",
    "inject",
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
