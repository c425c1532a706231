"""What a refusal by ClickHouse means for the rows: bad for ever, or good at another time."""

from __future__ import annotations

MISSING_SCHEMA = frozenset({16, 60, 81})
"""NO_SUCH_COLUMN_IN_TABLE, UNKNOWN_TABLE, UNKNOWN_DATABASE."""
BAD_DATA = frozenset(
    {
        *(6, 7, 8, 9, 10, 20, 26, 27, 32, 33, 34, 36, 38, 41, 43, 44, 50, 53, 61, 62, 69, 70, 72),
        *(108, 117, 122, 128, 130, 131, 190, 261, 271, 321, 349, 353, 407, 469, 480, 636, 646),
    }
)
"""Codes by which ClickHouse says that the bytes are wrong; trying again would not help."""
NOT_NOW = frozenset(
    {
        *(3, 49, 74, 75, 76, 159, 160, 164, 173, 201, 202, 203, 209, 210, 225, 236, 241, 242, 243),
        *(252, 254, 285, 286, 289, 290, 305, 319, 364, 373, 394, 425, 439, 497, 530, 531, 561),
        *(571, 599, 999, 1000, 1002),
    }
)
"""Too many parts, memory, time, keeper, read-only, rights, a checksum that says that the bytes were
garbled on their way: the same will do later."""
