"""``flush().ok``: nothing recorded since the last flush was lost, whatever it was lost by."""

from __future__ import annotations

import ast
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

import turnspan
from land.spooling import calls, largest_file
from support.shared import REPOSITORY
from turnspan import lifecycle
from turnspan.metrics import sink
from turnspan.pipeline.record_exporter import RecordExporter
from turnspan.runtime import stats
from turnspan.tracing import context_blocks
from turnspan.tracing.consortium_facts import IterationFollowed
from turnspan.tracing.content_store import LIMITS, ContextFact, Judgment, StartedTurn, ToolContent
from turnspan.tracing.loop_facts import ArtifactMade
from turnspan.tracing.state import default
from turnspan_clickhouse.receive.decoded import Decoded
from turnspan_clickhouse.receive.receiver import Receiver
from turnspan_clickhouse.rows.native_encoder import encode_block
from turnspan_clickhouse.rows.tables import LlmCall
from turnspan_clickhouse.ship import unwritten
from turnspan_clickhouse.ship.shipper import ship
from turnspan_clickhouse.spool.spool import Spool, SpoolWriter
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.migrations import SCHEMA_VERSION, migrate
from turnspan_clickhouse.store.opening import open_store

PAGE = REPOSITORY / "docs" / "reference" / "metrics.md"
OF_RECEIVERS = {"receive_failed", "events_without_span"}
OF_ITS_OWN_PROCESS = {"not_configured"}
"""Its cases are in emit/test_not_configured.py: nothing may be configured there."""


class Unspeakable:
    """What raises when it is to be shown."""

    def __str__(self) -> str:
        raise RuntimeError("no text")

    __repr__ = __str__


