"""``configure``, ``flush`` and ``shutdown``: the recorder's life in a process."""

from __future__ import annotations

import atexit
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from opentelemetry import trace

from turnspan import config, metrics
from turnspan.accounts import Accounts, Untold, accounts, dropped
from turnspan.config import ArgumentError, RedactHook, Settings, logger
from turnspan.forks import in_child
from turnspan.guard import errors, guard
from turnspan.program import with_project
from turnspan.unrecorded import watch

if TYPE_CHECKING:
    from opentelemetry._logs import LoggerProvider
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SpanExporter

    from turnspan.bounded import BoundedProcessor
    from turnspan.leaving import Leaving
    from turnspan.pipeline import RecordProcessor


@dataclass(frozen=True, slots=True)
class FlushResult:
    """What a flush achieved."""

    ok: bool
    """Whether all recorded before it is where it was to bring it (see ``flush``), and nothing
    recorded since the last flush that answered was lost, for any reason."""
    remaining: int
    """Spans queued or records spooled that have not landed, also those other processes have spooled
    meanwhile (an embedded store lands them when a reader opens it, so for it only what is not yet
    in the spool counts)."""
    dropped: Mapping[str, int] = field(default_factory=dict[str, int])
    """Spans and records lost so far in this process, by reason."""
    accounts: Accounts = field(default_factory=Accounts)
    """What became of everything: the same figures as the metrics and ``turnspan status``."""

    def __bool__(self) -> bool:
        return self.ok


