"""The Vercel AI SDK: ``ai.*`` (versions 4 to 6, and the legacy mode of 7)."""

from __future__ import annotations

from typing import Any, Final

from turnspan import semconv
from turnspan.content.media import blob_part, digest_of, modality_of, url_part
from turnspan.content.model import Message, Part, as_dict, as_list, text_part, unknown_part
from turnspan.turn.turn import TokenUsage
from turnspan_clickhouse.foreign_dialects import genai
from turnspan_clickhouse.foreign_dialects.base import (
    AGENT,
    INFERENCE,
    TOOL,
    Attributes,
    ForeignCall,
    ForeignSpan,
    definitions,
    first,
    integer,
    parsed,
    provider,
    seconds,
    sequence,
    text,
    texts,
)

_OPERATIONS: Final = {
    "ai.generateText.doGenerate": semconv.OP_CHAT,
    "ai.streamText.doStream": semconv.OP_CHAT,
    "ai.generateObject.doGenerate": semconv.OP_CHAT,
    "ai.streamObject.doStream": semconv.OP_CHAT,
    "ai.embed.doEmbed": semconv.OP_EMBEDDINGS,
    "ai.embedMany.doEmbed": semconv.OP_EMBEDDINGS,
    "ai.toolCall": semconv.OP_EXECUTE_TOOL,
    "ai.generateText": semconv.OP_INVOKE_AGENT,
    "ai.streamText": semconv.OP_INVOKE_AGENT,
    "ai.generateObject": semconv.OP_INVOKE_AGENT,
    "ai.streamObject": semconv.OP_INVOKE_AGENT,
}
_METADATA: Final = ("ai.telemetry.metadata", "ai.settings.context")
"""Where the application says whose call it is: up to version 6, and in the legacy mode of 7."""


def read(span: ForeignSpan) -> ForeignCall:
    """Read a span of the AI SDK. The outer span of a call is its agent, the inner one the call."""
    a = span.attributes
    operation_id = text(a.get("ai.operationId")) or span.name.partition(" ")[0]
    call = ForeignCall(_OPERATIONS.get(operation_id, ""))
    genai.read_facts(call, a)
    call.provider = provider(text(a.get("ai.model.provider")).partition(".")[0]) or call.provider
    if text(a.get("ai.model.provider")).startswith("google.vertex"):
        call.provider = "gcp.vertex_ai"
    call.request_model = text(first(a, "ai.model.id", semconv.REQUEST_MODEL))
    call.response_model = text(first(a, "ai.response.model", semconv.RESPONSE_MODEL))
    call.response_id = text(first(a, "ai.response.id", semconv.RESPONSE_ID))
    call.finish_reasons = call.finish_reasons or texts(a.get("ai.response.finishReason"))
    call.stream = "stream" in operation_id.lower()
    call.time_to_first_chunk = seconds(
        first(a, "ai.response.msToFirstChunk", "ai.stream.msToFirstChunk"), 0.001
    )
    call.usage = _usage(a, call.usage)
    prefix = "ai.settings."
    settings = {k[len(prefix) :]: v for k, v in a.items() if k.startswith(prefix)}
    choice = a.get("ai.prompt.toolChoice")
    if choice is not None:
        settings["tool_choice"] = parsed(choice)
    call.parameters = {**settings, **call.parameters}
    call.agent_name = call.agent_name or text(a.get("ai.telemetry.functionId"))
    call.conversation_id = call.conversation_id or text(
        _metadata(a, "sessionId", "conversationId", "threadId")
    )
    call.user_id = call.user_id or text(_metadata(a, "userId"))
    if call.kind == TOOL:
        call.tool_name = text(a.get("ai.toolCall.name"))
        call.tool_call_id = text(a.get("ai.toolCall.id"))
        call.tool_arguments = parsed(first(a, "ai.toolCall.args", "ai.toolCall.input"))
        call.tool_result = parsed(first(a, "ai.toolCall.result", "ai.toolCall.output"))
    if call.kind in (INFERENCE, AGENT):
        _read_messages(call, a)
    return call


