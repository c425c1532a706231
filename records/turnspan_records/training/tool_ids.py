"""Whether tool calls and their results belong together, and ids for those that have none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Any

from turnspan_records.training.chat import ASSISTANT, TOOL, Chat
from turnspan_records.training.counts import UnfitError


def with_ids(messages: Sequence[Chat]) -> list[Chat]:
    """The messages, calls without an id (Gemini's) given one, and their results the same.

    Raises:
        UnfitError: a call was never answered, or an answer has no call.
    """
    made: list[Chat] = []
    open_calls: dict[str, str] = {}
    asked = 0
    for message in messages:
        if message.role == TOOL:
            made.append(_answer(message, open_calls))
            continue
        if open_calls:
            raise UnfitError("tool_call_without_result")
        if message.asks:
            message = _named(message, asked)
            asked += len(message.asks)
            open_calls = dict(message.asks)
            if len(open_calls) != len(message.asks):
                raise UnfitError("tool_call_id_used_twice")
        made.append(message)
    if open_calls and (not made or made[-1].role != ASSISTANT):
        raise UnfitError("tool_call_without_result")
    return made


def _named(message: Chat, asked: int) -> Chat:
    if all(id_ for id_, _ in message.asks):
        return message
    calls: list[dict[str, Any]] = [
        {**call, "id": call["id"] or f"call_{number}"}
        for number, call in enumerate(message.body["tool_calls"], asked)
    ]
    asks = tuple((call["id"], call["function"]["name"]) for call in calls)
    return replace(message, body={**message.body, "tool_calls": calls}, asks=asks)


def _answer(message: Chat, open_calls: dict[str, str]) -> Chat:
    assert message.answers is not None
    id_, name = message.answers
    if not id_:
        id_ = next((key for key, asked in open_calls.items() if asked == name), "")
        message = replace(message, body={**message.body, "tool_call_id": id_}, answers=(id_, name))
    if open_calls.pop(id_, None) is None:
        raise UnfitError("tool_result_without_call")
    return message


def prompt_hash(system_and_tools: bytes, messages: Sequence[Chat]) -> bytes:
    """The hash of a prompt: the same system prompt, tools and input have the same, whatever ids
    their tool calls have."""
    digest = blake2b(system_and_tools, digest_size=16)
    numbers: dict[str, int] = {}
    for message in messages:
        digest.update(message.digest)
        for id_, _ in message.asks:
            numbers[id_] = len(numbers)
        if message.answers is not None:
            digest.update(numbers[message.answers[0]].to_bytes(4, "big"))
    return digest.digest()


def require_reply(messages: Sequence[Chat]) -> None:
    """Refuse a completion that says nothing.

    Raises:
        UnfitError: its last message is not the model's, or is empty.
    """
    if not messages or messages[-1].role != ASSISTANT:
        raise UnfitError("no_reply")
    last = messages[-1]
    if not last.asks and not last.text.strip() and not last.images:
        raise UnfitError("empty_reply")
