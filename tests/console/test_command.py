"""The command as a whole: help, stores, exit codes, pipes, a machine without its libraries."""

from __future__ import annotations

import contextlib
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from functools import partial
from pathlib import Path

import pytest

from support.clickhouse_server import ClickHouseServer
from support.story import ENTRY, Invoke, Spawn
from turnspan_clickhouse.files.lock_holders import holder
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.opening import open_store
from turnspan_records import access

READERS = (
    ("diagnose",),
    ("diagnose", "loops"),
    ("sessions",),
    ("turns",),
    ("sql", "SELECT count() FROM llm_call"),
    ("sql", "--local-files", "SELECT 1"),
    ("replay",),
    ("replay", "thread-7"),
    ("show", "a1a1a1a1"),
    ("annotate", "a1a1a1a1", "--score", "3"),
)


def test_help_lists_every_command_with_a_sentence(invoke: Invoke) -> None:
    shown = invoke("--help")
    assert shown.exit_code == 0
    for name in ("diagnose", "replay", "show", "sql", "status", "doctor", "migrate", "ship"):
        assert re.search(rf"^  {name} +[A-Z].+\.$", shown.stdout, re.MULTILINE), name
        assert "--store" in invoke(name, "--help").stdout


def test_version_is_the_packages(spawn: Spawn) -> None:
    from turnspan import __version__

    assert spawn("--version").stdout == f"turnspan {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nonsense",), "No such command 'nonsense'"),
        (("replai",), "Did you mean 'replay'?"),
        (("show",), "Missing argument 'ID'"),
        (("turns", "--limit", "0"), "--limit"),
        (("turns", "--since", "yesterday"), "write how long ago"),
        (("turns", "--since", "1d", "--until", "2d"), "--since must be before --until"),
        (("--store", "ftp://x", "turns"), "has no known scheme"),
        (("turns", "--store", "chdb://relative"), "three slashes"),
        (("diagnose", "nothing"), "There is no diagnostic 'nothing'"),
        (("diagnose", "--format", "csv"), "needs the NAME of one diagnostic"),
        (("sql", "--param", "x", "SELECT 1"), "not NAME=VALUE"),
        (("sql", "SELECT 1 FORMAT JSON"), "say --format"),
        (("sql", "  ;"), "no SQL to run"),
    ],
)
def test_wrong_usage_is_one_message_on_standard_error_and_exit_code_2(
    invoke: Invoke, arguments: tuple[str, ...], said: str
) -> None:
    shown = invoke(*arguments)
    assert shown.exit_code == 2
    assert said in shown.stderr and shown.stdout == ""
    assert "Traceback" not in shown.output


@pytest.mark.parametrize("arguments", READERS)
def test_an_unreachable_server_is_exit_code_3_with_a_remedy(
    invoke: Invoke, arguments: tuple[str, ...]
) -> None:
    shown = invoke("--store", "http://someone:secret@127.0.0.1:9/x", *arguments)
    assert shown.exit_code == 3 and shown.stdout == ""
    assert shown.stderr.count("\n") == 1 and "check that it runs" in shown.stderr
    assert "secret" not in shown.stderr


