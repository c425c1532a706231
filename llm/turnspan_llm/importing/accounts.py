"""What became of every row of a log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final

from turnspan_llm.importing.source import LogTables

_BLOCK_BITS: Final = 12
_MASK: Final = (1 << _BLOCK_BITS) - 1
_BEFORE: Final = "imported before"
_LATER: Final = "written during the import: the next one takes them"
_UNUSED: Final = "skipped: no call has them"
_NO_CALLS: Final = "skipped: no call is in them"
_INDEX: Final = "skipped: llm's index of words that are in other tables"
_LEFT: Final[Mapping[str, str]] = {
    "conversations": _NO_CALLS,
    "threads": _NO_CALLS,
    **dict.fromkeys(
        (
            *("attachments", "prompt_attachments", "tool_results_attachments", "schemas"),
            *("fragments", "prompt_fragments", "system_fragments", "tools", "tool_responses"),
            *("tool_calls", "tool_results", "tool_instances", "messages", "parts"),
            *("part_attachments", "part_fragments", "turn_tools", "turn_fragments"),
            "tool_instantiations",
        ),
        _UNUSED,
    ),
    "fragment_aliases": "skipped: names for the command line, in no call",
    "_llm_migrations": "skipped: llm's notes about its own tables",
    "turn_search": _INDEX,
    "log": "skipped: written by llm 0.4 and older, which kept no conversations",
    "logs": "skipped: written by llm 0.4 and older, which kept no conversations",
    "consortium_configs": "skipped: settings of llm-consortium, of which runs are told apart",
    **dict.fromkeys(
        ("consortium_runs", "consortium_members", "arbiter_decisions"),
        "read for what is known of runs",
    ),
}
_OTHER: Final = "skipped: no table of llm's"


class RowSet:
    """Numbers of rows: most are neighbours, so a block of them is the bits of one integer."""

    def __init__(self) -> None:
        self._blocks: dict[int, int] = {}

    def add(self, row: int) -> bool:
        """Add a row; whether it is new."""
        block, bit = row >> _BLOCK_BITS, 1 << (row & _MASK)
        known = self._blocks.get(block, 0)
        if known & bit:
            return False
        self._blocks[block] = known | bit
        return True


class Accounts:
    """Counts each row that is read once in a run, by table and by what became of it."""

    def __init__(self, label: str = "") -> None:
        self._label = label
        self.read: Counter[str] = Counter()
        """Rows read in this run, by table."""
        self._part: Counter[tuple[str, str]] = Counter()
        self._shared: dict[str, RowSet] = {}

    def took(self, table: str, became: str, rows: int = 1) -> None:
        """Rows that only one call has became this."""
        if rows:
            self._part[self._label + table, became] += rows
            self.read[table] += rows

    def took_once(self, table: str, row: int, became: str) -> None:
        """A row that several calls may share became this, when it is met for the first time."""
        known = self._shared.get(table)
        if known is None:
            known = self._shared[table] = RowSet()
        if known.add(row):
            self.took(table, became)

    def part(self) -> Counter[tuple[str, str]]:
        """What was counted since the last call."""
        part, self._part = self._part, Counter()
        return part


def add_rest(
    source: LogTables, accounts: Accounts, ends: Mapping[str, int], *, resumed: bool
) -> None:
    """Count what is left over in every table; ``ends`` are the last rows that the plan knew of."""
    for table in source.layout.columns:
        if "_fts" in table or table.startswith("sqlite_"):
            continue
        left = source.count(table) - accounts.read[table]
        if left > 0 and table in ends:
            later = min(left, source.count(table, ends[table]))
            accounts.took(table, _LATER, later)
            left -= later
        if left > 0:
            accounts.took(table, _reason(table, resumed), left)


def _reason(table: str, resumed: bool) -> str:
    if table in ("responses", "turns"):
        return _BEFORE
    reason = _LEFT.get(table, _OTHER)
    if resumed and reason in (_UNUSED, _NO_CALLS):
        return f"{_BEFORE}, or {reason}"
    return reason
