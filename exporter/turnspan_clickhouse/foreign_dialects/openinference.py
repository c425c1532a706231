"""OpenInference (Arize Phoenix): ``openinference.span.kind``, ``llm.input_messages.N.message``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from turnspan import config, semconv
from turnspan.content.json_codec import arguments_part
from turnspan.content.media import digest_media, url_part
from turnspan.content.model import Message, Part, as_dict, as_list, text_part, unknown_part
from turnspan.dialects.convert import convert, convert_message
from turnspan_clickhouse.foreign_dialects import langchain
from turnspan_clickhouse.foreign_dialects.base import (
    INFERENCE,
    TOOL,
    WORKFLOW,
    Attributes,
    ForeignCall,
    ForeignSpan,
    counted,
    definitions,
    fill_reply,
    first,
    items,
    keywords,
    money,
    operation_of,
    parsed,
    provider,
    text,
    texts,
    tool_call,
    tool_call_id,
)


def read(span: ForeignSpan) -> ForeignCall:
    """Read a span of an OpenInference instrumentation."""
    a = span.attributes
    call = ForeignCall(operation_of(a.get("openinference.span.kind")))
    method = span.name.rpartition(".")[2]
    if call.kind == INFERENCE and method.startswith("_") and not method.startswith("__"):
        call.operation = ""  # LlamaIndex's helpers of a model, which call none
    kind = call.kind
    call.provider = provider(first(a, "llm.provider", "llm.system", "embedding.provider"))
    model = text(first(a, "llm.model_name", "embedding.model_name"))
    call.request_model = text(a.get("llm.request.model_name"))
    call.response_model = text(a.get("llm.response.model_name"))
    call.parameters = dict(as_dict(parsed(a.get("llm.invocation_parameters"))) or {})
    call.request_model = call.request_model or text(call.parameters.pop("model", "")) or model
    call.response_model = call.response_model or (model if kind == INFERENCE else "")
    call.stream = call.parameters.get("stream") is True
    count = "llm.token_count"
    call.usage = counted(
        a,
        input_tokens=(f"{count}.prompt",),
        output_tokens=(f"{count}.completion",),
        cache_read_tokens=(
            f"{count}.prompt_details.cache_read",
            f"{count}.prompt_details.cache_input",
        ),
        cache_write_tokens=(f"{count}.prompt_details.cache_write",),
        reasoning_tokens=(f"{count}.completion_details.reasoning",),
    )
    call.cost_usd = money(a.get("llm.cost.total"))
    call.finish_reasons = texts(a.get("llm.finish_reason"))
    call.conversation_id = text(a.get(semconv.SESSION_ID))
    call.user_id = text(a.get(semconv.USER_ID))
    call.agent_name = text(a.get("agent.name"))
    if kind == WORKFLOW:
        call.agent_name = span.name
    if kind == TOOL:
        call.tool_name = text(a.get("tool.name")) or span.name.removesuffix(".__call__")
        call.tool_call_id = tool_call_id(first(a, "tool.id", "tool_call.id", semconv.TOOL_CALL_ID))
        call.tool_arguments = keywords(parsed(first(a, "input.value", "tool.parameters")))
        call.tool_result = parsed(a.get("output.value"))
        # LangChain's tools return a message, which says whose result it is. One argument's text:
        # the call that asked for it has them all.
        told = langchain.read_result(call, call.tool_result)
        if told and call.tool_call_id and as_dict(call.tool_arguments) is None:
            call.tool_arguments = None
    if kind == INFERENCE:
        _read_messages(call, a)
    return call


def _read_messages(call: ForeignCall, a: Attributes) -> None:
    call.input = _messages(a, "llm.input_messages", "user")
    call.output = _messages(a, "llm.output_messages", "assistant")
    for prompt in items(a, "llm.prompts"):
        call.input.append(_plain("user", (as_dict(prompt.get("prompt")) or prompt).get("text")))
    for choice in items(a, "llm.choices"):
        said = as_dict(choice.get("completion")) or choice
        call.output.append(_plain("assistant", said.get("text")))
    body = as_dict(parsed(a.get("input.value")))
    if not call.input and a.get("input.value") is not None:
        sent = as_list((body or {}).get("messages"))
        if sent is not None:
            dialect = "anthropic.messages" if call.provider == "anthropic" else "openai.chat"
            call.input = [convert_message(dialect, message) for message in sent]
        else:
            call.input = [_plain("user", a["input.value"])]
    _read_failures(call, body or {})
    _read_reply(call, a)
    if not call.output and a.get("output.value") is not None:
        call.output = [_plain("assistant", a["output.value"])]
    schemas = [(as_dict(t.get("tool")) or t).get("json_schema") for t in items(a, "llm.tools")]
    call.tools = definitions(schemas)


def _read_failures(call: ForeignCall, body: Mapping[str, Any]) -> None:
    """Which tool results are errors: Anthropic's body says it, the attributes do not."""
    failed: set[Any] = set()
    for message in as_list(body.get("messages")) or []:
        for block in as_list((as_dict(message) or {}).get("content")) or []:
            fields = as_dict(block) or {}
            if fields.get("type") == "tool_result" and fields.get("is_error") is True:
                failed.add(fields.get("tool_use_id"))
    if not failed:
        return
    for message in call.input:
        for part in message["parts"]:
            if part.get("type") == "tool_call_response" and part.get("id") in failed:
                part["is_error"] = True


