"""What may be seen on a span itself: redacted content, where asked for, and redacted errors."""

from __future__ import annotations

from typing import Any

from turnspan import semconv
from turnspan.content.ledger import InferenceContent


def content_attributes(content: InferenceContent) -> dict[str, str]:
    """A call's content as the GenAI content attributes: redacted JSON in the message schema."""
    import orjson

    from turnspan.content import convert, redact

    conversation = convert.convert(content)
    parts: dict[str, list[Any]] = {
        semconv.SYSTEM_INSTRUCTIONS: conversation.system,
        semconv.INPUT_MESSAGES: conversation.input,
        semconv.OUTPUT_MESSAGES: conversation.output,
        semconv.TOOL_DEFINITIONS: conversation.tools,
    }
    return {
        name: orjson.dumps(redact.redact(value, name)).decode()
        for name, value in parts.items()
        if value
    }


def clean_text(text: str, where: str) -> str:
    """An error's text, redacted. A failing hook leaves a marker, never the text."""
    from turnspan.content import redact

    return redact.redact_text(text, where)