class Broken(RecordExporter):
    """A records' exporter with a bug."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        raise RuntimeError("a bug")

    def remaining(self) -> int:
        return 0

    def sync(self) -> bool:
        return True


class Case:
    """An application that records to an embedded store, in trouble."""

    def __init__(self, dsn: Dsn, patch: pytest.MonkeyPatch, trouble: ExitStack) -> None:
        self.dsn, self.patch, self.trouble = dsn, patch, trouble

    def configure(self, **options: Any) -> None:
        """Start anew, with a worker that exports by itself all the time."""
        turnspan.shutdown()
        given: dict[str, Any] = {
            "store": str(self.dsn),
            "exporters": ["turnspan"],
            "flush_interval": 0.02,
        }
        turnspan.configure(tracer_provider=TracerProvider(), **{**given, **options})

    def enter(self, trouble: AbstractContextManager[Any]) -> None:
        """Trouble that lasts until the losses have been counted."""
        self.trouble.enter_context(trouble)

    def tools(self, count: int = 1) -> None:
        """Record so many tool calls."""
        for _ in range(count):
            with turnspan.tool("t", arguments={"a": 1}):
                pass


def queue_full(case: Case) -> None:
    case.configure(queue_size=1, batch_size=1)
    case.tools(3_000)


def after_shutdown(case: Case) -> None:
    with turnspan.tool("late"):
        turnspan.shutdown()


def export_failed(case: Case) -> None:
    case.configure(store=None, exporters=[Broken()])
    case.tools()


def normalise_failed(_: Case) -> None:
    unspeakable: Any = Unspeakable()
    default.content.tell(Judgment({}, "turn", "1", comment=unspeakable))


def encode_failed(_: Case) -> None:
    unspeakable: Any = Unspeakable()
    default.content.tell(Judgment({}, "turn", unspeakable))


def spool_failed(case: Case) -> None:
    case.patch.setattr(unwritten, "ROOM_BYTES", 0)
    case.enter(largest_file(100))
    case.tools()


def spool_full(case: Case) -> None:
    case.tools()
    assert turnspan.flush().ok
    running = lifecycle.default_recorder.processor
    assert running is not None
    spool: Spool = vars(running.exporter)["_spool"]
    spool.limit_bytes = sum(segment.size for segment in spool.segments()) + 10
    case.tools()


def ledger_full(case: Case) -> None:
    case.patch.setattr(default.content, "_max_entries", 0)
    case.tools()


def ledger_expired(case: Case) -> None:
    case.patch.setattr(default.content, "_max_age", -1.0)
    default.content.put(1, 2, ToolContent())


def turns_full(case: Case) -> None:
    case.patch.setitem(LIMITS, StartedTurn, (0, "turns_full"))
    with turnspan.agent("a"):
        pass


def judgments_full(case: Case) -> None:
    case.patch.setitem(LIMITS, Judgment, (0, "judgments_full"))
    default.content.tell(Judgment({}, "turn", "1"))


def contexts_full(case: Case) -> None:
    case.patch.setitem(LIMITS, ContextFact, (0, "contexts_full"))
    with turnspan.context_assembly():
        pass


def context_items_full(case: Case) -> None:
    case.patch.setattr(context_blocks, "MAX_NOTES", 0)
    with turnspan.context_assembly() as context:
        context.consider("page")


def loop_full(case: Case) -> None:
    case.patch.setitem(LIMITS, ArtifactMade, (0, "loop_full"))
    turnspan.artifact("page", "text")


def consortia_full(case: Case) -> None:
    case.patch.setitem(LIMITS, IterationFollowed, (0, "consortia_full"))
    default.content.tell(IterationFollowed("1"))


def metrics_full(case: Case) -> None:
    case.configure(meter_provider=MeterProvider([InMemoryMetricReader()]))
    case.patch.setattr(sink, "GATHER", 0)
    case.patch.setattr(sink, "LIMIT", 0)
    case.tools(3)


def internal_error(case: Case) -> None:
    unspeakable: Any = Unspeakable()
    with turnspan.session(unspeakable):
        case.tools()


CASES: dict[str, Callable[[Case], None]] = {
    made.__name__: made
    for made in (
        *(queue_full, after_shutdown, export_failed, normalise_failed, encode_failed),
        *(spool_failed, spool_full, ledger_full, ledger_expired, turns_full, judgments_full),
        *(
            contexts_full,
            context_items_full,
            loop_full,
            consortia_full,
            metrics_full,
            internal_error,
        ),
    )
}


@pytest.fixture
def case(embedded_dsn: Dsn, monkeypatch: pytest.MonkeyPatch) -> Iterator[Case]:
    """Recording to an embedded store until the test ends."""
    with ExitStack() as trouble:
        made = Case(embedded_dsn, monkeypatch, trouble)
        made.configure()
        assert turnspan.flush().ok
        yield made
    turnspan.shutdown()
    default.metrics.use(None)
    default.content.dropped.clear()
    default.metrics.dropped = 0


def lost(reason: str) -> int:
    """What this process has lost by a reason."""
    return sum(n for name, n in default.stats.dropped().items() if name.partition(":")[0] == reason)


@pytest.mark.tests_internal_errors
@pytest.mark.parametrize("local", [False, True], ids=["landed", "local"])
@pytest.mark.parametrize("reason", CASES)
def test_a_loss_before_a_flush_is_told_by_it(reason: str, local: bool, case: Case) -> None:
    """Also one that the worker had to do with long before, in the background; and once."""
    before = lost(reason)
    CASES[reason](case)
    patience = time.monotonic() + 60
    while lost(reason) <= before:
        assert time.monotonic() < patience, default.stats.dropped()
        time.sleep(0.01)
    case.trouble.close()
    told = turnspan.flush(local=local)
    assert not told.ok
    assert sum(n for name, n in told.dropped.items() if name.partition(":")[0] == reason) > before
    if reason not in ("export_failed", "after_shutdown"):  # nothing recorded, nothing lost
        assert turnspan.flush(local=not local).ok


def test_every_reason_has_its_case_and_its_place_on_the_page() -> None:
    """A new one makes this fail until it has both."""
    assert set(stats.REASONS) == set(CASES) | OF_RECEIVERS | OF_ITS_OWN_PROCESS
    page = PAGE.read_text("utf-8")
    for reason in stats.REASONS:
        assert f"\n| `{reason}` |" in page, reason


def test_every_reason_in_the_code_is_listed() -> None:
    """All that is counted as dropped, anywhere."""
    found: set[str] = set()
    for root in ("instrument", "exporter"):
        for path in (REPOSITORY / root).rglob("*.py"):
            found |= set(_reasons(path))
    assert {reason.partition(":")[0] for reason in found} == set(stats.REASONS)


def _reasons(path: Path) -> Iterator[str]:
    """The keys that counters of what was dropped are given, and what ``_drop_oldest`` is told."""
    text = path.read_text("utf-8")
    if re.search(r"dropped|_drop_oldest|LIMITS|counts", text) is None:
        return
    for node in ast.walk(ast.parse(text)):
        key: ast.expr | None = None
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            counter = node.value
            name = counter.attr if isinstance(counter, ast.Attribute) else ""
            name = counter.id if isinstance(counter, ast.Name) else name
            counts = path.name == "receiver_stats.py" and name == "counts"
            key = node.slice if name.endswith("dropped") or counts else None
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("_drop_oldest"):
            key = node.args[0] if node.args else None
        elif isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "LIMITS":
            told = node.value.values if isinstance(node.value, ast.Dict) else []
            yield from (str(ast.literal_eval(limit)[1]) for limit in told)
        elif isinstance(node, ast.FunctionDef) and node.name == "_dropped":
            made = [each for each in ast.walk(node) if isinstance(each, ast.Dict)]
            yield from (str(k.value) for d in made for k in d.keys if isinstance(k, ast.Constant))
        if isinstance(key, ast.JoinedStr):
            key = key.values[0]
        if isinstance(key, ast.Constant):
            yield str(key.value)


def test_a_flush_at_once_with_another_tells_of_the_loss_too(case: Case) -> None:
    """It is news to both, whichever ends first."""
    untold = stats.Untold(default.stats.dropped)
    first, second = untold.reported(), untold.reported()
    case.patch.setitem(LIMITS, Judgment, (0, "judgments_full"))
    default.content.tell(Judgment({}, "turn", "1"))
    assert not untold.nothing_since(first)
    assert not untold.nothing_since(second)
    assert untold.nothing_since(untold.reported())
    assert not turnspan.flush().ok


class Backend(SpanExporter):
    """Another backend, that refuses what it is given for a while."""

    refuses = True

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        return SpanExportResult.FAILURE if self.refuses else SpanExportResult.SUCCESS


def test_what_another_backend_refused_before_the_newest_export(case: Case) -> None:
    """That the newest export went well says nothing of those before."""
    backend = Backend()
    case.configure(exporters=["turnspan", backend])
    case.tools()
    (other,) = vars(lifecycle.default_recorder)["_outlets"].others
    other.force_flush()
    backend.refuses = False
    case.tools()
    other.force_flush()
    assert not turnspan.flush().ok
    assert turnspan.flush().ok


@pytest.mark.parametrize("local", [False, True], ids=["landed", "local"])
def test_what_the_store_refused_before_the_flush(server_dsn: Dsn, local: bool) -> None:
    """Set aside by the shipper, of this process or another one, long before: it has not landed."""
    with open_store(server_dsn) as store:
        migrate(store)
    turnspan.configure(store=str(server_dsn), flush_interval=0.02)
    try:
        with turnspan.tool("t"):
            pass
        assert turnspan.flush().ok
        writer = SpoolWriter(Spool(server_dsn.spool))
        writer.write("llm_call", SCHEMA_VERSION, encode_block(LlmCall, calls(0, 3))[:-9])
        assert ship(server_dsn).rejected == 1
        assert not turnspan.flush(local=local).ok
        assert turnspan.flush().ok
        writer.close()
    finally:
        turnspan.shutdown()


def test_what_another_process_gave_up_to_make_room(case: Case) -> None:
    """Its account has the rows; the flush of the process that recorded them says that they are
    gone."""
    case.tools(5)
    assert turnspan.flush().ok
    spool = Spool(case.dsn.spool)
    spool.limit_bytes = sum(segment.size for segment in spool.segments())
    other = SpoolWriter(spool)
    with case.patch.context() as elsewhere:
        elsewhere.setattr("socket.gethostname", lambda: "elsewhere")
        other.write("llm_call", SCHEMA_VERSION, encode_block(LlmCall, calls(0, 3)))
    assert spool.dropped.total() > 0
    assert not turnspan.flush().ok
    assert turnspan.flush().ok
    other.close()


@pytest.mark.tests_internal_errors
def test_what_a_receiver_could_not_land(embedded_dsn: Dsn) -> None:
    """Its sender is told, and so is everybody who asks."""
    receiver = Receiver(embedded_dsn)
    receiver.start()
    strange: Any = object()
    answer = receiver.submit(Decoded([strange, strange], events=[strange]))
    with pytest.raises(AttributeError):
        answer.result(10)
    receiver.writer.write("llm_call", SCHEMA_VERSION, encode_block(LlmCall, calls(0, 1)))
    receiver.stop()
    assert receiver.spool.usage().dropped == {"receive_failed": 2}
