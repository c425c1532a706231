"""Errors of the landing side; each message says what to do."""

from __future__ import annotations

from turnspan.runtime.errors import TurnspanError

OTHER_COLUMNS = frozenset({10, 16, 44, 47})
"""ClickHouse's codes for a statement about columns that a table does not have, or not so."""
READONLY = 164
"""ClickHouse's code for what a statement that only reads may not do."""
MAY_NOT = frozenset({READONLY, 291, 497})
"""ClickHouse's codes for what this user may not do, now or later: READONLY, DATABASE_ACCESS_DENIED,
ACCESS_DENIED."""


class StoreError(TurnspanError):
    """A store cannot be used as asked; ``str(error)`` is one sentence with the remedy."""


class DsnError(StoreError, ValueError):
    """What was given for a store is no address of one."""


class PasswordError(StoreError):
    """The file that is to hold the password of a store cannot be read."""


class StoreBusyError(StoreError):
    """Another process holds the embedded store."""


class NoStoreError(StoreError):
    """There is no store where one was to be read: nobody has recorded or migrated there."""


class StoreUnavailableError(StoreError):
    """The server does not answer now; trying again later is right. ``late``: it was reached, and
    the answer did not come in time, as where there is too much to do at once."""

    def __init__(self, message: str, *, late: bool = False) -> None:
        super().__init__(message)
        self.late = late


class SchemaChangedError(StoreError):
    """The store's tables were made from other files of the same numbers as this code's."""


class MayNotInsertError(StoreError):
    """The store's user may not write what was to be written: it would never land."""


class InsertTooLargeError(StoreError):
    """A proxy before the server does not let so large an insert through; none of it has landed."""


class QueryError(StoreError):
    """The engine refused a statement. ``code`` is ClickHouse's error code, 0 where unknown."""

    def __init__(self, message: str, code: int = 0) -> None:
        super().__init__(message)
        self.code = code


class SpoolError(TurnspanError):
    """The spool cannot take a segment now; ``str(error)`` says why."""


class SpoolFullError(SpoolError):
    """The spool is at its limit, of records that matter more than the segment."""
