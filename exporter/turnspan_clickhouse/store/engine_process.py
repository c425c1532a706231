"""The engine in a process of its own, for a store that is lent and taken back all day.

Each opening costs the process that does it five threads and 1.5 MB which the engine never gives
back, so a page beside another one would be out of threads within hours. This process is given up
and replaced instead. It ends when the other end of its standard input does, however that ends.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from multiprocessing.connection import Client, Connection, Listener
from pathlib import Path
from pickle import PicklingError
from types import SimpleNamespace
from typing import Any

from turnspan.runtime.forks import in_child
from turnspan_clickhouse.errors import StoreError
from turnspan_clickhouse.store.client import make_client

_ENDED = (EOFError, OSError)
_READY = b"ready\n"
_END_SECONDS = 10.0


class EngineProcess:
    """A process that opens engines for this one, and for nobody else of this machine."""

    def __init__(self) -> None:
        # 0700, whatever the umask: what goes through the socket in it is believed.
        self._folder = Path(tempfile.mkdtemp(prefix="turnspan-engine-"))
        self._address = str(self._folder / "socket")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "turnspan_clickhouse.store.engine_process", self._address],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # Of a session of its own: Ctrl-C is for those who ask, not for the engine.
            start_new_session=True,
        )
        self._ready = False
        self.opened = 0
        """How often it opened an engine."""
        _of_this_process.add(self)

    @property
    def ended(self) -> bool:
        """Whether it is no more."""
        return self._process.poll() is not None

    def wait(self) -> None:
        """Until it can be asked. To begin takes seconds, which need nobody's lock.

        Raises:
            StoreError: it did not begin.
        """
        if not self._ready:
            assert self._process.stdout is not None
            self._ready = self._process.stdout.readline() == _READY
        if not self._ready or self.ended:
            raise StoreError("The process of the store's engine ended: ask again.")

    def client(self, path: str) -> RemoteClient:
        """A connection to the engine of a folder. Raises what opening it here would."""
        try:
            return RemoteClient(Client(self._address, "AF_UNIX"), path)
        except _ENDED as error:
            raise StoreError(f"The process of the store's engine ended ({error}).") from None

    def close(self) -> None:
        """End it."""
        self.let_go()
        try:
            self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    def let_go(self) -> None:
        """Hold it no more: it ends when nobody does."""
        _of_this_process.discard(self)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()


_of_this_process: set[EngineProcess] = set()


def _let_go_in_child() -> None:
    """A forked child that kept its ends of the pipes would keep the engine of a dead parent."""
    for one in list(_of_this_process):
        one.let_go()


in_child(_let_go_in_child)


class RemoteClient:
    """Of clickhouse-connect's client what stores use, asked of the engine's process."""

    def __init__(self, connection: Any, path: str) -> None:
        self._connection = connection
        self._asking = threading.Lock()
        self._database = ""
        self.server_version, self.server_settings = self._ask("open", path)

    @property
    def database(self) -> str:
        """The database that statements mean when they name none."""
        return self._database

    @database.setter
    def database(self, name: str) -> None:
        self._ask("database", name)
        self._database = name

    def query(self, *args: Any, **options: Any) -> Any:
        """An answer with rows."""
        names, types, rows = self._ask("query", *args, **options)
        return SimpleNamespace(
            column_names=names,
            column_types=[SimpleNamespace(name=name) for name in types],
            result_rows=rows,
        )

    def command(self, *args: Any, **options: Any) -> Any:
        """What a statement says that answers with one value or none."""
        return self._ask("command", *args, **options)

    def raw_insert(self, *args: Any, **options: Any) -> None:
        """Insert what is encoded."""
        self._ask("raw_insert", *args, **options)

    def raw_query(self, *args: Any, **options: Any) -> Any:
        """An answer as it is encoded."""
        return self._ask("raw_query", *args, **options)

    def raw_stream(self, *args: Any, **options: Any) -> io.BytesIO:
        """The same, to be read; the engine here would have it at once, too."""
        return io.BytesIO(self._ask("raw_query", *args, **options))

    def close(self) -> None:
        """Close the connection; when this returns the engine has let go of it."""
        with contextlib.suppress(StoreError):
            self._ask("close")
        self._connection.close()

    def _ask(self, name: str, *args: Any, **options: Any) -> Any:
        with self._asking:
            try:
                self._connection.send((name, args, options))
                fine, answer = self._connection.recv()
            except _ENDED as error:
                raise StoreError(
                    f"The process of the store's engine ended ({type(error).__name__}): ask again."
                ) from None
        if not fine:
            raise answer
        return answer


def _answer(connection: Connection[Any, Any]) -> None:
    """The thread of one connection."""
    client: Any = None
    with contextlib.suppress(*_ENDED), connection:
        while True:
            name, args, options = connection.recv()
            try:
                if name == "open":
                    client = make_client(interface="chdb", path=args[0])
                connection.send((True, _done(client, name, args, options)))
            except Exception as error:  # noqa: BLE001  it is the asking process's
                _tell(connection, error)
    if client is not None:
        client.close()


def _tell(connection: Connection[Any, Any], error: Exception) -> None:
    try:
        connection.send((False, error))
    except (TypeError, AttributeError, PicklingError):  # it is made of what cannot be sent
        connection.send((False, StoreError(str(error))))


def _done(client: Any, name: str, args: Any, options: Any) -> Any:
    if name == "open":
        return str(client.server_version), dict(client.server_settings)
    if name == "database":
        client.database = args[0]
        return None
    if name == "query":
        found = client.query(*args, **options)
        types = [one.name for one in found.column_types]
        return tuple(found.column_names), types, list(found.result_rows)
    return getattr(client, name)(*args, **options)


def _main(address: str) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    # It takes a second: before it is asked.
    for module in ("chdb", "clickhouse_connect"):
        importlib.import_module(module)

    listener = Listener(address, "AF_UNIX")
    sys.stdout.buffer.write(_READY)
    sys.stdout.flush()

    def accept() -> None:
        while True:
            connection = listener.accept()
            threading.Thread(target=_answer, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    sys.stdin.buffer.read()
    shutil.rmtree(Path(address).parent, ignore_errors=True)
    os._exit(0)  # the engine has been let go of, or whoever asked is dead


if __name__ == "__main__":
    _main(sys.argv[1])
