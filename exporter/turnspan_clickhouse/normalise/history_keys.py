"""What a model call's messages say, as far as it tells which conversation it belongs to.

A message's *key* is a keyed hash of its role, its visible text, its tool calls and its tool
results: not of what changes from call to call without changing what was said (cache breakpoints,
ids that a framework makes anew, the provider's own spelling). A system prompt is known by its text
with clocks and numbers masked. docs/no-code.md has the whole of it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any, Final

from turnspan.content.model import (
    REASONING,
    TEXT,
    TOOL_CALL,
    TOOL_CALL_RESPONSE,
    Message,
    Part,
    RequestParts,
    as_list,
    dumps,
    dumps_text,
)
from turnspan.content.text_message import as_dict_message
from turnspan.dialects.convert import convert_message
from turnspan.runtime.later import later
from turnspan.runtime.mypyc import mypyc_attr
from turnspan.runtime.type_guards import is_dict

START: Final = 0
"""The key of an empty history."""
DISTINCT_TEXT: Final = 120
"""Characters from which an answer is not given twice by chance."""
DISTINCT_ID: Final = 16
"""Characters from which a tool call's id is not given twice by chance."""
MAX_CHOICES: Final = 8

_PLAIN_ROLES: Final = frozenset({"user", "assistant", "system", "developer"})
_SYSTEM_ROLES: Final = frozenset({"system", "developer"})
_SPELLING: Final = frozenset({"keys", "layout", "extra", "cache_control", "id"})
_MASK: Final = (1 << 64) - 1
_VOLATILE = later(
    r"\d+"
    r"|\b(?:mon|tues?|wed(?:nes)?|thurs?|fri|satur|sun)(?:day)?\b"
    r"|\b(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b"
    r"|\b[ap]\.?m\b\.?",
    re.IGNORECASE,
)
_NEW_TASK: Final = "New task:"
_OBSERVATION: Final = "Observation:"
ERROR: Final = "Error:"
"""How frameworks that tell of tools in texts begin one of a tool that failed."""
_TAGGED = later(r"\s*<([A-Za-z][\w.:-]*)(?:\s[^>]*)?>.*</\1>\s*", re.DOTALL)


@mypyc_attr(acyclic=True)
class HistoryMessage:
    """One message, read."""

    __slots__ = ("by_user", "calls", "is_system", "key", "results", "role", "text")

    def __init__(self, role: str, key: int) -> None:
        self.role = role
        self.key = key
        """0 for a system message: it has a key of its own kind."""
        self.text = ""
        """What can be read of it; the user's words, the model's reply."""
        self.calls: list[Part] = []
        self.results: list[Part] = []
        self.is_system = role in _SYSTEM_ROLES
        self.by_user = False
        """Whether it is the user who speaks (also without a word: an image, an empty text)."""


@mypyc_attr(acyclic=True)
class ReplyKeys:
    """What the model said: a reply, or the same as a later request has it in its history."""

    __slots__ = ("call_ids", "keys", "text")

    def __init__(self, text: str, calls: list[Part], reader: HistoryReader) -> None:
        if text[:1] in ("{", "["):
            text = canonical(text)
        self.text = "".join(text.split())  # blocks are joined this way and that on their way back
        self.call_ids = sorted(str(call["id"]) for call in calls if call.get("id"))
        self.keys: list[int] = []
        """By what it can be found again, the surest first; empty for an answer of nothing."""
        if self.call_ids and len(self.call_ids) == len(calls):
            self.keys.append(reader.digest("ids\0" + "\0".join(self.call_ids)))
        if self.text:
            self.keys.append(reader.digest("text\0" + self.text))
        if calls and not self.keys:  # a framework may have made new ids; the text is enough then
            asked = sorted(f"{call.get('name')}\0{_arguments(call)}" for call in calls)
            self.keys.append(reader.digest("calls\0" + "\0".join(asked)))

    def is_written_in(self, other: ReplyKeys) -> bool:
        """Whether another answer is this one as a framework writes it anew: the text with the tool
        calls told in it."""
        if self.text and self.text not in other.text:
            return False
        told = all(call_id in other.text for call_id in self.call_ids)
        return told and bool(self.text or self.call_ids) and not other.call_ids

    @property
    def distinct(self) -> bool:
        """Whether no other conversation has it by chance."""
        return len(self.text) >= DISTINCT_TEXT or any(
            len(each) >= DISTINCT_ID for each in self.call_ids
        )


