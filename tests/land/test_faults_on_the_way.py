"""Faults between the shipper and a real server: everything lands once when they are over."""

from __future__ import annotations

import dataclasses
import itertools
import json
import random
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from land.trial import ROWS, Trial
from support.clickhouse_server import ClickHouseServer, start_server
from support.faulty_proxy import Fault, FaultyProxy, faulty_proxy
from support.kept_stores import KeptStores
from support.representatives import few
from turnspan_clickhouse.errors import StoreUnavailableError
from turnspan_clickhouse.ship.background import BackgroundShipper
from turnspan_clickhouse.store import opening
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.migrations import migrate
from turnspan_clickhouse.store.opening import open_store
from turnspan_clickhouse.store.read_only import ReadOnlyStore
from turnspan_console.cli import turnspan as cli
from turnspan_records.access.spooled import refused, restore_refused

SEGMENTS = 20


@pytest.fixture
def proxy(clickhouse_server: ClickHouseServer) -> Iterator[FaultyProxy]:
    """A proxy before the test server."""
    with faulty_proxy(clickhouse_server.http_port) as made:
        yield made


@pytest.fixture
def trial(
    kept_stores: KeptStores, proxy: FaultyProxy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Trial]:
    """An empty store that the shipper reaches through the proxy."""
    monkeypatch.setenv("TURNSPAN_SPOOL", str(tmp_path / "spool"))
    with kept_stores.lend("server") as store:
        yield Trial(store.dsn, dataclasses.replace(store.dsn, port=proxy.port))


# What the proxy does, what the shipper says of it, and whether the rows are there nevertheless.
FAULTS = {
    Fault.RESET_BEFORE_BODY: ("does not answer", False),
    Fault.RESET_IN_BODY: ("does not answer", False),
    Fault.LOST_RESPONSE: ("does not answer", True),
    Fault.CUT_RESPONSE: ("does not answer", True),
    Fault.GARBLED_RESPONSE: ("does not answer", True),
    Fault.GARBLED_BODY: ("", False),
    Fault.LATE: ("does not answer", True),
    Fault.HALF_HEAD: ("is not ClickHouse", True),
    Fault.EXCEPTION_IN_HEADER: ("memory limit", False),
    Fault.EXCEPTION_IN_BODY: ("memory limit", False),
    Fault.EXCEPTION_LATE: ("memory limit", False),
    Fault.EXCEPTION_UNNAMED: ("failed without a reason", False),
    Fault.STRANGE_BODY: ("something that ClickHouse does not say", False),
    Fault.NO_SUMMARY: ("is not ClickHouse", False),
    Fault.BODY_LOST: ("wrote none of its rows", False),
    Fault.STATUS_200: ("is not ClickHouse", False),
    Fault.STATUS_201: ("says HTTP 201", False),
    Fault.STATUS_202: ("says HTTP 202", False),
    Fault.STATUS_204: ("says HTTP 204", False),
    Fault.STATUS_206: ("says HTTP 206", False),
    Fault.STATUS_301: ("redirects to another path (HTTP 301)", False),
    Fault.STATUS_302: ("redirects to another path (HTTP 302)", False),
    Fault.STATUS_303: ("redirects to another path (HTTP 303)", False),
    Fault.STATUS_307: ("redirects to another path (HTTP 307)", False),
    Fault.STATUS_308: ("redirects to another path (HTTP 308)", False),
    Fault.STATUS_401: ("does not answer", False),
    Fault.STATUS_403: ("does not answer", False),
    Fault.STATUS_500: ("does not answer", False),
    Fault.STATUS_502: ("does not answer", False),
    Fault.STATUS_503: ("does not answer", False),
    Fault.STATUS_504: ("does not answer", False),
}


OFTEN = (Fault.STATUS_200, Fault.STATUS_302, Fault.STATUS_401, Fault.STATUS_503)
"""The statuses that `make test` takes, beside every other fault."""
SOME = [one for one in FAULTS if one in OFTEN or not one.name.startswith("STATUS_")]


