"""The calls of a unit as one conversation: what it began with, and what the model did then."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from types import MappingProxyType
from typing import Final

import orjson

from turnspan.content.model import TOOL_CALL, Part, as_dict, as_list
from turnspan.dialects.convert import ITEMISED
from turnspan.redaction.redactor import Redactor
from turnspan.turn import stop_reasons
from turnspan_clickhouse.store.client import Store
from turnspan_records.messages import NONE, load_sources, prompt_text
from turnspan_records.training.chat import ASSISTANT, SYSTEM, Chat, Style, chats, joined
from turnspan_records.training.counts import UnfitError
from turnspan_records.training.scopes import CallRow, TrainingScope

_CUT: Final = frozenset({"canceled", "failed", "incomplete", "malformed_function_call"})
"""Finish reasons of no whole reply, besides those that say why a turn stopped."""
_KNOWN = 2_000
"""System prompts and tool catalogues that are kept."""


@dataclass(frozen=True, slots=True)
class DialogueStep:
    """One call: what it was given, and what it said."""

    call: CallRow
    prompt: list[Chat]
    reply: list[Chat]


@dataclass(slots=True)
class TrainingDialogue:
    """A prompt and what came after it; ``trained`` says of each message whether the model said it
    in answer to this prompt."""

    prompt: list[Chat]
    completion: list[Chat]
    trained: list[bool]
    steps: list[DialogueStep]
    left_out: Counter[str] = field(default_factory=Counter[str])
    cut: bool = False
    """Whether a reply in it is not whole: a limit, a filter, a user or an error ended it."""


class SessionDefinitions:
    """System prompts and tool catalogues, redacted, by hash; the newest are kept."""

    def __init__(self, store: Store, redactor: Redactor) -> None:
        self._store = store
        self._redactor = redactor
        self._bodies: dict[tuple[str, str], tuple[str, str]] = {}
        self._tools: dict[tuple[str, str], list[dict[str, object]] | str] = {}

    def load(self, project: str, hashes: set[str]) -> None:
        """Read those that are not known yet."""
        if len(self._bodies) > _KNOWN:
            self._bodies.clear()
            self._tools.clear()
        unknown = {one for one in hashes if (project, one) not in self._bodies}
        for hash_, found in load_sources(self._store, project, unknown, None).items():
            self._bodies[project, hash_] = found

    def system(self, project: str, hash_: str, leading: str) -> str:
        """The system prompt that is not among the messages; ``leading`` is what these begin with.

        Raises:
            UnfitError: it is not in the store.
        """
        if hash_ == NONE:
            return ""
        body, source = self._body(project, hash_)
        if leading and source:  # instructions, and messages beside them
            given: object = orjson.loads(source)
            if isinstance(given, str):
                return self._redactor.text(given, "system")
        text = prompt_text(body)
        return "" if leading and text == leading else self._redactor.text(text, "system")

    def tools(self, project: str, hash_: str) -> list[dict[str, object]]:
        """The tool catalogue as a chat API takes it.

        Raises:
            UnfitError: it is not in the store, or has tools that are no functions.
        """
        if hash_ == NONE:
            return []
        made = self._tools.get((project, hash_))
        if made is None:
            body, _ = self._body(project, hash_)
            made = _functions(self._redactor.json(body, "tool_definitions"))
            self._tools[project, hash_] = made
        if isinstance(made, str):
            raise UnfitError(made)
        return made

    def _body(self, project: str, hash_: str) -> tuple[str, str]:
        found = self._bodies.get((project, hash_))
        if found is None:
            raise UnfitError("definition_missing")
        return found


def _functions(body: str) -> list[dict[str, object]] | str:
    made: list[dict[str, object]] = []
    for raw in as_list(orjson.loads(body)) or []:
        tool = as_dict(raw)
        if tool is None or tool.get("type") != "function" or not tool.get("name"):
            return "server_tool"
        known = ("name", "description", "parameters", "strict")
        made.append({"type": "function", "function": {k: tool[k] for k in known if k in tool}})
    return made


class SessionDialogues:
    """Reads the calls of one session as chat messages, each stored message once."""

    def __init__(
        self, scope: TrainingScope, style: Style, redactor: Redactor, *, unfinished: bool = False
    ) -> None:
        self._scope = scope
        self._unfinished = unfinished
        self._style = style
        self._redactor = redactor
        self._known: dict[str, list[Chat] | str] = {}
        self._notes: dict[str, Counter[str]] = {}

    def dialogue(self, calls: Sequence[CallRow]) -> TrainingDialogue:
        """The conversation that the last of these calls ended.

        Raises:
            UnfitError: it cannot be told exactly, or it has no end: the last call of a turn in it
                failed or said nothing (unless ``unfinished`` ones are taken).
        """
        answered = [one for one in calls if one.outputs and not one.error_type]
        if not answered:
            raise UnfitError("no_reply")
        last = answered[-1]
        ends = {call.turn_id: call for call in calls}.values()
        if not self._unfinished and any(one.error_type or not one.outputs for one in ends):
            raise UnfitError("last_call_failed")
        chain, beside = self._chain(answered)
        for earlier in beside:
            if (earlier.system, earlier.tools) == (last.system, last.tools):
                raise UnfitError("history_rewritten")
        told = _unfolded(chain)
        told.cut = not self._unfinished and any(_is_cut(step.call) for step in chain)
        told.left_out["calls_beside"] += len(beside)
        whole = [step.call for step in chain if not self._is_items(step.call)]
        told.left_out["other_choices"] += sum(len(call.outputs) - 1 for call in whole)
        for hash_ in dict.fromkeys(h for s in chain for h in (*s.call.inputs, *s.call.outputs)):
            told.left_out.update(self._notes.get(hash_) or ())
        return told

    def asked(self, call: CallRow) -> TrainingDialogue:
        """What a call was given; nothing is said to it yet.

        Raises:
            UnfitError: it cannot be told exactly.
        """
        step = DialogueStep(call, self._messages(call.inputs), [])
        told = TrainingDialogue(list(step.prompt), [], [], [step])
        for hash_ in dict.fromkeys(call.inputs):
            told.left_out.update(self._notes.get(hash_) or ())
        return told

    def replied(self, call: CallRow) -> str | None:
        """The text of a call's reply; ``None`` where a chat message has no place for it."""
        try:
            return "\n".join(one.text for one in self._step(call).reply)
        except UnfitError:
            return None

    def reply(
        self, call: CallRow, changed: Mapping[str, object] = MappingProxyType({})
    ) -> list[Chat]:
        """What a call said; ``changed`` has other arguments of tool calls, by their ids.

        Raises:
            UnfitError: a chat message has no place for it.
        """
        return self._messages(self._reply_hashes(call), changed)

    def written(self, text: str) -> Chat:
        """A text as a reply, redacted."""
        part: Part = {"type": "text", "content": self._redactor.text(text, "artifact")}
        return chats(ASSISTANT, "", [part], "", self._style, Counter())[0]

    def _chain(self, calls: Sequence[CallRow]) -> tuple[list[DialogueStep], list[CallRow]]:
        """The calls that the last one continues, in order, and the others."""
        steps = [self._step(calls[-1])]
        beside: list[CallRow] = []
        for call in reversed(calls[:-1]):
            if len(call.inputs) > len(steps[0].call.inputs):
                beside.append(call)
                continue
            before = self._step(call)
            if _continues(steps[0], before):
                steps.insert(0, before)
            else:
                beside.append(call)
        return steps, beside

    def _step(self, call: CallRow) -> DialogueStep:
        return DialogueStep(
            call, self._messages(call.inputs), self._messages(self._reply_hashes(call))
        )

    def _reply_hashes(self, call: CallRow) -> list[str]:
        """The hashes of the reply that counts: of several choices the first."""
        return call.outputs if self._is_items(call) else call.outputs[:1]

    def _is_items(self, call: CallRow) -> bool:
        first = self._scope.messages.get(call.outputs[0]) if call.outputs else None
        return first is not None and first[3] in ITEMISED

    def _messages(
        self, hashes: Sequence[str], changed: Mapping[str, object] = MappingProxyType({})
    ) -> list[Chat]:
        made: list[Chat] = []
        items = False
        for hash_ in hashes:
            found = None if changed else self._known.get(hash_)
            if found is None:
                found = self._converted(hash_, changed)
                if not changed:
                    self._known[hash_] = found
            if isinstance(found, str):
                raise UnfitError(found)
            made += found
            items = items or (bool(found) and found[0].item)
        return joined(made) if items else made

    def _converted(self, hash_: str, changed: Mapping[str, object]) -> list[Chat] | str:
        stored = self._scope.messages.get(hash_)
        if stored is None:
            return "content_missing"
        role, name, text, dialect = stored
        left: Counter[str] = Counter()
        where = "output" if role == "assistant" else "input"
        try:
            parts = [as_dict(one) or {} for one in as_list(orjson.loads(text)) or []]
            for part in parts:
                if part.get("type") == TOOL_CALL and part.get("id") in changed:
                    part["arguments"] = changed[str(part["id"])]
            kept = self._redactor.parts(parts, where)
            left["redacted_now"] += kept is not parts
            made = chats(role, name, kept, dialect, self._style, left)
        except UnfitError as unfit:
            return unfit.reason
        except orjson.JSONDecodeError:
            return "part_of_the_provider"
        if any(left.values()):
            self._notes[hash_] = left
        return made


