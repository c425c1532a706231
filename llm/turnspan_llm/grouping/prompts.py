"""The prompts of llm-consortium 0.3 to 0.8, found again by their fixed parts.

A prompt is hostile: it may quote these templates, and so may the members' answers inside it. So no
text is cut out of it by its tags. What is known (the question, the members' answers) is looked for
where the template puts it, and only the fixed words around it are believed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from turnspan_llm.grouping.texts import KnownText, beginnings, digest, known, places

ARBITER: Final = ("<arbiter_prompt>\n", "<rank_prompt>\n")
"""An arbiter's prompt begins with one of these; one that quotes them does not."""
_ARBITER_PLAIN: Final = "<arbiter_prompt>\n    <original_prompt>"
_ARBITER_INSTRUCTED: Final = "<arbiter_prompt>\n    <user_instructions>"
_QUESTION: Final = "</user_instructions>\n    <original_prompt>"
ANSWERS: Final = "</original_prompt>\n    <model_responses>\n        "
"""Between the question and the members' answers."""
ANSWERS_END: Final = "\n    </model_responses>\n    <iteration_history>\n        "
_HISTORY_END: Final = "\n    </iteration_history>\n</arbiter_prompt>"
NO_HISTORY: Final = (
    "<no_previous_iterations>No previous iterations available.</no_previous_iterations>"
)

_MEMBER: Final = "<prompt>\n    <instruction>"
_MEMBER_END: Final = "</instruction>\n</prompt>"
_FIRST: Final = _MEMBER * 2
_FIRST_END: Final = _MEMBER_END * 2
_SYSTEM: Final = "[SYSTEM INSTRUCTIONS]\n"
_SYSTEM_END: Final = "\n[/SYSTEM INSTRUCTIONS]\n\n"
_LATER: Final = "You are part of a model consortium working together"
_LATER_PLAIN: Final = "<iteration_prompt>\n    <user_instructions>"
_LATER_END: Final = "</original_prompt>\n    <previous_synthesis>"
_REFINING: Final = "Refining response for original prompt:\n"
_REFINING_ENDS: Final = (
    "\n\nPrevious synthesis results:\n",
    "\n\nArbiter feedback from previous attempt:\n",
)
_SPLITS: Final = 8
"""So many places are tried where a system prompt may end, which may quote the template, too."""


@dataclass(frozen=True, slots=True)
class MemberPrompt:
    """What a member was asked."""

    prompt: bytes
    """The hash of the whole prompt."""
    first: bool
    """In the first iteration, or in a later one."""
    questions: tuple[tuple[KnownText, bytes | None], ...]
    """What the original question may be; more than one where the prompt quotes the template. Each
    with the hash of the synthesis that a later iteration is to improve on, if it can be read."""


def may_be_member_prompt(prompt: str) -> bool:
    """Whether it begins and ends as a member's prompt does."""
    return prompt.startswith(_MEMBER) and prompt.endswith(_MEMBER_END)


def member_prompt(prompt: str) -> MemberPrompt | None:
    """What a member was asked; ``None`` where this is no member's prompt."""
    if not may_be_member_prompt(prompt):
        return None
    if prompt.startswith(_FIRST) and prompt.endswith(_FIRST_END):
        return MemberPrompt(
            digest(prompt), True, tuple((each, None) for each in _first_questions(prompt))
        )
    start = len(_MEMBER)
    if prompt.startswith(_REFINING, start):
        return _later(prompt, start + len(_REFINING), _REFINING_ENDS)
    if prompt.startswith(_LATER, start):
        begins = _question_starts(prompt, prompt.find(_LATER_PLAIN, start))
        for begin in begins:
            found = _later(prompt, begin, (_LATER_END,))
            if found is not None:
                return found
    return None


def _first_questions(prompt: str) -> Iterator[KnownText]:
    inner = prompt[len(_FIRST) : -len(_FIRST_END)]
    yield known(inner)
    if inner.startswith(_SYSTEM):
        for place in places(inner, _SYSTEM_END, most=_SPLITS):
            yield known(inner[place + len(_SYSTEM_END) :])


def _later(prompt: str, start: int, words: tuple[str, ...]) -> MemberPrompt | None:
    ends = {place: place + len(end) for end in words for place in places(prompt, end, start)}
    if not ends:
        return None
    ordered = sorted(ends)
    questions = beginnings(prompt, start, ordered)
    syntheses = [_previous(prompt, ends[place]) for place in ordered[:_SPLITS]]
    syntheses += [None] * (len(questions) - len(syntheses))
    return MemberPrompt(digest(prompt), False, tuple(zip(questions, syntheses, strict=True)))


def _previous(prompt: str, start: int) -> bytes | None:
    """The synthesis in the JSON that begins here."""
    try:
        value, _ = json.JSONDecoder().raw_decode(prompt, start)
        return digest(str(value["synthesis"]))
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def is_arbiter_prompt(prompt: str) -> bool:
    """Whether it begins with an arbiter's template."""
    return prompt.startswith(ARBITER)


