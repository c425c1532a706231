"""What a recorded body of Anthropic's messages API says, read here without the product's code."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from support.exchanges import Exchange


@dataclass(frozen=True, slots=True)
class Said:
    """A reply, whole: ``message`` as it came, or as the events of a stream add up to."""

    message: Mapping[str, Any]
    error: Mapping[str, Any]
    """The API's error; empty where there is none."""

    @property
    def text(self) -> str:
        """The text blocks, joined."""
        return "".join(block["text"] for block in self._blocks("text"))

    @property
    def thoughts(self) -> str:
        """The thinking that can be read."""
        texts = [block["thinking"] for block in self._blocks("thinking")]
        return "\n".join(text for text in texts if text)

    @property
    def tool_calls(self) -> list[dict[str, Any]]:
        """The calls that the application is to make; not those the API's own servers made."""
        return [
            {"id": block["id"], "name": block["name"], "arguments": block["input"]}
            for block in self._blocks("tool_use")
        ]

    def tokens(self) -> dict[str, int | None]:
        """Token counts by the names of the record's columns."""
        usage: dict[str, Any] = self.message.get("usage") or {}
        plain = usage.get("input_tokens")
        read = usage.get("cache_read_input_tokens")
        written = usage.get("cache_creation_input_tokens")
        details: dict[str, Any] = usage.get("output_tokens_details") or {}
        return {
            "input_tokens": None if plain is None else plain + (read or 0) + (written or 0),
            "output_tokens": usage.get("output_tokens"),
            "cache_read_tokens": read,
            "cache_write_tokens": written,
            "reasoning_tokens": details.get("thinking_tokens"),
        }

    def _blocks(self, kind: str) -> list[Any]:
        return [block for block in self.message.get("content", ()) if block["type"] == kind]


def said(exchange: Exchange) -> Said:
    """Read an exchange's reply."""
    if exchange.body.lstrip().startswith(b"{"):
        body = json.loads(exchange.body)
        if exchange.status >= 400 or body.get("type") == "error":
            return Said({}, body["error"])
        return Said(body, {})
    return _streamed(exchange.body)


def _streamed(body: bytes) -> Said:
    message: dict[str, Any] = {}
    blocks: dict[int, dict[str, Any]] = {}
    inputs: dict[int, str] = {}
    error: dict[str, Any] = {}
    for event in _events(body):
        kind = event.get("type")
        if kind == "message_start":
            message = event["message"]
        elif kind == "content_block_start":
            blocks[event["index"]] = event["content_block"]
        elif kind == "content_block_delta":
            _apply(event["delta"], event["index"], blocks, inputs)
        elif kind == "message_delta":
            message.update({k: v for k, v in event["delta"].items() if v is not None})
            usage: dict[str, Any] = event.get("usage") or {}
            counts = message.setdefault("usage", {})
            counts.update({k: v for k, v in usage.items() if v is not None})
        elif kind == "error":
            error = event["error"]
    for index, text in inputs.items():
        blocks[index]["input"] = json.loads(text or "{}")
    message["content"] = [blocks[index] for index in sorted(blocks)]
    return Said(message, error)


def _apply(
    delta: dict[str, Any], index: int, blocks: dict[int, dict[str, Any]], inputs: dict[int, str]
) -> None:
    block = blocks[index]
    kind = delta["type"]
    if kind == "input_json_delta":
        inputs[index] = inputs.get(index, "") + delta["partial_json"]
    elif kind == "citations_delta":
        block["citations"] = [*(block.get("citations") or []), delta["citation"]]
    else:  # text_delta, thinking_delta, signature_delta
        field = kind.removesuffix("_delta")
        block[field] = (block.get(field) or "") + delta[field]


def _events(body: bytes) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for record in body.decode().replace("\r\n", "\n").split("\n\n"):
        data = [line[5:].strip() for line in record.split("\n") if line.startswith("data:")]
        if data:
            found.append(json.loads("\n".join(data)))
    return found
