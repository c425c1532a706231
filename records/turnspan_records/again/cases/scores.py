"""What a scorer is given and what it returns."""

from __future__ import annotations

import asyncio
import inspect
import math
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final, TypeAlias

import orjson

from turnspan.runtime.type_guards import is_dict
from turnspan_records.access.fields import parsed
from turnspan_records.again.cases.dataset import Case


@dataclass(frozen=True, slots=True)
class Score:
    """One score of an attempt. ``name`` is the scorer's unless it is set."""

    value: float | None = None
    label: str = ""
    explanation: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class UsedTool:
    """One tool that ran in an attempt."""

    name: str
    arguments: Any
    """Parsed, if they are JSON."""
    failed: bool = False


@dataclass(frozen=True, slots=True)
class CaseResult:
    """One finished attempt of a case, as it was recorded: masked, and cut at the content limit."""

    case_id: str
    repetition: int
    """From 1."""
    attempt_id: str
    status: str
    """``succeeded`` or ``failed``."""
    output: str = ""
    """The agent's answer: text, or the JSON of any other value; empty without one."""
    error_type: str = ""
    error_message: str = ""
    started_at: datetime = datetime.min
    """In UTC."""
    duration: float = 0.0
    """Seconds."""
    cost_usd: float | None = None
    """``None`` if no call's cost is known."""
    calls: int = 0
    """Model calls."""
    input_tokens: int | None = None
    output_tokens: int | None = None
    stop_reason: str = ""
    """Of its last turn; empty without a turn."""
    tools: tuple[UsedTool, ...] = ()
    """The tools that ran, in order."""
    scores: Mapping[str, float | None] = field(default_factory=dict[str, float | None])
    """The scores that it has, by scorer; ``None`` is a label without a number."""

    @property
    def failed(self) -> bool:
        """Whether the agent raised an error or ran out of time."""
        return self.status == "failed"

    @property
    def value(self) -> Any:
        """The output as a JSON value, if it is one, else its text."""
        return parsed(self.output)


Scored: TypeAlias = "Score | float | bool | str | Mapping[str, Any] | None"
"""A number, a truth, a label, several of them by name, or ``None`` for no score."""
Scorer: TypeAlias = Callable[[Case, CaseResult], "Scored | Awaitable[Scored]"]


class ScorerError(ValueError):
    """A scorer cannot be used, or returned what is no score; the message says what to do."""


@dataclass(frozen=True, slots=True)
class NamedScorer:
    """A scorer and the name of its scores."""

    name: str
    score: Scorer

    def scores(
        self,
        case: Case,
        result: CaseResult,
        wait: Callable[[Coroutine[Any, Any, Any]], Any] = asyncio.run,
    ) -> list[Score]:
        """The scores of an attempt, each with its name. ``wait`` runs what the scorer awaits; the
        default needs a thread without an event loop.

        Raises:
            ScorerError: what it returned is no score.
            Exception: whatever the scorer raises.
        """
        made = self.score(case, result)
        if inspect.isawaitable(made):
            made = wait(_awaited(made))
        return list(_each(self.name, made))


async def _awaited(made: Awaitable[Any]) -> Any:
    """Anything that can be awaited, as a coroutine."""
    return await made


def _each(name: str, made: Any) -> Iterator[Score]:
    if made is None:
        return
    if is_dict(made):
        for key, one in made.items():
            yield from _each(f"{name}.{key}", one)
    elif isinstance(made, Score):
        if made.value is not None and not math.isfinite(made.value):
            raise ScorerError(f"Scorer {name!r} returned {made.value}: return a finite number.")
        yield replace(made, name=made.name or name)
    elif isinstance(made, str):
        yield Score(None, made, name=name)
    elif isinstance(made, (bool, int, float)):
        yield from _each(name, Score(float(made)))
    else:
        raise ScorerError(
            f"Scorer {name!r} returned {type(made).__name__}: return a number, a bool, a Score or "
            "None."
        )


def as_text(value: Any) -> str:
    """A value as people compare it: text as it is, anything else as JSON."""
    if isinstance(value, str):
        return value
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS, default=str).decode()


PASSED: Final = Score(1.0)


def failed(explanation: str) -> Score:
    """The score 0, and why."""
    return Score(0.0, explanation=explanation)
