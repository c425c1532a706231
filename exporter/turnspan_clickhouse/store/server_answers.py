"""What a server answers: whether that is a success, and what is wrong in words for people.

A proxy may answer anything in ClickHouse's place, with any status, and ClickHouse itself may begin
a 200 and fail after. A success is a 200 with ClickHouse's own headers and no exception in it; an
insert's has no body and says that rows were written. A redirect is followed by nobody: whoever
follows one takes the records, and the password, to where no one said that they should go.
"""

from __future__ import annotations

import contextlib
import errno
import re
import threading
from collections.abc import Generator, Mapping
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from turnspan_clickhouse.errors import (
    InsertTooLargeError,
    QueryError,
    StoreError,
    StoreUnavailableError,
)
from turnspan_clickhouse.store.dsn import Dsn

if TYPE_CHECKING:
    from clickhouse_connect.driver.exceptions import DatabaseError

thread: Final = threading.local()
"""``calling``: whether this thread is in a call of ours to the driver; ``answer``: the newest;
``promised``: how many rows the head of the newest says that its body has."""

_QUERY_ID, _SUMMARY = "X-ClickHouse-Query-Id", "X-ClickHouse-Summary"
_REFUSED_USER = frozenset({192, 193, 194, 516})
_OWN_LIMITS = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS, errno.EAGAIN})
_LATE_STATUS = re.compile(r"HTTP status (408|499|502|504)\b")
_EXCEPTION = re.compile(rb"Code: (\d+)\. DB::\w*Exception.*", re.DOTALL)
_RESULT_ROWS = re.compile(r'"result_rows" *: *"?(\d+)')
_WROTE_NOTHING = re.compile(r'"written_rows" *: *"?0"?[,}]')


def checked(dsn: Dsn, urlopen: Any) -> Any:
    """The ``urlopen`` of a connection pool, with each answer looked at before the driver does."""

    def ask(method: str, url: str, redirect: bool = True, **options: Any) -> Any:
        thread.answer, thread.promised = None, 0
        answer = urlopen(method, url, redirect=False, **options)
        trouble = _trouble(dsn, answer.status, answer.headers)
        if trouble:
            answer.close()
            raise StoreUnavailableError(trouble)
        # One that is read as it comes is the driver's to look at.
        whole = options.get("preload_content", True)
        thread.answer = answer if whole else None
        summary = answer.headers.get(_SUMMARY, "")
        found = _RESULT_ROWS.search(summary)
        # What an insert wrote counts as its result, and has no body.
        reads = answer.status == 200 and _WROTE_NOTHING.search(summary)
        thread.promised = int(found[1]) if found and reads else 0
        if whole and method != "HEAD" and not answer.data:
            require_rows(dsn, 0)
        return answer

    return ask


def _trouble(dsn: Dsn, status: int, headers: Mapping[str, str]) -> str:
    """What is wrong with an answer that is no failure by its status."""
    there = f"{dsn.host}:{dsn.port}"
    if 300 <= status < 400:
        return (
            f"What answers at {there} redirects to {_target(headers.get('Location', ''))} (HTTP "
            f"{status}), which is not followed: name the server itself in TURNSPAN_STORE; records "
            "wait in the spool."
        )
    if not 200 <= status < 300 or headers.get("X-ClickHouse-Exception-Code"):
        return ""
    if status != 200:
        return (
            f"What answers at {there} says HTTP {status}, which ClickHouse never does: check the "
            "proxy and TURNSPAN_STORE; records wait in the spool."
        )
    if headers.get(_QUERY_ID) and headers.get(_SUMMARY):
        return ""
    if headers.get("X-ClickHouse-Progress"):  # an answer that was cut: the driver knows
        return ""
    return (
        f"What answered at {there} is not ClickHouse (it gave no query id or summary): check the "
        "proxy and TURNSPAN_STORE; records wait in the spool."
    )


def _target(location: str) -> str:
    """Where a redirect leads, without credentials, path and parameters."""
    try:
        parts = urlsplit(location)
        host = parts.netloc.rpartition("@")[2]
    except ValueError:
        host, parts = "", None
    if parts is None or not host:
        return "another path" if location else "nowhere"
    clean = re.sub(r"[^\w.:\-\[\]]", "?", host, flags=re.ASCII)[:200]
    return f"{parts.scheme}://{clean}" if parts.scheme in ("http", "https") else clean


def require_no_exception(dsn: Dsn) -> None:
    """Raise where the newest answer of this thread holds an exception in spite of its status.

    Raises:
        QueryError: it does.
        StoreUnavailableError: it does, and does not say which.
    """
    answer = getattr(thread, "answer", None)
    if dsn.embedded or answer is None:
        return
    body: bytes = answer.data or b""
    found = _EXCEPTION.search(body)
    if found is not None:
        text = found[0].decode("utf-8", "replace").partition("\n")[0].strip()
        raise QueryError(text[:2000], int(found[1]))
    if b"__exception__" in body:
        raise StoreUnavailableError(
            f"The server at {dsn.host}:{dsn.port} began to answer and failed without a reason: "
            "see its log; records wait in the spool."
        )


