"""Samples: a prompt and a completion as bytes of JSON, and what is known of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Final

import orjson

from turnspan.content.model import as_list, dumps
from turnspan_records.training.chat import ASSISTANT, SYSTEM, Chat
from turnspan_records.training.conversations import (
    SessionDefinitions,
    SessionDialogues,
    TrainingDialogue,
    leading_text,
    same_throughout,
    system_chat,
)
from turnspan_records.training.counts import UnfitError
from turnspan_records.training.export_request import JudgmentInForce, TrainingSet
from turnspan_records.training.scopes import CallRow
from turnspan_records.training.tokens import Tokens
from turnspan_records.training.tool_ids import prompt_hash, require_reply, with_ids
from turnspan_records.training.units import Candidate

MAX_IMAGES: Final = 10
MAX_TOOLS: Final = 128
"""Of a line that OpenAI takes."""


@dataclass(frozen=True, slots=True)
class SampleText:
    """The texts of a sample. The parts of its line are JSON already: messages with commas between
    them, and the tools as a list."""

    prompt: bytes
    completion: bytes
    tools: bytes
    text: str
    """What near duplicates are looked for in: the last thing that was asked, and the completion."""
    meta: dict[str, Any]
    evaluations: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])


@dataclass(slots=True)
class Sample:
    """One prompt with one completion."""

    project: str
    unit: str
    prompt_hash: bytes
    completion_hash: bytes
    written: SampleText
    score: float | None = None
    good: bool = False
    bad: bool = False
    blocks: bool = False
    """Whether a message has images or several texts, and so no text as its content."""
    cut: bool = False
    """Whether a reply is not whole: then it is no good example."""
    attempt: str = ""
    """The attempt of a lineage that it is part of."""
    owners: Sequence[str] = ()
    """Whose it is, of those whose samples are in one split."""


@dataclass(frozen=True, slots=True)
class Samples:
    """Makes samples of the units of one session."""

    wanted: TrainingSet
    project: str
    conversations: SessionDialogues
    definitions: SessionDefinitions
    tokens: Tokens
    owners: Sequence[str] = ()

    def of(
        self,
        one: Candidate,
        judged: Mapping[str, JudgmentInForce],
        also: Sequence[JudgmentInForce] = (),
    ) -> Sample:
        """The sample of a unit. ``also``: scores of what it wrote, besides those that count.

        Raises:
            UnfitError: it cannot be told exactly, or the format has no place for a part of it.
        """
        told = self.conversations.dialogue(one.calls)
        good = self.wanted.kind == "kto" and any(rule.holds(judged) for rule in self.wanted.good)
        if told.cut and (good or self.wanted.kind in ("sft", "cot")):
            raise UnfitError("reply_cut_short")
        same_throughout(told.steps)
        made = self._made(one, told, judged)
        _judge(made, judged, also)
        return made

    def of_text(
        self, one: Candidate, text: str, said_by_agent: str, judged: Mapping[str, JudgmentInForce]
    ) -> Sample:
        """The sample of a text in the place of a call's reply. ``said_by_agent`` is what the agent
        wrote there: where its reply says more than that, this is counted.

        Raises:
            UnfitError: as ``of``.
        """
        call = one.calls[-1]
        told = self.conversations.asked(call)
        told.completion.append(self.conversations.written(text))
        told.trained.append(True)
        reply = self.conversations.replied(call)
        told.left_out["reply_around_the_text"] += (reply or "").strip() != said_by_agent.strip()
        return self._made(one, told, judged)

    def of_reply(
        self,
        one: Candidate,
        changed: Mapping[str, object],
        judged: Mapping[str, JudgmentInForce],
    ) -> Sample:
        """The sample of the reply of a unit's last call, with other arguments of tool calls.

        Raises:
            UnfitError: as ``of``.
        """
        told = self.conversations.asked(one.calls[-1])
        told.completion += self.conversations.reply(one.calls[-1], changed)
        told.trained += [True] * len(told.completion)
        return self._made(one, told, judged)

    def asks(self, call: CallRow) -> set[str]:
        """The ids of the tool calls that a reply asks for. Raises ``UnfitError`` as ``of``."""
        return {id_ for message in self.conversations.reply(call) for id_, _ in message.asks}

    def _made(
        self, one: Candidate, told: TrainingDialogue, judged: Mapping[str, JudgmentInForce]
    ) -> Sample:
        wanted = self.wanted
        call = told.steps[0].call
        leading = leading_text(told.prompt)
        system = self.definitions.system(self.project, call.system, leading)
        if system:
            told.prompt.insert(0, system_chat(system))
        tools = self.definitions.tools(self.project, call.tools)
        asked = len(told.prompt)
        messages = with_ids([*told.prompt, *told.completion])
        prompt, completion = messages[:asked], messages[asked:]
        require_reply(completion)
        if not any(message.role not in (SYSTEM, ASSISTANT) for message in prompt):
            raise UnfitError("no_user_message")
        written = dumps(tools)
        self._fits(messages, completion, tools)
        tokens = self.tokens.of(written.decode()) if tools else 0
        tokens += sum(self.tokens.of_message(message) for message in messages)
        if wanted.max_tokens is not None and tokens > wanted.max_tokens:
            raise UnfitError("too_long")
        return Sample(
            project=self.project,
            unit=one.id,
            prompt_hash=prompt_hash(orjson.dumps(tools, option=orjson.OPT_SORT_KEYS), prompt),
            completion_hash=prompt_hash(b"", completion),
            written=SampleText(
                self._encoded(prompt, [False] * asked),
                self._encoded(completion, told.trained),
                written,
                _text(prompt, completion),
                _meta(one, told, tokens, judged),
            ),
            good=any(rule.holds(judged) for rule in wanted.good),
            bad=any(rule.holds(judged) for rule in wanted.bad),
            blocks=any(isinstance(message.body["content"], list) for message in messages),
            cut=told.cut,
            attempt=one.attempt_id,
            owners=self.owners,
        )

    def _fits(
        self, messages: Sequence[Chat], completion: Sequence[Chat], tools: Sequence[object]
    ) -> None:
        wanted = self.wanted
        steps = len(completion) > 1 or any(one.thoughts or one.asks for one in completion)
        if wanted.kind == "cot" and not steps:
            raise UnfitError("no_steps")
        if wanted.format != "openai":
            return
        if wanted.kind == "preference" and len(completion) > 1:
            raise UnfitError("several_messages")
        if len(tools) > MAX_TOOLS:
            raise UnfitError("too_many_tools")
        blocks = (one for message in messages for one in as_list(message.body.get("content")) or ())
        if sum(block["type"] == "image_url" for block in blocks) > MAX_IMAGES:
            raise UnfitError("too_many_images")

    def _encoded(self, messages: Sequence[Chat], trained: Sequence[bool]) -> bytes:
        """Messages as JSON; those of the model that are not to be learned say so to OpenAI."""
        weighted = self.wanted.format == "openai" and self.wanted.kind in ("sft", "cot")
        return b",".join(
            one.encoded(trained=own or not weighted or one.role != ASSISTANT)
            for one, own in zip(messages, trained, strict=True)
        )


def _text(prompt: Sequence[Chat], completion: Sequence[Chat]) -> str:
    begin = len(prompt)
    while begin > 0 and prompt[begin - 1].role not in (ASSISTANT, SYSTEM):
        begin -= 1
    texts: list[str] = []
    for message in (*prompt[begin:], *completion):
        texts.append(message.text)
        calls = message.body.get("tool_calls")
        if calls:
            texts.append(dumps([call["function"] for call in calls]).decode())
    return "\n".join(texts)


def _meta(
    one: Candidate, told: TrainingDialogue, tokens: int, judged: Mapping[str, JudgmentInForce]
) -> dict[str, object]:
    """What a line says of its origin."""
    return {
        "id": one.id,
        "unit": one.kind,
        "session_id": one.session_id,
        "trace_id": one.trace_id,
        "calls": [step.call.span_id for step in told.steps],
        "agent": one.agent_name,
        "agent_version": one.agent_version,
        "model": one.model,
        "tokens": tokens,
        "judged_by": sorted({said.author for said in judged.values() if said.author}),
        "left_out": {reason: number for reason, number in sorted(told.left_out.items()) if number},
        "parallel": told.steps[-1].call.parallel,
        "images": sorted({path for m in (*told.prompt, *told.completion) for path in m.images}),
    }


def _judge(
    sample: Sample, judged: Mapping[str, JudgmentInForce], also: Sequence[JudgmentInForce]
) -> None:
    """The score that counts, and a line's worth of every one that was given."""
    nearest = [judged[kind] for kind in sorted(judged)]
    for said in (*nearest, *(one for one in also if judged.get(one.kind) != one)):
        kind = said.kind
        if said.score is None or not (kind == "score" or kind.startswith("evaluation:")):
            continue
        if kind == "score" and sample.score is None:
            sample.score = said.score
        sample.written.evaluations.append(
            {
                "by": kind.removeprefix("evaluation:"),
                "score": said.score,
                "author": said.author,
                "of": said.subject_kind,
            }
        )


def digest(*pieces: bytes) -> str:
    """The content hash of a line: of what is learned from, whatever it is called."""
    made = blake2b(digest_size=16)
    for piece in pieces:
        made.update(len(piece).to_bytes(8, "big"))
        made.update(piece)
    return made.hexdigest()
