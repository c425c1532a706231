"""An endpoint: a function over a store, with a dataclass of what is asked and one of the answer.

Everything else is made of the two types: how a request is read, how an answer is written, the
OpenAPI description (``openapi.py``) and the types of the page (``.ci/page_types.py``). Ids travel
as parameters and never in the path, since a session's id may be any text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Generic, Literal, TypeVar, cast, get_args, get_origin, get_type_hints

import msgspec

from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.read_only import Cancellation

Query = TypeVar("Query")
Answer = TypeVar("Answer")


class BadRequestError(ValueError):
    """A request asks for what there is not; the message says what there is."""


class NothingFoundError(LookupError):
    """What is asked for is not in the store; the message says so."""


@dataclass(frozen=True, slots=True)
class NoQuery:
    """Of an endpoint that is asked one thing only."""


class DetailedError(Exception):
    """An error with what its answer says beside the sentence, of the endpoint's ``details``."""

    def __init__(self, error: Exception, details: object) -> None:
        super().__init__(str(error))
        self.error = error
        self.details = details


Handler = Callable[[Store, Query], Answer]
CancellableHandler = Callable[[Store, Query, Cancellation], Answer]
StorelessHandler = Callable[[Dsn, Query], Answer]


@dataclass(frozen=True)
class WebEndpoint(Generic[Query, Answer]):
    """One question of the page: ``handle`` runs in a thread of the reader, which has the store."""

    method: Literal["GET", "POST"]
    path: str
    """Begins with ``/api/``."""
    query: type[Query]
    """A frozen dataclass; a field without a default must be given. Of a GET the query string, of a
    POST the JSON body."""
    answer: type[Answer]
    """A frozen dataclass, written as JSON."""
    handle: (
        Handler[Query, Answer] | CancellableHandler[Query, Answer] | StorelessHandler[Query, Answer]
    )
    summary: str
    """One line for the description."""
    apart: bool = False
    """Whether it may take long: it is answered beside the others, and ``handle`` is given what ends
    it when nobody waits for the answer any more."""
    creates: bool = False
    """Whether a store is made where there is none."""
    storeless: bool = False
    """Whether it is answered where the store cannot be asked, too: ``handle`` is given its DSN."""
    details: type[Any] | None = None
    """Of what a refusal says beside its sentence: a frozen dataclass."""

    def answered_without(self, dsn: Dsn, query: Query) -> Answer:
        """What ``handle`` says of a store that is not asked. Raises what it raises."""
        return cast("StorelessHandler[Query, Answer]", self.handle)(dsn, query)

    def answered(self, store: Store, query: Query, cancellation: Cancellation) -> Answer:
        """What ``handle`` says. Raises what it raises."""
        if self.apart:
            handle = cast("CancellableHandler[Query, Answer]", self.handle)
            return handle(store, query, cancellation)
        return cast("Handler[Query, Answer]", self.handle)(store, query)

    @property
    def types(self) -> tuple[type[Any], ...]:
        """Of what is asked, answered, and said of a refusal."""
        return (self.query, self.answer, *([self.details] if self.details else []))

    def read(self, given: Sequence[tuple[str, str]], body: bytes) -> Query:
        """What a request asks.

        Raises:
            BadRequestError: a parameter is unknown, missing, or not what it must be.
        """
        try:
            if self.method == "GET":
                return msgspec.convert(self._gathered(given), type=self.query, strict=False)
            said = msgspec.json.decode(body or b"{}", type=dict[str, Any])
            for name in said:
                self._require_known(name)
            return msgspec.convert(said, type=self.query)
        except msgspec.MsgspecError as error:
            raise BadRequestError(f"{_words(error)} (in a request for {self.path}).") from None
        except UnicodeDecodeError:
            raise BadRequestError("The body is no UTF-8.") from None

    @cached_property
    def _lists(self) -> Mapping[str, bool]:
        """Which parameters may be given more than once."""
        hints = get_type_hints(self.query)
        return {one.name: _is_list(hints[one.name]) for one in fields(cast("Any", self.query))}

    def _require_known(self, name: str) -> None:
        if name not in self._lists:
            known = ", ".join(self._lists) or "none"
            raise BadRequestError(f"{self.path} has no parameter {name!r}; it has: {known}.")

    def _gathered(self, given: Sequence[tuple[str, str]]) -> dict[str, Any]:
        gathered: dict[str, Any] = {}
        for name, value in given:
            self._require_known(name)
            if self._lists[name]:
                gathered.setdefault(name, []).append(value)
            elif name in gathered:
                raise BadRequestError(f"{name!r} occurs more than once.")
            else:
                gathered[name] = value
        return gathered


def endpoint(
    method: Literal["GET", "POST"], path: str, summary: str, **options: Any
) -> Callable[[Callable[..., Answer]], WebEndpoint[Any, Answer]]:
    """Make a function an endpoint: what is asked and answered are the types that it declares. The
    options are those of ``WebEndpoint``."""

    def made(handle: Callable[..., Answer]) -> WebEndpoint[Any, Answer]:
        _, query, *_, answer = get_type_hints(handle).values()
        return WebEndpoint(method, path, query, answer, handle, summary, **options)

    return made


def _is_list(hint: Any) -> bool:
    return get_origin(hint) in (list, tuple) or any(
        get_origin(one) in (list, tuple) for one in get_args(hint)
    )


def _words(error: msgspec.MsgspecError) -> str:
    """What is wrong, with the parameter's name as it was given."""
    return str(error).replace(" - at `$.", " in `").replace("Object missing", "Missing")


_ENCODER = msgspec.json.Encoder(decimal_format="number")


def written(answer: object) -> bytes:
    """An answer as JSON; amounts of money are numbers there."""
    return _ENCODER.encode(answer)
