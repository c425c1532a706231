"""Checks of the process's surroundings: the variables that change what is recorded."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from turnspan import __version__
from turnspan.config import OPTIONS, Settings, resolve
from turnspan.content import snapshot
from turnspan_console.checks.check import FAIL, OK, WARN, Check
from turnspan_console.values import without_credentials

_AREA = "application"


def environment_checks(environ: Mapping[str, str] | None = None) -> Iterator[Check]:
    """What the surroundings do to the recording."""
    environ = os.environ if environ is None else environ
    # hatch_build.py compiles the modules on the way of a call.
    build = "pure Python" if Path(snapshot.__file__).suffix == ".py" else "compiled"
    yield Check(_AREA, "Turnspan", OK, f"{__version__}, {build}")
    yield from _sdk_variables(environ)
    yield from _exporters(environ)
    yield from _own_variables(environ)
    yield _content(environ)


def _sdk_variables(environ: Mapping[str, str]) -> Iterator[Check]:
    name = "OTEL_SDK_DISABLED"
    if environ.get(name, "").strip().lower() == "true":
        yield Check(_AREA, name, FAIL, "true: nothing is recorded", f"Unset {name}.")
    sampler = environ.get("OTEL_TRACES_SAMPLER", "").strip()
    if sampler:
        ratio = environ.get("OTEL_TRACES_SAMPLER_ARG", "").strip()
        said = f"{sampler} {ratio}".strip()
        if sampler.endswith("always_off"):
            finding = f"{said}: no turn is recorded"
            advice = "Unset it, or set parentbased_always_on."
            yield Check(_AREA, "OTEL_TRACES_SAMPLER", FAIL, finding, advice)
        elif "traceidratio" in sampler and ratio not in ("1", "1.0"):
            finding = f"{said}: turns that are not sampled are not recorded"
            advice = "Unset it to record every turn; sample in the collector instead."
            yield Check(_AREA, "OTEL_TRACES_SAMPLER", WARN, finding, advice)
        else:
            yield Check(_AREA, "OTEL_TRACES_SAMPLER", OK, said)
    for limit in ("OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT"):
        if environ.get(limit, "").strip():
            finding = f"{environ[limit]}: attributes of spans are cut (recorded messages are not)"
            advice = f"Unset {limit} unless the cut is meant."
            yield Check(_AREA, limit, WARN, finding, advice)


def _exporters(environ: Mapping[str, str]) -> Iterator[Check]:
    exporters = {one.strip() for one in environ.get("OTEL_TRACES_EXPORTER", "").split(",")} - {""}
    if exporters and "turnspan" not in exporters:
        finding = (
            f"{','.join(sorted(exporters))}: no records land when run by opentelemetry-instrument"
        )
        advice = (
            f"Set OTEL_TRACES_EXPORTER={','.join(['turnspan', *sorted(exporters - {'none'})])}."
        )
        yield Check(_AREA, "OTEL_TRACES_EXPORTER", WARN, finding, advice)
    elif exporters:
        yield Check(_AREA, "OTEL_TRACES_EXPORTER", OK, ",".join(sorted(exporters)))
    endpoint = environ.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") or environ.get(
        "OTEL_EXPORTER_OTLP_ENDPOINT"
    )
    if endpoint:
        yield Check(_AREA, "OTLP", OK, f"spans also go to {without_credentials(endpoint)}")
    named = environ.get("OTEL_SERVICE_NAME") or "service.name=" in environ.get(
        "OTEL_RESOURCE_ATTRIBUTES", ""
    )
    if named:
        yield Check(_AREA, "service name", OK, environ.get("OTEL_SERVICE_NAME") or "set")


def _own_variables(environ: Mapping[str, str]) -> Iterator[Check]:
    for option in OPTIONS:
        text = environ.get(option.variable, "")
        if not text.strip():
            continue
        try:
            option.read(text)
        except ValueError as error:
            wanted = "write a number" if "literal" in str(error) else str(error)
            finding = f"{text!r} is not understood, so the default is used"
            advice = f"It says: {option.help}; {wanted}."
            yield Check(_AREA, option.variable, WARN, finding, advice)


def settings_of(environ: Mapping[str, str] | None = None) -> Settings:
    """How an application records that is started in these surroundings, as far as those say it."""
    quiet = logging.getLogger("turnspan")
    was, quiet.disabled = quiet.disabled, True  # bad values are findings of their own
    try:
        return resolve({}, environ)
    finally:
        quiet.disabled = was


def _content(environ: Mapping[str, str]) -> Check:
    settings = settings_of(environ)
    if not settings.capture_content:
        finding = "what the model saw and said is not recorded (TURNSPAN_CAPTURE_CONTENT)"
        advice = "Unset TURNSPAN_CAPTURE_CONTENT unless that is meant: replay has nothing to show."
        return Check(_AREA, "content", WARN, finding, advice)
    masked = "secrets masked" if settings.mask_secrets else "secrets NOT masked"
    spans = "also on spans" if settings.content_on_spans else "not on spans"
    finding = f"recorded, {masked}, {spans}"
    if settings.mask_secrets:
        return Check(_AREA, "content", OK, finding)
    return Check(_AREA, "content", WARN, finding, "Unset TURNSPAN_MASK_SECRETS to mask them.")
