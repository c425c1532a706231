"""A real ClickHouse server on loopback, without Docker, out of a pinned npm package.

The package carries ClickHouse's library with clickhouse-local's command line, which can listen
(``SYSTEM START LISTEN``). It has to run interactively on a pseudo-terminal: in batch mode a client
that breaks off aborts the whole process.

Run as a program it is the engine's keeper: it starts the engine, prints ``ready <engine pid>``
once the server answers, and stops it when its standard input closes, so that no engine outlives
the tests that started it.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import pty
import select
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import uuid
from dataclasses import dataclass
from pathlib import Path

from turnspan_clickhouse.store.dsn import Dsn

PACKAGE = "@chdb/lib-linux-x64-gnu"
VERSION = "26.7.3-stable.1"
LIBRARY_VARIABLE = "TURNSPAN_TEST_CLICKHOUSE_LIBRARY"
WRITER_PASSWORD = "writer-secret"
READER_PASSWORD = "reader-secret"
ANALYST_PASSWORD = "analyst-secret"

_CONFIG = """<clickhouse>
  <logger><level>warning</level><log>{home}/server.log</log>
    <errorlog>{home}/server.err.log</errorlog></logger>
  <users_config>{home}/users.xml</users_config>
  <background_schedule_pool_size>16</background_schedule_pool_size>
  <background_processing_pool_thread_sleep_seconds_if_nothing_to_do>10</background_processing_pool_thread_sleep_seconds_if_nothing_to_do>
  {extra}
</clickhouse>
"""
_USER = """<{name}><password>{password}</password><networks><ip>127.0.0.1</ip></networks>
  <profile>{profile}</profile><quota>default</quota>{grants}</{name}>"""
# Machine code for a question, which the engine writes when it is asked a fourth time, takes 60 ms.
_USERS = """<clickhouse>
  <profiles>
    <default><compile_expressions>0</compile_expressions>
      <compile_aggregate_expressions>0</compile_aggregate_expressions></default>
    <readonly><readonly>1</readonly></readonly>
    <analyst><readonly>2</readonly></analyst>
    <cramped><max_memory_usage>12000000</max_memory_usage></cramped>
    <tight><max_memory_usage>36000000</max_memory_usage></tight>
    <narrow><max_memory_usage>50000000</max_memory_usage></narrow></profiles>
  <users>{users}</users>
  <quotas><default/></quotas>
</clickhouse>
"""


def library() -> Path:
    """The engine's library: the variable's, else the one npm installs into ``.tools/``."""
    named = os.environ.get(LIBRARY_VARIABLE)
    if named:
        return Path(named)
    tools = Path(__file__).resolve().parents[2] / ".tools" / "clickhouse"
    found = tools / "node_modules" / PACKAGE / "libchdb.so"
    if not found.exists():
        tools.mkdir(parents=True, exist_ok=True)
        command = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund"]
        command += ["--prefix", str(tools), f"{PACKAGE}@{VERSION}"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return found


@dataclass
class ClickHouseServer:
    """One server; what it stores under ``home`` survives ``stop`` and ``kill``."""

    home: Path
    http_port: int
    extra_config: str = ""
    tcp_port: int = 0
    """The native protocol's port; 0 keeps it closed."""
    _keeper: subprocess.Popen[str] | None = None
    _engine: int = 0

    def dsn(self, database: str, *, user: str = "default", password: str = "") -> Dsn:
        """The address of a database on this server."""
        return Dsn(
            scheme="http",
            host="127.0.0.1",
            port=self.http_port,
            user=user,
            password=password,
            database=database,
        )

    def url(self, database: str) -> str:
        """The same as text, as TURNSPAN_STORE wants it."""
        return f"http://127.0.0.1:{self.http_port}/{database}"

    def run(self, sql: str) -> str:
        """Run one statement as the default user, outside any database; returns the answer."""
        return self.ask(sql).decode()

    def ask(self, sql: str) -> bytes:
        """As ``run``; returns the answer's bytes, for ``FORMAT Native``."""
        request = urllib.request.Request(f"http://127.0.0.1:{self.http_port}/", sql.encode())
        with urllib.request.urlopen(request, timeout=30) as reply:
            return bytes(reply.read())

    def code(self, sql: str) -> int:
        """ClickHouse's error code for a statement, 0 where it succeeds."""
        try:
            self.ask(sql)
        except urllib.error.HTTPError as error:
            with error:
                return int(error.headers["X-ClickHouse-Exception-Code"])
        return 0

    @property
    def engine(self) -> int:
        """The engine's process id."""
        return self._engine

    @property
    def running(self) -> bool:
        """Whether the engine was started and not stopped."""
        return self._keeper is not None

    def start(self) -> None:
        """Start it and wait until it answers."""
        _prepare(self.home, self.extra_config)
        command = [sys.executable, __file__, str(library()), str(self.home)]
        command += [str(self.http_port), str(self.tcp_port)]
        keeper = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        assert keeper.stdout is not None
        line = keeper.stdout.readline().split()
        if line[:1] != ["ready"]:
            keeper.wait()
            raise RuntimeError(f"the ClickHouse server did not start; see {self.home}/terminal.log")
        self._keeper, self._engine = keeper, int(line[1])

    def stop(self) -> None:
        """Stop it as an operator would."""
        self._end()

    def kill(self) -> None:
        """Crash it: kill -9."""
        if self._keeper is not None:
            os.kill(self._engine, signal.SIGKILL)
            self._end()

    def _end(self) -> None:
        keeper, self._keeper = self._keeper, None
        if keeper is not None:
            keeper.communicate(timeout=30)


