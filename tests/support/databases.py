"""A real PostgreSQL and a real MariaDB on loopback, from Debian's packages, in temporary folders.

Where the packages are missing, apt installs them; where there is no apt, or it may not, the tests
that need a server are skipped with that reason. Both start without waiting for disks: nobody wants
their data.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

PASSWORD = "s3cret/of:the@database?7f3a"
"""What the user ``teller`` logs in with; a canary, too."""
QUOTED_PASSWORD = "s3cret%2Fof%3Athe%40database%3F7f3a"
_STARTING = 60.0
_POSTGRES = "/usr/lib/postgresql"


@dataclass
class RealDatabase:
    """A server, with a database ``logs`` and a user ``teller`` who may do anything in it."""

    scheme: str
    port: int
    connect: Callable[[], Any]
    """A connection of the DB-API, which commits at once."""

    def dsn(self, *, password: bool = True, **parameters: str) -> str:
        """Its DSN, with these parameters."""
        who = f"teller:{QUOTED_PASSWORD}" if password else "teller"
        query = "&".join(f"{key}={value}" for key, value in parameters.items())
        return f"{self.scheme}://{who}@127.0.0.1:{self.port}/logs" + (f"?{query}" if query else "")

    def run(self, *statements: str) -> None:
        """Run statements, each committed."""
        connection = self.connect()
        try:
            with connection.cursor() as cursor:
                for statement in statements:
                    cursor.execute(statement)
        finally:
            connection.close()

    def rows(self, query: str) -> list[dict[str, Any]]:
        """Ask; each row by the names of its columns."""
        connection = self.connect()
        try:
            with connection.cursor() as cursor:
                cursor.execute(query)
                names = [column[0] for column in cursor.description]
                return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
        finally:
            connection.close()


@pytest.fixture(scope="session")
def real_postgresql() -> Iterator[RealDatabase]:
    """One PostgreSQL for the whole run; tests have tables of their own.

    Not in pytest's folder, which every run of pytest closes for other users when it begins.
    """
    _need("postgresql", _postgres_folder)
    folder = Path(tempfile.mkdtemp(prefix="turnspan-postgresql-"))
    programs = _postgres_folder()
    as_user = _as_unprivileged(folder)
    data, port = folder / "data", _free_port()
    _done([*as_user, f"{programs}/initdb", "-D", str(data), "-A", "scram-sha-256", "-U", "owner",
           "--pwfile", str(_password_file(folder)), "-E", "UTF8", "--locale", "C.UTF-8",
           "--no-sync"])  # fmt: skip
    log = (folder / "log").open("wb")
    server = subprocess.Popen(
        [*as_user, f"{programs}/postgres", "-D", str(data), "-p", str(port), "-c",
         "listen_addresses=127.0.0.1", "-c", f"unix_socket_directories={folder}", "-c", "fsync=off",
         "-c", "log_statement=all", "-c", f"log_directory={folder}"],
        stdout=subprocess.DEVNULL, stderr=log,
    )  # fmt: skip
    try:
        import psycopg

        def connect(user: str = "teller", database: str = "logs") -> Any:
            return psycopg.connect(
                host="127.0.0.1", port=port, user=user, password=PASSWORD, dbname=database,
                autocommit=True,
            )  # fmt: skip

        _wait(lambda: connect("owner", "postgres").close(), server)
        with connect("owner", "postgres") as connection:
            connection.execute(f"CREATE ROLE teller LOGIN PASSWORD '{PASSWORD}'")
            connection.execute("CREATE DATABASE logs OWNER teller")
        yield RealDatabase("postgresql", port, connect)
    finally:
        log.close()
        _stop(server)
        shutil.rmtree(folder)


@pytest.fixture(scope="session")
def real_mariadb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealDatabase]:
    """One MariaDB for the whole run; tests have tables of their own."""
    _need("mariadb-server", _mariadb_server)
    folder = tmp_path_factory.mktemp("mariadb")
    data, port = folder / "data", _free_port()
    as_user = [f"--user={pwd.getpwuid(os.geteuid()).pw_name}"]
    _done(["mariadb-install-db", "--no-defaults", f"--datadir={data}", "--skip-test-db",
           "--auth-root-authentication-method=normal", *as_user])  # fmt: skip
    log = (folder / "log").open("wb")
    server = subprocess.Popen(
        [_mariadb_server(), "--no-defaults", f"--datadir={data}", f"--socket={folder}/s",
         f"--port={port}", "--bind-address=127.0.0.1", "--innodb-flush-log-at-trx-commit=0",
         "--max-allowed-packet=256M", *as_user],
        stdout=subprocess.DEVNULL, stderr=log,
    )  # fmt: skip
    try:
        import pymysql

        def connect() -> Any:
            return pymysql.connect(
                host="127.0.0.1", port=port, user="teller", password=PASSWORD, database="logs",
                charset="utf8mb4", autocommit=True,
            )  # fmt: skip

        def as_root() -> Any:
            return pymysql.connect(unix_socket=f"{folder}/s", user="root", autocommit=True)

        _wait(lambda: socket.create_connection(("127.0.0.1", port)).close(), server)
        root = as_root()
        with root.cursor() as cursor:
            cursor.execute("CREATE DATABASE logs CHARACTER SET utf8mb4")
            cursor.execute(f"CREATE USER teller@'127.0.0.1' IDENTIFIED BY '{PASSWORD}'")
            cursor.execute("GRANT ALL ON logs.* TO teller@'127.0.0.1'")
        root.close()
        yield RealDatabase("mariadb", port, connect)
    finally:
        log.close()
        server.kill()
        server.wait()


def _postgres_folder() -> str:
    """Where PostgreSQL's programs are, the newest version; empty: nowhere."""
    found = sorted(Path(_POSTGRES).glob("*/bin/postgres"), key=lambda p: int(p.parts[-3]))
    return str(found[-1].parent) if found else ""


