"""What a user of a ClickHouse server may do beyond reading."""

from __future__ import annotations

import re

from turnspan_clickhouse.errors import QueryError
from turnspan_clickhouse.store.read_only import ReadOnlyStore

_GRANT = re.compile(r"GRANT (.+?)(?: ON .+?)? TO ", re.DOTALL)
_COLUMNS = re.compile(r"\([^()]*\)")
_READS = re.compile(r"SELECT|SHOW(?: [A-Z ]+)?|USAGE")
_WORST = frozenset({"INSERT", "ALTER", "DROP", "CREATE", "ALL"})
_TOLD = 4


def beyond_reading(reader: ReadOnlyStore) -> list[str]:
    """A sentence on the grants that a reader does not need; empty where there are none.

    Raises ``StoreError`` as ``ReadOnlyStore.query``.
    """
    try:
        rows = reader.query("SHOW GRANTS FINAL").rows
    except QueryError:  # older servers have no FINAL
        rows = reader.query("SHOW GRANTS").rows
    more: dict[str, None] = {}
    for row in rows:
        granted = _GRANT.match(str(row[0]))
        for right in _COLUMNS.sub("", granted[1] if granted else "").split(","):
            if right.strip() and not _READS.fullmatch(right.strip()):
                more[right.strip()] = None
    if not more:
        return []
    worst = sorted(more, key=lambda right: right not in _WORST)
    told = ", ".join(worst[:_TOLD]) + (", ..." if len(more) > _TOLD else "")
    return [
        f"The store's user may do more than read ({told}): queries are kept from it, and a user "
        "with nothing but SELECT (turnspan_reader in deploy/) would be kept from it by the server."
    ]