class HistoryReader:
    """Reads messages; ``salt`` keeps the hashes from telling anything outside of the store."""

    def __init__(self, salt: bytes = b"") -> None:
        self._salt = salt[:64]
        self._systems: dict[str, int] = {}
        self._tools: tuple[Any, int] = (None, 0)

    def digest(self, text: str) -> int:
        """A keyed hash of 64 bits."""
        data = text.encode("utf-8", "replace")
        return int.from_bytes(blake2b(data, digest_size=8, key=self._salt).digest(), "big") or 1

    def message(self, dialect: str, raw: Any) -> HistoryMessage:
        """Read one message as its provider writes it."""
        raw = as_dict_message(raw)
        if is_dict(raw):  # without a conversion, as most are
            role, content = raw.get("role"), raw.get("content")
            if type(role) is str and type(content) is str:
                if len(raw) == 2 and role in _PLAIN_ROLES:
                    return self._plain(role, content)
                call_id: Any = raw.get("tool_call_id")
                if role == "tool" and type(call_id) is str:
                    part: Part = {"type": TOOL_CALL_RESPONSE, "id": call_id, "response": content}
                    return self._of({"role": role, "parts": [part]})
        return self._of(convert_message(dialect, raw))

    def answers(self, messages: list[Message], one_choice: bool) -> list[ReplyKeys]:
        """A reply's choices, from its messages in the GenAI schema."""
        if not messages:
            return []
        chosen = [messages] if one_choice else [[each] for each in messages[:MAX_CHOICES]]
        return [self._answer(each) for each in chosen]

    def answer(self, said: list[HistoryMessage]) -> ReplyKeys:
        """What a run of a history's messages by the model says."""
        calls: list[Part] = []
        for each in said:
            calls += each.calls
        return ReplyKeys("".join([each.text for each in said]), calls, self)

    def arguments(self, call: Part) -> ReplyKeys:
        """A tool call as an application that takes its arguments for the answer sends it again."""
        return ReplyKeys(_arguments(call), [], self)

    def system(self, dialect: str, request: RequestParts) -> int:
        """The key of the system prompt, field or leading messages, clocks and numbers masked."""
        texts: list[str] = []
        raw = request.system_raw
        if isinstance(raw, str):
            texts.append(raw)
        elif raw is not None:
            texts.append(_texts_of(raw))
        for frozen in request.messages_raw:
            message = as_dict_message(frozen)
            if not is_dict(message) or message.get("role") not in _SYSTEM_ROLES:
                break
            content: Any = message.get("content")
            texts.append(content if isinstance(content, str) else _texts_of(content))
        if not texts:
            return 0
        text = texts[0] if len(texts) == 1 else "\n".join(texts)
        known = self._systems.get(text)
        if known is None:
            if len(self._systems) >= 1_024:
                self._systems.clear()
            known = self._systems[text] = self.digest("system\0" + _VOLATILE.sub("#", text).strip())
        return known

    def tools(self, request: RequestParts) -> int:
        """The key of the tools that a request offers; 0 for none."""
        raw = request.tools_raw
        if not raw:
            return 0
        last, key = self._tools
        if last is not raw:
            key = self.digest("tools\0" + dumps_text(raw))
            self._tools = (raw, key)
        return key

    def _plain(self, role: str, content: str) -> HistoryMessage:
        if role in _SYSTEM_ROLES:
            return HistoryMessage(role, 0)
        said = HistoryMessage(role, self.digest(f"{role}\0{content.strip()}"))
        said.text = content
        said.by_user = role == "user"
        return said

    def _of(self, message: Message) -> HistoryMessage:
        role = str(message.get("role") or "user")
        if role in _SYSTEM_ROLES:
            return HistoryMessage(role, 0)
        said = HistoryMessage(role, 0)
        texts: list[str] = []
        others: list[str] = []
        parts: list[Part] = message.get("parts", [])
        for part in parts:
            kind = part.get("type")
            if kind == TEXT:
                texts.append(str(part.get("content", "")))
            elif kind == TOOL_CALL:
                said.calls.append(part)
                others.append(f"call\0{part.get('name')}\0{_written(part.get('arguments'))}")
            elif kind == TOOL_CALL_RESPONSE:
                said.results.append(part)
                others.append(f"result\0{_written(part.get('response'))}")
            elif kind != REASONING:
                others.append(_other(part))
        said.text = texts[0] if len(texts) == 1 else "\n".join(texts)
        if said.results and role == "user":
            role = said.role = "tool"  # as some providers have it: the user brings the results
        joined = "\0".join([said.text.strip(), *others])
        said.key = self.digest(f"{role}\0{joined}")
        said.by_user = role == "user"
        return said

    def _answer(self, messages: list[Message]) -> ReplyKeys:
        texts: list[str] = []
        calls: list[Part] = []
        for message in messages:
            for part in message["parts"]:
                kind = part.get("type")
                if kind == TEXT:
                    texts.append(str(part.get("content", "")))
                elif kind == TOOL_CALL:
                    calls.append(part)
        return ReplyKeys("".join(texts), calls, self)


