"""What a pass of retention takes: which turns and calls, and so which rows.

The turn is the unit. What holds of it, the first that is there:

1. the flag on the turn itself;
2. 1, if a call in it is flagged 1: of two losses the rarer is the worse, and a good example that
   was thrown away cannot be made again;
3. the flag of the turn that it is nested in, and so on upwards;
4. the flag of its session.

A call flagged -1 goes when its turn does: a turn with a hole in it is no use to anyone. Calls of no
turn are units of their own, with the span and the artifacts of each; other rows of no turn go by
their age. A turn that is running is left alone until the window is over.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from turnspan_clickhouse.rows.loop_tables import ArtifactRow
from turnspan_clickhouse.rows.owner_columns import BELONGING
from turnspan_clickhouse.rows.tables import LlmCall, Record, SpanRow, TurnSummary
from turnspan_records.keeping.contents import mark_unreferenced
from turnspan_records.keeping.keys import row_key
from turnspan_records.keeping.lines import BY_TABLE
from turnspan_records.keeping.policy import Policy
from turnspan_records.keeping.work import Progress, Work
from turnspan_records.sql import statement

ARCHIVED, EXCLUDED, UNASSESSED, TEXTS = "archived", "excluded", "unassessed", "texts"
"""Why a row goes."""

TURN: Final = statement("keeping/_turn")
_DEEPEST: Final = 64
"""Turns within turns within turns."""
TEXT_COLUMNS: Final = ("user_message", "response_text", "error_message", "stop_detail")
"""What a turn summary without texts has nothing in."""


def decide(work: Work, policy: Policy, progress: Progress) -> None:
    """Mark all that goes now. Nothing else is changed."""
    pass_ = _Decision(work, policy)
    steps: tuple[Callable[[], None], ...] = (
        *(pass_.flag_turns, pass_.take_turns, pass_.take_turns_without_a_summary),
        *(pass_.mark_rows_of_turns, pass_.mark_calls_of_no_turn, pass_.mark_other_rows),
        *(pass_.mark_texts, lambda: mark_unreferenced(work, policy.content_days)),
    )
    for done, step in enumerate(steps):
        progress("deciding", done, len(steps))
        step()
    progress("deciding", len(steps), len(steps))


class _Decision:
    def __init__(self, work: Work, policy: Policy) -> None:
        self._work = work
        self._policy = policy
        self._tables = tables = work.tables
        self._kinds = [BY_TABLE[name] for name in policy.tables]
        self._window: dict[str, Any] = {"window": round(policy.window_days * 86_400)}
        self._names = {
            "work": tables.work,
            "judged": f"{tables.database}.annotation_current",
            "turns": tables.everywhere(TurnSummary),
            "units": work.units("flag"),
        }

    def _put(self, question: str, unit: str, **fragments: str) -> None:
        """Mark units: what the question of this name in ``sql`` finds."""
        sql = statement(question, **self._names, **fragments)
        given = self._window if "{window:" in sql else {}
        self._work.insert(sql, {**given, "record": unit})

    # -- turns ------------------

    def flag_turns(self) -> None:
        """What holds of each turn about which anything was said."""
        flagged = self._work.keys("flag")
        self._put("keeping/flags_of_turns", "flag")
        calls = self._tables.everywhere(LlmCall)
        self._put("keeping/flags_of_calls", "flag", calls=calls, flagged=flagged)
        known = -1
        for _ in range(_DEEPEST):
            found = self._work.number_of("flag")
            if found in (known, 0):
                break
            known = found
            self._put("keeping/flags_of_nested", "flag", flagged=flagged)
        self._put("keeping/flags_of_sessions", "flag", flagged=flagged)

    def take_turns(self) -> None:
        """The turns that go and have anything left that would."""
        held = self._tables.held
        there = [statement("keeping/turns_of_rows", rows=held(kind)) for kind in self._kinds]
        if self._policy.summary_texts == "remove":
            there.append(statement("keeping/turns_with_texts", rows=held(TurnSummary)))
        if there:
            time = "t.start_time"
            ended = f"(t.status != 'running' OR {statement('keeping/_old', time=time)})"
            verdict = {"flag": "f.reason", "ended": ended, "time": time}
            self._put("keeping/turns", "turn", there=" UNION ALL ".join(there), **verdict)

    def take_turns_without_a_summary(self) -> None:
        """Those that are flagged, and those whose rows are old."""
        taken, flagged = self._work.keys("turn"), self._work.keys("flag", "reason IN ('1', '-1')")
        self._put("keeping/turns_without_summary", "turn", flagged=flagged)
        for kind in self._kinds:
            names = {"rows": self._tables.held(kind), "time": BELONGING[kind.table].time}
            self._put(
                "keeping/old_turns_without_summary", "turn", taken=taken, flagged=flagged, **names
            )

    # -- rows ------------------

    def mark_rows_of_turns(self) -> None:
        """All rows of the turns that go."""
        for kind in self._kinds:
            self._mark_units("turn", kind, TURN, "turn_id != ''")

    def mark_calls_of_no_turn(self) -> None:
        """Calls outside a turn, with the span and the artifacts of each."""
        if LlmCall not in self._kinds:
            return
        verdict = {"flag": "if(o.said != '', o.said, s.said)", "ended": "1", "time": "c.start_time"}
        self._put("keeping/calls_of_no_turn", "call", calls=self._tables.held(LlmCall), **verdict)
        for kind, span in ((LlmCall, "span_id"), (SpanRow, "span_id"), (ArtifactRow, "call_id")):
            if kind in self._kinds:
                key = f"sipHash128(project, trace_id, {span})"
                self._mark_units("call", kind, key, "turn_id = ''")

    def _mark_units(self, unit: str, kind: type[Record], key: str, where: str) -> None:
        """The rows of a table that belong to units that go; an artifact that is kept back stays."""
        join = f" GLOBAL INNER JOIN ({self._work.units(unit)}) AS u ON u.key = {key}"
        condition = f"{where} AND {self._free(kind)}"
        self._work.mark(kind, condition, reason="u.reason", join=join)

    def mark_other_rows(self) -> None:
        """Rows of no turn and no call: by their age."""
        for kind in self._kinds:
            if kind is not LlmCall:
                old = statement("keeping/_old", time=BELONGING[kind.table].time)
                unmarked = f"{row_key(kind)} GLOBAL NOT IN ({self._work.keys(kind.table)})"
                where = f"turn_id = '' AND {old} AND {unmarked} AND {self._free(kind)}"
                self._work.mark(kind, where, self._window, reason="'unassessed'")

    def mark_texts(self) -> None:
        """The summaries that lose their texts: another row takes the place of each."""
        if self._policy.summary_texts == "remove":
            turns = f"{TURN} GLOBAL IN ({self._work.keys('turn')})"
            has_texts = statement("keeping/_has_texts")
            self._work.mark(TurnSummary, f"({has_texts}) AND {turns}", reason="'texts'")

    def _free(self, kind: type[Record]) -> str:
        """A condition on rows that nothing keeps back."""
        if kind is not ArtifactRow:
            return "1"
        annotation = f"{self._tables.database}.annotation"
        return statement("keeping/loose_artifact", annotation=annotation)
