"""No odd attribute of a stranger's span costs more than itself: the record lands all the same."""

from __future__ import annotations

from typing import Any

import pytest
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext

from support.normalised import Rows
from support.representatives import few
from turnspan import semconv
from turnspan_clickhouse import foreign_dialects
from turnspan_clickhouse.rows.tables import SpanRow

ODD: tuple[Any, ...] = (
    *(True, 0, 7, -1, 2**70, 1.5, float("nan"), float("inf"), "", "x", "\ud800", "[1, null]"),
    *('{"a": [1]}', '"', "[", "{}", "[[]]", b"\xff", (), (1, "x"), (None, True), [{"a": 1}], {}),
    *({"0": {"b": 1}}, {"input": "x", "prompt_tokens": {}}, [[1], "x"]),
)
STRANGERS: dict[str, dict[str, Any]] = {
    "genai": {"gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-4o"},
    "genai tool": {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "look"},
    "genai agent": {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "desk"},
    "langfuse": {"langfuse.observation.type": "generation"},
    "langfuse tool": {"langfuse.observation.type": "tool"},
    "langfuse agent": {"langfuse.observation.type": "agent"},
    "openinference": {"openinference.span.kind": "LLM"},
    "openinference tool": {"openinference.span.kind": "TOOL"},
    "openinference agent": {"openinference.span.kind": "AGENT"},
    "langsmith": {"langsmith.span.kind": "llm", "gen_ai.request.model": "gpt-4o"},
    "openllmetry": {"llm.request.type": "chat"},
    "vercel": {"ai.operationId": "ai.generateText.doGenerate"},
}
OURS = {v for v in vars(semconv).values() if isinstance(v, str) and "." in v and "/" not in v}


class Watched(dict[str, Any]):
    """Attributes that say which of them were asked for."""

    asked: set[str] = set()  # noqa: RUF012

    def get(self, key: str, default: Any = None) -> Any:
        self.asked.add(key)
        return super().get(key, default)


def landed(attributes: dict[str, Any]) -> int:
    rows = Rows()
    rows.export(
        [
            ReadableSpan(
                "work",
                SpanContext(1, 2, False),
                resource=Resource({"service.name": "shop"}),
                attributes=attributes,
                instrumentation_scope=InstrumentationScope("strange"),
                start_time=1,
                end_time=2,
            )
        ]
    )
    return len(rows.calls) + len(rows.tools) + len(rows.turns) + len(rows.of(SpanRow))


def read_by(stranger: dict[str, Any]) -> set[str]:
    """The attributes that its dialect asks for."""
    Watched.asked = set()
    foreign_dialects.read(foreign_dialects.ForeignSpan("work", "strange", Watched(stranger)))
    return Watched.asked


@pytest.mark.parametrize("name", few(STRANGERS, ["genai", "langfuse tool"]))
def test_a_span_lands_with_any_value_of_any_attribute(name: str) -> None:
    stranger = STRANGERS[name]
    refused: list[tuple[str, Any, str]] = []
    # What names the operation says what the span is; all else is about it.
    known = {*stranger, semconv.OPERATION_NAME}
    for key in sorted((read_by(stranger) | OURS) - known):
        for odd in ODD:
            try:
                if landed({**stranger, key: odd}) == 0:
                    refused.append((key, odd, "gone"))
            except Exception as error:  # noqa: BLE001  any is a refusal
                refused.append((key, odd, repr(error)))
    assert not refused
