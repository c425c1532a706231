"""What the records refuse, as the page's refusals."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from turnspan_console.web.endpoints import BadRequestError, NothingFoundError
from turnspan_records.loop.lineages import AmbiguousError


@contextmanager
def understood(kind: type[Exception] = ValueError) -> Generator[None]:
    """Say what was wrong with a question in the error's own words."""
    try:
        yield
    except kind as error:
        raise BadRequestError(str(error)) from None


@contextmanager
def refusing(what: str, project: str | None = None) -> Generator[None]:
    """Say what was wrong with a question about ``what``, of a project where it names one."""
    try:
        yield
    except AmbiguousError as error:
        raise BadRequestError(f"Several are meant ({error}): name the project.") from None
    except KeyError as error:
        place = "the store" if project is None else repr(project)
        raise NothingFoundError(f"There is no {what} {error.args[0]!r} in {place}.") from None
    except ValueError as error:
        if isinstance(error, BadRequestError):
            raise
        raise BadRequestError(f"{str(error)[:1].upper()}{str(error)[1:]}.") from None