@pytest.mark.parametrize(
    "fault", few(FAULTS, SOME), ids=lambda fault: fault.value.replace(" ", "-")
)
def test_a_fault_on_the_way(
    fault: Fault, trial: Trial, proxy: FaultyProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two passes fail, more is written in between; the third one lands everything, once."""
    said, lands = FAULTS[fault]
    if fault is Fault.LATE:
        monkeypatch.setattr(opening, "_ANSWER_SECONDS", 1)
        proxy.late = 1.5
    trial.emit(SEGMENTS)
    proxy.fault = fault
    for _ in range(2):
        result = trial.ship()
        assert (result.shipped_segments, result.rejected) == (0, 0)
        assert result.remaining >= SEGMENTS
        assert said in result.errors[0]
        assert "\n" not in result.errors[0]
        trial.emit(1)
    if fault is Fault.LATE:
        time.sleep(proxy.late)
    assert (trial.figures().landed > 0) is lands
    proxy.fault = None
    assert trial.ship().ok
    trial.accounted(fault.value)


@pytest.mark.parametrize(
    "fault", [f for f in Fault if f.value.startswith("30")], ids=lambda fault: fault.value
)
def test_no_redirect_is_followed(fault: Fault, trial: Trial, proxy: FaultyProxy) -> None:
    """Neither records nor the password go where somebody else says; who that is, is said, without
    what the address holds beside it."""
    with socket.create_server(("127.0.0.1", 0)) as elsewhere:
        port = elsewhere.getsockname()[1]
        proxy.location = f"http://mallory:hunter2@127.0.0.1:{port}/x?password=hunter2\x1b[31m"
        proxy.fault = fault
        trial.emit(1)
        (error,) = trial.ship().errors
        assert f"redirects to http://127.0.0.1:{port} (HTTP {fault.value})" in error
        assert "hunter2" not in error
        elsewhere.settimeout(0.2)
        with pytest.raises(TimeoutError):
            elsewhere.accept()
    proxy.fault = None
    assert trial.ship().ok


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (Fault.STATUS_307, "redirects to http://other.example:8443 (HTTP 307)"),
        (Fault.STATUS_202, "says HTTP 202"),
        (Fault.STRANGE_BODY, "something that ClickHouse does not say"),
        (Fault.STATUS_413, "HTTP 413"),
    ],
    ids=["redirect", "202", "page", "413"],
)
def test_the_doctor_tries_the_way_of_an_insert(
    fault: Fault, said: str, trial: Trial, proxy: FaultyProxy
) -> None:
    """Questions come through and inserts do not: the check of the store says what is between."""
    proxy.location = "http://u:hunter2@other.example:8443/x"
    for wanted, proxy.fault in (("ok", None), ("fail", fault), ("ok", None)):
        done = CliRunner().invoke(cli, ["doctor", "--format", "json", "--store", str(trial.way)])
        (found,) = [
            c for c in json.loads(done.stdout) if (c["area"], c["name"]) == ("store", "insert")
        ]
        assert found["level"] == wanted, found
        assert wanted == "ok" or said in found["remedy"]
        assert "hunter2" not in done.output
    assert trial.figures().landed == 0


def test_answers_whose_rows_are_missing(
    trial: Trial, proxy: FaultyProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server whose disk is full says 200 to a read and leaves its rows out."""
    way = trial.way
    with open_store(way) as store, ReadOnlyStore(store, {}) as reader:
        proxy.answers_lost = True
        for sql in ("SELECT count() FROM turn_summary", "SHOW DATABASES"):
            with pytest.raises(StoreUnavailableError, match="its disk is full"):
                store.query(sql)
            with pytest.raises(StoreUnavailableError, match="its disk is full"):
                reader.query(sql)
            with pytest.raises(StoreUnavailableError, match="its disk is full"):
                reader.text(sql)
        assert store.query("SELECT 1 WHERE 0").rows == []
    trial.emit(SEGMENTS)
    monkeypatch.setenv("TURNSPAN_STORE", f"http://127.0.0.1:{proxy.port}/{way.database}")
    assert CliRunner().invoke(cli, ["sql", "SELECT count() FROM span"]).exit_code != 0
    assert not trial.ship().ok
    proxy.answers_lost = False
    assert trial.ship().ok


def test_a_refused_connection(trial: Trial, proxy: FaultyProxy) -> None:
    """Nobody listens; then somebody does, at the same address."""
    trial.emit(SEGMENTS)
    proxy.close()
    for _ in range(2):
        result = trial.ship()
        assert (result.shipped_segments, result.rejected) == (0, 0)
        assert "does not answer (Connection refused)" in result.errors[0]
        trial.emit(1)
    proxy.open()
    assert trial.ship().inserts == 1
    trial.accounted("connection refused")


def test_a_slow_line(trial: Trial, proxy: FaultyProxy) -> None:
    """An insert that takes ten times as long as others is one insert."""
    trial.emit(SEGMENTS)
    proxy.fault = Fault.SLOW
    result = trial.ship()
    assert (result.ok, result.inserts) == (True, 1)
    trial.accounted("a slow line")


def test_a_proxy_with_a_limit(trial: Trial, proxy: FaultyProxy) -> None:
    """413: a group is sent in pieces that fit, a segment row by row. A row that fits nowhere is set
    aside with what to do about it, and lands when that was done."""
    trial.emit(SEGMENTS)
    trial.emit(1, text=random.Random(7).randbytes(20_000).hex())
    trial.emit(SEGMENTS)
    proxy.fault, proxy.largest = Fault.STATUS_413, 4_000
    result = trial.ship()
    assert (result.shipped_segments, result.rejected, result.errors) == (2 * SEGMENTS, ROWS, [])
    assert result.inserts < SEGMENTS
    for one in refused(trial.spool):
        assert "HTTP 413" in one.reason
        assert "raise its limit" in one.reason
    assert trial.figures().refused == ROWS
    proxy.largest = 1_000_000
    assert restore_refused(trial.spool) == ROWS
    assert trial.ship().ok
    trial.accounted("413 from a proxy that limits a body")


def test_shippers_at_once_while_answers_are_lost(trial: Trial, proxy: FaultyProxy) -> None:
    """Three ship, one writes, and of three inserts one is cut and the answer to another is lost:
    what one shipper leaves unclear the next one repeats."""
    faults = itertools.cycle([None, Fault.LOST_RESPONSE, Fault.RESET_IN_BODY])
    proxy.choose = lambda: next(faults)
    written = threading.Event()

    def shipping() -> None:
        while not written.is_set():
            trial.ship()

    threads = [threading.Thread(target=shipping) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(40):
        trial.emit(5)
        time.sleep(0.02)
    written.set()
    for thread in threads:
        thread.join()
    proxy.choose = lambda: None
    assert trial.ship().ok
    trial.accounted("three shippers at once, two inserts of three disturbed")


@pytest.mark.release
def test_a_server_killed_under_load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """kill -9 while rows come, a second away, up again: the application's own shipper goes on by
    itself."""
    monkeypatch.setenv("TURNSPAN_SPOOL", str(tmp_path / "spool"))
    server = start_server(tmp_path / "server")
    try:
        trial = Trial(server.dsn("load"))
        with open_store(trial.store) as store:
            migrate(store)
        background = BackgroundShipper(trial.store, trial.spool, spacing=0.05, patience=0.2)
        background.start()
        events = {100: server.kill, 200: server.start}
        for number in range(300):
            events.get(number, lambda: None)()
            trial.emit(1)
            background.wake()
            time.sleep(0.005)
        assert background.stop(timeout=30)
        trial.accounted("server killed under load, then up")
    finally:
        server.kill()


_SHIPPER = """
import sys, time
from turnspan_clickhouse.store.dsn import parse
from turnspan_clickhouse.ship.shipper import Shipper
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.opening import open_store
dsn = parse(sys.argv[1])
from contextlib import nullcontext
with open_store(dsn) as store:
    print("up", flush=True)
    while True:
        Shipper(lambda: nullcontext(store), Spool(dsn.spool)).run()
        time.sleep(0.002)
"""


@pytest.mark.release
def test_shippers_killed_at_random_moments(server_dsn: Dsn) -> None:
    """kill -9 between a group's list, its insert, its count and the deletion of its files, while
    more is written: each row lands once and is counted once."""
    with open_store(server_dsn) as store:
        migrate(store)
    trial = Trial(server_dsn)
    moments, stop = random.Random(11), threading.Event()

    def writing() -> None:
        while not stop.wait(0.005):
            trial.emit(3)

    writer = threading.Thread(target=writing)
    writer.start()
    for number in range(12):
        with subprocess.Popen(
            [sys.executable, "-c", _SHIPPER, str(server_dsn)], stdout=subprocess.PIPE
        ) as shipper:
            assert shipper.stdout is not None
            shipper.stdout.readline()
            time.sleep(moments.uniform(0.0, 0.5 * number))  # later ones have landed something
            shipper.kill()
    stop.set()
    writer.join()
    assert trial.figures().landed > 0  # by those that were killed
    assert trial.ship().ok
    found = trial.figures()
    assert (found.landed, found.duplicated, found.dropped) == (trial.emitted, 0, 0)
    assert trial.spool.usage().shipped == {"llm_call": trial.emitted}
