"""That a call or a tool failed is told by whatever its instrumentation has of it.

An OpenTelemetry span whose status was set to OK keeps it, whatever is set afterwards. LangSmith
sets OK when it first tells of a run and ERROR when the run fails, so a run that takes longer than
its batches (some 0.1 s) ends with OK and an exception as its event. Langfuse leaves the status to
the application and has a level of its own. Others set ERROR and name what failed in the event only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest
from opentelemetry.trace import Span, StatusCode

from support.normalised import Rows, provider
from turnspan import config

LANGSMITH_TOOL = {"langsmith.span.kind": "tool", "gen_ai.tool.name": "lookup"}
LANGSMITH_CALL = {"langsmith.span.kind": "llm", "gen_ai.request.model": "gpt-4o"}
LANGFUSE_TOOL = {"langfuse.observation.type": "tool"}
LANGFUSE_CALL = {"langfuse.observation.type": "generation"}
OPENINFERENCE_TOOL = {"openinference.span.kind": "TOOL", "tool.name": "lookup"}
"""What such spans are known by."""

TRACED = "Odd('no order 7')Traceback (most recent call last):\n\n  File \"desk.py\", line 3"


def late(span: Span) -> None:
    """As LangSmith tells of a run that fails later than its first batch."""
    span.set_status(StatusCode.OK)
    span.set_status(StatusCode.ERROR)
    span.record_exception(Exception(TRACED))


def at_once(span: Span) -> None:
    """As LangSmith tells of a run that has failed before its first batch."""
    span.set_status(StatusCode.ERROR)
    span.record_exception(Exception(TRACED))


def levelled(span: Span) -> None:
    """As an application tells Langfuse."""
    span.set_attribute("langfuse.observation.level", "ERROR")
    span.set_attribute("langfuse.observation.status_message", "no order 7")


def raised(span: Span) -> None:
    """As most do: the status has the words, the event the class."""
    span.record_exception(KeyError("no order 7"))
    span.set_status(StatusCode.ERROR, "no order 7")


@pytest.mark.parametrize(
    ("scope", "attributes", "fail", "error_type", "message"),
    [
        ("langsmith", LANGSMITH_TOOL, late, "Odd", "Odd('no order 7')"),
        ("langsmith", LANGSMITH_CALL, late, "Odd", "Odd('no order 7')"),
        ("langsmith", LANGSMITH_TOOL, at_once, "Odd", "Odd('no order 7')"),
        ("langfuse-sdk", LANGFUSE_TOOL, levelled, "_OTHER", "no order 7"),
        ("langfuse-sdk", LANGFUSE_CALL, levelled, "_OTHER", "no order 7"),
        ("openinference.instrumentation.x", OPENINFERENCE_TOOL, raised, "KeyError", "no order 7"),
    ],
)
def test_a_failure_is_told(
    scope: str,
    attributes: Mapping[str, str],
    fail: Callable[[Span], None],
    error_type: str,
    message: str,
) -> None:
    """The record failed, with what failed and its words."""
    rows = Rows()
    with provider(rows).get_tracer(scope).start_as_current_span("lookup") as span:
        span.set_attributes(attributes)
        fail(span)
    (record,) = rows.tools or rows.calls
    assert (record.error_type, record.error_message) == (error_type, message)
    assert all(tool.failed for tool in rows.tools)


def test_an_exception_that_was_dealt_with_is_no_failure() -> None:
    """Of others than LangSmith: a span that ended well may have recorded one on its way."""
    rows = Rows()
    tracer = provider(rows).get_tracer("openinference.instrumentation.x")
    with tracer.start_as_current_span("lookup", attributes=OPENINFERENCE_TOOL) as span:
        span.record_exception(KeyError("no order 7"))
        span.set_status(StatusCode.OK)
    (tool,) = rows.tools
    assert (tool.failed, tool.error_type) == (False, "")


@pytest.mark.usefixtures("settings_stay_with_their_test")
def test_what_failed_is_masked_and_no_content() -> None:
    """The words are redacted like a status's, and left out where content is not recorded."""
    secret = "AKIA" + "QW3E7RT5YUI2OPAS"

    def tell(rows: Rows) -> str:
        with provider(rows).get_tracer("langsmith").start_as_current_span("lookup") as span:
            span.set_attributes(LANGSMITH_TOOL)
            span.set_status(StatusCode.OK)
            span.record_exception(Exception(f"Odd('{secret}')Traceback"))
        (tool,) = rows.tools
        assert (tool.failed, tool.error_type) == (True, "Odd")
        return str(tool.error_message)

    masked = tell(Rows())
    assert secret not in masked
    assert masked.startswith("Odd(")
    config.activate(config.resolve({"capture_content": False}, {}))
    assert tell(Rows()) == ""