def _metadata(a: Attributes, *names: str) -> Any:
    return first(a, *(f"{prefix}.{name}" for prefix in _METADATA for name in names))


def _usage(a: Attributes, known: TokenUsage) -> TokenUsage:
    def count(*keys: str) -> int | None:
        return integer(first(a, *(f"ai.usage.{key}" for key in keys)))

    said = TokenUsage(
        input_tokens=count("inputTokens", "promptTokens", "tokens"),
        output_tokens=count("outputTokens", "completionTokens"),
        cache_read_tokens=count("cachedInputTokens", "inputTokenDetails.cacheReadTokens"),
        cache_write_tokens=count("inputTokenDetails.cacheWriteTokens"),
        reasoning_tokens=count("reasoningTokens", "outputTokenDetails.reasoningTokens"),
    )
    for name in ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"):
        if getattr(said, name) is None:
            setattr(said, name, getattr(known, name))
    return said


def _read_messages(call: ForeignCall, a: Attributes) -> None:
    sent = parsed(a.get("ai.prompt.messages"))
    whole = as_dict(parsed(a.get("ai.prompt"))) or {}
    if sent is None:
        sent = whole.get("messages")
    call.input = [_message(said) for said in map(as_dict, as_list(sent) or []) if said]
    if not call.input and whole.get("prompt") is not None:
        call.input = [{"role": "user", "parts": [text_part(text(whole["prompt"]))]}]
    if isinstance(whole.get("system"), str):
        call.system = whole["system"]
    parts: list[Part] = []
    reasoning = a.get("ai.response.reasoning")
    if reasoning:
        parts.append({"type": "reasoning", "content": text(reasoning)})
    said = first(a, "ai.response.text", "ai.response.object", "ai.result.text")
    if said is not None:
        parts.append(text_part(text(said)))
    made = map(as_dict, as_list(parsed(a.get("ai.response.toolCalls"))) or [])
    parts.extend(_tool_call(request or {}) for request in made)
    if parts:
        call.output = [{"role": "assistant", "parts": parts}]
    tools = first(a, "ai.prompt.tools")
    found: list[Any] = []
    for item in sequence(parsed(tools)) or []:
        tool = as_dict(parsed(item))
        if tool is not None and "inputSchema" in tool:
            tool = {("parameters" if k == "inputSchema" else k): v for k, v in tool.items()}
        found.append(tool)
    call.tools = definitions(found)


def _message(said: dict[str, Any]) -> Message:
    content = said.get("content")
    role = text(said.get("role")) or "user"
    if as_list(content) is None:
        return {"role": role, "parts": [text_part(text(content))]}
    parts = [_part(as_dict(block) or {"value": block}) for block in as_list(content) or []]
    return {"role": role, "parts": parts}


def _tool_call(said: dict[str, Any]) -> Part:
    arguments = parsed(first(said, "input", "args"))
    part: Part = {"type": "tool_call", "name": text(said.get("toolName"))}
    part["id"] = text(said.get("toolCallId"))
    part["arguments"] = {} if arguments is None else arguments
    return part


def _part(block: dict[str, Any]) -> Part:
    kind = block.get("type")
    if kind in ("text", "reasoning"):
        return {"type": kind, "content": text(block.get("text"))}
    if kind == "tool-call":
        return _tool_call(block)
    if kind == "tool-result":
        result = first(block, "output", "result")
        return {
            "type": "tool_call_response",
            "id": text(block.get("toolCallId")),
            "response": result,
        }
    held = first(block, "image", "data")
    if kind in ("image", "file") and isinstance(held, str):
        mime_type = text(first(block, "mediaType", "mimeType"))
        modality = "image" if kind == "image" else modality_of(mime_type)
        if held.startswith(("http:", "https:", "data:")):
            return url_part(held, modality)
        return blob_part(digest_of(held), mime_type, modality)
    return unknown_part(block)
