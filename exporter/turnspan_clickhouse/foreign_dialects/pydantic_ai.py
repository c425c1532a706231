"""pydantic-ai and Logfire: the GenAI conventions with names of their own beside them."""

from __future__ import annotations

from typing import Any

from turnspan import semconv
from turnspan.content.model import as_dict, as_list, text_part
from turnspan.dialects.convert import convert
from turnspan_clickhouse.foreign_dialects import genai
from turnspan_clickhouse.foreign_dialects.base import (
    AGENT,
    INFERENCE,
    OTHER,
    TOOL,
    ForeignCall,
    ForeignSpan,
    definitions,
    first,
    genai_messages,
    money,
    parsed,
    take_converted,
    text,
    texts,
)


def read(span: ForeignSpan) -> ForeignCall:
    """Read a span of pydantic-ai (any data-format version) or of Logfire's provider clients."""
    a = span.attributes
    call = genai.read(span)
    if call.kind == OTHER:
        call.operation = _operation(span)
    call.request_model = call.request_model or text(a.get("model_name"))
    call.cost_usd = money(a.get("operation.cost"))
    if call.kind == AGENT:
        call.agent_name = call.agent_name or text(a.get("agent_name"))
        aggregated = genai.usage(a, "gen_ai.aggregated_usage")
        if aggregated.input_tokens is not None or aggregated.output_tokens is not None:
            call.usage = aggregated
        if not call.input:
            everything = first(a, "pydantic_ai.all_messages", "all_messages_events")
            call.input = genai_messages(everything, "user")
        if not call.output and a.get("final_result") is not None:
            call.output = [{"role": "assistant", "parts": [text_part(text(a.get("final_result")))]}]
    if call.kind == TOOL:
        if call.tool_arguments is None:
            call.tool_arguments = parsed(a.get("tool_arguments"))
        if call.tool_result is None:
            call.tool_result = parsed(a.get("tool_response"))
    if call.kind == INFERENCE:
        asked = as_dict(parsed(a.get("model_request_parameters")))
        if asked is not None:
            call.parameters = {**call.parameters, "model_request_parameters": asked}
            tools: list[Any] = []
            for key in ("function_tools", "output_tools"):
                given = map(as_dict, as_list(asked.get(key)) or [])
                tools.extend({"name": tool.get("name"), **_schema(tool)} for tool in given if tool)
            call.tools = call.tools or definitions(tools)
        if not call.input and a.get("events") is not None:
            _read_events(call, as_list(parsed(a.get("events"))) or [])
        sent = as_dict(parsed(a.get("request_data")))
        if sent is not None and not call.input:
            _read_client(call, sent, as_dict(parsed(a.get("response_data"))) or {})
    return call


def _operation(span: ForeignSpan) -> str:
    a = span.attributes
    if "tool_arguments" in a or span.name.startswith("running tool"):
        return semconv.OP_EXECUTE_TOOL
    if "agent_name" in a or span.name in ("agent run", "run agent"):
        return semconv.OP_INVOKE_AGENT
    if "request_data" in a:
        return semconv.OP_CHAT
    return ""


def _schema(tool: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if tool.get("description"):
        found["description"] = tool["description"]
    found["parameters"] = tool.get("parameters_json_schema", {})
    return found


def _read_events(call: ForeignCall, events: list[Any]) -> None:
    """Version 1 wrote the messages as one JSON list of the old per-message events."""
    for event in map(as_dict, events):
        if event is None:
            continue
        name = text(event.get("event.name"))
        if name == "gen_ai.choice":
            call.output += genai.event_messages(as_dict(event.get("message")), "assistant")
            call.finish_reasons = call.finish_reasons or texts(event.get("finish_reason"))
        else:
            role = text(event.get("role")) or name.split(".")[1] if "." in name else "user"
            call.input += genai.event_messages(event, role)


def _read_client(call: ForeignCall, sent: dict[str, Any], said: dict[str, Any]) -> None:
    """Logfire's own clients write the kwargs and the reply's message as they are."""
    anthropic = call.provider == "anthropic"
    dialect = "anthropic.messages" if anthropic else "openai.chat"
    message = as_dict(said.get("message"))
    reply: Any = None
    if message is not None:
        reply = message if anthropic else {"choices": [{"message": message}]}
    found = convert(dialect, sent, reply)
    call.request_model = call.request_model or text(sent.get("model"))
    take_converted(call, found)
    call.parameters = {k: v for k, v in found.parameters.items() if k != "model"}
