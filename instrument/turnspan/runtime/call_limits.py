"""Whether a model call may be made: limits, and what they allow."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Final, Protocol

from turnspan.runtime.errors import ConfigError, TurnspanLimitReached
from turnspan.runtime.guard import errors, warn_once
from turnspan.runtime.limit_usage import UsageCounter, counters

PER: Final = ("turn", "session", "process")
_NANO: Final = 10**9


@dataclass(frozen=True, slots=True)
class LimitSet:
    """Limits that hold for each turn, session or process by itself. ``None``: no limit.

    Raises:
        ConfigError: a limit is not a number above 0, nothing is limited, or ``per`` is no scope.
    """

    usd: float | None = None
    calls: int | None = None
    rounds: int | None = None
    tokens: int | None = None
    repeats: int | None = None
    seconds: float | None = None
    per: str = "turn"
    name: str = ""

    def __post_init__(self) -> None:
        numbers = {field.name: getattr(self, field.name) for field in fields(self)[:6]}
        for name, value in numbers.items():
            if value is None:
                continue
            whole = name not in ("usd", "seconds")
            kind = int if whole else (int, float)
            if isinstance(value, bool) or not isinstance(value, kind) or not 0 < value < math.inf:
                raise ConfigError(
                    f"{name} must be a {'whole ' if whole else ''}number above 0, not {value!r}"
                )
        if not any(value is not None for value in numbers.values()):
            raise ConfigError(f"limits need at least one of {', '.join(numbers)}")
        if self.per not in PER:
            raise ConfigError(f"per must be one of {', '.join(PER)}, not {self.per!r}")
        if self.name and self.per != "process":
            raise ConfigError(
                "a name is for per='process': turns and sessions are told by their ids"
            )
        if self.per != "turn" and (self.rounds or self.repeats):
            raise ConfigError("rounds and repeats are of a turn: leave per as it is")


def read(text: str) -> LimitSet:
    """Limits as the environment says them: ``usd=5 calls=100 per=session``.

    Raises:
        ValueError: it is something else.
    """
    values: dict[str, Any] = {}
    for word in text.replace(",", " ").split():
        name, _, value = word.partition("=")
        if name in ("per", "name"):
            values[name] = value
        elif name in LimitSet.__dataclass_fields__ and value:
            values[name] = float(value) if name in ("usd", "seconds") else int(value)
        else:
            raise ValueError(f"write limits as usd=5 calls=100 per=session, not {word!r}")
    return LimitSet(**values)


class LimitedTurn(Protocol):
    """What limits ask of a turn."""

    id: str
    rounds: int
    parent: Any

    @property
    def repeated_tools(self) -> int:
        """How often in a row the newest tool call was made."""
        ...


class LimitsInForce:
    """Limits with the counter of what they count by themselves."""

    __slots__ = ("_own", "limits")

    def __init__(self, limits: LimitSet) -> None:
        self.limits = limits
        self._own = UsageCounter()

    def counters(self, turn: LimitedTurn | None, session: str) -> list[UsageCounter]:
        """What a call here counts for; outside of any turn or session these limits themselves."""
        per = self.limits.per
        if per == "turn" and turn is not None and turn.id.strip("0"):  # else no provider is set up
            found: list[UsageCounter] = []
            around: LimitedTurn | None = turn
            while around is not None:  # of a nested agent: those around it as well
                found.append(counters.of(f"turn:{around.id}"))
                around = around.parent
            return found
        if per == "session" and session:
            return [counters.of(f"session:{session}")]
        if self.limits.name:
            return [counters.of(f"name:{self.limits.name}")]
        return [self._own]


class LimitedCall:
    """A call that was allowed, to be charged when it has ended."""

    __slots__ = ("_counters", "_priced")

    def __init__(self, charged: Sequence[UsageCounter], priced: bool) -> None:
        self._counters = charged
        self._priced = priced

    def ended(self, attributes: dict[str, Any], usage: Any) -> None:
        """It has used these tokens (a ``TokenUsage``, or ``None``: not known). Never raises."""
        if usage is None:
            return
        try:
            cost = None
            if self._priced and counters.price is not None:
                cost = counters.price(attributes, usage, time.time_ns())
            if self._priced and cost is None:
                model = attributes.get("gen_ai.request.model", "")
                warn_once(f"limits(usd=) cannot count calls of {model!r}: its price is not known.")
            tokens = (usage.input_tokens or 0) + (usage.output_tokens or 0)
            with counters.lock:
                for counter in self._counters:
                    counter.add(0, tokens, 0 if cost is None else int(cost * _NANO))
        except Exception as error:  # noqa: BLE001  the call was made: it stays the caller's
            errors.record("limits.ended", error)


def reserve(
    in_force: Sequence[LimitsInForce], turn: LimitedTurn | None, session: str, rounds: bool
) -> LimitedCall | None:
    """Count a call that is about to be made; ``rounds``: whether it is a round of its turn.

    Raises:
        TurnspanLimitReached: it would go beyond a limit; nothing is counted.
    """
    with counters.lock:
        charged: dict[UsageCounter, None] = {}
        priced = False
        for one in in_force:
            limits = one.limits
            if turn is not None and rounds:
                _check_turn(limits, turn)
            for counter in one.counters(turn, session):
                _check(limits, counter)
                charged[counter] = None
            priced = priced or limits.usd is not None
        for counter in charged:
            counter.add(1, 0, 0)
    return LimitedCall([*charged], priced)


def _check(limits: LimitSet, counter: UsageCounter) -> None:
    began, calls, tokens, nano_usd = counter.used()
    if limits.calls is not None and calls >= limits.calls:
        raise TurnspanLimitReached("calls", limits.calls, calls, limits.per)
    if limits.tokens is not None and tokens >= limits.tokens:
        raise TurnspanLimitReached("tokens", limits.tokens, tokens, limits.per)
    if limits.usd is not None and nano_usd >= limits.usd * _NANO:
        raise TurnspanLimitReached("usd", limits.usd, nano_usd / _NANO, limits.per)
    if limits.seconds is not None and began:
        passed = (time.time_ns() - began) / _NANO
        if passed > limits.seconds:
            raise TurnspanLimitReached("seconds", limits.seconds, round(passed, 3), limits.per)


def _check_turn(limits: LimitSet, turn: LimitedTurn) -> None:
    if limits.rounds is not None and turn.rounds >= limits.rounds:
        raise TurnspanLimitReached("rounds", limits.rounds, turn.rounds, limits.per)
    if limits.repeats is not None:
        repeated = turn.repeated_tools
        if repeated > limits.repeats:
            raise TurnspanLimitReached("repeats", limits.repeats, repeated, limits.per)
