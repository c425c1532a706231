"""``configure``, ``flush`` and ``shutdown``: the recorder's life in a process."""

from __future__ import annotations

import functools
import importlib
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from opentelemetry import context as otel_context
from opentelemetry import trace

from turnspan import config, decorators
from turnspan.annotations import annotate, evaluation, prefer, rank, withdraw
from turnspan.config import RedactHook, Settings, ToolRule, logger
from turnspan.inference import inference
from turnspan.pipeline.open_recorders import OpenRecorders
from turnspan.pipeline.outlets import Outlets
from turnspan.pipeline.program import with_project
from turnspan.runtime.errors import ConfigError
from turnspan.runtime.guard import guard
from turnspan.runtime.stats import FlushResult, PipelineStats, Untold
from turnspan.sessions import session
from turnspan.tracing.context_blocks import context_assembly
from turnspan.tracing.limited_calls import CallLimits
from turnspan.tracing.otel_fast import unconfigured
from turnspan.tracing.recording import detach
from turnspan.tracing.state import State, another, default, in_force, within
from turnspan.wire.gaps import watch

if TYPE_CHECKING:
    from opentelemetry._logs import LoggerProvider
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.sdk.trace.export import SpanExporter

    from turnspan.pipeline.processor import RecordProcessor

_AGAIN: Final = (
    "turnspan.configure() was called again: store, exporters and provider stay as they are; call "
    "turnspan.shutdown() first to change them."
)
_USED_LATER: Final = ("hashlib", "urllib.parse", "turnspan.tracing.propagation")
"""What a recording thread would import when it first uses it, maybe when no file can be opened any
more: loaded by who records, not by who only imports Turnspan."""
_CANNOT: Final = "Turnspan cannot be set up and records nothing: %s: %s. See `turnspan doctor`."

C = TypeVar("C", bound=Callable[..., Any])