def start_server(
    home: Path, *, extra_config: str = "", http_port: int = 0, tcp_port: int = 0
) -> ClickHouseServer:
    """Start a server of its own under ``home``, on a free HTTP port unless one is given."""
    server = ClickHouseServer(home, http_port or free_ports(1)[0], extra_config, tcp_port)
    server.start()
    return server


def free_ports(count: int) -> list[int]:
    """Different ports on loopback that were free a moment ago."""
    with contextlib.ExitStack() as open_sockets:
        probes = [open_sockets.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [int(probe.getsockname()[1]) for probe in probes]


def _prepare(home: Path, extra: str) -> None:
    (home / "data" / "metadata").mkdir(parents=True, exist_ok=True)
    users = [
        _user("default", ""),
        _user("writer", WRITER_PASSWORD),
        _user("reader", READER_PASSWORD, profile="readonly"),
        _user("analyst", ANALYST_PASSWORD, profile="analyst"),
        _user("cramped", "", profile="cramped"),
        _user("tight", "", profile="tight"),
        _user("narrow", "", profile="narrow"),
        _user("stranger", "", grants="<query>GRANT SELECT ON *.*</query>"),
    ]
    (home / "users.xml").write_text(_USERS.format(users="".join(users)))
    (home / "config.xml").write_text(_CONFIG.format(home=home, extra=extra))
    system = home / "data" / "metadata" / "system.sql"
    if not system.exists():  # without it the log tables break after a restart
        system.write_text(f"ATTACH DATABASE system UUID '{uuid.uuid4()}' ENGINE = Atomic\n")


def _user(name: str, password: str, *, profile: str = "default", grants: str = "") -> str:
    grants = grants and f"<grants>{grants}</grants>"
    return _USER.format(name=name, password=password, profile=profile, grants=grants)


def _become_engine(library_path: str, home: Path, port: int, tcp_port: int) -> None:
    os.environ["TERM"] = "dumb"
    entry = ctypes.CDLL(library_path, mode=os.RTLD_NOW | 0x8).chdb_query_cmdline
    entry.restype, entry.argtypes = ctypes.c_void_p, [ctypes.c_int, ctypes.POINTER(ctypes.c_char_p)]
    arguments = [
        "clickhouse-local",
        f"--config-file={home / 'config.xml'}",
        f"--path={home / 'data'}",
        "--listen_host=127.0.0.1",
        f"--http_port={port}",
        f"--tcp_port={tcp_port}",
        "--interactive",
        "--log-level=warning",  # what the config says of it is not heard: 300 kB a test
        "--disable_suggestion",
        "--query",
        "SYSTEM START LISTEN HTTP;" + (" SYSTEM START LISTEN TCP;" if tcp_port else ""),
    ]
    raw = [argument.encode() for argument in arguments]
    entry(len(raw), (ctypes.c_char_p * (len(raw) + 1))(*raw, None))
    os._exit(0)


def _answers(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/ping", timeout=1) as reply:
            return bool(reply.status == 200)
    except (OSError, urllib.error.URLError):
        return False


def _keep(library_path: str, home: Path, port: int, tcp_port: int) -> int:
    engine, terminal = pty.fork()
    if engine == 0:
        _become_engine(library_path, home, port, tcp_port)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for pytest, which closes our stdin
    stdin = sys.stdin.fileno()
    watched = [terminal, stdin]
    announced = leaving = False
    give_up = time.monotonic() + 60
    with (home / "terminal.log").open("ab", 0) as log:
        while not leaving or time.monotonic() < give_up:
            ready = select.select(watched, [], [], 0.05)[0]
            if terminal in ready:
                try:
                    chunk = os.read(terminal, 65536)
                except OSError:  # the engine closed its end: it is gone
                    break
                log.write(chunk)
            if not announced and not leaving and _answers(port):
                announced = True
                print(f"ready {engine}", flush=True)
            if not leaving and (stdin in ready or (not announced and time.monotonic() > give_up)):
                leaving, give_up = True, time.monotonic() + 15
                watched = [terminal]
                os.write(terminal, b"exit\n")
    with contextlib.suppress(ProcessLookupError):
        os.kill(engine, signal.SIGKILL)
    os.waitpid(engine, 0)
    return 0


if __name__ == "__main__":
    sys.exit(_keep(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])))
