"""What a tool returned: recorded results in the place of executions."""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Collection
from typing import Any, Final

import orjson

from turnspan.content.model import as_dict
from turnspan.tracing.recording import MAX_DESCRIPTION
from turnspan_records.access.fields import parsed
from turnspan_records.again.rerun.call_matcher import Places
from turnspan_records.again.rerun.divergence import Divergence
from turnspan_records.again.rerun.likeness import is_alike
from turnspan_records.again.rerun.recording import PlayableTool, SessionRecording
from turnspan_records.again.rerun.requests import RequestPlace

ALL: Final = "all"
_ALTERED: Final = re.compile(r"\[REDACTED|sha256:[0-9a-f]{64};size=\d|<too deep>")


class ToolMatcher:
    """Finds the recorded execution of each tool call. Thread-safe.

    ``live`` are the names of tools that run for real, or ``all``; ``after`` is the policy after a
    divergence, as for ``RerunServer``.
    """

    def __init__(
        self, recording: SessionRecording, places: Places, live: Collection[str], after: str
    ) -> None:
        self._by_name: dict[str, list[PlayableTool]] = {}
        for tool in recording.tools:
            self._by_name.setdefault(tool.name, []).append(tool)
        self._places = places
        self._live = live
        self._after = after
        self._used: set[str] = set()
        self._lock = threading.Lock()
        self.answered: Counter[str] = Counter()
        """Executions that were answered, by tool."""
        self.ran: dict[str, str] = {}
        """Why tools ran for real, by their names."""
        self.divergences: list[Divergence] = []

    def answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        """What the program's side is told to do about a tool call: an object with ``action``."""
        name, arguments = str(asked.get("name") or ""), str(asked.get("arguments") or "")
        if name in self._live or ALL in self._live:
            return self._run(name, "it is live")
        recorded = self._by_name.get(name)
        if not recorded:
            return self._run(name, "no execution of it is recorded")
        place = RequestPlace.read(str(asked.get("place") or ""))
        call_id = str(asked.get("call_id") or "")
        with self._lock:
            found = self._found(recorded, arguments, call_id, place)
            if isinstance(found, Divergence):
                self.divergences.append(found)
                if self._after == "live":
                    return self._run(name, found.where)
                if self._after == "stop":
                    return {"action": "diverged", "message": str(found)}
                waiting = [one for one in recorded if one.span_id not in self._used]
                found = self._places.nearest(waiting or recorded[-1:], place)
            reason = _unplayable(found)
            self._used.add(found.span_id)
            if reason:
                return self._run(name, reason)
            self.answered[name] += 1
        return {
            "action": "answer",
            "result": found.result,
            "result_type": "text" if found.result_class == "str" else _type_of(found.result),
            "result_class": found.result_class,
            "failed": found.failed and not found.result,
            "error_type": found.error_type,
            "error_message": _whole_message(found),
        }

    def _run(self, name: str, reason: str) -> dict[str, Any]:
        self.ran[name] = reason
        return {"action": "run"}

    def _found(
        self, recorded: list[PlayableTool], arguments: str, call_id: str, place: RequestPlace
    ) -> PlayableTool | Divergence:
        name = recorded[0].name
        same = [one for one in recorded if call_id and one.call_id == call_id]
        alike = [one for one in same or recorded if _same_arguments(one.arguments, arguments)]
        waiting = [one for one in alike if one.span_id not in self._used]
        if waiting:
            return self._places.nearest(waiting, place)
        if alike:
            where = f"tool {name} was called again with the same arguments"
            return Divergence(f"{where}, {len(alike) + 1} times, and was recorded {len(alike)}")
        near = (same or [one for one in recorded if one.span_id not in self._used] or recorded)[0]
        lines = (f"-{near.arguments}", f"+{arguments}")
        return Divergence(f"tool {name} was called with other arguments", difference=lines)


def _whole_message(tool: PlayableTool) -> str:
    """What its exception said: a long message is cut, and what the model was told has the rest."""
    known = tool.error_message
    if len(f"{tool.error_type}: {known}") < MAX_DESCRIPTION:
        return known
    # Gemini is told an object.
    told = [tool.result, *(as_dict(parsed(tool.result)) or {}).values()]
    return next((one for one in told if isinstance(one, str) and one.startswith(known)), known)


def _unplayable(tool: PlayableTool) -> str:
    """Why a result cannot be given back; empty where it can."""
    if tool.cut:
        return "its result was cut when it was recorded"
    if _ALTERED.search(tool.result):
        return "its result was redacted when it was recorded"
    return ""


def _type_of(result: str) -> str:
    """Whether a recorded result is JSON, as the recorder writes it, or a text."""
    try:
        return "json" if orjson.dumps(orjson.loads(result)).decode() == result else "text"
    except ValueError:
        return "text"


def _same_arguments(recorded: str, now: str) -> bool:
    if recorded == now:
        return True
    try:
        return is_alike(orjson.loads(recorded or "null"), orjson.loads(now or "null"))
    except ValueError:
        return is_alike(recorded, now)
