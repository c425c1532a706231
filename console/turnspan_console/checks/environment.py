"""Checks of the process's surroundings: provider SDKs, other instrumentations, variables."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from importlib import metadata

from turnspan_console.checks.check import FAIL, OK, WARN, Check

SDKS = ("openai", "anthropic")
"""The provider SDKs that Turnspan patches."""

_GROUP = "opentelemetry_instrumentor"
_AREA = "application"


def environment_checks(environ: Mapping[str, str] | None = None) -> Iterator[Check]:
    """What the surroundings do to the recording."""
    environ = os.environ if environ is None else environ
    for sdk in SDKS:
        yield _sdk(sdk)
    yield from _twice(environ)
    yield from _sdk_variables(environ)
    yield from _exporters(environ)
    yield from _own_variables(environ)
    yield _content(environ)


def _sdk(name: str) -> Check:
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        return Check(_AREA, f"{name} SDK", OK, "not installed")
    entries = [e for e in metadata.entry_points(group=_GROUP) if e.name == f"turnspan_{name}"]
    if not entries:
        return Check(
            _AREA,
            f"{name} SDK",
            FAIL,
            f"{version} is installed, but Turnspan's entry point for it is not",
            "Install Turnspan into this environment again: pip install --force-reinstall turnspan.",
        )
    from opentelemetry.instrumentation.dependencies import get_dependency_conflicts

    instrumentor = entries[0].load()()
    conflict = get_dependency_conflicts(instrumentor.instrumentation_dependencies())
    if conflict is not None:
        return Check(
            _AREA,
            f"{name} SDK",
            WARN,
            f"{version} is not a supported version ({conflict}), so its calls are not recorded",
            f"Install a version of {name} that is: {conflict.required or conflict.required_any}.",
        )
    return Check(_AREA, f"{name} SDK", OK, f"{version}, supported")


def _twice(environ: Mapping[str, str]) -> Iterator[Check]:
    """Other instrumentations of the SDKs that Turnspan patches: a call would have two spans."""
    disabled = _list(environ.get("OTEL_PYTHON_DISABLED_INSTRUMENTATIONS", ""))
    others = [
        entry
        for entry in metadata.entry_points(group=_GROUP)
        if not entry.name.startswith("turnspan_")
        and any(sdk in f"{entry.name} {entry.value}".lower() for sdk in SDKS)
        and entry.name not in disabled
        and "*" not in disabled
    ]
    if not others:
        yield Check(_AREA, "one tracer a call", OK, "no other instrumentation of these SDKs")
        return
    names = sorted({entry.name for entry in others})
    owners = sorted({entry.dist.name if entry.dist is not None else "?" for entry in others})
    yield Check(
        _AREA,
        "one tracer a call",
        WARN,
        f"{', '.join(owners)} would trace the same SDKs: every call would have two spans",
        f"Set OTEL_PYTHON_DISABLED_INSTRUMENTATIONS={','.join(sorted(disabled | set(names)))}, "
        "or uninstall it.",
    )


def _sdk_variables(environ: Mapping[str, str]) -> Iterator[Check]:
    name = "OTEL_SDK_DISABLED"
    if environ.get(name, "").strip().lower() == "true":
        yield Check(_AREA, name, FAIL, "true: nothing is recorded", f"Unset {name}.")
    sampler = environ.get("OTEL_TRACES_SAMPLER", "").strip()
    if sampler:
        ratio = environ.get("OTEL_TRACES_SAMPLER_ARG", "").strip()
        said = f"{sampler} {ratio}".strip()
        if sampler.endswith("always_off"):
            yield Check(
                _AREA,
                "OTEL_TRACES_SAMPLER",
                FAIL,
                f"{said}: no turn is recorded",
                "Unset it, or set parentbased_always_on.",
            )
        elif "traceidratio" in sampler and ratio not in ("1", "1.0"):
            yield Check(
                _AREA,
                "OTEL_TRACES_SAMPLER",
                WARN,
                f"{said}: turns that are not sampled are not recorded",
                "Unset it to record every turn; sample in the collector instead.",
            )
        else:
            yield Check(_AREA, "OTEL_TRACES_SAMPLER", OK, said)
    for limit in ("OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT"):
        if environ.get(limit, "").strip():
            yield Check(
                _AREA,
                limit,
                WARN,
                f"{environ[limit]}: attributes of spans are cut (recorded messages are not)",
                f"Unset {limit} unless the cut is meant.",
            )


def _exporters(environ: Mapping[str, str]) -> Iterator[Check]:
    exporters = _list(environ.get("OTEL_TRACES_EXPORTER", ""))
    if exporters and "turnspan" not in exporters:
        yield Check(
            _AREA,
            "OTEL_TRACES_EXPORTER",
            WARN,
            f"{','.join(sorted(exporters))}: no records land when run by opentelemetry-instrument",
            f"Set OTEL_TRACES_EXPORTER={','.join(['turnspan', *sorted(exporters - {'none'})])}.",
        )
    elif exporters:
        yield Check(_AREA, "OTEL_TRACES_EXPORTER", OK, ",".join(sorted(exporters)))
    endpoint = environ.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") or environ.get(
        "OTEL_EXPORTER_OTLP_ENDPOINT"
    )
    if endpoint:
        yield Check(_AREA, "OTLP", OK, f"spans also go to {_without_credentials(endpoint)}")
    named = environ.get("OTEL_SERVICE_NAME") or "service.name=" in environ.get(
        "OTEL_RESOURCE_ATTRIBUTES", ""
    )
    if named:
        yield Check(_AREA, "service name", OK, environ.get("OTEL_SERVICE_NAME") or "set")


def _own_variables(environ: Mapping[str, str]) -> Iterator[Check]:
    from turnspan.config import OPTIONS

    for option in OPTIONS:
        text = environ.get(option.variable, "")
        if not text.strip():
            continue
        try:
            option.read(text)
        except ValueError as error:
            wanted = "write a number" if "literal" in str(error) else str(error)
            yield Check(
                _AREA,
                option.variable,
                WARN,
                f"{text!r} is not understood, so the default is used",
                f"It says: {option.help}; {wanted}.",
            )


def _content(environ: Mapping[str, str]) -> Check:
    import logging

    from turnspan.config import resolve

    quiet = logging.getLogger("turnspan")
    was, quiet.disabled = quiet.disabled, True  # bad values are findings of their own
    try:
        settings = resolve({}, environ)
    finally:
        quiet.disabled = was
    if not settings.capture_content:
        return Check(
            _AREA,
            "content",
            WARN,
            "what the model saw and said is not recorded (TURNSPAN_CAPTURE_CONTENT)",
            "Unset TURNSPAN_CAPTURE_CONTENT unless that is meant: replay has nothing to show.",
        )
    masked = "secrets masked" if settings.mask_secrets else "secrets NOT masked"
    spans = "also on spans" if settings.content_on_spans else "not on spans"
    finding = f"recorded, {masked}, {spans}"
    if settings.mask_secrets:
        return Check(_AREA, "content", OK, finding)
    return Check(_AREA, "content", WARN, finding, "Unset TURNSPAN_MASK_SECRETS to mask them.")


def _list(text: str) -> set[str]:
    return {one.strip() for one in text.split(",") if one.strip()}


def _without_credentials(url: str) -> str:
    scheme, separator, rest = url.partition("://")
    host = rest.partition("/")[0]
    return url if "@" not in host else f"{scheme}{separator}{rest.partition('@')[2]}"
