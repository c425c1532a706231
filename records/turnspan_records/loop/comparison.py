"""Answers side by side: what each was asked, by what, and what differs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from typing import Any, Final

from turnspan_clickhouse.store.client import Store
from turnspan_records.access.fields import of_row, utc
from turnspan_records.access.questions import ask, ask_row
from turnspan_records.lookup import RecordRef
from turnspan_records.loop.improvement import score_of
from turnspan_records.loop.prompts import Prompt, pairs_of, prompt_of
from turnspan_records.messages import known_hash, load_definitions, load_messages, prompt_text
from turnspan_records.sql import statement

COMPARABLE: Final = ("attempt", "rollout", "artifact", "turn", "call")
"""What has an answer."""
LEAST, MOST = 2, 6

_COLUMNS: Final = {"turn": "turn_id", "call": "span_id", "attempt": "attempt_id"}


@dataclass(slots=True)
class AnswerFacts:
    """One answer, and how it came about."""

    kind: str
    id: str
    project: str
    asked: str = ""
    text: str = ""
    status: str = ""
    agent: str = ""
    version: str = ""
    models: list[str] = field(default_factory=list[str])
    parameters: str = ""
    system_prompt: str = ""
    score: float | None = None
    calls: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: Decimal | None = None
    duration: float | None = None


@dataclass(slots=True)
class Answer(AnswerFacts):
    """One answer and how it was produced."""

    tools: str = ""
    """The hash of the tools that were offered; empty where there were none."""


SAME_OR_NOT: Final = (
    "asked",
    "system_prompt",
    "tools",
    "models",
    "parameters",
    "agent",
    "version",
    "status",
    "text",
)
"""What of an answer is compared; the numbers nearly always differ."""


@dataclass(slots=True)
class Comparison:
    """Two to six answers. ``differing`` names the fields that are not the same for all."""

    answers: list[Answer]
    differing: list[str]
    prompts: list[Prompt] = field(default_factory=list[Prompt])
    """What each answers, as training data has it."""

    @property
    def same_prompt(self) -> bool:
        """Whether preference pairs can be made of all of them."""
        return len({one.hash for one in self.prompts}) == 1 and bool(self.prompts[0].hash)

    @property
    def why_no_pairs(self) -> str:
        """Why a ranking of them gives no pairs for training; empty if it gives some."""
        pairs = pairs_of([[one] for one in self.prompts])
        reasons = [one.why_not for one in pairs]
        return "" if not all(reasons) else ", or ".join(dict.fromkeys(reasons))


def compare(store: Store, found: Sequence[RecordRef]) -> Comparison:
    """Put the answers of records side by side: turns, calls, attempts, rollouts (their final
    attempts) and artifacts.

    Raises:
        ValueError: too few or too many records, or one of a kind without an answer.
        KeyError: a record no longer exists.
        StoreError: as ``Store.query``.
    """
    if not LEAST <= len(found) <= MOST:
        raise ValueError(f"{LEAST} to {MOST} answers can be compared, not {len(found)}")
    answers = [_answer(store, one) for one in found]
    differing = [
        name
        for name in SAME_OR_NOT
        if any(getattr(one, name) != getattr(answers[0], name) for one in answers)
    ]
    prompts = [prompt_of(store, RecordRef(one.kind, one.id, one.project)) for one in answers]
    return Comparison(answers, differing, prompts)


def _answer(store: Store, found: RecordRef) -> Answer:
    kind, id_ = found.kind, found.id
    if kind not in COMPARABLE:
        raise ValueError(f"{kind} {id_} has no answer to compare: name {', '.join(COMPARABLE)}")
    if kind == "rollout":
        final = ask(store, "comparison/final_attempt", project=found.project, id=id_).rows
        kind, id_ = "attempt", str(final[0][0]) if final else ""
    parameters = {"project": found.project, "id": id_, "kind": kind}
    row = ask_row(store, f"comparison/{kind}", found.id, **parameters)
    models = [str(model) for model in row["models"] if model]
    made = of_row(Answer, row, kind=kind, id=id_, project=found.project, models=models)
    scores = ask(store, "comparison/scores", **parameters).rows
    made.score = score_of({str(by): float(score)} for by, score in scores)
    if kind in _COLUMNS:
        _add_calls(store, made, row)
    if kind == "attempt":
        since = {**parameters, "since": _moment(row)}
        for said in ask(store, "comparison/attempt_turns", **since).dicts():
            made.asked, made.text = made.asked or said["asked"], made.text or said["text"]
    elif kind == "call":
        made.asked = _last_question(store, found.project, row)
    elif kind == "artifact":
        bodies = load_definitions(store, found.project, [row["content"]])
        made.text = bodies.get(row["content"], "")
        maker = ("turn", row["turn_id"]) if row["turn_id"] else ("attempt", row["attempt_id"])
        if maker[1]:
            _add_maker(store, made, RecordRef(*maker, found.project))
    return made


def _moment(row: Mapping[str, Any]) -> str:
    """A moment before this record began: its calls and turns began later, by other clocks."""
    return f"{utc(row['start_time']) - timedelta(hours=1):%Y-%m-%d %H:%M:%S}"


def _add_maker(store: Store, answer: Answer, maker: RecordRef) -> None:
    """What made an artifact: the turn, or else the attempt, around it."""
    try:
        by = _answer(store, maker)
    except KeyError:  # not landed
        return
    for name in (
        *("asked", "status", "agent", "models", "parameters", "system_prompt", "tools"),
        *("calls", "input_tokens", "output_tokens", "cost_usd", "duration"),
    ):
        setattr(answer, name, getattr(by, name))


def _add_calls(store: Store, answer: Answer, row: Mapping[str, Any]) -> None:
    """What its model calls were told, and what they used."""
    column = _COLUMNS[answer.kind]
    sql = statement("comparison/calls", column=column)
    parameters = {"project": answer.project, "id": answer.id, "since": _moment(row)}
    used = store.query(sql, parameters).dicts()[0]
    if not used["calls"]:
        return
    for name in ("calls", "input_tokens", "output_tokens", "cost_usd"):
        setattr(answer, name, used[name])
    answer.models = [str(model) for model in used["models"] if model] or answer.models
    answer.parameters = answer.parameters or used["parameters"]
    answer.tools = known_hash(used["tools"])
    prompt = known_hash(used["prompt"])
    if prompt:
        bodies = load_definitions(store, answer.project, [prompt])
        answer.system_prompt = prompt_text(bodies.get(prompt) or prompt)


def _last_question(store: Store, project: str, row: Mapping[str, Any]) -> str:
    known = load_messages(store, project, str(row["session_id"] or row["trace_id"]))
    asked = [known[one.hex()] for one in row["inputs"] if one.hex() in known]
    return next((one.text for one in reversed(asked) if one.role == "user" and one.text), "")