def extended(chain: int, key: int) -> int:
    """The key of a history that one more message is added to; system messages change nothing."""
    return chain if not key else ((chain * 0x9E3779B97F4A7C15) ^ key) & _MASK


def observed(text: str, waiting: bool) -> tuple[str, str]:
    """A user message's text apart: what a tool brought, as frameworks that call tools by text
    write it, and what the user said.

    "Observation:" is the word of ReAct prompts (Yao et al. 2022, LangChain, smolagents), which also
    write "Error:" for a tool that was asked for (``waiting``) and "New task:" before the user's
    next words.
    """
    begun = text.lstrip()
    if not begun.startswith(_OBSERVATION) and not (waiting and begun.startswith(ERROR)):
        return "", text
    brought, mark, task = text.partition(_NEW_TASK)
    brought = brought.strip().removeprefix(_OBSERVATION).strip()
    return brought, task.strip() if mark else ""


def _texts_of(value: Any) -> str:
    if isinstance(value, str):
        return value
    items = as_list(value)
    if items is not None:
        return "\n".join([_texts_of(item) for item in items])
    if is_dict(value):
        for name in ("text", "content", "parts"):
            if name in value:
                return _texts_of(value[name])
    return ""


def _written(value: Any) -> str:
    """A value as an application sends it again, call after call."""
    return value if isinstance(value, str) else dumps_text(value)


def _arguments(call: Part) -> str:
    return canonical(call.get("arguments"))


def canonical(value: Any) -> str:
    """JSON in one spelling; text that is JSON is read."""
    import orjson

    if isinstance(value, str):
        given: str = value
        if given[:1] not in ("{", "["):
            return given.strip()
        try:
            value = orjson.loads(given)
        except orjson.JSONDecodeError:
            return given.strip()
    try:
        options = orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS
        written: bytes = orjson.dumps(value, option=options)
        return written.decode()
    except TypeError:  # what JSON has no word for
        return dumps_text(value)


def _other(part: Part) -> str:
    return dumps({k: v for k, v in part.items() if k not in _SPELLING}).decode()


def observe(news: Sequence[HistoryMessage], waiting: bool) -> None:
    """Take apart what a framework that tells of tools in texts writes as the user's; ``waiting``
    is whether a tool was asked for."""
    for said in news:
        if said.by_user and said.text:
            brought, words = observed(said.text, waiting)
            if brought:
                said.text, said.by_user = words, bool(words)
                if waiting:
                    result = {"type": "tool_call_response", "response": brought}
                    said.results = [{**result, "is_error": brought.startswith(ERROR)}]


def speaks(said: HistoryMessage) -> bool:
    """Whether the user speaks in a message that follows a reply which asked for tools."""
    if not said.by_user:
        return False
    brought, words = observed(said.text, True)
    return not brought or bool(words)


def asks_anew(news: Sequence[HistoryMessage]) -> bool:
    """Whether the user speaks in what is new.

    Text beside or right after tool results that is wholly in a tag is the application's reminder.
    """
    after_results = False
    for said in news:
        if said.results:
            after_results = True
        # A tagged text after tool results (``<reminder>...``) is the application's.
        if said.by_user and not (after_results and _TAGGED.fullmatch(said.text)):
            return True
    return False


def asked_in(news: Sequence[HistoryMessage]) -> str:
    """What the user said last in what is new; empty where that is nothing."""
    for said in reversed(news):
        if said.by_user and said.text:
            return said.text
    return ""
