"""Bedrock's Converse API in Anthropic's words, which it is nearest to (docs.aws.amazon.com/bedrock,
API reference, Converse and ConverseStream), and what its InvokeModel packs into events."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any, Final

import orjson

from turnspan.dialects.other_replies import message_events
from turnspan.runtime.type_guards import is_dict, is_list

_PARAMETERS: Final = {
    "maxTokens": "max_tokens",
    "max_new_tokens": "max_tokens",
    "temperature": "temperature",
    "topP": "top_p",
    "topK": "top_k",
    "stopSequences": "stop_sequences",
}
_COUNTS: Final = {
    "inputTokens": "input_tokens",
    "outputTokens": "output_tokens",
    "cacheReadInputTokens": "cache_read_input_tokens",
    "cacheWriteInputTokens": "cache_creation_input_tokens",
    "cacheReadInputTokenCount": "cache_read_input_tokens",
    "cacheWriteInputTokenCount": "cache_creation_input_tokens",
}
_NAMED: Final = ("system", "messages", "inferenceConfig", "toolConfig")


def request(body: dict[str, Any]) -> dict[str, Any]:
    """A request of Converse."""
    sent = {key: value for key, value in body.items() if key not in _NAMED}
    config = body.get("inferenceConfig")
    for key, value in config.items() if is_dict(config) else ():
        sent[_PARAMETERS.get(key, key)] = value
    if body.get("system"):
        sent["system"] = blocks(body["system"])
    messages = body.get("messages")
    sent["messages"] = [
        {**each, "content": blocks(each.get("content"))} if is_dict(each) else each
        for each in (messages if is_list(messages) else [])
    ]
    tools = body.get("toolConfig")
    if is_dict(tools):
        sent["tools"] = [_tool(each) for each in tools.get("tools") or () if is_dict(each)]
        if tools.get("toolChoice"):
            sent["tool_choice"] = tools["toolChoice"]
    return sent


def _tool(tool: dict[str, Any]) -> dict[str, Any]:
    spec = tool.get("toolSpec")
    if not is_dict(spec):
        return tool
    schema = spec.get("inputSchema")
    made = {key: value for key, value in spec.items() if key != "inputSchema"}
    return {**made, "input_schema": schema.get("json") if is_dict(schema) else schema}


def blocks(content: Any) -> Any:
    """The blocks of a message."""
    return [_block(each) for each in content] if is_list(content) else content


def _block(block: Any) -> Any:
    if not is_dict(block) or len(block) != 1:
        return block
    ((kind, value),) = block.items()
    fields: dict[str, Any] = value if is_dict(value) else {}
    if kind == "text":
        return {"type": "text", "text": value}
    if kind == "toolUse":
        names = {"id": fields.get("toolUseId"), "name": fields.get("name")}
        return {"type": "tool_use", **names, "input": fields.get("input")}
    if kind == "toolResult":
        made = {"type": "tool_result", "tool_use_id": fields.get("toolUseId")}
        if fields.get("status") == "error":
            made["is_error"] = True
        return {**made, "content": blocks(fields.get("content"))}
    if kind == "json":
        return {"type": "text", "text": orjson.dumps(value).decode()}
    if kind in ("image", "document") and is_dict(fields.get("source")):
        kinds = "image" if kind == "image" else "application"
        source = {
            "type": "base64",
            "media_type": f"{kinds}/{fields.get('format')}",
            "data": fields["source"].get("bytes"),
        }
        return {"type": kind, "source": source}
    if kind == "reasoningContent":
        inner = fields.get("reasoningText")
        thought = inner if is_dict(inner) else fields
        if "text" in thought:
            signed = thought.get("signature")
            return {"type": "thinking", "thinking": thought["text"], "signature": signed}
    return {"type": kind, **fields} if fields else block


def usage(counts: Any) -> dict[str, Any]:
    """Token counts; those of the cache are beside the input, as Anthropic's are."""
    fields = counts if is_dict(counts) else {}
    return {_COUNTS[key]: value for key, value in fields.items() if key in _COUNTS}


def answer(body: dict[str, Any]) -> dict[str, Any]:
    """An answer of Converse."""
    output = body.get("output")
    message = output.get("message") if is_dict(output) else None
    if not is_dict(message):
        return body
    return {
        "role": message.get("role"),
        "content": blocks(message.get("content")),
        "stop_reason": body.get("stopReason"),
        "usage": usage(body.get("usage")),
    }


def event(body: dict[str, Any]) -> dict[str, Any]:
    """An event of ConverseStream."""
    for kind, fields in body.items():
        if not is_dict(fields):
            continue
        index = fields.get("contentBlockIndex", 0)
        if kind == "messageStart":
            message: dict[str, Any] = {"role": fields.get("role"), "content": []}
            return {"type": "message_start", "message": message}
        if kind == "contentBlockStart":
            block = _block(fields.get("start"))
            if is_dict(block) and block.get("type") == "tool_use":
                block["input"] = {}
            return {"type": "content_block_start", "index": index, "content_block": block or {}}
        if kind == "contentBlockDelta":
            delta = _delta(fields.get("delta"))
            return {"type": "content_block_delta", "index": index, "delta": delta}
        if kind == "messageStop":
            delta = {"stop_reason": fields.get("stopReason")}
            return {"type": "message_delta", "delta": delta, "usage": None}
        if kind == "metadata":
            counts = usage(fields.get("usage"))
            return {"type": "message_delta", "delta": {}, "usage": counts}
        if kind.endswith("Exception") or kind == "error":
            return {"type": "error", "error": {"type": kind, "message": fields.get("message")}}
    return {}