def _is_cut(call: CallRow) -> bool:
    ends = (one.lower().rpartition(".")[2] for one in call.finish_reasons)
    return (
        call.stream_outcome not in ("", "complete")
        or any(stop_reasons.meaning_of(one) for one in call.finish_reasons)
        or not _CUT.isdisjoint(ends)
    )


def _continues(later: DialogueStep, before: DialogueStep) -> bool:
    """Whether a call was given all that one before it was given, and what that one said."""
    given = [one.identity for one in (*before.prompt, *before.reply)]
    return [one.identity for one in later.prompt[: len(given)]] == given


def _unfolded(steps: list[DialogueStep]) -> TrainingDialogue:
    """The prompt of the first call, then each reply as the model gave it (the application resends
    it without its reasoning), and what was new to the next call."""
    completion: list[Chat] = []
    trained: list[bool] = []
    for at, step in enumerate(steps):
        completion += step.reply
        trained += [True] * len(step.reply)
        if at + 1 < len(steps):
            new = steps[at + 1].prompt[len(step.prompt) + len(step.reply) :]
            completion += new
            trained += [False] * len(new)
    return TrainingDialogue(list(steps[0].prompt), completion, trained, steps)


def leading_text(messages: Sequence[Chat]) -> str:
    """The text of the system messages that a conversation begins with."""
    return "\n\n".join(one.text for one in takewhile(lambda one: one.role == SYSTEM, messages))


def system_chat(text: str) -> Chat:
    """A system prompt as a message."""
    left: Counter[str] = Counter()
    style = Style(arguments_as_text=True, reasoning=False, blocks=True, image_type="")
    return chats(SYSTEM, "", [{"type": "text", "content": text}], "", style, left)[0]


def same_throughout(steps: Sequence[DialogueStep]) -> None:
    """Refuse a conversation whose system prompt or tools change on the way.

    Raises:
        UnfitError: they do.
    """
    for name in ("system", "tools"):
        if len({getattr(step.call, name) for step in steps}) > 1:
            raise UnfitError(f"{name}_changed")
