"""What was decided of tools before they ran, kept until the event that tells of the tool's end.

Claude Code's ``tool_decision`` says ``accept`` or ``reject``, Codex's ``approved``, ``denied`` and
longer forms; Gemini CLI's ``tool_call`` says ``auto_accept`` of what nobody was asked.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Final

from turnspan import semconv

MAX_DECISIONS: Final = 10_000
REJECTED: Final = "rejected"
"""The error type of a tool that was not let run, as transcripts have it."""
_REJECT: Final = "reject"
_WORDS: Final = {
    **dict.fromkeys(("approved", "approved_for_session", "auto_accept"), "accept"),
    "approved_execpolicy_amendment": "accept",
    **dict.fromkeys(("denied", "abort", "timed_out"), _REJECT),
}
"""Other agents' words; a word that is not known stays as it is."""


class ToolDecisions:
    """The newest decisions of sessions; for any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: OrderedDict[tuple[str, str], dict[str, str]] = OrderedDict()

    def note(self, session: str, call_id: str, said: dict[str, Any]) -> None:
        """Keep what an event says of a call; of one that it does not name, it is of none."""
        if not call_id:
            return
        with self._lock:
            self._known[session, call_id] = decision_of(said)
            if len(self._known) > MAX_DECISIONS:
                self._known.popitem(last=False)

    def of(self, session: str, call_id: str) -> dict[str, str]:
        """The attributes of a call whose decision is known, else none. (A span is known by its
        trace and its id.)"""
        with self._lock:
            return self._known.get((session, call_id), {})


def decision_of(said: dict[str, Any]) -> dict[str, str]:
    """The attributes that an event's ``decision`` and ``source`` are; none without."""
    word = str(said.get("decision") or said.get("decision_type") or "").lower()
    if not word:
        return {}
    source = str(said.get("source") or said.get("decision_source") or "").lower()
    source = source or ("auto" if word == "auto_accept" else "user")
    decision = _WORDS.get(word, word)
    return {semconv.CODING_DECISION: decision, semconv.CODING_DECISION_SOURCE: source}


def is_rejected(decision: Mapping[str, str]) -> bool:
    """Whether the tool was not let run."""
    return decision.get(semconv.CODING_DECISION) == _REJECT