def require_rows(dsn: Dsn, rows: int) -> None:
    """Raise where an answer came with fewer rows than its head says.

    A server keeps an answer on its disk until it is whole (``wait_end_of_query``); when that disk
    is full, it sends the head with a success and leaves the body out.

    Raises:
        StoreUnavailableError: rows are missing.
    """
    promised = 0 if dsn.embedded else getattr(thread, "promised", 0)
    if rows < promised:
        raise StoreUnavailableError(
            f"The server at {dsn.host}:{dsn.port} promised an answer of {promised:,} rows, and "
            f"sent {rows:,}: its disk is full, or a proxy lost them; check the space on the "
            "server, and its log."
        )


def require_inserted(dsn: Dsn, rows: int) -> None:
    """Raise where the newest answer of this thread is not ClickHouse's to an insert of so many
    rows.

    Raises:
        QueryError: it is an exception.
        StoreUnavailableError: it is something else.
    """
    require_no_exception(dsn)
    if dsn.embedded:
        return
    answer, said = getattr(thread, "answer", None), ""
    if answer is None or answer.data:
        said = "answered an insert with something that ClickHouse does not say"
    elif rows and _WROTE_NOTHING.search(answer.headers[_SUMMARY]):
        said = "took an insert and wrote none of its rows, as if its body had been lost on the way"
    if said:
        raise StoreUnavailableError(
            f"What answers at {dsn.host}:{dsn.port} {said}: check the proxy before it; records "
            "wait in the spool."
        )


@contextlib.contextmanager
def translated_errors(dsn: Dsn) -> Generator[None]:
    """Turn the client library's errors into ours, without the password and in one sentence."""
    from clickhouse_connect.driver import exceptions

    thread.calling = True
    try:
        yield
    except exceptions.DatabaseError as error:
        raise _translated(dsn, error) from None
    except OSError as error:
        raise _unavailable(dsn, error) from None
    except exceptions.Error as error:
        raise QueryError(_short(error), error.code or 0) from None
    finally:
        thread.calling = False


def _translated(dsn: Dsn, error: DatabaseError) -> StoreError:
    from clickhouse_connect.driver import exceptions

    if error.code in _REFUSED_USER and not dsn.embedded:
        return StoreError(
            f"The server at {dsn.host}:{dsn.port} refused user {dsn.user!r}: check the user "
            "and password in TURNSPAN_STORE or TURNSPAN_STORE_PASSWORD."
        )
    if not error.code and "HTTP status 413" in str(error):
        return InsertTooLargeError(
            f"A proxy before {dsn.host}:{dsn.port} refuses an insert of this size (HTTP 413): "
            "raise its limit on a request's body, then run `turnspan ship --rejected`."
        )
    if error.code or dsn.embedded or isinstance(error, exceptions.ProgrammingError):
        return QueryError(_server_text(dsn, error), error.code or 0)
    # No ClickHouse code: the connection broke, or what answered is a proxy without its server.
    return _unavailable(dsn, error)


def _unavailable(dsn: Dsn, error: BaseException) -> StoreUnavailableError:
    chain = [error]
    while (inner := _inner(chain[-1])) is not None and inner not in chain:
        chain.append(inner)
    if any(isinstance(e, OSError) and e.errno in _OWN_LIMITS for e in chain):
        return StoreUnavailableError(
            f"This process cannot connect to {dsn.host}:{dsn.port} now ({_cause(chain)}): raise "
            "its limits (ulimit -n); records wait in the spool."
        )
    return StoreUnavailableError(
        f"The ClickHouse server at {dsn.host}:{dsn.port} does not answer ({_cause(chain)}): "
        "check that it runs and that TURNSPAN_STORE names it; records wait in the spool.",
        late=_late(chain),
    )


def _late(chain: list[BaseException]) -> bool:
    """Whether the server was reached and had no time, or somebody between had none."""
    kinds = {kind.__name__ for error in chain for kind in type(error).__mro__}
    if kinds & {"ConnectTimeoutError", "NewConnectionError", "ConnectionRefusedError"}:
        return False
    broken = {"TimeoutError", "ProtocolError", "ConnectionResetError", "BrokenPipeError"}
    return bool(kinds & broken) or _LATE_STATUS.search(str(chain[0])) is not None


def _cause(chain: list[BaseException]) -> str:
    """The innermost reason of a transport error, without URLs or credentials."""
    system = next(
        (e.strerror for e in reversed(chain) if isinstance(e, OSError) and e.strerror), ""
    )
    said = _short(chain[-1]).partition("(")[0].strip()
    return system or (said if said.isprintable() else "") or type(chain[-1]).__name__


def _inner(error: BaseException) -> BaseException | None:
    reason = getattr(error, "reason", None)
    return reason if isinstance(reason, BaseException) else error.__cause__ or error.__context__


def _server_text(dsn: Dsn, error: BaseException) -> str:
    """ClickHouse's own words, without the driver's frame and the URL (it holds parameters)."""
    text = str(error).strip()
    text = re.sub(r"^Received ClickHouse exception, code: \d+, server response: ", "", text)
    return re.sub(r" \(for url .*\)$", "", text, flags=re.DOTALL)[:2000]


def _short(error: BaseException) -> str:
    text = str(error).strip().splitlines()
    return text[0][:300] if text else type(error).__name__