def _read_reply(call: ForeignCall, a: Attributes) -> None:
    """The reply's body, which says what the attributes do not: its id, and those of its calls."""
    body = as_dict(parsed(a.get("output.value"))) or {}
    call.response_id = text(first(body, "id", "response_id", "responseId"))
    said = langchain.reply(body)
    if said is not None:
        call.response_id = said.response_id
        fill_reply(call, said)
        return
    dialect = next((name for key, name in _BODIES.items() if as_list(body.get(key))), "")
    if not dialect:
        return
    asked = as_dict(parsed(a.get("input.value"))) or {}
    request = asked if dialect == "gemini" and "contents" in asked else {}
    found = convert(dialect, request, body)
    call.output = found.output
    call.finish_reasons = call.finish_reasons or found.finish_reasons
    if request:
        call.input = found.input
        call.system = found.system if found.raw_system is not None else call.system


_BODIES: Final = {"candidates": "gemini", "output": "openai.responses"}
"""What only a body of the API has, of those whose attributes leave out calls or their ids."""


def _plain(role: str, said: Any) -> Message:
    return {"role": role, "parts": [text_part(text(said))]}


def _messages(a: Attributes, prefix: str, default_role: str) -> list[Message]:
    return [_message(as_dict(item.get("message")) or {}, default_role) for item in items(a, prefix)]


_ROLES: Final = {"model": "assistant", "tool-call": "assistant", "tool-response": "user"}
"""What the roles of Gemini and smolagents are to a provider's API."""


def _message(said: dict[str, Any], default_role: str) -> Message:
    role = text(said.get("role")) or default_role
    role = _ROLES.get(role, role)
    parts: list[Part] = []
    content = said.get("content")
    if role == "tool" and content is not None:
        part: Part = {"type": "tool_call_response", "response": content}
        if said.get("tool_call_id"):
            part = {"type": "tool_call_response", "id": said["tool_call_id"], "response": content}
        parts.append(part)
    elif content:
        parts.append(text_part(text(content)))
    calls = [
        as_dict((as_dict(c) or {}).get("tool_call")) for c in as_list(said.get("tool_calls")) or []
    ]
    for block in map(as_dict, as_list(said.get("contents")) or []):
        made = as_dict((block or {}).get("tool_call"))
        if made is None:
            parts.append(_content(as_dict((block or {}).get("message_content")) or {}))
        elif made not in calls:
            calls.append(made)
    if said.get("function_call_name"):
        arguments = said.get("function_call_arguments_json")
        parts.append(arguments_part(said["function_call_name"], arguments))
    for call in calls:
        function = as_dict((call or {}).get("function")) or {}
        asked = function.get("name"), function.get("arguments", "")
        parts.append(tool_call(*asked, (call or {}).get("id")))
    message: Message = {"role": role, "parts": parts}
    if said.get("name"):
        message["name"] = text(said["name"])
    return message


def _content(block: dict[str, Any]) -> Part:
    kind = text(block.get("type"))
    if kind == "text" or (not kind and "text" in block):
        return text_part(text(block.get("text")))
    if kind == "reasoning":
        return {"type": "reasoning", "content": text(first(block, "text", "reasoning"))}
    for modality in ("image", "audio"):
        held = as_dict(block.get(modality)) or {}
        url = (as_dict(held.get(modality)) or held).get("url")
        if isinstance(url, str):
            kept = url if config.active().capture_media else digest_media(url)
            return url_part(kept, modality)
    return unknown_part(block)
