"""A divergence: the first request or tool call that a recording does not have."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

import orjson

from turnspan.content.model import as_dict, as_list, dumps_text
from turnspan_records.again.rerun.likeness import is_alike
from turnspan_records.again.rerun.recording import PlayableCall
from turnspan_records.again.rerun.requests import AskedRequest
from turnspan_records.conversation import MessageRecord
from turnspan_records.messages import prompt_text
from turnspan_records.screens.difference import (
    message_changes,
    parameter_changes,
    tools_change,
)

UNTOLD: Final = frozenset({"stream_options", "messages", "input"})
"""Parameters that Turnspan asks for itself, or that stand for an empty list of messages."""

_MOST: Final = 40
"""Lines of a difference that are shown."""
_LONGEST: Final = 400
_RULES: Final = ("system", "developer")


@dataclass(frozen=True, slots=True)
class Divergence:
    """What a program asked that the recording does not have.

    ``where`` names what changed. ``span_id``, ``number``, ``round`` and ``agent`` are of the
    nearest recorded call; empty or 0 where there is none. ``difference`` has the changed words, as
    unified lines: recorded ones with ``-``, those of now with ``+``.
    """

    where: str
    span_id: str = ""
    number: int = 0
    round: int = 0
    agent: str = ""
    difference: tuple[str, ...] = ()

    @classmethod
    def at(cls, call: PlayableCall, where: str, difference: Iterable[str] = ()) -> Divergence:
        """A divergence from this call."""
        named = (call.span_id, call.number, call.round, call.agent_name)
        return cls(where, *named, tuple(difference))

    def __str__(self) -> str:
        if not self.number:
            return f"The rerun diverged: {self.where}."
        of = f"round {self.round}" + (f" of {self.agent}" if self.agent else "")
        return f"The rerun diverged at call {self.number} ({self.span_id}, {of}): {self.where}."


@dataclass(frozen=True, slots=True)
class RequestContent:
    """A request that is compared, of a record or of now, and the contents of its hashes."""

    request: PlayableCall | AskedRequest
    messages: Mapping[str, MessageRecord]
    definitions: Mapping[str, tuple[str, str]]

    def system(self) -> str:
        """The text of the system prompt; empty where there is none."""
        return prompt_text(self.definitions.get(self.request.system_hash, ("", ""))[0])

    def tools(self) -> str:
        """The tool catalogue, as JSON; empty where there is none."""
        return self.definitions.get(self.request.tools_hash, ("", ""))[0]

    def message(self, at: int) -> MessageRecord:
        """The message at a place; without content where that is unknown."""
        hash_ = self.request.input_hashes[at]
        return self.messages.get(hash_) or MessageRecord(hash_, recorded=False)


def divergence_of(recorded: RequestContent, now: RequestContent, same: Sequence[str]) -> Divergence:
    """What changed first between a recorded call and a request.

    Args:
        recorded: the recorded call that is nearest.
        now: the request that the recording does not have.
        same: the hashes of now's messages, each that of the recorded message at its place where
            only what varies differs.
    """
    where, difference = _first_change(recorded, now, same)
    call = recorded.request
    assert isinstance(call, PlayableCall)
    return Divergence.at(call, where, islice(difference, _MOST))


def _first_change(
    recorded: RequestContent, now: RequestContent, same: Sequence[str]
) -> tuple[str, list[str]]:
    before, after = recorded.request, now.request
    if before.request_model != after.request_model:
        return f"the model: {before.request_model} -> {after.request_model}", []
    old, new = recorded.system(), now.system()
    if not is_alike(old, new):
        line, lines = _difference(old, new)
        return f"the system prompt, line {line}", lines
    old, new = recorded.tools(), now.tools()
    if old != new and not is_alike(orjson.loads(old or "[]"), orjson.loads(new or "[]")):
        return _tools(old, new), _difference(_laid_out(old), _laid_out(new))[1]
    for change in parameter_changes(before.request_parameters, after.request_parameters):
        was, is_now = change.before or "null", change.after or "null"
        if change.name in UNTOLD or is_alike(orjson.loads(was), orjson.loads(is_now)):
            continue
        words = (text[:_LONGEST] or "not set" for text in (change.before, change.after))
        return f"the parameter {change.name}: {' -> '.join(words)}", []
    return _messages(recorded, now, same)


def _tools(old: str, new: str) -> str:
    change = tools_change(old, new)
    named = [f"`{one}` is new" for one in change.added]
    named += [f"`{one}` is missing" for one in change.removed]
    named += [f"`{one}` changed" for one in change.changed]
    return f"the tool list: {', '.join(named) or 'its order changed'}"


def _messages(
    recorded: RequestContent, now: RequestContent, same: Sequence[str]
) -> tuple[str, list[str]]:
    known = {**now.messages, **recorded.messages}
    changes = message_changes(recorded.request.input_hashes, same, known)
    change = next((one for one in changes if one.kind != "same"), None)
    if change is None:
        return "the parameters of the request", []
    if change.kind == "dropped":
        at = change.before
        old = _text(recorded.message(at))
        if at < len(same) and now.message(at).role == recorded.message(at).role:
            # Other words in its place: it says more than that one is missing and another new.
            line, lines = _difference(old, _text(now.message(at)))
            return _changed(_named(now, at), line, lines), lines
        return f"{_named(recorded, at)} is missing", _difference(old, "")[1]
    at = change.after
    old = _text(recorded.message(change.before)) if change.kind == "edited" else ""
    line, lines = _difference(old, _text(now.message(at)))
    if change.kind == "added":
        return f"{_named(now, at)} is new", lines
    return _changed(_named(now, at), line, lines), lines


def _changed(named: str, line: int, lines: list[str]) -> str:
    return f"{named}, line {line}" if lines else f"{named} is written in another form"


def _named(request: RequestContent, at: int) -> str:
    """A message in words: its number, and whose it is."""
    message = request.message(at)
    answered = [p for p in message.parts if p.get("type") == "tool_call_response"]
    if answered:
        names = [
            str(part.get("name") or "") or _tool_named(request, at, str(part.get("id") or ""))
            for part in answered
        ]
        shown = ", ".join(dict.fromkeys(filter(None, names)))
        return f"message {at + 1}, the result of {f'tool {shown}' if shown else 'a tool'}"
    if message.role in _RULES:
        return f"message {at + 1}, a {message.role} message"
    whose = {"user": "the user's", "assistant": "the assistant's"}.get(message.role)
    return f"message {at + 1}, {whose or message.role or 'one without content'}"


def _tool_named(request: RequestContent, at: int, call_id: str) -> str:
    for before in range(at - 1, -1, -1):
        for part in request.message(before).parts:
            if part.get("type") == "tool_call" and str(part.get("id") or "") == call_id:
                return str(part.get("name") or "")
    return ""


def _text(message: MessageRecord) -> str:
    """A message as lines that can be compared."""
    if message.text and all(part.get("type") == "text" for part in message.parts):
        return message.text
    return "\n".join(_part_text(part) for part in message.parts)


def _part_text(part: Mapping[str, Any]) -> str:
    for key in ("content", "response"):
        value = part.get(key)
        if isinstance(value, str):
            return value
    return _laid_out(dumps_text(part))


def _laid_out(text: str) -> str:
    if not text:
        return ""
    value = orjson.loads(text)
    if as_dict(value) is None and as_list(value) is None:
        return text
    return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS).decode()


def _difference(old: str, new: str) -> tuple[int, list[str]]:
    """The first line that differs, counted from 1, and the difference as unified lines."""
    before, after = old.splitlines(), new.splitlines()
    line = next(
        (at for at, (one, other) in enumerate(zip(before, after, strict=False), 1)
         if not is_alike(one, other)),
        min(len(before), len(after)) + 1,
    )  # fmt: skip
    unified = difflib.unified_diff(before, after, lineterm="", n=1)
    return line, [text[:_LONGEST] for text in islice(unified, 2, None)]
