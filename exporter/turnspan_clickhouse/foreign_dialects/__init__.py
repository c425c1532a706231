"""Spans of other instrumentations, read into our words: one file a dialect.

Which dialect a span speaks is decided by its instrumentation scope first, then by the attribute
that is the dialect's own, then by the GenAI operation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from turnspan import semconv
from turnspan.runtime.guard import errors
from turnspan_clickhouse.foreign_dialects import (
    claude_code,
    genai,
    google_adk,
    langfuse,
    langsmith,
    openinference,
    openllmetry,
    pydantic_ai,
    vercel,
)
from turnspan_clickhouse.foreign_dialects.base import AGENT as AGENT
from turnspan_clickhouse.foreign_dialects.base import INFERENCE as INFERENCE
from turnspan_clickhouse.foreign_dialects.base import OTHER as OTHER
from turnspan_clickhouse.foreign_dialects.base import TOOL as TOOL
from turnspan_clickhouse.foreign_dialects.base import Attributes
from turnspan_clickhouse.foreign_dialects.base import ForeignCall as ForeignCall
from turnspan_clickhouse.foreign_dialects.base import ForeignSpan as ForeignSpan
from turnspan_clickhouse.foreign_dialects.base import raised as raised
from turnspan_clickhouse.foreign_dialects.common_form import settle

_READERS: Final[Mapping[str, Callable[[ForeignSpan], ForeignCall]]] = {
    "claude_code": claude_code.read,
    "genai": genai.read,
    "google_adk": google_adk.read,
    "langfuse": langfuse.read,
    "langsmith": langsmith.read,
    "openinference": openinference.read,
    "openllmetry": openllmetry.read,
    "pydantic_ai": pydantic_ai.read,
    "vercel": vercel.read,
}
_OFFICIAL = ("opentelemetry.instrumentation.genai.", "opentelemetry.util.genai")
CODING_SCOPES: Final = claude_code.SCOPES | {"codex.events", "gemini-cli.events"}
"""The scopes of coding agents that also keep transcripts."""
_OLD_PROMPT = ("gen_ai.prompt.0.role", "gen_ai.prompt.0.content", "gen_ai.completion.0.role")


def detect(scope: str, attributes: Attributes) -> str | None:
    """The dialect that a span speaks; ``None`` for a span that is about no model, tool or agent."""
    if semconv.CODING_TELEMETRY in attributes:
        return None
    if scope.startswith(_OFFICIAL) or scope == "com.anthropic.sdk.python":
        return "genai"
    if scope in claude_code.SCOPES:
        return "claude_code"
    if scope.startswith("openinference.") or "openinference.span.kind" in attributes:
        return "openinference"
    if scope == "langsmith" or langsmith.KIND in attributes:
        return "langsmith"
    if scope == google_adk.SCOPE:
        return "google_adk"
    if scope == "pydantic-ai" or scope.startswith("logfire."):
        if semconv.OPERATION_NAME in attributes or scope == "pydantic-ai":
            return "pydantic_ai"
        return "pydantic_ai" if "request_data" in attributes else None
    if langfuse.TYPE in attributes and semconv.OPERATION_NAME not in attributes:
        return "langfuse"
    if "ai.operationId" in attributes:
        return "vercel"
    if _is_openllmetry(scope, attributes):
        return "openllmetry"
    if semconv.OPERATION_NAME in attributes or "gen_ai.system" in attributes:
        return "genai"
    return None


def _is_openllmetry(scope: str, attributes: Attributes) -> bool:
    if "llm.request.type" in attributes or "traceloop.span.kind" in attributes:
        return True
    if any(key in attributes for key in _OLD_PROMPT):
        return True
    return scope.startswith("opentelemetry.instrumentation.") and any(
        key.startswith(("traceloop.", "gen_ai.prompt.", "gen_ai.completion.")) for key in attributes
    )


def read(span: ForeignSpan) -> ForeignCall | None:
    """What a span of another instrumentation says; ``None`` where it is none of our business.

    Never raises: a span that its dialect's reader fails on is counted and left a plain span.
    """
    dialect = detect(span.scope, span.attributes)
    if dialect is None:
        return None
    try:
        call = _READERS[dialect](span)
        settle(call)
        return call
    except BaseException as error:  # noqa: BLE001  a foreign span of any shape must land as a span
        errors.record(f"dialect {dialect}", error)
        return None
