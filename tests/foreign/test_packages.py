"""The same exchange under each package lands as the same rows as under ours, field by field.

Where a package does not say something, its column is empty: ``UNKNOWN`` lists these, and nothing
else may differ. A field that a package learns to say fails here until it leaves the list.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import pytest

from foreign.exchange import Rows, ask_anthropic, ask_openai, run
from turnspan_clickhouse.rows.tables import LlmCall

Ask = Callable[[str], str]

ASK: dict[str, Ask] = {"openai": ask_openai, "anthropic": ask_anthropic}

IDENTITY = {
    *("trace_id", "span_id", "parent_span_id", "turn_id", "session_id", "start_time", "duration"),
    *("scope_name", "writer", "written_at", "attributes", "service", "project", "environment"),
}
"""What differs from run to run, or says who recorded it."""


@dataclass(frozen=True)
class Package:
    """An instrumentation of one SDK, and what it cannot tell."""

    sdk: str
    module: str
    kind: str
    unknown: frozenset[str] = frozenset()
    """Columns of llm_call that stay empty."""
    otherwise: frozenset[str] = frozenset()
    """Columns of llm_call that it says in another way."""


PACKAGES = {
    "official-openai": Package(
        "openai", "opentelemetry.instrumentation.genai.openai", "OpenAIInstrumentor"
    ),
    "official-anthropic": Package(
        "anthropic",
        "opentelemetry.instrumentation.genai.anthropic",
        "AnthropicInstrumentor",
        otherwise=frozenset({"finish_reasons"}),
    ),
    "openinference-openai": Package(
        "openai", "openinference.instrumentation.openai", "OpenAIInstrumentor"
    ),
    "openinference-anthropic": Package(
        "anthropic",
        "openinference.instrumentation.anthropic",
        "AnthropicInstrumentor",
        otherwise=frozenset({"input_messages"}),
    ),
    "openllmetry-openai": Package(
        "openai",
        "opentelemetry.instrumentation.openai",
        "OpenAIInstrumentor",
        otherwise=frozenset({"finish_reasons"}),
    ),
    "openllmetry-anthropic": Package(
        "anthropic",
        "opentelemetry.instrumentation.anthropic",
        "AnthropicInstrumentor",
        otherwise=frozenset({"finish_reasons"}),
    ),
}


def values(row: Any, rows: Rows) -> dict[str, Any]:
    """A row's columns but its identity; messages instead of hashes."""
    found = {f.name: getattr(row, f.name) for f in fields(row) if f.name not in IDENTITY}
    for name in ("input_messages", "output_messages"):
        if name in found:
            found[name] = rows.said(found[name])
    if isinstance(row, LlmCall):
        tools = rows.defined(row.tool_definitions)
        found["tool_definitions"] = [
            {k: v for k, v in tool.items() if k != "type"} for tool in json.loads(tools or "[]")
        ]
        found["system_prompt"] = rows.defined(row.system_prompt)
        parameters = json.loads(row.request_parameters or "{}")
        found["request_parameters"] = {k: v for k, v in parameters.items() if k != "model"}
    return found


def differences(ours: Any, theirs: Any, mine: Rows, other: Rows) -> dict[str, tuple[Any, Any]]:
    """The columns in which two rows differ: (ours, theirs)."""
    left, right = values(ours, mine), values(theirs, other)
    return {name: (left[name], right[name]) for name in left if left[name] != right[name]}


@pytest.mark.parametrize("name", PACKAGES)
def test_a_package_lands_as_ours_does(name: str, url: str, ours: dict[str, Rows]) -> None:
    """Two calls, one tool call, one turn: equal but for what the package is known not to say."""
    package = PACKAGES[name]
    mine = ours[package.sdk]
    theirs = run(package.module, package.kind, ASK[package.sdk], url)

    assert len(mine.calls) == len(theirs.calls) == 2
    assert len(mine.turns) == len(theirs.turns) == 1
    assert len(mine.tools) == len(theirs.tools) == 1
    different: dict[str, tuple[Any, Any]] = {}
    for one, other in zip(mine.calls, theirs.calls, strict=True):
        different.update(differences(one, other, mine, theirs))
    empty = {column for column, (_, said) in different.items() if not said}
    assert empty == package.unknown, different
    assert different.keys() - empty == package.otherwise, different
    assert differences(mine.tools[0], theirs.tools[0], mine, theirs) == {}
    turn = differences(mine.turns[0], theirs.turns[0], mine, theirs)
    assert turn.keys() <= package.unknown | package.otherwise, turn
