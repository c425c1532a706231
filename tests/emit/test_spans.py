"""Attributes set in one step are what the SDK would have kept, one by one."""

from __future__ import annotations

from typing import Any

import pytest
from opentelemetry.sdk.trace import SpanLimits, TracerProvider
from opentelemetry.trace import INVALID_SPAN

from turnspan import spans

GIVEN: dict[str, Any] = {
    "kept.before": "new",
    "text": "a",
    "whole": 7,
    "real": 0.5,
    "flag": True,
    "reasons": ("stop", "length"),
}
ODD: dict[str, Any] = {
    "list": ["a", "b"],
    "mixed": (1, "a"),
    "nothing": None,
    "object": object,
    "nested": {"a": [1]},
}


def span_of(limits: SpanLimits | None = None) -> Any:
    """A span that has an attribute already."""
    provider = TracerProvider(span_limits=limits)
    return provider.get_tracer("t").start_span("s", attributes={"kept.before": "old"})


@pytest.mark.parametrize("more", [{}, *({name: value} for name, value in ODD.items())], ids=str)
@pytest.mark.parametrize(
    "limits",
    [None, SpanLimits(max_span_attributes=3), SpanLimits(max_span_attribute_length=2)],
    ids=["none", "number", "length"],
)
def test_the_same_as_the_sdk_sets(limits: SpanLimits | None, more: dict[str, Any]) -> None:
    """Whatever the values and the limits: also those that only the SDK can clean or cut."""
    ours, theirs = span_of(limits), span_of(limits)

    spans.set_attributes(ours, {**GIVEN, **more})
    theirs.set_attributes({**GIVEN, **more})

    assert dict(ours.attributes) == dict(theirs.attributes)
    assert ours.dropped_attributes == theirs.dropped_attributes


def test_an_ended_span_stays_what_it_was(caplog: pytest.LogCaptureFixture) -> None:
    """The SDK says so in its log, as it always does."""
    span = span_of()
    span.end()

    spans.set_attributes(span, GIVEN)

    assert dict(span.attributes) == {"kept.before": "old"}
    assert [record.message for record in caplog.records] == ["Setting attribute on ended span."]


def test_a_span_that_is_built_otherwise_is_written_to_by_its_own_method() -> None:
    """One that records nothing, and one whose attributes lie elsewhere."""
    spans.set_attributes(INVALID_SPAN, GIVEN)

    class Elsewhere:
        def __init__(self) -> None:
            self.told: dict[str, Any] = {}

        def set_attributes(self, attributes: dict[str, Any]) -> None:
            self.told.update(attributes)

    other: Any = Elsewhere()
    spans.set_attributes(other, GIVEN)
    assert other.told == GIVEN
