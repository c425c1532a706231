"""What a refusal by ClickHouse means for the rows: bad for ever, or good at another time."""

from __future__ import annotations

from turnspan_clickhouse.errors import QueryError

MISSING_SCHEMA = frozenset({16, 60, 81})
"""NO_SUCH_COLUMN_IN_TABLE, UNKNOWN_TABLE, UNKNOWN_DATABASE."""
BAD_DATA = frozenset(
    {
        *(6, 7, 8, 9, 10, 20, 26, 27, 32, 33, 34, 36, 38, 41, 43, 44, 50, 53, 61, 62, 69, 70, 72),
        *(108, 117, 122, 128, 130, 131, 190, 261, 271, 321, 349, 353, 407, 469, 480, 636, 646),
    }
)
"""Codes by which ClickHouse says that the bytes are wrong; trying again would not help."""
_TOO_MANY_PARTS = 252
_TOO_LARGE = frozenset({158, 159, 160, 173, 209, 241, 307, 396})
"""Too many rows or bytes, too slow, no memory: a smaller insert may well be taken."""
_TOO_LARGE_WORDS = ("bad_alloc", "too large", "Too large", "too big", "emory limit")
NOT_NOW = frozenset(
    {
        *(3, 49, 74, 75, 76, 159, 160, 164, 173, 201, 202, 203, 209, 210, 225, 236, 241, 242, 243),
        *(252, 254, 285, 286, 289, 290, 305, 319, 364, 373, 394, 425, 439, 497, 530, 531, 561),
        *(571, 599, 999, 1000, 1002),
    }
)
"""Too many parts, memory, time, keeper, read-only, rights, a checksum that says that the bytes were
garbled on their way: the same will do later."""


def by_size(error: QueryError) -> bool:
    """Whether fewer of the same rows may be taken now."""
    if error.code in _TOO_LARGE:
        return True
    return error.code not in BAD_DATA and any(word in str(error) for word in _TOO_LARGE_WORDS)


def is_retryable(error: QueryError) -> bool:
    """Whether the same rows may be taken at another time."""
    # One code for a table that merges too slowly and for rows of too many weeks in one insert.
    by_weeks = error.code == _TOO_MANY_PARTS and "Too many partitions" in str(error)
    return error.code in NOT_NOW and not by_weeks


def is_final(error: QueryError) -> bool:
    """Whether the rows are never taken, by themselves either."""
    return error.code in BAD_DATA or (error.code in NOT_NOW and not is_retryable(error))
