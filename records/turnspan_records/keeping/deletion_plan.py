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

ARCHIVED, EXCLUDED, UNASSESSED, TEXTS = "archived", "excluded", "unassessed", "texts"
"""Why a row goes."""

TURN: Final = "sipHash128(project, turn_id)"
CALL: Final = "sipHash128(project, trace_id, span_id)"
_OF_NO_DATE: Final = "toDate(0)"
_DEEPEST: Final = 64
"""Turns within turns within turns."""
_FLAGS: Final = "kind = 'training_flag' AND isNotNull(training_flag)"
_OF_CALLS: Final = "subject_kind IN ('call', 'llm_call')"
_VERDICT: Final = (
    "multiIf({flag} = '1' AND {ended}, 'archived', {flag} = '-1' AND {ended}, 'excluded',"
    " {flag} NOT IN ('1', '-1') AND {old}, 'unassessed', '')"
)
_OLD: Final = "{time} < now64(9) - toIntervalSecond({{window:UInt64}})"
TEXT_COLUMNS: Final = ("user_message", "response_text", "error_message", "stop_detail")
"""What a turn summary without texts has nothing in."""
_HAS_TEXTS: Final = " OR ".join(f"{name} != ''" for name in TEXT_COLUMNS)
_LOOSE_ARTIFACT: Final = (
    "lineage_id = '' AND attempt_id = '' AND (project, artifact_id) GLOBAL NOT IN (SELECT project,"
    " arrayJoin([subject_id, chosen_id, rejected_id]) FROM {annotation}"
    " WHERE subject_kind = 'artifact')"
)
"""An artifact that neither the improvement loop nor a judgment refers to."""


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
        self._tables = work.tables
        self._kinds = [BY_TABLE[name] for name in policy.tables]
        self._window: dict[str, Any] = {"window": round(policy.window_days * 86_400)}
        self._judged = f"{self._tables.database}.annotation_current"

    # -- turns ------------------

    def flag_turns(self) -> None:
        """What holds of each turn about which anything was said."""
        work, calls = self._work, self._tables.everywhere(LlmCall)
        flag = "toString(assumeNotNull(training_flag))"
        work.put(
            *("flag", _OF_NO_DATE, "sipHash128(project, subject_id)", self._judged),
            f"subject_kind = 'turn' AND {_FLAGS}",
            reason=flag,
        )
        unsaid = f"{TURN} GLOBAL NOT IN ({work.keys('flag')})"
        good = f"SELECT project, subject_id FROM {self._judged} WHERE {_OF_CALLS} AND {_FLAGS}"
        work.put(
            *("flag", _OF_NO_DATE, TURN, calls),
            f"turn_id != '' AND (project, span_id) GLOBAL IN ({good} AND training_flag = 1)"
            f" AND {unsaid}",
            reason="'1'",
        )
        self._flag_nested(unsaid)
        sessions = (
            f"(SELECT project AS of_project, subject_id, {flag} AS said FROM {self._judged}"
            f" WHERE subject_kind = 'session' AND {_FLAGS})"
        )
        work.put(
            *("flag", _OF_NO_DATE, TURN),
            f"{self._tables.everywhere(TurnSummary)} AS t GLOBAL INNER JOIN {sessions} AS s"
            " ON s.of_project = t.project AND s.subject_id = t.session_id",
            f"session_id != '' AND {unsaid}",
            reason="said",
        )

    def _flag_nested(self, unsaid: str) -> None:
        work = self._work
        nested = (
            f"(SELECT project, turn_id, parent_turn_id FROM {self._tables.everywhere(TurnSummary)}"
            f" WHERE parent_turn_id != '') AS t GLOBAL INNER JOIN ({work.units('flag')}) AS f"
            " ON f.key = sipHash128(t.project, t.parent_turn_id)"
        )
        known = -1
        for _ in range(_DEEPEST):
            found = work.number_of("flag")
            if found in (known, 0):
                return
            known = found
            work.put("flag", _OF_NO_DATE, TURN, nested, unsaid, reason="f.reason")

    def take_turns(self) -> None:
        """The turns that go and have anything left that would."""
        work = self._work
        there = " UNION ALL ".join(self._turns_of(kind) for kind in self._kinds)
        if self._policy.summary_texts == "remove":
            texts = f"SELECT {TURN} FROM {self._tables.held(TurnSummary)} WHERE {_HAS_TEXTS}"
            there = f"{there} UNION ALL {texts}" if there else texts
        if not there:
            return
        old = _OLD.format(time="t.start_time")
        verdict = _VERDICT.format(
            flag="f.reason", old=old, ended=f"(t.status != 'running' OR {old})"
        )
        work.put(
            *("turn", _OF_NO_DATE, "t.key"),
            f"(SELECT {TURN} AS key, start_time, status FROM"
            f" {self._tables.everywhere(TurnSummary)} FINAL) AS t"
            f" GLOBAL LEFT JOIN ({work.units('flag')}) AS f ON f.key = t.key",
            f"t.key GLOBAL IN ({there}) AND {verdict} != ''",
            self._window,
            reason=verdict,
        )

    def take_turns_without_a_summary(self) -> None:
        """Those that are flagged, and those whose rows are old."""
        work = self._work
        summaries = self._tables.everywhere(TurnSummary)
        flagged = work.keys("flag", "reason IN ('1', '-1')")
        known = f"SELECT {TURN} FROM {summaries} WHERE {TURN} GLOBAL IN ({flagged})"
        work.put(
            *("turn", _OF_NO_DATE, "f.key", f"({work.units('flag')}) AS f"),
            f"f.reason IN ('1', '-1') AND f.key GLOBAL NOT IN ({known})",
            reason="if(f.reason = '1', 'archived', 'excluded')",
        )
        for kind in self._kinds:
            old = f"turn_id != '' AND {_OLD.format(time=_time(kind))}"
            rows = f"SELECT {TURN} FROM {self._tables.held(kind)} WHERE {old}"
            known = f"SELECT {TURN} FROM {summaries} WHERE {TURN} GLOBAL IN ({rows})"
            work.put(
                *("turn", _OF_NO_DATE, TURN, self._tables.held(kind)),
                f"{old} AND {TURN} GLOBAL NOT IN ({known}) AND {TURN} GLOBAL NOT IN"
                f" ({work.keys('turn')}) AND {TURN} GLOBAL NOT IN ({flagged})",
                self._window,
                reason="'unassessed'",
            )

    def _turns_of(self, kind: type[Record]) -> str:
        return f"SELECT {TURN} FROM {self._tables.held(kind)} WHERE turn_id != ''"

    # -- rows ------------------

    def mark_rows_of_turns(self) -> None:
        """All rows of the turns that go."""
        join = f" GLOBAL INNER JOIN ({self._work.units('turn')}) AS u ON u.key = {TURN}"
        for kind in self._kinds:
            where = f"turn_id != '' AND {self._free(kind)}"
            self._work.mark(kind, where, reason="u.reason", join=join)

    def mark_calls_of_no_turn(self) -> None:
        """Calls outside a turn, with the span and the artifacts of each."""
        work = self._work
        if LlmCall not in self._kinds:
            return
        old = _OLD.format(time="c.start_time")
        verdict = _VERDICT.format(flag="if(o.said != '', o.said, s.said)", old=old, ended="1")
        judged = (
            "SELECT project AS of_project, subject_id, toString(max(assumeNotNull(training_flag)))"
            f" AS said FROM {self._judged} WHERE {_FLAGS} AND"
        )
        work.put(
            *("call", _OF_NO_DATE, CALL),
            f"(SELECT project, trace_id, span_id, session_id, start_time FROM"
            f" {self._tables.held(LlmCall)} WHERE turn_id = '') AS c"
            f" GLOBAL LEFT JOIN ({judged} {_OF_CALLS} GROUP BY project, subject_id) AS o"
            " ON o.of_project = c.project AND o.subject_id = c.span_id"
            f" GLOBAL LEFT JOIN ({judged} subject_kind = 'session' GROUP BY project, subject_id)"
            " AS s ON s.of_project = c.project AND s.subject_id = c.session_id",
            f"{verdict} != ''",
            self._window,
            reason=verdict,
        )
        for kind, of_call in (
            *((LlmCall, CALL), (SpanRow, CALL)),
            (ArtifactRow, "sipHash128(project, trace_id, call_id)"),
        ):
            if kind in self._kinds:
                join = f" GLOBAL INNER JOIN ({work.units('call')}) AS u ON u.key = {of_call}"
                where = f"turn_id = '' AND {self._free(kind)}"
                work.mark(kind, where, reason="u.reason", join=join)

    def mark_other_rows(self) -> None:
        """Rows of no turn and no call: by their age."""
        for kind in self._kinds:
            if kind is not LlmCall:
                old = _OLD.format(time=_time(kind))
                unmarked = f"{row_key(kind)} GLOBAL NOT IN ({self._work.keys(kind.table)})"
                where = f"turn_id = '' AND {old} AND {unmarked} AND {self._free(kind)}"
                self._work.mark(kind, where, self._window, reason="'unassessed'")

    def mark_texts(self) -> None:
        """The summaries that lose their texts: another row takes the place of each."""
        if self._policy.summary_texts == "remove":
            turns = f"{TURN} GLOBAL IN ({self._work.keys('turn')})"
            self._work.mark(TurnSummary, f"({_HAS_TEXTS}) AND {turns}", reason="'texts'")

    def _free(self, kind: type[Record]) -> str:
        """A condition on rows that nothing keeps back."""
        if kind is not ArtifactRow:
            return "1"
        return _LOOSE_ARTIFACT.format(annotation=f"{self._tables.database}.annotation")


def _time(kind: type[Record]) -> str:
    """When a row's record began."""
    return BELONGING[kind.table].time
