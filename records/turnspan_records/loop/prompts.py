"""Which answers are to the same prompt, as training data has it, and why others are not.

A pair of a better and a worse answer is made of two answers to one prompt only. Here it is said
beforehand, by the very code that makes samples of turns and calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from turnspan import config
from turnspan.redaction.redactor import Redactor
from turnspan_clickhouse.store.client import Store
from turnspan_records.access.questions import ask
from turnspan_records.lookup import RecordRef
from turnspan_records.training import scopes
from turnspan_records.training.chat import Style
from turnspan_records.training.conversations import SessionDefinitions, SessionDialogues
from turnspan_records.training.counts import Counts, UnfitError
from turnspan_records.training.export_request import Filters, TrainingSet, Unit
from turnspan_records.training.samples import Samples
from turnspan_records.training.tokens import Tokens
from turnspan_records.training.units import Units

_REASONS: Final = {
    "content_missing": "its content was not recorded, or has been pruned",
    "definition_missing": "its system prompt or tools were not recorded, or have been pruned",
    "content_truncated": "it was cut by the limit on content when it was recorded",
    "no_reply": "there is no reply",
    "empty_reply": "the reply says nothing",
    "reply_cut_short": "the reply was cut short",
    "turn_not_ended": "the turn has not ended",
    "no_user_message": "nobody asked anything",
    "history_rewritten": "the agent rewrote its own history on the way",
    "system_changed": "the system prompt changed on the way",
    "tools_changed": "the tools changed on the way",
    "tool_call_without_result": "a tool call was never answered",
}
"""Those of ``docs/training-data.md`` that are met most, in words."""
_STYLE: Final = Style(arguments_as_text=True, reasoning=True, blocks=False, image_type="image")


@dataclass(frozen=True, slots=True)
class Prompt:
    """What an answer is to. Of an attempt and an artifact it is the prompt of its turn."""

    subject: RecordRef
    """What a preference is said of: the turn of an attempt that has one, else what was named."""
    hash: str = ""
    """Of system prompt, tools and input; empty where no sample can be made."""
    answer: str = ""
    """The hash of what was answered."""
    why_not: str = ""
    """Why no sample can be made of it."""


@dataclass(frozen=True, slots=True)
class AnswerPair:
    """That one answer is better than another, and why no pair is made of that if none is."""

    chosen: RecordRef
    rejected: RecordRef
    why_not: str = ""


def prompt_of(store: Store, found: RecordRef) -> Prompt:
    """The prompt that a turn, call, attempt, rollout or artifact answers.

    Raises ``StoreError`` as ``Store.query``.
    """
    unit: Unit = "call" if found.kind == "call" else "turn"
    kind = found.kind if found.kind in ("call", "attempt", "artifact") else "turn"
    rows = ask(store, f"prompts/{kind}", project=found.project, id=found.id).rows
    if not rows:
        return Prompt(found, why_not=f"no turn of this {found.kind} is recorded")
    if len(rows) > 1:
        return Prompt(found, why_not="the attempt has several turns: compare these")
    turn_id, session_id, trace_id = map(str, rows[0])
    id_ = found.id if unit == "call" else turn_id
    subject = found
    if found.kind == "attempt":
        subject = RecordRef("turn", turn_id, found.project, session_id, trace_id, turn_id)
    group = scopes.ScopeGroup(found.project, (session_id or trace_id,), bool(session_id))
    try:
        return Prompt(subject, *_hashes(store, group, unit, id_, turn_id))
    except UnfitError as unfit:
        reason = unfit.reason
        return Prompt(subject, why_not=_REASONS.get(reason, reason.replace("_", " ")))


def _hashes(
    store: Store, group: scopes.ScopeGroup, unit: Unit, id_: str, turn_id: str
) -> tuple[str, str]:
    wanted = TrainingSet("preference", "trl", unit=unit)
    redactor, counts = Redactor(config.active()), Counts()
    found = scopes.read(store, group, turn_id)
    definitions = SessionDefinitions(store, redactor)
    calls = [call for scope in found.values() for call in scope.calls]
    definitions.load(group.project, {one for call in calls for one in (call.system, call.tools)})
    units = Units(store, unit, Filters(), counts)
    for scope in scopes.with_messages(store, group.project, found):
        conversations = SessionDialogues(scope, _STYLE, redactor)
        samples = Samples(wanted, group.project, conversations, definitions, Tokens())
        for one in units.of(scope, None):
            if one.id == id_:
                if not one.ended:
                    raise UnfitError("turn_not_ended")
                made = samples.of(one, {})
                return made.prompt_hash.hex(), made.completion_hash.hex()
    raise UnfitError("no_reply")


def pair_of(chosen: Prompt, rejected: Prompt) -> AnswerPair:
    """The pair of two answers of which one is better."""
    return AnswerPair(chosen.subject, rejected.subject, _why_not(chosen, rejected))


def pairs_of(groups: Sequence[Sequence[Prompt]]) -> list[AnswerPair]:
    """The pairs that a ranking makes: ``groups`` of equally good answers, the best first."""
    return [
        pair_of(chosen, rejected)
        for at, group in enumerate(groups)
        for chosen in group
        for worse in groups[at + 1 :]
        for rejected in worse
    ]


def _why_not(one: Prompt, other: Prompt) -> str:
    if (one.subject.kind, one.subject.project) != (other.subject.kind, other.subject.project):
        return "they are of two kinds, or two projects"
    if one.subject.id == other.subject.id:
        return "they are the same answer"
    if one.why_not or other.why_not:
        return one.why_not or other.why_not
    if one.hash != other.hash:
        return "they answer different prompts"
    if one.answer == other.answer:
        return "they say the same"
    return ""
