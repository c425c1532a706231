"""Errors of the landing side; each message says what to do."""

from __future__ import annotations


class StoreError(Exception):
    """A store cannot be used as asked; ``str(error)`` is one sentence with the remedy."""


class DsnError(StoreError, ValueError):
    """What was given for a store is no address of one."""


class PasswordError(StoreError):
    """The file that is to hold the password of a store cannot be read."""


class StoreBusyError(StoreError):
    """Another process holds the embedded store."""


class StoreUnavailableError(StoreError):
    """The server does not answer now; trying again later is right."""


class SchemaChangedError(StoreError):
    """The store's tables were made from other files of the same numbers as this code's."""


class InsertTooLargeError(StoreError):
    """A proxy before the server does not let so large an insert through; none of it has landed."""


class QueryError(StoreError):
    """The engine refused a statement. ``code`` is ClickHouse's error code, 0 where unknown."""

    def __init__(self, message: str, code: int = 0) -> None:
        super().__init__(message)
        self.code = code


class SpoolError(Exception):
    """The spool cannot take a segment now; ``str(error)`` says why."""
