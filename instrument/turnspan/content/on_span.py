"""Content as span attributes, for OTLP backends: only where the standard variable asks for it.

The GenAI conventions allow JSON text where an SDK has no structured attributes. Redacted here, on
the calling thread: after ``span.end()`` nothing can be changed.
"""

from __future__ import annotations

from turnspan import config, semconv
from turnspan.content.convert import convert
from turnspan.content.ledger import InferenceContent, ToolContent
from turnspan.content.model import dumps_text
from turnspan.content.redact import Redactor


def inference_attributes(content: InferenceContent) -> dict[str, str]:
    """The messages, system instructions and tool definitions of a model call."""
    redactor = Redactor(config.active())
    conversation = convert(content)
    named = (
        (semconv.SYSTEM_INSTRUCTIONS, "system", conversation.system),
        (semconv.INPUT_MESSAGES, "input", conversation.input),
        (semconv.OUTPUT_MESSAGES, "output", conversation.output),
        (semconv.TOOL_DEFINITIONS, "tool_definitions", conversation.tools),
    )
    return {key: dumps_text(redactor.value(value, where)) for key, where, value in named if value}


def tool_attributes(content: ToolContent) -> dict[str, str]:
    """The arguments and the result of an executed tool."""
    redactor = Redactor(config.active())
    named = (
        (semconv.TOOL_CALL_ARGUMENTS, "tool_arguments", content.arguments),
        (semconv.TOOL_CALL_RESULT, "tool_result", content.result),
    )
    return {
        key: value if isinstance(value, str) else dumps_text(value)
        for key, value in (
            (key, redactor.value(value, where)) for key, where, value in named if value is not None
        )
    }