class Recorder:
    """What ``configure`` set up; one a process."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.provider: TracerProvider | None = None
        self.owns_provider = False
        self.processor: RecordProcessor | None = None
        self.former: RecordProcessor | None = None
        """The one that was shut down: what comes too late is counted there."""
        self.others: list[BoundedProcessor] = []
        self.leaving: Leaving | None = None
        self.untold = Untold(self.lost)

    def lost(self) -> dict[str, int]:
        """All that is lost by now; of other backends the spans that they refused."""
        return {**dropped(), "refused": sum(one.quiet.failed for one in self.others)}


_recorder = Recorder()


def _after_fork() -> None:
    _recorder.lock = threading.RLock()
    _recorder.untold.reset()
    if _recorder.leaving is not None and _recorder.processor is not None:
        _recorder.leaving.forked()


def _child_records() -> None:
    _recorder.untold.reset()
    if _recorder.leaving is not None:
        _recorder.leaving.watch()


in_child(_after_fork)


def configure(
    *,
    service_name: str | None = None,
    project: str | None = None,
    environment: str | None = None,
    store: str | None = None,
    exporters: Sequence[str | SpanExporter] | None = None,
    capture_content: bool | None = None,
    capture_media: bool | None = None,
    content_limit_bytes: int | None = None,
    redact: RedactHook | None = None,
    mask_secrets: bool | None = None,
    classify_intent: bool | None = None,
    emit_events: bool | None = None,
    tracer_provider: trace.TracerProvider | None = None,
    meter_provider: MeterProvider | None = None,
    logger_provider: LoggerProvider | None = None,
    resource_attributes: Mapping[str, Any] | None = None,
    flush_interval: float | None = None,
    queue_size: int | None = None,
    batch_size: int | None = None,
) -> None:
    """Start recording. An argument beats its environment variable, which beats the default.

    Works beside a TracerProvider that the application already has (``tracer_provider``, or the
    global one): records are added to it and its own exporters are left alone. Without one, a
    provider is made from the standard ``OTEL_*`` variables. Ids come from the system's random
    source either way, so ``random.seed`` never makes two alike. Calling it again while recording
    changes the content settings only, and says so in the log when more was asked.

    Args:
        service_name: else OTEL_SERVICE_NAME or OTEL_RESOURCE_ATTRIBUTES, else the program's name.
        project: groups records in the store; the service's name when empty.
        environment: ``deployment.environment.name``.
        store: a DSN, else TURNSPAN_STORE, else the embedded store in the user's data folder.
        exporters: names (``turnspan``, ``otlp``, ``console``, any installed entry point) or
            exporter objects; else OTEL_TRACES_EXPORTER, else ``turnspan`` and, where an OTLP
            endpoint is set, ``otlp``.
        capture_content: False records no content, only tokens, cost, latency and stop reasons.
        capture_media: record the bytes of images and files, not only hash, size and type.
        content_limit_bytes: cut what is longer, by message part, argument and result; 0: never.
        redact: ``redact(text, where) -> text``; sees every text before it is written anywhere.
        mask_secrets: mask secrets of well-known shapes (default True).
        classify_intent: give a turn without an intent one by keywords.
        emit_events: also emit model calls and their exceptions as log events of the conventions.
        tracer_provider: the provider to add to, instead of the global one.
        meter_provider: where metrics go, instead of the global one; none is made here.
        logger_provider: where events go, instead of the global one; none is made here.
        resource_attributes: more attributes of a provider that is made here.
        flush_interval: seconds between two writes to the spool.
        queue_size: finished spans kept in memory at most.
        batch_size: finished spans that trigger a write before the interval is over.

    Whatever the environment says (a variable that is not understood, no home folder, a disk that
    cannot be written) is logged in a line, which ``turnspan doctor`` explains, and stops nothing.

    Raises:
        ValueError: an argument is of the wrong type, no DSN, or names an unknown exporter.
    """
    settings = config.resolve(
        {
            "project": project,
            "capture_content": capture_content,
            "capture_media": capture_media,
            "content_limit_bytes": content_limit_bytes,
            "redact": redact,
            "mask_secrets": mask_secrets,
            "classify_intent": classify_intent,
            "emit_events": emit_events,
            "flush_interval": flush_interval,
            "queue_size": queue_size,
            "batch_size": batch_size,
        }
    )
    with _recorder.lock:
        config.activate(settings)
        if not settings.enabled:
            logger.info("OTEL_SDK_DISABLED is true: Turnspan records nothing.")
            return
        if _recorder.processor is not None or _recorder.others:
            config.activate(with_project(settings, _recorder.provider))
            if store is not None or exporters is not None or tracer_provider is not None:
                logger.warning(
                    "turnspan.configure() was called again: store, exporters and provider stay as "
                    "they are; call turnspan.shutdown() first to change them."
                )
            return
        try:
            from turnspan import backends  # the SDK, which may refuse to be imported

            backends.check(exporters)
            provider, owned = backends.provider_of(
                tracer_provider, service_name, environment, resource_attributes
            )
            _recorder.provider, _recorder.owns_provider = provider, owned
            config.activate(with_project(settings, provider))
            named = backends.chosen(owned) if exporters is None else exporters
            _add_exporters(provider, named, settings, store)
            _recorder.former = None
            _recorder.untold.reset()
            use_tracer_provider(tracer_provider)
            metrics.use_meter_provider(meter_provider)
            if logger_provider is not None or "turnspan.events" in sys.modules:
                from turnspan import events

                events.use_logger_provider(logger_provider)
            _watch_the_end()
            watch.start()
        except ArgumentError:
            raise
        except Exception as error:  # noqa: BLE001  what else the environment may do
            logger.warning(
                "Turnspan cannot be set up and records nothing: %s: %s. See `turnspan doctor`.",
                type(error).__name__,
                error,
            )


def _watch_the_end() -> None:
    from turnspan.leaving import Leaving

    atexit.register(_at_exit)
    if _recorder.leaving is None:
        _recorder.leaving = Leaving(_write_out)
    _recorder.leaving.watch()


def use_tracer_provider(provider: trace.TracerProvider | None) -> None:
    """Have everything of ours record under this provider; ``None`` is the global one."""
    from turnspan import instrumentation, recording
    from turnspan.inference import use_tracer_provider

    recording.use_tracer_provider(provider)
    use_tracer_provider(provider)
    instrumentation.use_tracer_provider(provider)


def _add_exporters(
    provider: TracerProvider,
    exporters: Sequence[str | SpanExporter],
    settings: Settings,
    store: str | None,
) -> None:
    from turnspan import backends
    from turnspan.pipeline import RecordProcessor

    for item in exporters:
        exporter = backends.load(item, store) if isinstance(item, str) and item != "none" else item
        if exporter is None or isinstance(exporter, str):
            continue
        if item == backends.RECORDS or hasattr(exporter, "remaining"):
            processor = RecordProcessor(
                exporter,
                queue_size=settings.queue_size,
                batch_size=settings.batch_size,
                flush_interval=settings.flush_interval,
                child_records=_child_records,
            )
            _recorder.processor = processor
            provider.add_span_processor(processor)
        else:
            from turnspan.bounded import BoundedProcessor

            batch = BoundedProcessor(exporter)
            _recorder.others.append(batch)
            provider.add_span_processor(batch)


def flush(timeout: float = 30.0, *, local: bool = False) -> FlushResult:
    """Land what has been recorded; ``timeout`` in seconds. Never raises.

    For a server store this waits until the rows are in ClickHouse, for the embedded store until
    they are in the spool, durable, for the next reader to load.

    With ``local`` it returns as soon as they are on the local disk, synced, so that a power cut
    does not take them either: no network, milliseconds. It is for processes that are frozen or
    ended without notice; this process goes on shipping, or the next one does, or ``turnspan ship``.
    Of the accounts only ``queued`` and ``dropped`` are counted then.

    ``ok`` says that all recorded before is there now, and that nothing recorded since the last
    flush (of either kind, whatever that one answered) was lost: dropped, also in the background and
    before this was called, for any of ``turnspan.accounts.REASONS``; refused by the store for good;
    or refused by another backend that spans go to. A loss is told of once; ``dropped`` counts all.
    """
    if local:
        return _flush_local(timeout)
    untold, deadline = _recorder.untold.told(), time.monotonic() + timeout
    ok, remaining, told = True, 0, Accounts()
    processor = _recorder.processor
    try:
        if processor is not None:
            ok = processor.force_flush(int(timeout * 1000))
            remaining = processor.remaining()
        for other in _recorder.others:
            left = max(0, int((deadline - time.monotonic()) * 1000))
            ok = bool(other.force_flush(left)) and ok
    except Exception as error:  # noqa: BLE001  never raises into the application
        errors.record("flush", error)
        ok = False
    kept = False
    with guard("flush.accounts"):
        told = accounts()
        kept = _recorder.untold.nothing_since(untold)
    ok = ok and kept
    return FlushResult(ok, remaining, dict(told.dropped), told)


def _flush_local(timeout: float) -> FlushResult:
    processor, ok, queued = _recorder.processor, True, 0
    untold = _recorder.untold.told()
    try:
        if processor is not None:
            ok = processor.write_down(timeout)
            queued = processor.queued()
    except Exception as error:  # noqa: BLE001  never raises into the application
        errors.record("flush", error)
        ok = False
    told = Accounts(queued, dropped=dropped())
    ok = _recorder.untold.nothing_since(untold) and ok
    return FlushResult(ok, queued, told.dropped, told)


def shutdown(timeout: float = 30.0) -> FlushResult:
    """Flush, then stop recording; ``configure`` starts anew. What is recorded meanwhile counts."""
    for other in _recorder.others:
        other.leaving()
    result = flush(timeout)
    with _recorder.lock:
        untold = _recorder.untold.told()
        for processor in (_recorder.processor, *_recorder.others):
            if processor is None:
                continue
            try:
                processor.shutdown()
            except Exception as error:  # noqa: BLE001  never raises into the application
                errors.record("shutdown", error)
        if not _recorder.untold.nothing_since(untold):
            result = replace(result, ok=False, dropped=dropped())
        _recorder.former = _recorder.processor or _recorder.former
        _recorder.processor = None
        _recorder.others = []
        atexit.unregister(_at_exit)
        if _recorder.leaving is not None:
            _recorder.leaving.forget()
        watch.end()
    return result


def _at_exit() -> None:
    # Runs before the SDK's own exit handler (last registered first): the spool is local and fast.
    processor = _recorder.processor
    if processor is not None:
        try:
            landed = processor.leave()
            if not landed or processor.dropped():
                logger.warning("Turnspan has not landed everything: %s.", accounts())
            farewell = getattr(processor.exporter, "farewell", str)()
            if farewell:
                print(farewell, file=sys.stderr)
        except Exception as error:  # noqa: BLE001  the interpreter is leaving
            errors.record("exit", error)
    watch.end()


def _write_out() -> None:
    """Before the process is gone without an exit: to the spool, and out to other backends."""
    from turnspan.leaving import PATIENCE

    processor = _recorder.processor
    try:
        if processor is not None:
            processor.write_out(PATIENCE)
        for other in _recorder.others:
            other.force_flush(int(min(other.leaving(), PATIENCE) * 1000))
    except Exception as error:  # noqa: BLE001  the process is leaving
        errors.record("exit", error)


def processor() -> RecordProcessor | None:
    """The processor that lands records, while recording (for status and tests)."""
    return _recorder.processor


def last_processor() -> RecordProcessor | None:
    """The same, or after ``shutdown`` the one that landed them."""
    return _recorder.processor or _recorder.former
