"""A fork: a rerun in which one request is changed, and from there the provider answers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote, unquote

import orjson

from turnspan.content.model import as_dict, as_list
from turnspan.dialects import anthropic_messages, gemini, openai_responses
from turnspan.runtime.errors import TurnspanError
from turnspan.wire.formats import model_in
from turnspan_records.again.rerun.requests import AskedRequest

RULES: Final = ("system", "developer")
"""Roles of messages that are the program's, not of the conversation."""
_WITHIN: Final = {gemini.NAME: "generationConfig", "aws": "inferenceConfig", "ollama": "options"}
"""The object of a request that has its temperature, where that does not stand by itself."""


class ForkError(TurnspanError, ValueError):
    """A request cannot be changed as asked."""


@dataclass(frozen=True, slots=True)
class Fork:
    """What is changed from a call on.

    ``message`` replaces the user's last text in the request of ``span_id`` alone, the others hold
    for all later requests of its conversation, too. ``tools`` are in the API's own form.
    ``base_url`` is where the requests go instead of where the program sent them.
    """

    span_id: str
    message: str = ""
    system: str = ""
    model: str = ""
    tools: tuple[Any, ...] | None = None
    temperature: float | None = None
    base_url: str = ""

    def configuration(self, recorded: Mapping[str, Any]) -> dict[str, Any]:
        """A call's configuration (``SessionRecording.configuration``) with the changes."""
        parameters = dict(recorded["parameters"])
        if self.temperature is not None:
            parameters["temperature"] = self.temperature
        changes: dict[str, Any] = {
            "model": self.model,
            "system_prompt": self.system,
            "message": self.message,
            "tools": list(self.tools or ()),
        }
        given = {name: value for name, value in changes.items() if value}
        return {**recorded, "parameters": parameters, **given}

    def changed(self, asked: AskedRequest, *, first: bool) -> tuple[str, bytes]:
        """Target and body of a request with the changes.

        Args:
            asked: the request as the program sent it.
            first: whether it is that of the call itself.

        Raises:
            ForkError: the request has no user's message to be replaced.
        """
        body = dict(asked.body)
        style = _style(asked)
        if self.message and first:
            _put_message(body, style, self.message)
        if self.system:
            _put_system(body, style, self.system)
        if self.tools is not None:
            tools = list(self.tools)
            if style == "aws":
                body["toolConfig"] = {**(as_dict(body.get("toolConfig")) or {}), "tools": tools}
            else:
                body["tools"] = tools
        if self.temperature is not None:
            within = _WITHIN.get(style)
            if within is None:
                body["temperature"] = self.temperature
            else:
                inner = as_dict(body.get(within)) or {}
                body[within] = {**inner, "temperature": self.temperature}
        return self._target(asked, body), orjson.dumps(body)

    def _target(self, asked: AskedRequest, body: dict[str, Any]) -> str:
        path, mark, query = asked.target.partition("?")
        if self.model:
            named = model_in(path)
            if "model" in body or not named:
                body["model"] = self.model
            else:
                written = quote(named, safe="") if quote(named, safe="") in path else unquote(named)
                path = path.replace(written, quote(self.model, safe=":"), 1)
        return path + mark + query

    def origin(self, origin: str) -> str:
        """Where a request goes that was for ``origin``."""
        return re.sub(r"/v1/?\Z", "", self.base_url) or origin


def _style(asked: AskedRequest) -> str:
    if "/converse" in asked.target:
        return "aws"
    if asked.form.language == "ollama":
        return "ollama"
    return asked.form.endpoint.dialect


def _put_message(body: dict[str, Any], style: str, text: str) -> None:
    key = {gemini.NAME: "contents", openai_responses.NAME: "input"}.get(style, "messages")
    if isinstance(body.get(key), str):
        body[key] = text
        return
    messages = list(as_list(body.get(key)) or [])
    for at in range(len(messages) - 1, -1, -1):
        changed = _with_text(as_dict(messages[at]) or {}, style, text)
        if changed is not None:
            body[key] = [*messages[:at], changed, *messages[at + 1 :]]
            return
    raise ForkError("--message needs a request with a text of the user, and this one has none.")


def _with_text(message: Mapping[str, Any], style: str, text: str) -> dict[str, Any] | None:
    """A user's message with another text; ``None`` for one that is no text of the user's."""
    if message.get("role") != "user":
        return None
    key = "parts" if style == gemini.NAME else "content"
    content = message.get(key)
    if isinstance(content, str):
        return {**message, key: text}
    blocks = [as_dict(block) or {} for block in as_list(content) or []]
    texts = [at for at, block in enumerate(blocks) if isinstance(block.get("text"), str)]
    if not texts:
        return None
    last = texts[-1]  # others are what programs put before it
    return {**message, key: [*blocks[:last], {**blocks[last], "text": text}, *blocks[last + 1 :]]}


def _put_system(body: dict[str, Any], style: str, text: str) -> None:
    if style == anthropic_messages.NAME:
        body["system"] = text
    elif style == gemini.NAME:
        body["systemInstruction"] = {"parts": [{"text": text}]}
    elif style == "aws":
        body["system"] = [{"text": text}]
    elif style == openai_responses.NAME and "instructions" in body:
        body["instructions"] = text
    else:
        key = "input" if style == openai_responses.NAME else "messages"
        given = body.get(key)
        messages = [{"role": "user", "content": given}] if isinstance(given, str) else given
        rest = list(as_list(messages) or [])
        role = "system"
        while rest and (as_dict(rest[0]) or {}).get("role") in RULES:
            role = rest.pop(0)["role"]
        body[key] = [{"role": role, "content": text}, *rest]