def _mariadb_server() -> str:
    """Where the server is; not every path has the folders of servers."""
    found = shutil.which("mariadbd") or shutil.which("mariadbd", path="/usr/sbin:/usr/local/sbin")
    return found or ""


def _need(package: str, there: Callable[[], str]) -> None:
    """Skip the test where a server is not there and cannot be installed."""
    lacking = "" if there() else _install(package)
    if lacking or not there():
        pytest.skip(f"there is no {package} here: {lacking or 'apt-get did not install it'}")


@cache
def _install(package: str) -> str:
    """Install a package; why it could not be."""
    apt = shutil.which("apt-get")
    if apt is None:
        return "its packages are Debian's, and there is no apt-get"
    may = [] if os.geteuid() == 0 else ["sudo", "-n"]
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    said = ""
    for arguments in (("update",), ("install", "-y", "--no-install-recommends", package)):
        done = subprocess.run(
            [*may, apt, *arguments], capture_output=True, text=True, env=environment
        )
        said = done.stderr.strip()[-200:] if done.returncode else ""
    return said


def _as_unprivileged(folder: Path) -> list[str]:
    """PostgreSQL refuses to be root: then it is the user of Debian's package, whose the folder
    becomes."""
    if os.geteuid() != 0:
        return []
    shutil.chown(folder, "postgres")
    return ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]


def _password_file(folder: Path) -> Path:
    written = folder / "password"
    written.write_text(PASSWORD)
    written.chmod(0o644)
    return written


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _done(command: list[str]) -> None:
    ran = subprocess.run(command, capture_output=True, text=True, cwd="/")
    assert ran.returncode == 0, ran.stdout + ran.stderr


def _wait(connect: Callable[[], None], server: subprocess.Popen[bytes]) -> None:
    give_up = time.monotonic() + _STARTING
    while True:
        try:
            connect()
            return
        except Exception:  # noqa: BLE001  of two drivers
            assert server.poll() is None and time.monotonic() < give_up, "the server did not start"
            time.sleep(0.05)


def _stop(server: subprocess.Popen[bytes]) -> None:
    """At once, and with its helpers: those of a killed PostgreSQL would stay."""
    server.send_signal(signal.SIGQUIT)
    try:
        server.wait(10)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
