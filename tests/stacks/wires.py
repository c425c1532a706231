"""What a request of any of the APIs asks, in one form."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from stacks.script import Reply

Said = tuple[str, str]
"""Who said what: ``system``, ``user``, ``assistant``, ``call`` (a tool's name) or ``result``."""


@dataclass(slots=True)
class Asked:
    """A request: the conversation so far, and the tools that are offered."""

    api: str
    model: str
    stream: bool = False
    told_usage: bool = True
    said: list[Said] = field(default_factory=list[Said])
    tools: dict[str, Any] = field(default_factory=dict[str, Any])
    """The schemas of their arguments, by name."""
    forced: str = ""
    """The one tool that has to be called."""
    schema: Any = None
    """What the reply has to be."""
    inputs: int = 0
    """Of embeddings, how many."""
    body: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def beginning(self) -> str:
        """What tells this conversation from others: the first exchange."""
        users = [text for kind, text in self.said if kind == "user" and text]
        replied = [text for kind, text in self.said if kind == "assistant" and text]
        return json.dumps([users[:1], replied[:1]])

    def texts(self, *kinds: str) -> list[str]:
        """What these have said."""
        return [text for kind, text in self.said if kind in kinds]

    def with_reply(self, reply: Reply) -> Asked:
        """The conversation after the reply."""
        calls: list[Said] = [("call", call.name) for call in reply.calls]
        return replace(self, said=[*self.said, ("assistant", reply.text), *calls])


def read(path: str, body: dict[str, Any], earlier: Mapping[str, Asked]) -> Asked:
    """Read a request; ``earlier`` are the responses that it may go on with."""
    if "/chat/completions" in path:
        return _chat(body)
    if path.endswith("/embeddings"):
        given = body["input"]
        texts = [each for each in _items(given) if not isinstance(each, int)]
        return Asked("embeddings", body["model"], inputs=len(texts) or 1, body=body)
    if "/responses" in path:
        return _responses(body, earlier)
    if "/messages" in path:
        return _messages(body)
    return _gemini(path, body)


def _fields(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []  # pyright: ignore[reportUnknownVariableType]


def text_of(content: Any) -> str:
    """The text of a message's content, however it is written."""
    if isinstance(content, str):
        return content
    blocks = _items(content) if isinstance(content, list) else [content]
    texts = [block if isinstance(block, str) else _fields(block).get("text") for block in blocks]
    return "\n".join(text for text in texts if isinstance(text, str))


def _chat(body: dict[str, Any]) -> Asked:
    stream = bool(body.get("stream"))
    usage = not stream or bool(_fields(body.get("stream_options")).get("include_usage"))
    asked = Asked("chat", body["model"], stream, usage, body=body)
    for message in body["messages"]:
        role = str(message["role"])
        role = {"developer": "system", "tool": "result", "function": "result"}.get(role, role)
        asked.said.append((role, text_of(message.get("content"))))
        for call in _items(message.get("tool_calls")):
            asked.said.append(("call", call["function"]["name"]))
    for tool in _items(body.get("tools")):
        function = _fields(tool.get("function") or tool)
        asked.tools[function["name"]] = _fields(function.get("parameters"))
    choice = body.get("tool_choice")
    if isinstance(choice, dict):
        named = _fields(choice)
        asked.forced = _fields(named.get("function", named)).get("name") or ""
    form = _fields(body.get("response_format"))
    if form.get("type") == "json_schema":
        asked.schema = form["json_schema"]["schema"]
    return asked


def _responses(body: dict[str, Any], earlier: Mapping[str, Asked]) -> Asked:
    asked = Asked("responses", body["model"], bool(body.get("stream")), body=body)
    before = earlier.get(body.get("previous_response_id") or "")
    if before is not None:
        asked.said += before.said
    if body.get("instructions"):
        asked.said.append(("system", body["instructions"]))
    given = body.get("input")
    items = [{"role": "user", "content": given}] if isinstance(given, str) else _items(given)
    for item in items:
        kind = item.get("type", "message")
        if kind == "function_call":
            asked.said.append(("call", item["name"]))
        elif kind == "function_call_output":
            asked.said.append(("result", text_of(item.get("output"))))
        elif kind == "message":
            role = "system" if item["role"] == "developer" else item["role"]
            asked.said.append((role, text_of(item.get("content"))))
    for tool in _items(body.get("tools")):
        if tool.get("name"):
            asked.tools[tool["name"]] = _fields(tool.get("parameters"))
    choice = body.get("tool_choice")
    asked.forced = _fields(choice).get("name") or ""
    form = _fields(_fields(body.get("text")).get("format"))
    if form.get("type") == "json_schema":
        asked.schema = form["schema"]
    return asked


def _messages(body: dict[str, Any]) -> Asked:
    asked = Asked("messages", body["model"], bool(body.get("stream")), body=body)
    if body.get("system"):
        asked.said.append(("system", text_of(body["system"])))
    for message in body["messages"]:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for block in blocks:
            if block["type"] == "text":
                asked.said.append((message["role"], block["text"]))
            elif block["type"] == "tool_use":
                asked.said.append(("call", block["name"]))
            elif block["type"] == "tool_result":
                asked.said.append(("result", text_of(block.get("content"))))
    for tool in _items(body.get("tools")):
        asked.tools[tool["name"]] = _fields(tool.get("input_schema"))
    choice = _fields(body.get("tool_choice"))
    asked.forced = choice.get("name") or ""
    return asked


def _gemini(path: str, body: dict[str, Any]) -> Asked:
    model, _, method = path.partition("/models/")[2].partition(":")
    asked = Asked("gemini", model, method.startswith("stream"), body=body)
    system = _fields(body.get("systemInstruction"))
    asked.said += [("system", part.get("text", "")) for part in _items(system.get("parts"))]
    for content in _items(body.get("contents")):
        role = "assistant" if content.get("role") == "model" else "user"
        for part in _items(content.get("parts")):
            if "functionCall" in part:
                asked.said.append(("call", part["functionCall"]["name"]))
            elif "functionResponse" in part:
                result = json.dumps(part["functionResponse"].get("response"))
                asked.said.append(("result", result))
            elif "text" in part:
                asked.said.append((role, part["text"]))
    for tool in _items(body.get("tools")):
        for function in _items(tool.get("functionDeclarations")):
            schema = function.get("parameters") or function.get("parametersJsonSchema")
            asked.tools[function["name"]] = schema or {}
    return asked
