"""What is refused for its size is halved; what is too large alone keeps nobody waiting."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterator

import pytest

from land.trial import ROWS, Trial
from support.clickhouse_server import ClickHouseServer
from support.faulty_proxy import Fault, FaultyProxy, faulty_proxy
from turnspan_clickhouse.errors import QueryError
from turnspan_clickhouse.ship import landing
from turnspan_clickhouse.ship.retry_policy import BAD_DATA, NOT_NOW, by_size, is_final, is_retryable
from turnspan_clickhouse.spool.insert_groups import pending
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_records.access.spooled import refused, restore_refused

pytestmark = pytest.mark.with_schema


@pytest.fixture
def proxy(clickhouse_server: ClickHouseServer) -> Iterator[FaultyProxy]:
    """A proxy before the test server."""
    with faulty_proxy(clickhouse_server.http_port) as made:
        yield made


@pytest.fixture
def trial(server_dsn: Dsn, proxy: FaultyProxy) -> Trial:
    """A migrated store that the shipper reaches through the proxy."""
    return Trial(server_dsn, dataclasses.replace(server_dsn, port=proxy.port))


def noise(size: int) -> str:
    """A text that no compression makes smaller than half."""
    return random.Random(size).randbytes(size // 2).hex()


def test_a_backlog_that_is_too_large_for_the_memory(server_dsn: Dsn) -> None:
    """After an outage one insert would be of all that waits: it lands in pieces that fit, in one
    pass, and once."""
    trial = Trial(server_dsn, dataclasses.replace(server_dsn, user="tight"))
    for number in range(40):
        trial.emit(1, text=noise(100_000 + 2 * number))
    result = trial.ship()
    assert (result.errors, result.rejected, result.remaining) == ([], 0, 0)
    assert 1 < result.inserts < 40
    found = trial.figures()
    assert (found.landed, found.duplicated) == (40 * ROWS, 0)


REFUSES = {
    Fault.EXCEPTION_IN_HEADER: "memory limit",
    Fault.EXCEPTION_IN_BODY: "memory limit",
    Fault.STATUS_413: "HTTP 413",
}


@pytest.mark.parametrize("fault", REFUSES, ids=lambda fault: fault.value.replace(" ", "-"))
def test_whatever_says_that_it_is_too_large(fault: Fault, trial: Trial, proxy: FaultyProxy) -> None:
    """The server or a proxy: groups are halved, then a segment's rows."""
    trial.emit(30)
    trial.emit(1, text=noise(6_000))
    proxy.fault, proxy.largest = fault, 9_000
    result = trial.ship()
    assert (result.errors, result.rejected, result.remaining) == ([], 0, 0)
    assert trial.figures().landed == 31 * ROWS
    assert trial.figures().duplicated == 0


def test_a_server_without_any_memory_is_not_asked_for_every_segment(
    trial: Trial, proxy: FaultyProxy
) -> None:
    """That even single small ones are refused says that it is not their size: nothing is set aside,
    and the pass ends soon."""
    trial.emit(200)
    asked = 0

    def refuse() -> Fault:
        nonlocal asked
        asked += 1
        return Fault.EXCEPTION_IN_HEADER

    proxy.choose = refuse
    result = trial.ship()
    assert (result.shipped_segments, result.rejected) == (0, 0)
    assert "memory limit" in result.errors[0]
    assert asked < 25
    proxy.choose = lambda: None
    assert trial.ship().ok
    found = trial.figures()
    assert (found.landed, found.duplicated) == (400, 0)


@pytest.mark.parametrize("fault", [Fault.STATUS_504, Fault.RESET_BEFORE_BODY], ids=["504", "reset"])
def test_what_is_never_answered_in_time_is_halved(
    fault: Fault, trial: Trial, proxy: FaultyProxy
) -> None:
    """Not at once: the answer may only have been lost, and the same insert again is what adds
    nothing twice. How often it was tried is on disk, so that short-lived processes learn it too."""
    for number in range(8):
        trial.emit(1, text=noise(4_000 + 2 * number))
    proxy.fault, proxy.largest = fault, 9_000
    passes = 0
    while trial.spool.names():
        result = trial.ship()
        passes += 1
        assert passes < 40
        if passes <= landing.TRIES:
            (group,) = pending(trial.spool.folder, trial.spool.segments())
            assert (group.tries, result.shipped_segments) == (passes, 0)
    assert passes > landing.TRIES
    found = trial.figures()
    assert (found.landed, found.duplicated) == (16, 0)


def test_a_refused_connection_says_nothing_of_the_size(trial: Trial, proxy: FaultyProxy) -> None:
    """However often nobody listens: it is one insert when somebody does."""
    trial.emit(8)
    proxy.close()
    for _ in range(landing.TRIES + 2):
        assert "does not answer" in trial.ship().errors[0]
    proxy.open()
    assert trial.ship().inserts == 1


def test_what_no_memory_suffices_for_is_set_aside_in_the_end(
    trial: Trial, proxy: FaultyProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When others land and it has been refused for long; with what to do, after which it lands."""
    trial.emit(1, text=noise(400_000))
    trial.emit(5)
    proxy.fault, proxy.largest = Fault.EXCEPTION_IN_HEADER, 100_000
    first = trial.ship()
    assert (first.shipped_segments, first.rejected, first.remaining) == (5, 0, ROWS)
    monkeypatch.setattr(landing, "_OVERSIZE_SECONDS", 0.0)
    alone = trial.ship()
    assert (alone.rejected, alone.remaining) == (0, ROWS)  # who knows what the server has
    trial.emit(1)
    last = trial.ship()
    assert (last.shipped_segments, last.rejected, last.errors) == (1, ROWS, [])
    assert all("max_memory_usage" in one.reason for one in refused(trial.spool))
    proxy.fault = None
    assert restore_refused(trial.spool) == ROWS
    assert trial.ship().ok
    found = trial.figures()
    assert (found.landed, found.duplicated) == (7 * ROWS, 0)


def test_what_each_code_means() -> None:
    """No code is both for ever and for now; all that speak of memory and time are of a size."""
    assert not BAD_DATA & NOT_NOW
    for code in (158, 159, 160, 173, 209, 241, 307, 396):
        assert by_size(QueryError("", code))
    for text in ("std::bad_alloc", "Memory limit exceeded", "Too large string", "body too large"):
        assert by_size(QueryError(text, 1001))
    for code in (3, 164, 202, 242, 243, 319, 497):
        error = QueryError("not now", code)
        assert is_retryable(error)
        assert not by_size(error)
        assert not is_final(error)
