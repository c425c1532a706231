"""Ollama's own API in OpenAI's words (github.com/ollama/ollama, docs/api.md)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timezone
from typing import Any, Final

import orjson

from turnspan.dialects.openai_replies import chat_chunks
from turnspan.dialects.response_parts import pieces_of
from turnspan.runtime.type_guards import is_dict, is_list

_OPTIONS: Final = {
    "num_predict": "max_tokens",
    **{name: name for name in ("temperature", "top_p", "top_k", "stop", "seed")},
}


def request(body: dict[str, Any]) -> dict[str, Any]:
    """A request of ``/api/chat`` or ``/api/generate``."""
    sent = dict(body)
    options = body.get("options")
    if is_dict(options):
        named = {_OPTIONS[key]: value for key, value in options.items() if key in _OPTIONS}
        sent.update(named)
        sent["options"] = {key: value for key, value in options.items() if key not in _OPTIONS}
        if not sent["options"]:
            del sent["options"]
    messages = body.get("messages")
    if is_list(messages):
        sent["messages"] = [_message(each) if is_dict(each) else each for each in messages]
    return sent


def _message(message: dict[str, Any]) -> dict[str, Any]:
    """A message: its files are parts, its thoughts have the usual name."""
    made = {key: value for key, value in message.items() if key not in ("images", "thinking")}
    images = message.get("images")
    if is_list(images) and images:
        urls = [{"type": "image_url", "image_url": {"url": f"data:;base64,{i}"}} for i in images]
        made["content"] = [{"type": "text", "text": message.get("content") or ""}, *urls]
    if message.get("thinking"):
        made["reasoning_content"] = message["thinking"]
    calls = message.get("tool_calls")
    if is_list(calls) and calls:
        made["tool_calls"] = [_tool_call(call) for call in calls if is_dict(call)]
    return made


def _tool_call(call: dict[str, Any]) -> dict[str, Any]:
    asked = call.get("function")
    asked = asked if is_dict(asked) else {}
    arguments = asked.get("arguments")
    text = arguments if isinstance(arguments, str) else orjson.dumps(arguments or {}).decode()
    function = {"name": asked.get("name"), "arguments": text}
    return {"id": call.get("id") or "", "type": "function", "function": function}


def answer(body: dict[str, Any]) -> dict[str, Any]:
    """An answer of ``/api/chat``."""
    message = body.get("message")
    if not is_dict(message):
        return body
    choice = {"index": 0, "message": _message(message), "finish_reason": body.get("done_reason")}
    return {**_head(body), "choices": [choice]}


def event(body: dict[str, Any]) -> dict[str, Any]:
    """A line of a streamed answer of ``/api/chat``."""
    message = body.get("message")
    if not is_dict(message):
        return body
    choice = {"index": 0, "delta": _message(message), "finish_reason": body.get("done_reason")}
    return {**_head(body), "choices": [choice]}


def completion(body: dict[str, Any]) -> dict[str, Any]:
    """An answer of ``/api/generate``, or a line of a streamed one."""
    if "response" not in body:
        return body
    choice = {"index": 0, "text": body["response"], "finish_reason": body.get("done_reason")}
    return {**_head(body), "choices": [choice]}


def _head(body: dict[str, Any]) -> dict[str, Any]:
    head: dict[str, Any] = {"model": body.get("model")}
    counts = body.get("prompt_eval_count"), body.get("eval_count")
    if counts != (None, None):
        head["usage"] = {"prompt_tokens": counts[0], "completion_tokens": counts[1]}
    return head


def written(body: dict[str, Any]) -> dict[str, Any]:
    """The answer of ``/api/chat`` that ``answer`` reads as this one."""
    choice = body["choices"][0]
    return _raw(body, {"message": _raw_message(choice["message"])}, choice["finish_reason"])


def written_events(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The lines of a streamed answer of ``/api/chat``, of a whole one in OpenAI's words."""
    for chunk in chat_chunks(body):
        for choice in chunk["choices"]:
            if choice["delta"]:
                yield _raw(body, {"message": _raw_message(choice["delta"])}, None)
    end = {"message": {"role": "assistant", "content": ""}}
    yield _raw(body, end, body["choices"][0]["finish_reason"])


def written_completion(body: dict[str, Any]) -> dict[str, Any]:
    """The answer of ``/api/generate`` that ``completion`` reads as this one."""
    choice = body["choices"][0]
    return _raw(body, {"response": choice["text"]}, choice["finish_reason"])


def written_completions(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The lines of a streamed answer of ``/api/generate``."""
    choice = body["choices"][0]
    for piece in pieces_of(choice["text"]):
        yield _raw(body, {"response": piece}, None)
    yield _raw(body, {"response": ""}, choice["finish_reason"])


def _raw(body: dict[str, Any], said: dict[str, Any], reason: Any) -> dict[str, Any]:
    made = datetime.fromtimestamp(body["created"], timezone.utc).isoformat()
    line = {"model": body["model"], "created_at": made, **said, "done": reason is not None}
    if reason is not None:
        line["done_reason"] = reason
        usage: dict[str, Any] = body.get("usage") or {}
        line["prompt_eval_count"] = usage.get("prompt_tokens", 0)
        line["eval_count"] = usage.get("completion_tokens", 0)
    return line


def _raw_message(message: dict[str, Any]) -> dict[str, Any]:
    """The inverse of ``_message``, for what a model says."""
    made: dict[str, Any] = {"role": "assistant", "content": "", **message}
    if "reasoning_content" in made:
        made["thinking"] = made.pop("reasoning_content")
    if "tool_calls" in made:
        made["tool_calls"] = [_raw_call(call) for call in made["tool_calls"]]
    return made


def _raw_call(call: dict[str, Any]) -> dict[str, Any]:
    asked = call["function"]
    made = {"function": {"name": asked["name"], "arguments": orjson.loads(asked["arguments"])}}
    return {"id": call["id"], **made} if call.get("id") else made


def embeddings(body: dict[str, Any]) -> dict[str, Any]:
    """An answer of ``/api/embed``, or of the older ``/api/embeddings``."""
    vectors = body.get("embeddings") or [body.get("embedding")]
    data = [{"embedding": vector} for vector in vectors] if is_list(vectors) else []
    usage = {"prompt_tokens": body.get("prompt_eval_count")}
    return {"model": body.get("model"), "data": data, "usage": usage}


def text_of_message(body: dict[str, Any]) -> dict[str, Any]:
    """A completion whose choices have messages, as Mistral's have, with a text for each."""
    choices = body.get("choices")
    if not is_list(choices):
        return body
    texts = [
        {**choice, "text": choice["message"].get("content")}
        for choice in choices
        if is_dict(choice) and is_dict(choice.get("message"))
    ]
    return {**body, "choices": texts or choices}


def message_of_text(body: dict[str, Any]) -> dict[str, Any]:
    """The inverse of ``text_of_message``."""
    choices = [
        {**choice, "message": {"role": "assistant", "content": choice["text"]}}
        for choice in body["choices"]
    ]
    return {**body, "choices": choices}
