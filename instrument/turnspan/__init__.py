"""Turnspan: the flight recorder of LLM agents.

import turnspan

turnspan.configure(service_name="my-agent")
turnspan.instrument()

@turnspan.agent
def answer(question: str) -> str: ...
"""

from __future__ import annotations

from turnspan.context import active_turn
from turnspan.decorators import agent, step, tool, workflow
from turnspan.evaluations import evaluation
from turnspan.inference import inference
from turnspan.instrumentation import instrument, uninstrument
from turnspan.judgments import annotate
from turnspan.lifecycle import FlushResult, configure, flush, shutdown
from turnspan.propagation import extract, inject
from turnspan.sessions import session
from turnspan.turn import NO_TURN, Turn

__version__ = "0.1.0"

__all__ = [
    "FlushResult",
    "Turn",
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
    "session",
    "shutdown",
    "step",
    "tool",
    "uninstrument",
    "workflow",
]


def current_turn() -> Turn:
    """The innermost turn around this code; outside any turn an inert one, never ``None``."""
    return active_turn() or NO_TURN
