"""What a turn hands to threads and processes in tests: importable, so that it can be pickled."""

from __future__ import annotations

from multiprocessing.connection import Connection
from typing import Any

from opentelemetry import trace

import turnspan


@turnspan.tool("piece")
def piece(where: str) -> str:
    """A tool that asks a model once; returns the turn that it finds itself in."""
    with turnspan.inference(provider="test", model="m") as call:
        call.response(text=f"done in {where}", input_tokens=1, output_tokens=1)
    return turnspan.current_turn().id


@turnspan.agent("helper")
def helper(question: str) -> str:
    """A sub-agent that asks a model once."""
    with turnspan.inference(provider="test", model="m") as call:
        call.response(text="helped", input_tokens=1, output_tokens=1)
    return turnspan.current_turn().id


def place() -> tuple[str, int]:
    """The current turn and span, as seen here."""
    return turnspan.current_turn().id, trace.get_current_span().get_span_context().span_id


def work_elsewhere(store: str, carrier: dict[str, str], where: str, done: Connection) -> None:
    """The main function of another process: goes on with the turn that the carrier names."""
    turnspan.configure(store=store, exporters=["turnspan"], service_name="worker")
    with turnspan.extract(carrier) as turn:
        seen: dict[str, Any] = {"turn": turn.id, "tool": piece(where), "rounds": turn.rounds}
        seen["helper"] = helper("can you?")
    seen["flushed"] = turnspan.shutdown().ok
    done.send(seen)
    done.close()
