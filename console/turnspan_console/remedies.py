"""What to do about a refusal by ClickHouse, by its code: the one table of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from turnspan_clickhouse.errors import QueryError

_READONLY, _NO_KEEPER = 164, 139
_LESS: Final = "Ask for less (a shorter window), or raise {} in the profile of the user"
_NODES: Final = "Check that every node of the cluster runs and that this server reaches it."
_MEMORY: Final = f"{_LESS.format('max_memory_usage')}, or give the server more memory."
_KEEPER: Final = "Check ClickHouse Keeper and the server's disk: a table takes no rows now."
_RIGHTS: Final = (
    "Use the user whose job it is (turnspan_writer records, turnspan_reader reads, "
    "turnspan_reviewer judges, turnspan_admin migrates: deploy/), or grant what ClickHouse names."
)
_NOT_THERE: Final = "Check the database in TURNSPAN_STORE, and run `turnspan migrate`."
_REMEDIES: Final[Mapping[int, str]] = {
    60: _NOT_THERE,
    81: _NOT_THERE,
    _NO_KEEPER: "A cluster without ClickHouse Keeper is named ?cluster=NAME&replicated=no in "
    "TURNSPAN_STORE, and is migrated node by node: `turnspan migrate` with the address of each.",
    158: f"{_LESS.format('max_rows_to_read')}.",
    159: f"{_LESS.format('max_execution_time')}; a server that is busy needs more time, too.",
    160: f"{_LESS.format('max_execution_time')}; a server that is busy needs more time, too.",
    _READONLY: "Give the user's profile readonly=2 (not 1) to read, and readonly=0 to write.",
    173: _MEMORY,
    195: "Allow the address of this machine in the user's <networks> on the server.",
    201: "Wait until the quota of the user begins anew (SHOW QUOTA says when), or raise it.",
    202: "Wait, or raise max_concurrent_queries of the server or of the profile of the user.",
    209: _NODES,
    210: _NODES,
    225: _KEEPER,
    241: _MEMORY,
    242: _KEEPER,
    243: "Make room on the server's disk: docs/scale.md says how to expire and move old records.",
    252: "Merges do not keep up: raise TURNSPAN_FLUSH_INTERVAL in the applications.",
    279: _NODES,
    291: _RIGHTS,
    307: f"{_LESS.format('max_bytes_to_read')}.",
    392: "The profile of the user prohibits such statements (allow_ddl): use turnspan_admin.",
    396: f"{_LESS.format('max_result_rows and max_result_bytes')}.",
    452: "Send no setting beyond the constraints in the profile of the user, or widen these.",
    497: _RIGHTS,
    519: _NODES,
    701: "Name a cluster that the server knows (system.clusters) in TURNSPAN_STORE.",
    999: _KEEPER,
}


def remedy(error: QueryError) -> str:
    """What to do about it, one sentence."""
    code = error.code
    if not code and "is readonly" in str(error):  # the driver's own words
        code = _READONLY
    elif "Replicated DDL queries are disabled" in str(error):
        code = _NO_KEEPER
    return _REMEDIES.get(code, "The log of the server says more about it.")