class Recorder:
    """Records into one store, under one TracerProvider, with its own settings.

    ``turnspan.configure``, ``flush`` and ``shutdown`` are the methods of the process's default
    recorder. Another recorder records the code inside its ``active()`` and the functions decorated
    with its own decorators, in every thread and task.

        second = turnspan.Recorder()
        second.configure(service_name="judge", store="chdb:///var/lib/judge")

        @second.agent
        def judge(answer: str) -> str: ...

        with second.active():
            client.chat.completions.create(...)
    """

    def __init__(self, _state: State | None = None) -> None:
        self.state: Final = another() if _state is None else _state
        """What its recordings read (not part of the public API)."""
        self._is_default = _state is default
        self._lock = threading.RLock()
        self._outlets = Outlets(self.state.stats)
        self._untold = Untold(self._lost)
        self.agent: Final = self._own(decorators.agent)
        self.tool: Final = self._own(decorators.tool)
        self.workflow: Final = self._own(decorators.workflow)
        self.step: Final = self._own(decorators.step)
        self.session: Final = self._own(session)
        self.context_assembly: Final = self._own(context_assembly)
        self.inference: Final = self._own(inference)
        self.annotate: Final = self._own(annotate)
        self.evaluation: Final = self._own(evaluation)
        self.prefer: Final = self._own(prefer)
        self.rank: Final = self._own(rank)
        self.withdraw: Final = self._own(withdraw)

    @property
    def records(self) -> bool:
        """Whether it records now."""
        return self._outlets.processor is not None

    @property
    def processor(self) -> RecordProcessor | None:
        """What lands its records, while recording."""
        return self._outlets.processor

    def _own(self, function: C) -> C:
        """A function of the module's whose recordings are this recorder's."""
        if self._is_default:
            return function

        @functools.wraps(function)
        def inner(*args: Any, **kwargs: Any) -> Any:
            with self.active():
                return function(*args, **kwargs)

        return cast("C", inner)

    def configure(
        self,
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
        tool_failed: ToolRule | None = None,
        classify_intent: bool | None = None,
        limits: CallLimits | None = None,
        emit_events: bool | None = None,
        tracer_provider: trace.TracerProvider | None = None,
        meter_provider: MeterProvider | None = None,
        logger_provider: LoggerProvider | None = None,
        resource_attributes: Mapping[str, Any] | None = None,
        flush_interval: float | None = None,
        running_calls_after: float | None = None,
        queue_size: int | None = None,
        batch_size: int | None = None,
    ) -> None:
        """Start recording. An argument beats its environment variable, which beats the default.

        If the application has a TracerProvider (``tracer_provider``, or the global one), Turnspan
        adds its records to it and leaves its exporters alone. Otherwise it makes one from the
        standard ``OTEL_*`` variables. Ids come from the system's random source, so ``random.seed``
        does not repeat them. A second call while recording changes only the content settings, and
        logs that if you asked for more.

        Args:
            service_name: default: OTEL_SERVICE_NAME or OTEL_RESOURCE_ATTRIBUTES, else the program's
                name.
            project: groups records in the store; default: the service's name.
            environment: ``deployment.environment.name``.
            store: a DSN; default: TURNSPAN_STORE, else an embedded store in the user's data folder.
            exporters: names (``turnspan``, ``otlp``, ``console``, any installed entry point) or
                exporter objects; default: OTEL_TRACES_EXPORTER, else ``turnspan`` and, if an OTLP
                endpoint is set, ``otlp``.
            capture_content: False records only tokens, cost, latency and stop reasons.
            capture_media: record the bytes of images and files, not only hash, size and type.
            content_limit_bytes: cut longer message parts, arguments and results; 0: never cut.
            redact: ``redact(text, where) -> text``; sees every text before it is written.
            mask_secrets: mask secrets of known shapes (default True).
            tool_failed: ``tool_failed(result) -> bool``: whether a tool that did not raise failed;
                ``None`` lets the result's flags decide. It may run repeatedly.
            classify_intent: classify turns without an intent by keywords.
            limits: limits of all model calls: ``turnspan.limits(usd=5, per="session")``.
            emit_events: also emit model calls and exceptions as the conventions' log events.
            tracer_provider: the provider to add to, instead of the global one.
            meter_provider: where metrics go, instead of the global provider.
            logger_provider: where events go, instead of the global provider.
            resource_attributes: more attributes of a provider that Turnspan makes.
            flush_interval: seconds between writes to the spool.
            running_calls_after: seconds until a running model call is stored; 0: when it ends.
            queue_size: the most finished spans in memory.
            batch_size: finished spans that trigger an earlier write.

        A problem of the environment (a bad variable, no home folder, an unwritable disk) is logged
        and stops nothing; ``turnspan doctor`` explains it.

        Raises:
            ConfigError: an argument has the wrong type, is not a DSN, or names an unknown exporter
                (a ``ValueError``).
        """
        config.check_texts(service_name=service_name, environment=environment, store=store)
        settings = config.resolve(
            {
                "project": project,
                "capture_content": capture_content,
                "capture_media": capture_media,
                "content_limit_bytes": content_limit_bytes,
                "redact": redact,
                "mask_secrets": mask_secrets,
                "tool_failed": tool_failed,
                "classify_intent": classify_intent,
                "limits": limits,
                "emit_events": emit_events,
                "flush_interval": flush_interval,
                "running_calls_after": running_calls_after,
                "queue_size": queue_size,
                "batch_size": batch_size,
            }
        )
        if self.state.stand_in is not None:
            self._configure_test(settings)
            return
        with self._lock, self.active():
            self._use(settings)
            if not settings.enabled:
                logger.info("OTEL_SDK_DISABLED is true: Turnspan records nothing.")
            elif self._outlets.are_open:
                self._use(with_project(settings, self._outlets.providers.current))
                if store is not None or exporters is not None or tracer_provider is not None:
                    logger.warning(_AGAIN)
            else:
                described = (service_name, environment, resource_attributes)
                self._start(settings, store, exporters, tracer_provider, described)
                self.state.metrics.use(meter_provider)
                self.state.logger_provider = logger_provider

    def _start(
        self,
        settings: Settings,
        store: str | None,
        exporters: Sequence[str | SpanExporter] | None,
        given: trace.TracerProvider | None,
        described: tuple[str | None, str | None, Mapping[str, Any] | None],
    ) -> None:
        """Begin to record. ``described`` are the service's name, the environment and further
        attributes of a provider that is made here."""
        try:
            from turnspan.pipeline import backends  # the SDK, which may refuse to be imported

            for name in _USED_LATER:
                importlib.import_module(name)
            backends.check(exporters)
            made = self._outlets.providers.made
            provider, owned = backends.provider_of(
                given, *described, made=made, globally=self._is_default
            )
            self._outlets.providers.use(provider, owned=owned)
            self._use(with_project(settings, provider))
            named = backends.chosen(owned) if exporters is None else exporters
            self._outlets.open(named, settings, store, self._child_records)
            self.state.closed, self.state.late = False, 0
            unconfigured.over = unconfigured.over or self._is_default
            self._untold.reset()
            self._record_under(given if self._is_default else provider)
            open_recorders.opened(self)
            watch.start()
        except ConfigError:
            raise
        except Exception as error:  # noqa: BLE001  what else the environment may do
            logger.warning(_CANNOT, type(error).__name__, error)

    @contextmanager
    def active(self) -> Generator[None]:
        """A context manager: this recorder records everything inside."""
        token: object | None = None
        with guard("recorder.active"):
            token = otel_context.attach(within(otel_context.get_current(), self.state))
        try:
            yield
        finally:
            with guard("recorder.active"):
                detach(token)

    def flush(self, timeout: float = 30.0, *, local: bool = False) -> FlushResult:
        """Bring all earlier records into the store, within ``timeout`` seconds. Never raises.

        For a server it waits until the rows are in ClickHouse. For the embedded store it waits
        until they are in the spool on the local disk, from which the next reader loads them.

        With ``local`` it returns when they are in the spool and synced, so that even a power cut
        loses nothing. That takes milliseconds and no network. Use it in processes that are frozen
        or ended without notice; this process, the next one or ``turnspan ship`` ships the records
        later. ``accounts`` then has only ``queued`` and ``dropped``.

        ``ok`` means that all earlier records have arrived, and that nothing was lost since the last
        flush: dropped for a reason in docs/reference/metrics.md, refused by the store for good, or
        refused by another backend. One flush reports a loss; ``dropped`` counts all losses.
        """
        if self.state.stand_in is not None:  # a test's recording, which has everything already
            return FlushResult(True, 0)
        if local:
            return self._flush_local(timeout)
        untold = self._untold.reported()
        ok, remaining = self._outlets.flush(max(timeout, 0.0))
        kept, told = False, PipelineStats()
        with guard("flush.accounts"):
            told = self.state.stats.snapshot()
            kept = self._untold.nothing_since(untold)
        return FlushResult(ok and kept, remaining, dict(told.dropped), told)

    def _flush_local(self, timeout: float) -> FlushResult:
        untold = self._untold.reported()
        ok, queued = self._outlets.flush_to_disk(timeout)
        told = PipelineStats(queued, dropped=self.state.stats.dropped())
        ok = self._untold.nothing_since(untold) and ok
        return FlushResult(ok, queued, told.dropped, told)

    def shutdown(self, timeout: float = 30.0) -> FlushResult:
        """Flush, stop recording, and leave the provider as it was; ``configure`` starts anew.
        Turnspan's spans that end meanwhile are counted as ``after_shutdown``."""
        if self.state.stand_in is not None:
            return FlushResult(True, 0)
        self._outlets.leave_others()
        result = self.flush(timeout)
        with self._lock:
            untold = self._untold.reported()
            self.state.closed = self.records
            self._outlets.close()
            if not self._untold.nothing_since(untold):
                result = replace(result, ok=False, dropped=self.state.stats.dropped())
            if not open_recorders.closed(self):
                watch.end()
        return result

    # -- setting up ------------------

    def _configure_test(self, settings: Settings) -> None:
        """While a test records in memory, its settings change and nothing else does."""
        standing = in_force(self.state)
        project = settings.project or standing.settings.project
        given = {"enabled": True, "project": project, **standing.held}
        standing.settings = replace(settings, **given)

    def _use(self, settings: Settings) -> None:
        if self._is_default:
            config.activate(settings)
        else:
            self.state.settings = settings

    def _record_under(self, provider: trace.TracerProvider | None) -> None:
        """Have everything of ours record under this provider; ``None`` is the global one."""
        self.state.provider = provider
        if self._is_default:
            # With the instrumentors, when they are asked for.
            from turnspan import instrumentation

            instrumentation.use_tracer_provider(provider)

    def _lost(self) -> dict[str, int]:
        """All that is lost by now; of other backends the spans that they refused."""
        return {**self.state.stats.dropped(), "refused": self._outlets.refused()}

    # -- leaving ------------------

    def _child_records(self) -> None:
        self._untold.reset()
        open_recorders.watch()

    def after_fork(self) -> None:
        """In a forked child: nothing is lost in it yet."""
        self._lock = threading.RLock()
        self._untold.reset()

    def at_exit(self) -> None:
        """At the interpreter's end."""
        self._outlets.at_exit()
        watch.end()

    def write_out(self, patience: float) -> None:
        """Before the process is gone without an exit, within the seconds."""
        self._outlets.write_out(patience)


open_recorders: Final = OpenRecorders()

default_recorder: Final = Recorder(default)
"""The recorder of the functions below."""

configure = default_recorder.configure
flush = default_recorder.flush
shutdown = default_recorder.shutdown
