"""Which attributes and events hold content: what was said or done, in any dialect of spans."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

_CONTENT: Final = (
    "ai.prompt",
    "ai.response.object",
    "ai.response.reasoning",
    "ai.response.text",
    "ai.response.toolCalls",
    "ai.result.",
    "ai.toolCall.args",
    "ai.toolCall.input",
    "ai.toolCall.output",
    "ai.toolCall.result",
    "ai.value",
    "all_messages_events",
    "embedding.embeddings",
    "events",
    "file_path",
    "final_result",
    "full_command",
    "gcp.vertex.agent.data",
    "gcp.vertex.agent.llm_",
    "gcp.vertex.agent.tool_",
    "gen_ai.completion",
    "gen_ai.input.messages",
    "gen_ai.memory.query.text",
    "gen_ai.memory.records",
    "gen_ai.output.messages",
    "gen_ai.prompt",
    "gen_ai.retrieval.documents",
    "gen_ai.retrieval.query.text",
    "gen_ai.system_instructions",
    "gen_ai.tool.call.arguments",
    "gen_ai.tool.call.result",
    "gen_ai.tool.definitions",
    "input.value",
    "langfuse.observation.input",
    "langfuse.observation.metadata",
    "langfuse.observation.output",
    "langfuse.observation.status_message",
    "langfuse.trace.input",
    "langfuse.trace.metadata",
    "langfuse.trace.output",
    "llm.choices",
    "llm.input_messages",
    "llm.output_messages",
    "llm.prompt",
    "llm.request.functions",
    "llm.tools",
    "model_request_parameters",
    "new_context",
    "output.value",
    "pydantic_ai.all_messages",
    "request_data",
    "response.model_output",
    "response_data",
    "retrieval.documents",
    "tool.parameters",
    "system_prompt_preview",
    "tool_arguments",
    "tool_input",
    "tool_parameters",
    "tool_response",
    "traceloop.entity.input",
    "traceloop.entity.output",
    "traceloop.prompt.",
    "user_prompt",
    "user_system_prompt",
)

_NAMES: Final = frozenset({"gen_ai.prompt.name", "gen_ai.prompt.version"})
_HOMELESS: Final = ("gen_ai.memory.", "gen_ai.prompt.variable", "gen_ai.retrieval.")
"""Content that only a span's attributes have."""

_ERROR_TEXT: Final = frozenset(
    {"error", "error.message", "exception.message", "exception.stacktrace"}
)
"""What an exception says may quote the content that it failed on."""

_CONTENT_EVENT: Final = ("gen_ai.", "tool.output")
"""Events of the older conventions (``gen_ai.user.message``, ...), and those of Claude Code's tools,
hold nothing but content."""


def is_content(key: str) -> bool:
    """Whether an attribute of any dialect holds what was said or done, not how."""
    return key.startswith(_CONTENT) and key not in _NAMES


def has_landed(key: str) -> bool:
    """Whether the content that an attribute of another package holds has columns of its own."""
    return is_content(key) and not key.startswith(_HOMELESS)


def is_left_without_content(key: str) -> bool:
    """Whether an attribute may stay where content is not recorded."""
    return key not in _ERROR_TEXT and not is_content(key)


def without_content(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes that may stay where content is not recorded."""
    return {k: v for k, v in attributes.items() if is_left_without_content(k)}


def event_without_content(name: str, attributes: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes of a span's event that may stay where content is not recorded."""
    return {} if name.startswith(_CONTENT_EVENT) else without_content(attributes)
