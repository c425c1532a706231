"""Content as span attributes, for OTLP backends: only where the standard variable asks for it.

The GenAI conventions allow JSON text where an SDK has no structured attributes. Redacted here, on
the calling thread: after ``span.end()`` nothing can be changed.
"""

from __future__ import annotations

from typing import Any

from turnspan import config, semconv
from turnspan.content.media import digest_media
from turnspan.content.model import CallContent, dumps_text
from turnspan.dialects import openai_embeddings
from turnspan.dialects.convert import convert
from turnspan.redaction.redactor import Redactor
from turnspan.redaction.truncate import limit_parts, limit_value
from turnspan.tracing.content_store import InferenceContent, ToolContent


def inference_attributes(content: InferenceContent) -> dict[str, str]:
    """The messages, system instructions and tool definitions of a model call.

    None for embeddings: the conventions give their spans no content.
    """
    if content.dialect == openai_embeddings.NAME:
        return {}
    redactor = Redactor(config.active())
    conversation = convert(content.dialect, content.request, content.response)
    return {key: dumps_text(value) for key, value in allowed(conversation, redactor).items()}


def allowed(conversation: CallContent, redactor: Redactor) -> dict[str, Any]:
    """A conversation by its attributes' names, as it may be written; nothing for what is empty."""
    limit = config.active().content_limit_bytes
    named = {
        semconv.SYSTEM_INSTRUCTIONS: redactor.parts(conversation.system, "system"),
        semconv.INPUT_MESSAGES: redactor.messages(conversation.input, "input"),
        semconv.OUTPUT_MESSAGES: redactor.messages(conversation.output, "output"),
        semconv.TOOL_DEFINITIONS: redactor.value(conversation.tools, "tool_definitions"),
    }
    for name in (semconv.INPUT_MESSAGES, semconv.OUTPUT_MESSAGES):
        named[name] = [{**m, "parts": limit_parts(m["parts"], limit)} for m in named[name]]
    return {key: value for key, value in named.items() if value}


def tool_attributes(content: ToolContent) -> dict[str, str]:
    """The arguments and the result of an executed tool."""
    settings = config.active()
    redactor = Redactor(settings)
    named = (
        (semconv.TOOL_CALL_ARGUMENTS, "tool_arguments", content.arguments),
        (semconv.TOOL_CALL_RESULT, "tool_result", content.result),
    )
    found: dict[str, str] = {}
    for key, where, value in named:
        if value is not None:
            kept = redactor.value(digest_media(value), where)
            kept, _ = limit_value(kept, settings.content_limit_bytes)
            found[key] = kept if isinstance(kept, str) else dumps_text(kept)
    return found
