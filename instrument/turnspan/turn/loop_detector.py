"""The loop detector (docs/turns.md): does a turn repeat itself without getting anywhere?

A call's fingerprint is its tool's name and the canonical JSON of its arguments (sorted keys), with
volatile-looking values (times, uuids, request ids) masked, so that noise which changes on every
call does not hide a loop. A call counts as repeated only when its *result* repeats as well: a poll
whose result changes is progress.
"""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass
from typing import Any, cast

from turnspan.runtime.later import later

WINDOW = 8
"""How many of the latest calls the detector looks at."""

REPEATS = 3
"""How often one fingerprint must occur in the window."""

_WHY_LENGTH = 160
_MAX_MASKED = 4_096

_VOLATILE_KEY = later(
    r"^(.*[_-])?(timestamp|ts|now|nonce|uuid|guid|"
    r"request[_-]?id|trace[_-]?id|span[_-]?id|idempotency[_-]?key|correlation[_-]?id|call[_-]?id)$",
    re.IGNORECASE,
)
_VOLATILE_TEXT = later(
    r"(?=[\da-fA-Frcmijt])(?:"  # how each of these begins: other places are passed over at once
    r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"  # uuid
    r"|\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?"  # ISO time
    r"|\b(?:\d{2}:\d{2}:\d{2}(?:[.,]\d+)?\b"  # time of day
    r"|1[5-9]\d{8}(?:\d{3}){0,3}(?:\.\d+)?\b"  # epoch in s, ms, us, ns
    r"|(?:req|call|msg|run|id|job|tmp)[_-][0-9A-Za-z]{8,}\b"  # request ids
    r"|[0-9a-f]{16,64}\b))"  # hex digests and ids
)


@dataclass(slots=True)
class ExecutedTool:
    """What the turn remembers of one tool call, in emission order."""

    name: str
    arguments: Any
    round: int
    result: Any = None
    error: bool = False
    done: bool = False
    place: int = 0
    """Among the calls that the reply asked for, where more than one are."""


class LoopDetector:
    """Folds a turn's finished tool calls, in order, into the figures a turn_summary stores."""

    def __init__(self) -> None:
        self._window: deque[str] = deque(maxlen=WINDOW)
        self._names: deque[str] = deque(maxlen=WINDOW)
        self._seen: set[int] = set()
        self.streak = 0
        """How often in a row the newest call was made, with an identical result."""
        self._round = -1
        self._round_new = False
        self._barren = 0
        self.max_identical_streak = 0
        """The longest run of consecutive identical calls with identical results."""

    @property
    def no_progress_rounds(self) -> int:
        """Rounds at the end of the turn in which every call repeated an earlier one in full."""
        if self._round < 0 or self._round_new:
            return 0
        return self._barren + 1

    def observe(self, fact: ExecutedTool) -> None:
        """Fold the next call."""
        key = f"{fact.name}\0{canonical(fact.arguments)}\0{canonical(fact.result)}\0{fact.error}"
        if fact.round != self._round:
            if self._round >= 0:
                self._barren = 0 if self._round_new else self._barren + 1
            self._round, self._round_new = fact.round, False
        digest = hash(key)
        if digest not in self._seen:
            self._seen.add(digest)
            self._round_new = True
        self.streak = self.streak + 1 if self._window and self._window[-1] == key else 1
        self.max_identical_streak = max(self.max_identical_streak, self.streak)
        self._window.append(key)
        self._names.append(fact.name)

    @property
    def firing(self) -> str:
        """Why the detector fires now, cut to 160 characters; empty when it does not."""
        if not self._window:
            return ""
        calls, names = list(self._window), list(self._names)
        for index in range(len(calls) - 1, -1, -1):
            times = calls.count(calls[index])
            if times >= REPEATS:
                why = f"{names[index]} called {times} times in the last {len(calls)} calls"
                return why[:_WHY_LENGTH]
        for period in (2, 3):
            tail = calls[-2 * period :]
            if len(tail) == 2 * period and tail[:period] == tail[period:]:
                cycle = ", ".join(names[-period:])
                return f"cycle of {period}: {cycle}"[:_WHY_LENGTH]
        return ""


def canonical(value: Any) -> str:
    """Canonical JSON of a value with volatile-looking parts masked; text that is JSON is parsed."""
    import orjson

    if isinstance(value, str):
        parsed = _parsed(value)
        if parsed is None:
            return _masked_text(value)
        value = parsed
    options = orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS
    try:
        return orjson.dumps(_masked(value, 0), default=str, option=options).decode()
    except TypeError:  # an integer of more than 64 bits, for one
        from turnspan.content.model import dumps_text

        return _masked_text(dumps_text(value))


def _parsed(text: str) -> Any:
    import orjson

    if text[:1] not in ("{", "["):
        return None
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None


def _masked_text(text: str) -> str:
    if len(text) > _MAX_MASKED:  # masking costs; long texts are compared as they are
        return text
    return _VOLATILE_TEXT.sub("<volatile>", text)


def _masked(value: Any, depth: int) -> Any:
    if depth > 32:
        return "<deep>"
    if isinstance(value, str):
        return _masked_text(value)
    if isinstance(value, dict):
        return {
            str(k): "<volatile>"
            if _VOLATILE_KEY.match(str(k)) and not isinstance(v, (dict, list))
            else _masked(v, depth + 1)
            for k, v in cast("dict[str, Any]", value).items()
        }
    if isinstance(value, (list, tuple)):
        return [_masked(v, depth + 1) for v in cast("list[Any]", value)]
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 1.5e9 <= value < 2e18:
        return "<volatile>" if _VOLATILE_TEXT.fullmatch(f"{value:.0f}") else value
    return value
