"""What a request of any of the APIs asks, in one form."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

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
        many = isinstance(given, list) and not isinstance(next(iter(given), 0), int)
        return Asked("embeddings", body["model"], inputs=len(given) if many else 1, body=body)
    if "/responses" in path:
        return _responses(body, earlier)
    if "/messages" in path:
        return _messages(body)
    return _gemini(path, body)


def text_of(content: Any) -> str:
    """The text of a message's content, however it is written."""
    if isinstance(content, str):
        return content
    blocks: list[Any] = content if isinstance(content, list) else [content]
    texts = [b if isinstance(b, str) else (b or {}).get("text") for b in blocks]
    return "\n".join(text for text in texts if isinstance(text, str))


def _chat(body: dict[str, Any]) -> Asked:
    stream = bool(body.get("stream"))
    usage = not stream or bool((body.get("stream_options") or {}).get("include_usage"))
    asked = Asked("chat", body["model"], stream, usage, body=body)
    for message in body["messages"]:
        role = {"developer": "system", "tool": "result", "function": "result"}.get(
            message["role"], message["role"]
        )
        asked.said.append((role, text_of(message.get("content"))))
        for call in message.get("tool_calls") or []:
            asked.said.append(("call", call["function"]["name"]))
    for tool in body.get("tools") or []:
        function = tool.get("function") or tool
        asked.tools[function["name"]] = function.get("parameters") or {}
    choice = body.get("tool_choice")
    if isinstance(choice, dict):
        asked.forced = choice.get("function", choice).get("name") or ""
    form = body.get("response_format") or {}
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
    items: list[Any] = [{"role": "user", "content": given}] if isinstance(given, str) else given
    for item in items:
        kind = item.get("type", "message")
        if kind == "function_call":
            asked.said.append(("call", item["name"]))
        elif kind == "function_call_output":
            asked.said.append(("result", text_of(item.get("output"))))
        elif kind == "message":
            role = "system" if item["role"] == "developer" else item["role"]
            asked.said.append((role, text_of(item.get("content"))))
    for tool in body.get("tools") or []:
        if tool.get("name"):
            asked.tools[tool["name"]] = tool.get("parameters") or {}
    choice = body.get("tool_choice")
    if isinstance(choice, dict):
        asked.forced = choice.get("name") or ""
    form = (body.get("text") or {}).get("format") or {}
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
    for tool in body.get("tools") or []:
        asked.tools[tool["name"]] = tool.get("input_schema") or {}
    choice = body.get("tool_choice") or {}
    asked.forced = choice.get("name") or ""
    return asked


def _gemini(path: str, body: dict[str, Any]) -> Asked:
    model, _, method = path.partition("/models/")[2].partition(":")
    asked = Asked("gemini", model, method.startswith("stream"), body=body)
    system = body.get("systemInstruction") or {}
    asked.said += [("system", part.get("text", "")) for part in system.get("parts", [])]
    for content in body.get("contents", []):
        role = "assistant" if content.get("role") == "model" else "user"
        for part in content.get("parts", []):
            if "functionCall" in part:
                asked.said.append(("call", part["functionCall"]["name"]))
            elif "functionResponse" in part:
                result = json.dumps(part["functionResponse"].get("response"))
                asked.said.append(("result", result))
            elif "text" in part:
                asked.said.append((role, part["text"]))
    for tool in body.get("tools") or []:
        for function in tool.get("functionDeclarations") or []:
            schema = function.get("parameters") or function.get("parametersJsonSchema")
            asked.tools[function["name"]] = schema or {}
    return asked