def one_after_the_other(prompt: str) -> bool:
    """Whether this arbiter is of a version that asks its members one after the other.

    0.3 and 0.4 make coroutines of calls that block; 0.5, which asks in threads, has instructions.
    """
    return prompt.startswith(_ARBITER_PLAIN)


def question_starts(prompt: str) -> list[int]:
    """Where the question of an arbiter's prompt may begin."""
    if prompt.startswith(_ARBITER_PLAIN):
        return [len(_ARBITER_PLAIN)]
    if prompt.startswith(_ARBITER_INSTRUCTED):
        return _question_starts(prompt, 0)
    return []


def _question_starts(prompt: str, after: int) -> list[int]:
    if after < 0:
        return []
    return [place + len(_QUESTION) for place in places(prompt, _QUESTION, after, _SPLITS)]


def guessed_question(prompt: str) -> tuple[KnownText, int] | None:
    """The question of an arbiter's prompt that no known question fits, and where answers begin."""
    for start in question_starts(prompt):
        end = prompt.find(ANSWERS, start)
        if end >= 0:
            return known(prompt[start:end]), end + len(ANSWERS)
    return None


@dataclass(frozen=True, slots=True)
class AnswerShape:
    """How a version puts the members' answers one after the other."""

    head: re.Pattern[str]
    """Before an answer, with its ``model``, and ``confidence`` where it is told."""
    foot: str
    """After an answer."""
    between: str
    """Between two of them."""


SHAPES: Final = (
    AnswerShape(  # 0.3 to 0.5
        re.compile(
            r"<model_response>\n            <model>(?P<model>[^\n]*?)</model>\n"
            r"(?:            <instance>[^\n<]*</instance>\n)?"
            r"            <confidence>(?P<confidence>[^\n<]*)</confidence>\n"
            r"            <response>"
        ),
        "</response>\n        </model_response>",
        "\n",
    ),
    AnswerShape(  # 0.8
        re.compile(r"--- RESPONSE [^\n ]* \(Model: (?P<model>[^\n]*?)\) ---\\n"),
        "\\n\\n",
        "",
    ),
)


def history(prompt: str, answers_end: int) -> tuple[int, int] | None:
    """Where the history of earlier iterations begins and ends, behind the answers."""
    if not prompt.startswith(ANSWERS_END, answers_end):
        return None
    start = answers_end + len(ANSWERS_END)
    # The last one is the template's own: behind it are fixed words only.
    end = prompt.rfind(_HISTORY_END)
    return (start, end) if end >= start else None


_ITERATION: Final = re.compile(
    r"<iteration>\n            <iteration_number>(\d{1,9})</iteration_number>\n"
    r"            <model_responses>\n                "
)
_LINES_END: Final = "\n            </model_responses>\n            <synthesis>"
_SYNTHESIS_END: Final = "</synthesis>\n            <confidence>"


@dataclass(frozen=True, slots=True)
class IterationText:
    """How an arbiter's own iteration is told in the histories of the next ones."""

    before: KnownText | None
    """The history that it was given itself; ``None`` where it was given none."""
    lines: KnownText
    """The members' answers."""
    synthesis: KnownText | None
    """What it made of them; ``None`` where its answer was not logged."""


def told_iteration(prompt: str, start: int, end: int, told: IterationText) -> int | None:
    """The number under which an iteration is told in a history, if it is."""
    at = start
    if told.before is not None:
        at += told.before.length + 1
        if at > end or prompt[at - 1] != "\n" or not told.before.at(prompt, start):
            return None
    head = _ITERATION.match(prompt, at, end)
    if head is None or not told.lines.at(prompt, head.end()):
        return None
    at = head.end() + told.lines.length
    if not prompt.startswith(_LINES_END, at):
        return None
    if told.synthesis is not None:
        at += len(_LINES_END)
        if not told.synthesis.at(prompt, at):
            return None
        if not prompt.startswith(_SYNTHESIS_END, at + told.synthesis.length):
            return None
    return int(head[1])


def last_number(prompt: str, start: int, end: int) -> int:
    """The number of the last iteration that a history tells of."""
    at = prompt.rfind("<iteration_number>", start, end)
    found = (
        _ITERATION.match(prompt, prompt.rfind("<iteration>", start, at), end) if at >= 0 else None
    )
    return int(found[1]) if found else 0


def between_tags(text: str, tag: str) -> str | None:
    """What llm-consortium takes for the section of this name: the first, stripped.

    It does so with ``<tag>([\\s\\S]*?)</tag>`` and ``re.IGNORECASE``; this takes linear time where
    a text has a thousand opening tags.
    """
    opening = re.search(f"<{tag}>", text, re.IGNORECASE)
    if opening is None:
        return None
    closing = re.compile(f"</{tag}>", re.IGNORECASE).search(text, opening.end())
    return None if closing is None else text[opening.end() : closing.start()].strip()