def _delta(delta: Any) -> dict[str, Any]:
    fields = delta if is_dict(delta) else {}
    if "text" in fields:
        return {"type": "text_delta", "text": fields["text"]}
    asked, thought = fields.get("toolUse"), fields.get("reasoningContent")
    if is_dict(asked):
        return {"type": "input_json_delta", "partial_json": asked.get("input") or ""}
    if is_dict(thought) and "text" in thought:
        return {"type": "thinking_delta", "thinking": thought["text"]}
    if is_dict(thought) and "signature" in thought:
        return {"type": "signature_delta", "signature": thought["signature"]}
    return {}


def packed_event(body: dict[str, Any]) -> dict[str, Any]:
    """The model's own event in one of InvokeModelWithResponseStream; an error as Anthropic's."""
    fields = body.get("chunk")
    packed = fields.get("bytes") if is_dict(fields) else None
    if not isinstance(packed, str):
        return event(body)
    try:
        opened: Any = orjson.loads(base64.b64decode(packed))
    except ValueError:
        return {}
    return opened if is_dict(opened) else {}


def nova_event(body: dict[str, Any]) -> dict[str, Any]:
    """An event of Nova's stream, whose words are those of ConverseStream."""
    return event(packed_event(body))


# -- and back: what Converse sends, of Anthropic's words -------------------------------------------


def written(body: dict[str, Any]) -> dict[str, Any]:
    """The answer of Converse that ``answer`` reads as this one."""
    message = {"role": body.get("role"), "content": list(map(_raw, body["content"]))}
    counts = _raw_usage(body.get("usage") or {})
    return {"output": {"message": message}, "stopReason": body.get("stop_reason"), "usage": counts,
            "metrics": {"latencyMs": 0}}  # fmt: skip


def _raw_usage(counts: dict[str, Any]) -> dict[str, Any]:
    names = {name: key for key, name in reversed(_COUNTS.items())}
    made = {names[key]: value for key, value in counts.items() if key in names}
    given, said = made.setdefault("inputTokens", 0), made.setdefault("outputTokens", 0)
    return {**made, "totalTokens": given + said}


def _raw(block: Any) -> Any:
    """The inverse of ``_block``, for what a model says."""
    kind = block.get("type") if is_dict(block) else None
    if kind == "text":
        return {"text": block["text"]}
    if kind == "tool_use":
        made = {"toolUseId": block.get("id"), "name": block.get("name")}
        return {"toolUse": {**made, "input": block.get("input")}}
    if kind == "thinking":
        signed = block.get("signature")
        thought = {"text": block["thinking"], **({"signature": signed} if signed else {})}
        return {"reasoningContent": {"reasoningText": thought}}
    if isinstance(kind, str):
        return {kind: {key: value for key, value in block.items() if key != "type"}}
    return block


def written_events(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The events of ConverseStream, of a whole answer in Anthropic's words."""
    for event in message_events(body):
        yield from _raw_events(event)
    usage = _raw_usage(body.get("usage") or {})  # all of it is told at the end
    yield {"metadata": {"usage": usage, "metrics": {"latencyMs": 0}}}


def _raw_events(event: dict[str, Any]) -> Iterator[dict[str, Any]]:
    kind, index = event["type"], {"contentBlockIndex": event.get("index", 0)}
    if kind == "message_start":
        yield {"messageStart": {"role": event["message"].get("role")}}
    elif kind == "content_block_start":
        block = event["content_block"]
        if block.get("type") == "tool_use":
            asked = {"toolUseId": block.get("id"), "name": block.get("name")}
            yield {"contentBlockStart": {"start": {"toolUse": asked}, **index}}
    elif kind == "content_block_delta":
        yield {"contentBlockDelta": {"delta": _raw_delta(event["delta"]), **index}}
    elif kind == "content_block_stop":
        yield {"contentBlockStop": index}
    elif kind == "message_delta":
        yield {"messageStop": {"stopReason": event["delta"].get("stop_reason")}}


def _raw_delta(delta: dict[str, Any]) -> dict[str, Any]:
    kind = delta["type"]
    if kind == "input_json_delta":
        return {"toolUse": {"input": delta["partial_json"]}}
    if kind == "thinking_delta":
        return {"reasoningContent": {"text": delta["thinking"]}}
    if kind == "signature_delta":
        return {"reasoningContent": {"signature": delta["signature"]}}
    return {"text": delta.get("text", "")}


def packed_events(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The events of InvokeModelWithResponseStream for Claude."""
    yield from map(_packed, message_events(body))


def packed_nova_events(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The events of InvokeModelWithResponseStream for Nova."""
    yield from map(_packed, written_events(body))


def _packed(event: dict[str, Any]) -> dict[str, Any]:
    return {"chunk": {"bytes": base64.b64encode(orjson.dumps(event)).decode()}}
