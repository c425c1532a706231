"""Where spans go beside the records: the exporters that were named, by code or by the environment.

What code names must be there (``ValueError``). What the environment says never stops the
application: a variable that OpenTelemetry or an exporter refuses is said once, and that exporter,
or that setting, is left out.
"""

from __future__ import annotations

import contextlib
import importlib
import os
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from opentelemetry import metrics, trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import SpanExporter
from opentelemetry.sdk.trace.sampling import DEFAULT_ON

from turnspan import semconv
from turnspan.config import logger
from turnspan.pipeline.program import with_service
from turnspan.runtime import otel_private
from turnspan.runtime.errors import ConfigError
from turnspan.runtime.ids import SecureIdGenerator, secure
from turnspan.runtime.installed import entry_points

RECORDS: Final = "turnspan"
"""The entry point's name of the exporter that lands records."""
_LIMIT: Final = 128
_GROUP: Final = "opentelemetry_traces_exporter"
_LATE_IMPORTS: Final = ("encodings.idna", "linecache", "netrc", "tokenize")
"""What an OTLP exporter, or the standard library for it, imports when it sends for the first time,
on a thread of its own (see ``turnspan_clickhouse.ship.preload``)."""


# -- the provider ------------------


def provider_of(
    given: trace.TracerProvider | None,
    service_name: str | None,
    environment: str | None,
    attributes: Mapping[str, Any] | None,
    *,
    made: Sequence[TracerProvider] = (),
    globally: bool = True,
) -> tuple[TracerProvider, bool]:
    """The provider to record under, and whether it was made here.

    ``made`` are those that were made before: a new one takes the place of one that is the global
    provider. With ``globally`` false the global provider is neither used nor set.

    Raises:
        ConfigError: the one that was given is of another kind.
    """
    _see_to_meters()
    existing = given
    if given is None and globally:
        existing = _existing()
    former = existing if any(existing is each for each in made) else None
    if isinstance(existing, TracerProvider) and former is None:
        if service_name or environment or attributes:
            logger.info(
                "The application has a TracerProvider: its resource stays as it is; service_name, "
                "environment and resource_attributes are not applied."
            )
        secure(existing)
        return existing, False
    if given is not None:
        raise ConfigError(
            "tracer_provider must be an opentelemetry.sdk.trace.TracerProvider, "
            f"not {type(given).__name__}"
        )
    more = dict(attributes or {})
    if service_name:
        more[semconv.SERVICE_NAME] = service_name
    if environment:
        more[semconv.DEPLOYMENT_ENVIRONMENT] = environment
    provider = _made(more)
    if former is not None:
        otel_private.replace_global_provider(former, provider)
    elif globally:
        trace.set_tracer_provider(provider)
    return provider, True


def _existing() -> Any:
    try:
        return trace.get_tracer_provider()
    except Exception as error:  # noqa: BLE001  OTEL_PYTHON_TRACER_PROVIDER names none
        _say("a provider", error)
        return None


def _see_to_meters() -> None:
    """The SDK asks for meters wherever it makes anything, which raises each time where
    OTEL_PYTHON_METER_PROVIDER names what there is not: there are none then."""
    if "OTEL_PYTHON_METER_PROVIDER" in os.environ:
        try:
            metrics.get_meter_provider()
        except Exception as error:  # noqa: BLE001  as above
            _say("a meter provider", error)
            metrics.set_meter_provider(metrics.NoOpMeterProvider())


def _made(attributes: dict[str, Any]) -> TracerProvider:
    ids = SecureIdGenerator()
    try:
        resource = with_service(Resource.create().merge(Resource(attributes)))
    except Exception as error:  # noqa: BLE001  a resource detector of the environment's
        _say("a resource", error)
        resource = with_service(Resource(attributes))
    try:
        return TracerProvider(resource=resource, id_generator=ids)
    except Exception as error:  # noqa: BLE001  a limit or a sampler of the environment's
        _say("OTEL_* variables", error)
        return TracerProvider(
            resource=resource, id_generator=ids, span_limits=_limits(), sampler=DEFAULT_ON
        )


def _limits() -> SpanLimits:
    """The limits of the specification, whatever the environment says."""
    return SpanLimits(
        max_attributes=_LIMIT,
        max_events=_LIMIT,
        max_links=_LIMIT,
        max_span_attributes=_LIMIT,
        max_event_attributes=_LIMIT,
        max_link_attributes=_LIMIT,
        max_attribute_length=SpanLimits.UNSET,
        max_span_attribute_length=SpanLimits.UNSET,
    )


# -- exporters ------------------


def check(exporters: Sequence[str | SpanExporter] | None) -> None:
    """Raises ``ConfigError`` where code names an exporter that there is not."""
    if isinstance(exporters, str):
        raise ConfigError("exporters must be a list, such as ['turnspan', 'otlp']")
    for name in exporters or ():
        if not isinstance(name, str) and not hasattr(cast("object", name), "export"):
            raise ConfigError(f"exporters are names or SpanExporters: not {name!r}")
        if isinstance(name, str) and name != "none" and not _found(name):
            raise ConfigError(_unknown(name))


def chosen(owned: bool) -> list[str | SpanExporter]:
    """The exporters of a process whose code names none; ``owned``: the provider is ours."""
    if not owned:  # the application exports its spans itself; ours are the records
        return [RECORDS]
    names = named(os.environ.get("OTEL_TRACES_EXPORTER", ""))
    if names:
        return names
    names = [*named(RECORDS)]
    endpoints = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
    if any(os.environ.get(name) for name in endpoints):
        names.append("otlp")
    return names


def named(text: str) -> list[str | SpanExporter]:
    """The exporters that a variable names; what is not installed is said and left out."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    there: list[str | SpanExporter] = [n for n in names if n == "none" or _found(n)]
    for name in names:
        if name not in there:
            logger.warning("OTEL_TRACES_EXPORTER: %s; it is left out.", _unknown(name))
    return there if there or not names else [RECORDS]


def load(name: str, store: str | None) -> SpanExporter | None:
    """The exporter of this name; ``None`` where the environment does not let it be made.

    Raises:
        ValueError: ``store`` is not understood.
    """
    try:
        kind = _found(name)[0].load()
        exporter: SpanExporter = kind(store=store) if name == RECORDS else kind()
    except Exception as error:  # noqa: BLE001  an exporter of any make
        if name == RECORDS and store is not None and isinstance(error, ValueError):
            raise ConfigError(str(error)) from None
        _say(f"the exporter {name!r}", error)
        return None
    if name != RECORDS:
        for module in _LATE_IMPORTS:
            with contextlib.suppress(ImportError):
                importlib.import_module(module)
    return exporter


def _found(name: str) -> list[Any]:
    name = _otlp_name() if name == "otlp" else name
    return [point for point in entry_points(_GROUP) if point.name == name]


def _unknown(name: str) -> str:
    known = sorted(point.name for point in entry_points(_GROUP))
    return f"there is no exporter named {name!r}; installed: {', '.join(known)}"


def _otlp_name() -> str:
    protocol = os.environ.get("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL") or os.environ.get(
        "OTEL_EXPORTER_OTLP_PROTOCOL", ""
    )
    return "otlp_proto_grpc" if protocol.strip().lower() == "grpc" else "otlp_proto_http"


def _say(what: str, error: Exception) -> None:
    logger.warning(
        "Turnspan goes on without %s that the environment names: %s. See `turnspan doctor`.",
        what,
        str(error) or type(error).__name__,
    )
