"""A connection that the engine itself keeps from changing anything: ``readonly=1``, limits before.

For queries that people write. What this cannot keep out (``INTO OUTFILE``, ``file()`` as a scalar,
``KILL``) is the business of a guard before it.
"""

from __future__ import annotations

import contextlib
import itertools
import threading
import time
import uuid
from collections.abc import Callable, Generator, Mapping
from typing import Any

from turnspan_clickhouse.errors import QueryError
from turnspan_clickhouse.store.client import Result, Store
from turnspan_clickhouse.store.embedded import EmbeddedStore
from turnspan_clickhouse.store.server_answers import require_rows, translated_errors

QUERY_WAS_CANCELLED = 394
"""ClickHouse's code."""

_AGAIN_SECONDS = 0.05


class Cancellation:
    """Ends what runs, and keeps what comes after from beginning: both raise ``QueryError`` with
    ``QUERY_WAS_CANCELLED``."""

    def __init__(self) -> None:
        self._changing = threading.Lock()
        self._kill: Callable[[], bool] | None = None
        self._cancelled = False

    @contextlib.contextmanager
    def ends(self, kill: Callable[[], bool]) -> Generator[None]:
        """A block in which ``kill``, called in another thread, ends what runs; it returns whether
        it found it, and is called again where not. The block ends after one that has begun."""
        with self._changing:
            if self._cancelled:
                raise QueryError("The query was cancelled.", QUERY_WAS_CANCELLED)
            self._kill = kill
        try:
            yield
        finally:
            with self._changing:
                self._kill = None

    def cancel(self) -> None:
        """End what runs now and whatever would begin. Again does nothing.

        Raises:
            StoreError: the engine could not be asked to; what runs ends at its limits.
        """
        while True:
            with self._changing:
                self._cancelled = True
                # One that was sent may not be known to the engine yet.
                if self._kill is None or self._kill():
                    return
            time.sleep(_AGAIN_SECONDS)


ALLOWS_SETTINGS = 2
"""``readonly`` that lets a query change its settings, and read files and addresses."""

_KILL = "KILL QUERY WHERE query_id = {id:String} ASYNC"
_KILL_MARKED = "KILL QUERY WHERE Settings['log_comment'] = {mark:String} ASYNC"
_READONLY, _QUERY_ID, _REPLACES = "readonly", "query_id", "replace_running_query"


class ReadOnlyStore:
    """Asks one store; its settings, ``readonly`` included, hold for whatever is asked.

    An embedded store gets a connection of its own. A server gets the settings with each request,
    which needs no session: any of several replicas behind one address may answer.
    ``cancellation`` ends the statement that runs; of several replicas only that of the one that is
    asked to.
    """

    def __init__(
        self,
        store: Store,
        settings: Mapping[str, Any],
        *,
        readonly: int = 1,
        cancellation: Cancellation | None = None,
    ) -> None:
        self._store = store
        self._cancellation = cancellation or Cancellation()
        self._mark = uuid.uuid4().hex
        self._numbers = itertools.count()
        self._query_id = ""
        self._settings: dict[str, Any] = {}
        self._of_session: dict[str, Any] = {}
        self._client: Any = None
        self._turn = 0
        settings = {**store.read_settings, **settings}
        if isinstance(store, EmbeddedStore):
            # The embedded engine takes no query id: its statements are told apart by this.
            self._of_session = {**settings, "log_comment": self._mark, _READONLY: readonly}
        else:
            known = store.client.server_settings
            self._settings = _of_user(known, settings)
            if int(known[_READONLY].value) == 0:
                self._settings[_READONLY] = readonly

    def query(self, sql: str, parameters: Mapping[str, Any] | None = None) -> Result:
        """Run a statement that answers with rows. Raises as ``Store.query``."""
        with self._running() as client:
            result = client.query(
                sql, parameters=dict(parameters or {}) or None, settings=self._named()
            )
            require_rows(self._store.dsn, len(result.result_rows))
        types = tuple(t.name for t in result.column_types)
        return Result(tuple(result.column_names), types, result.result_rows)

    def text(self, sql: str, parameters: Mapping[str, Any] | None = None) -> str:
        """The answer as ClickHouse's tab-separated text. Raises as ``Store.query``."""
        with self._running() as client:
            answer: bytes = client.raw_query(
                sql, parameters=dict(parameters or {}) or None, settings=self._named()
            )
        return answer.decode("utf-8", "replace")

    def close(self) -> None:
        """Release the connection, where it is this reader's own."""
        client, self._client = self._client, None
        if client is not None:
            client.close()

    @contextlib.contextmanager
    def _running(self) -> Generator[Any]:
        # Within `held`: to cancel needs the engine, which is not let go of while that is under way.
        with (
            self._connected() as client,
            self._cancellation.ends(self._kill),
            translated_errors(self._store.dsn),
        ):
            yield client

    def _named(self) -> Mapping[str, Any]:
        """The settings of one statement. A server may still know the id of the one before."""
        if isinstance(self._store, EmbeddedStore):
            return self._settings
        self._query_id = f"{self._mark}-{next(self._numbers)}"
        return {**self._settings, _QUERY_ID: self._query_id}

    def _kill(self) -> bool:
        """Ask the engine to end our statement; whether it knew it."""
        with translated_errors(self._store.dsn):
            if isinstance(self._store, EmbeddedStore):
                with contextlib.closing(self._store.another_client()) as client:
                    return bool(client.query(_KILL_MARKED, {"mark": self._mark}).result_rows)
            client = self._store.client
            if client.server_settings[_REPLACES].readonly:
                return bool(client.query(_KILL, {"id": self._query_id}).result_rows)
            # KILL needs the right to see what runs, of others too; one's own may be replaced.
            client.query("SELECT 1", settings={_QUERY_ID: self._query_id, _REPLACES: 1})
            return False

    @contextlib.contextmanager
    def _connected(self) -> Generator[Any]:
        with self._store.held() as client:
            if isinstance(self._store, EmbeddedStore):
                client = self._session(self._store)
            yield client

    def _session(self, store: EmbeddedStore) -> Any:
        """Our connection: a new one where the engine was lent to another process meanwhile."""
        if self._client is None or self._turn != store.turns:
            with translated_errors(store.dsn):
                client = store.another_client()
                client.database = store.database
                for name, value in self._of_session.items():
                    client.command(f"SET {name} = '{value}'")
            self._client, self._turn = client, store.turns
        return self._client

    def __enter__(self) -> ReadOnlyStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _of_user(known: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that this user may be given: of a limit the tighter of ours and their own."""
    given: dict[str, Any] = {}
    for name, value in settings.items():
        theirs = known.get(name)
        if theirs is None or theirs.readonly:
            continue
        own = str(theirs.value)
        if not (name.startswith("max_") and own.isdigit() and 0 < int(own) < value):
            given[name] = value
    return given
