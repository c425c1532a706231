"""The public surface is small, sorted and pinned."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

import turnspan
import turnspan_records


def test_public_names() -> None:
    """A name that comes or goes changes this list, and the CHANGELOG."""
    assert turnspan.__all__ == sorted(turnspan.__all__)
    assert turnspan.__all__ == [
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
    assert all(getattr(turnspan, name).__doc__ for name in turnspan.__all__)


NOT_FOR_USERS = {"AttachedCalls", "Ending", "ExecutedTool", "SpanRecording", "StepSpan"}
"""What our own modules alone use, or what ``with`` gives that has no member to be used."""


def classes_of(function: Any) -> Iterator[type[Any]]:
    """Our classes in the type of what a function returns."""
    for node in ast.walk(ast.parse(function.__annotations__["return"] or "None")):
        kind = function.__globals__.get(node.id) if isinstance(node, ast.Name) else None
        if inspect.isclass(kind) and kind.__module__.partition(".")[0].startswith("turnspan"):
            yield kind


def functions_of(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """A function, or a class's public methods and properties."""
    if not inspect.isclass(value):
        yield name, value
        return
    for member in dir(value):
        if not member.startswith("_") or member == "__enter__":
            found = inspect.getattr_static(value, member)
            found = found.fget if isinstance(found, property) else found
            yield f"{name}.{member}", getattr(found, "__func__", found)


@pytest.mark.parametrize("module", [turnspan, turnspan_records], ids=lambda one: one.__name__)
def test_what_is_returned_is_public(module: ModuleType) -> None:
    """The class of whatever a public function, method or property returns can be named in the
    user's annotations: it is exported where the function is."""
    public = {name: getattr(module, name) for name in module.__all__}
    missing: set[str] = set()
    for name, value in public.items():
        for called, function in functions_of(name, value):
            if not inspect.isfunction(function):
                continue
            missing |= {
                f"{kind.__name__} ({called})"
                for kind in classes_of(function)
                if kind not in public.values() and kind.__name__ not in NOT_FOR_USERS
            }
    assert missing == set()
