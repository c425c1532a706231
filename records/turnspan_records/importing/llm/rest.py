"""The rows of a log that no call has: what became of those."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from turnspan_records.importing.llm.accounts import Accounts
from turnspan_records.importing.llm.source import Source

BEFORE: Final = "imported before"
LATER: Final = "written during the import: the next one takes them"
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


def add_rest(source: Source, accounts: Accounts, ends: Mapping[str, int], *, resumed: bool) -> None:
    """Count what is left over in every table; ``ends`` are the last rows that the plan knew of."""
    for table in source.layout.columns:
        if "_fts" in table or table.startswith("sqlite_"):
            continue
        left = source.count(table) - accounts.read[table]
        if left > 0 and table in ends:
            later = min(left, source.count(table, ends[table]))
            accounts.took(table, LATER, later)
            left -= later
        if left > 0:
            accounts.took(table, _reason(table, resumed), left)


def _reason(table: str, resumed: bool) -> str:
    if table in ("responses", "turns"):
        return BEFORE
    reason = _LEFT.get(table, _OTHER)
    if resumed and reason in (_UNUSED, _NO_CALLS):
        return f"{BEFORE}, or {reason}"
    return reason
