"""What to do about a refusal by ClickHouse, by its code: the one table of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from turnspan_clickhouse.errors import QueryError

_READONLY, _NO_KEEPER = 164, 139
_LESS: Final = "Ask for less (a shorter window), or raise {} in the profile of the user."
_TABLE: Final = (
    ((60, 81), "Check the database in TURNSPAN_STORE, and run `turnspan migrate`."),
    (
        (_NO_KEEPER,),
        "A cluster without ClickHouse Keeper is named ?cluster=NAME&replicated=no in "
        "TURNSPAN_STORE, and migrated node by node: `turnspan migrate` with the address of each.",
    ),
    ((158,), _LESS.format("max_rows_to_read")),
    ((159, 160), _LESS.format("max_execution_time")),
    ((_READONLY,), "Give the user's profile readonly=2 (not 1) to read, and readonly=0 to write."),
    ((173, 241), f"{_LESS.format('max_memory_usage')} The server may need more memory, too."),
    ((195,), "Allow the address of this machine in the user's <networks> on the server."),
    ((201,), "Wait until the quota of the user begins anew (SHOW QUOTA says when), or raise it."),
    ((202,), "Wait, or raise max_concurrent_queries of the server or of the user's profile."),
    ((209, 210, 279, 519), "Check that every node of the cluster runs and this server reaches it."),
    ((225, 242, 999), "Check ClickHouse Keeper and the server's disk: tables take no rows now."),
    ((243,), "Make room on the server's disk: docs/scale.md says how to move and end old records."),
    ((252,), "Merges do not keep up: raise TURNSPAN_FLUSH_INTERVAL in the applications."),
    ((307,), _LESS.format("max_bytes_to_read")),
    ((392,), "The profile of the user prohibits such statements (allow_ddl): use turnspan_admin."),
    ((396,), _LESS.format("max_result_rows and max_result_bytes")),
    ((452,), "Send no setting beyond the constraints in the profile of the user, or widen these."),
    (
        (291, 497),
        "Use the user whose job it is (turnspan_writer records, turnspan_reader reads, "
        "turnspan_reviewer judges, turnspan_admin migrates: deploy/), or grant what is named.",
    ),
    ((701,), "Name a cluster that the server knows (system.clusters) in TURNSPAN_STORE."),
)
_REMEDIES: Final[Mapping[int, str]] = {code: told for codes, told in _TABLE for code in codes}


def remedy(error: QueryError) -> str:
    """What to do about it, one sentence."""
    code = error.code
    if not code and "is readonly" in str(error):  # the driver's own words
        code = _READONLY
    elif "Replicated DDL queries are disabled" in str(error):
        code = _NO_KEEPER
    return _REMEDIES.get(code, "The log of the server says more about it.")
