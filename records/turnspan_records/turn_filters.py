"""The filter of turns as people write it: ``stop:tool_failure,loop_detected -agent:b cost>0.01``.

Terms are ANDed, comma-separated values are ORed, ``-`` negates. A value with a blank or a comma
stands in double quotes. Numbers have ranges, ``cost:0.01..0.1``. An unknown number matches no
comparison.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from turnspan_records.access.window import Window, window_parameters
from turnspan_records.judging.queues import JUDGED
from turnspan_records.sql import statement

_END = statement("fragments/how_ended")
"""How a turn ended: its stop reason without its detail, else its status."""

_TOOLS = """(project, turn_id) IN (
    SELECT project, turn_id FROM tool_call
    WHERE name IN {VALUES:Array(String)} AND start_time >= {since:DateTime64(9, 'UTC')}"""
_SAID = """(project, turn_id) IN (
    SELECT project, subject_id FROM annotation_current WHERE subject_kind = 'turn' AND """

COLUMNS: Final[Mapping[str, tuple[str, str]]] = {
    # name: meaning, SQL of the turn's value
    "stop": ("the stop reason without its detail; running or interrupted", _END),
    "status": ("running, final or interrupted", "t.status"),
    "agent": ("the agent's name", "agent_name"),
    "version": ("the agent's version", "agent_version"),
    "error": ("the error's type", "t.error_type"),
    "project": ("the project", "t.project"),
    "user": ("the user's id", "user_id"),
    "session": ("the session's id", "session_id"),
    "trace": ("the trace's id", "trace_id"),
    "turn": ("the turn's id", "turn_id"),
    "intent": ("the turn's intent", "turn_intent"),
    "mode": ("the mode of the chat", "chat_mode"),
    "service": ("the service", "service"),
    "environment": ("the environment", "environment"),
}
"""Texts of a turn: what each is, and its SQL over ``turn_summary AS t``."""

_WORDS: Final[Mapping[str, tuple[str, str]]] = {
    # name: what it is, the condition
    **{
        name: (meaning, f"{column} IN {{VALUES:Array(String)}}")
        for name, (meaning, column) in COLUMNS.items()
    },
    "model": ("a model that was called", "hasAny(models, {VALUES:Array(String)})"),
    "tool": ("a tool that ran", f"{_TOOLS})"),
    "failed": ("a tool that failed", f"{_TOOLS} AND failed)"),
    "outcome": (
        "the outcome that holds: pending, used, modified, rejected",
        f"{_SAID}kind = 'outcome' AND outcome IN {{VALUES:Array(String)}})",
    ),
}
NUMBERS: Final[Mapping[str, tuple[str, str]]] = {
    "cost": ("cost in US dollars", "toFloat64(t.cost_usd)"),
    "tokens": ("input and output tokens", "t.input_tokens + t.output_tokens"),
    "input": ("input tokens", "t.input_tokens"),
    "output": ("output tokens", "t.output_tokens"),
    "seconds": ("duration in seconds", "if(t.status = 'running', NULL, t.duration)"),
    "rounds": ("rounds", "t.rounds"),
    "calls": ("model calls", "t.llm_call_count"),
    "tools": ("executed tools", "t.tool_call_count"),
    "failures": ("tools that failed", "t.tool_error_count"),
}
"""Numbers of a turn, as ``COLUMNS``; NULL where they are unknown."""

LOOKS: Final[Mapping[str, tuple[str, str]]] = {
    "early": (
        "ended in fewer than three rounds without completing",
        f"t.rounds < 3 AND t.status != 'running' AND {_END} != 'completed'",
    ),
    "loops": (
        "repeated the same calls without progress",
        "greatest(t.max_identical_tool_streak, t.no_progress_rounds) >= 3"
        " OR startsWith(t.stop_reason, 'loop_detected:')",
    ),
    "silent": (
        "told the user nothing",
        "t.status = 'final' AND (t.stop_reason IN ('silent_rounds', 'empty_no_tools')"
        " OR t.silent_rounds >= 30 OR (t.stop_reason = 'completed' AND t.unanswered))",
    ),
    "interrupted": ("died with the process", "t.status = 'interrupted'"),
    "running": ("still running", "t.status = 'running'"),
}
"""Turns that are worth a look, as the diagnostics have it: what they are, and the condition."""

_CHOICES: Final[Mapping[str, tuple[str, Mapping[str, str]]]] = {
    "judged": (
        "whether a person judged it: yes or no",
        {
            "yes": f"(project, turn_id) IN ({JUDGED})",
            "no": f"(project, turn_id) NOT IN ({JUDGED})",
        },
    ),
    "look": (
        f"worth a look: {', '.join(LOOKS)}",
        {name: condition for name, (_, condition) in LOOKS.items()},
    ),
    "flag": (
        "the training flag: good or excluded",
        {
            "good": f"{_SAID}kind = 'training_flag' AND training_flag > 0)",
            "excluded": f"{_SAID}kind = 'training_flag' AND training_flag < 0)",
        },
    ),
}
_FORMER: Final = {"premature": "early"}
"""Former values of ``look``, which saved addresses may have."""
_SCORE = "score"
ATTRIBUTE = "attribute."

KNOWN: Final[Mapping[str, str]] = {
    **{name: meaning for name, (meaning, _) in (*_WORDS.items(), *NUMBERS.items())},
    **{name: meaning for name, (meaning, _) in _CHOICES.items()},
    _SCORE: "the score",
    f"{ATTRIBUTE}KEY": "an attribute of the turn",
}
"""Each filter and what it matches (docs/reference/filters.md)."""


@dataclass(frozen=True, slots=True)
class FilterName:
    """A filter, for who writes one."""

    name: str
    meaning: str
    number: bool
    """Whether it is compared: ``cost>0.01``."""
    values: list[str]
    """Its values, where no others are possible."""


FILTER_NAMES: Final = [
    FilterName(
        name.removesuffix("KEY"),
        meaning,
        name in NUMBERS or name == _SCORE,
        list(_CHOICES[name][1]) if name in _CHOICES else [],
    )
    for name, meaning in KNOWN.items()
]
"""``KNOWN``, with what each is written with."""

_TERM = re.compile(
    r'(?P<not>-)?(?P<name>[\w.-]+)(?P<sign>:|>=|<=|>|<)(?P<values>(?:"[^"]*"|[^\s"])+)(?=\s|$)'
)
_VALUE = re.compile(r'"([^"]*)"|([^,"]+)')


@dataclass(frozen=True, slots=True)
class TurnFilter:
    """Conditions on ``turn_summary AS t``. A query with them has ``since`` as a parameter as
    well."""

    conditions: tuple[tuple[str, str], ...] = ()
    """The name of each term, and its condition; of a negated one the name is empty."""
    parameters: Mapping[str, object] | None = None

    @property
    def sql(self) -> str:
        """All conditions."""
        return "".join(f"\n    AND {condition}" for _, condition in self.conditions)

    @property
    def names(self) -> frozenset[str]:
        """The names of the terms that are not negated."""
        return frozenset(name for name, _ in self.conditions if name)

    def without(self, name: str) -> TurnFilter:
        """The filter without its terms of a name: what a value more of it would be chosen from."""
        left = tuple(one for one in self.conditions if one[0] != name)
        return TurnFilter(left, self.parameters)

    @property
    def values(self) -> dict[str, object]:
        """What the conditions are given."""
        return {"each": False, "author": "", **(self.parameters or {})}


@dataclass(frozen=True, slots=True)
class TurnListFilter:
    """Which root turns."""

    project: str = ""
    window: Window = field(default_factory=Window)
    filter: TurnFilter = field(default_factory=TurnFilter)
    session: str = ""

    @property
    def where(self) -> str:
        """The conditions on ``turn_summary AS t``."""
        of_session = "\n    AND session_id = {session:String}" if self.session else ""
        return f"{statement('turns/roots')}{of_session}{self.filter.sql}"

    @property
    def parameters(self) -> dict[str, object]:
        """What the conditions are given."""
        given = window_parameters(self.project, self.window, session=self.session)
        return {**given, **self.filter.values}


def turn_filter(text: str) -> TurnFilter:
    """Read a filter.

    Raises:
        ValueError: it is none; the message says what there is.
    """
    conditions: list[tuple[str, str]] = []
    parameters: dict[str, object] = {}
    at = 0
    text = text.strip()
    while at < len(text):
        found = _TERM.match(text, at)
        if found is None:
            raise ValueError(
                f"{text[at : at + 40]!r} is not a filter: write name:value or name>number, as in "
                "stop:tool_failure agent:wiki cost>0.01 -tool:search."
            )
        condition = _condition(found, f"f{len(parameters)}", parameters)
        negated = bool(found["not"])
        named = ("" if negated else found["name"], f"{'NOT ' if negated else ''}({condition})")
        conditions.append(named)
        at = found.end() + len(text[found.end() :]) - len(text[found.end() :].lstrip())
    return TurnFilter(tuple(conditions), parameters)


def _condition(found: re.Match[str], parameter: str, parameters: dict[str, object]) -> str:
    name, sign = found["name"], found["sign"]
    values = [quoted or plain for quoted, plain in _VALUE.findall(found["values"])]
    if name in NUMBERS or name == _SCORE:
        return _number(name, sign, values, parameter, parameters)
    if sign != ":":
        _require_known(name)
        raise ValueError(f"{name} is not a number: write {name}:value.")
    if name in _CHOICES:
        choices = _CHOICES[name][1]
        chosen = [_FORMER.get(value, value) for value in values]
        if len(chosen) != 1 or chosen[0] not in choices:
            raise ValueError(f"{name} is one of: {', '.join(choices)}.")
        return choices[chosen[0]]
    parameters[parameter] = values
    if name.startswith(ATTRIBUTE):
        parameters[f"{parameter}k"] = name.removeprefix(ATTRIBUTE)
        return f"attributes[{{{parameter}k:String}}] IN {{{parameter}:Array(String)}}"
    _require_known(name)
    return _WORDS[name][1].replace("VALUES", parameter)


def _number(
    name: str, sign: str, values: list[str], parameter: str, parameters: dict[str, object]
) -> str:
    column = "score" if name == _SCORE else NUMBERS[name][1]
    try:
        if sign != ":":
            [value] = values
            bounds = [[(sign, _finite(value))]]
        else:
            bounds = [_bounds(value) for value in values]
    except ValueError:
        raise ValueError(
            f"{name} is a number: write {name}>0.5, {name}<=10, {name}:3, or {name}:1..10 for 1 "
            "and more but less than 10."
        ) from None
    choices: list[str] = []
    for at, pairs in enumerate(bounds):
        compared: list[str] = []
        for to, (way, number) in enumerate(pairs):
            own = parameter if at == to == 0 else f"{parameter}n{at}n{to}"
            parameters[own] = number
            compared.append(f"{column} {way} {{{own}:Float64}}")
        choices.append(" AND ".join(compared))
    condition = " OR ".join(choices)
    return f"{_SAID}kind = 'score' AND ({condition}))" if name == _SCORE else condition


def _bounds(value: str) -> list[tuple[str, float]]:
    """What a number, or a range of them, is compared with."""
    low, dots, high = value.partition("..")
    if not dots:
        return [("=", _finite(value))]
    ends = ((way, end) for way, end in ((">=", low), ("<", high)) if end)
    bounds = [(way, _finite(end)) for way, end in ends]
    if not bounds:
        raise ValueError(value)
    return bounds


def _finite(value: str) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(value)
    return number


def _require_known(name: str) -> None:
    if name not in _WORDS and name not in _CHOICES:
        raise ValueError(f"There is no filter {name!r}; there are: {', '.join(KNOWN)}.")