def test_a_store_in_use_is_exit_code_3_and_names_the_process(
    invoke: Invoke, spawn: Spawn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = f"chdb://{tmp_path}/store"
    # It is waited for half a second, and not for ten.
    monkeypatch.setattr(access, "open_dsn", partial(access.open_dsn, wait=0.5))
    hold = (
        "import sys, time; from turnspan_clickhouse.store.dsn import parse;"
        "from turnspan_clickhouse.store.opening import open_store;"
        f"s = open_store(parse({store!r}))\n"
        "with s.held(): print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", hold], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None and holder.stdout.readline() == "held\n"
        shown = invoke("--store", store, "ship", "--timeout", "0.2")
        assert shown.exit_code == 0  # nothing waits, so nothing is opened
        status = invoke("--store", store, "status")
        assert status.exit_code == 3 and f"in use by process {holder.pid}" in status.stderr
        doctor = invoke("--store", store, "doctor")
        said = " ".join(doctor.stdout.split())
        assert f"process {holder.pid} " in said and "keeps the store" in said
        holder.communicate("")


@pytest.mark.parametrize("arguments", READERS)
def test_a_store_that_is_not_there_is_said_and_not_made(
    invoke: Invoke,
    store_dsn: Dsn,
    clickhouse_server: ClickHouseServer,
    arguments: tuple[str, ...],
) -> None:
    """One sentence and exit code 3; neither a folder nor a database comes into being."""
    shown = invoke("--store", str(store_dsn), *arguments)
    assert shown.exit_code == 3 and shown.stdout == ""
    assert re.fullmatch(r"turnspan: There is no store .*\n", shown.stderr), shown.stderr
    if store_dsn.path is not None:
        assert not store_dsn.path.exists()
    else:
        assert clickhouse_server.run(f"EXISTS DATABASE {store_dsn.database}") == "0\n"


@pytest.mark.parametrize("arguments", READERS)
def test_a_database_without_our_tables_gets_none(
    invoke: Invoke, server_dsn: Dsn, arguments: tuple[str, ...]
) -> None:
    with open_store(server_dsn) as store:
        store.create_database()
        shown = invoke("--store", str(server_dsn), *arguments)
        assert shown.exit_code == 3 and "`turnspan migrate`" in shown.stderr
        assert store.query("SHOW TABLES").rows == []


def test_the_store_may_be_named_before_or_after_the_subcommand_and_the_nearer_wins(
    invoke: Invoke, filled: str
) -> None:
    query = ("sql", "SELECT count() AS n FROM turn_summary", "--format", "csv")
    assert invoke("--store", filled, *query).stdout == "n\n2\n"
    assert invoke(*query, "--store", filled).stdout == "n\n2\n"
    assert invoke("--store", "chdb:///nowhere", *query, "--store", filled).stdout == "n\n2\n"


def test_the_store_may_come_from_the_environment(
    invoke: Invoke, filled: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TURNSPAN_STORE", filled)
    assert "thread-7" in invoke("sessions").stdout


def test_a_reader_that_leaves_early_is_no_error(filled: str) -> None:
    command = [sys.executable, "-c", ENTRY, "--store", filled]
    sql = "SELECT number, repeat('x', 100) FROM numbers(20000)"
    for arguments in (["sql", sql], ["sql", sql, "--format", "csv"], ["replay", "thread-7"]):
        with subprocess.Popen(
            [*command, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None and process.stderr is not None
            process.stdout.readline()
            process.stdout.close()
            assert process.stderr.read() == ""
            assert process.wait(60) == 0


@pytest.mark.release
def test_a_full_pipe_gets_no_colour_and_whole_lines(spawn: Spawn, filled: str) -> None:
    for arguments in (("diagnose",), ("replay", "thread-7"), ("show", "thread-7"), ("turns",)):
        shown = spawn("--store", filled, *arguments)
        assert shown.returncode == 0 and shown.stderr == ""
        assert "\x1b" not in shown.stdout and "…" not in shown.stdout
        assert not re.search(r"[ \t]$", shown.stdout, re.MULTILINE)


def test_without_click_or_rich_one_sentence_says_what_to_install(spawn: Spawn) -> None:
    for name in ("click", "rich"):
        entry = f"import sys; sys.modules[{name!r}] = None; {ENTRY.partition('; ')[2]}"
        shown = spawn("--help", entry=f"import sys; {entry}")
        assert shown.returncode == 2 and shown.stdout == ""
        assert shown.stderr == (
            f"turnspan: the command needs {name}: pip install 'turnspan[console]'\n"
        )


def test_starting_loads_no_engine_and_no_driver(spawn: Spawn) -> None:
    entry = (
        "import sys; from turnspan_console import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'chdb', 'clickhouse_connect', 'numpy', 'pandas', 'opentelemetry', 'openai'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    assert spawn("--help", entry=entry).stdout.splitlines()[-1] == "[]"


@pytest.mark.release
@pytest.mark.with_schema
def test_a_question_loads_the_engine_without_arrow_and_what_needs_arrow_gets_it(
    spawn: Spawn, embedded_dsn: Dsn
) -> None:
    entry = (
        "import sys; from turnspan_console import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "arrow = {'chdb', 'numpy', 'pyarrow'} & set(sys.modules)\n"
        "import pyarrow\n"
        "print(sorted(arrow), pyarrow.array([1]).to_pylist())"
    )
    shown = spawn("turns", "--store", str(embedded_dsn), entry=entry)
    assert shown.stdout.splitlines()[-1] == "['chdb'] [1]"


def test_an_interrupt_is_exit_code_130_without_a_traceback(
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("turnspan_clickhouse.store.dsn.parse", interrupted)
    shown = invoke("turns")
    assert shown.exit_code == 130 and "Traceback" not in shown.output


@pytest.mark.with_schema
@pytest.mark.parametrize(
    ("ends", "limits"), [(signal.SIGINT, []), (signal.SIGKILL, []), (signal.SIGINT, ["--write"])]
)
def test_what_nobody_waits_for_ends_on_the_server(
    clickhouse_server: ClickHouseServer, server_dsn: Dsn, ends: signal.Signals, limits: list[str]
) -> None:
    """After Ctrl-C as when the process is gone; all ways to read send it as what may be ended."""
    query = "SELECT sum(sipHash64(number)) FROM numbers(1000000000000)"
    asked = f"SELECT count() FROM system.processes WHERE current_database = '{server_dsn.database}'"
    with running("--store", str(server_dsn), "sql", query, *limits) as process:
        until(lambda: clickhouse_server.run(asked) == "1\n")
        process.send_signal(ends)
        until(lambda: clickhouse_server.run(asked) == "0\n")
        assert "Traceback" not in process.communicate(timeout=30)[1]


@pytest.mark.with_schema
def test_ctrl_c_ends_what_the_embedded_engine_runs(embedded_dsn: Dsn) -> None:
    """Python hears of it when the engine returns, in hours else."""
    assert embedded_dsn.path is not None
    lock = embedded_dsn.path / "lock"
    query = "SELECT sum(sipHash64(number)) FROM numbers(1000000000000)"
    with running("--store", str(embedded_dsn), "sql", query) as process:
        until(lambda: (found := holder(lock)) is not None and found.pid == process.pid)
        time.sleep(1.0)  # it is opened, asked about its schema, and begins
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=20)[1]
    assert process.returncode == 130
    assert "Traceback" not in said


@pytest.mark.with_schema
def test_ctrl_c_while_the_engine_is_loaded(embedded_dsn: Dsn) -> None:
    """Whenever it comes, it ends the command as anywhere else."""
    assert embedded_dsn.path is not None
    lock = embedded_dsn.path / "lock"
    query = "SELECT sum(sipHash64(number)) FROM numbers(1000000000000)"
    for seconds in (0.05, 0.35):
        with running("--store", str(embedded_dsn), "sql", query) as process:
            until(lambda: (found := holder(lock)) is not None and found.pid == process.pid)
            time.sleep(seconds)
            process.send_signal(signal.SIGINT)
            said = process.communicate(timeout=20)[1]
        assert process.returncode == 130
        assert "Traceback" not in said


@contextlib.contextmanager
def running(*arguments: str) -> Generator[subprocess.Popen[str]]:
    """The command as a process that hears Ctrl-C, also where those who start the tests do not."""
    hears = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    with subprocess.Popen(
        [sys.executable, "-c", hears + ENTRY, *arguments], stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds, for twenty seconds."""
    last = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < last
        time.sleep(0.05)
