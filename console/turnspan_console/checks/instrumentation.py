"""Checks of what records the application's calls: ours, other packages, and what degraded."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Generator, Iterator, Mapping
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

from turnspan.config import resolve
from turnspan.instrumentation import Instrumented, plan
from turnspan.patching.third_party import DISABLED, GROUP, OURS, disabled, distribution_of
from turnspan_clickhouse.spool.unrecorded_calls import read_unrecorded
from turnspan_console.checks.check import FAIL, OK, WARN, Check
from turnspan_console.values import seconds

_AREA = "application"
_THREADS, _HTTP = "threads", "http"
_SHOWN = 5
_FETCHES = {"litellm": "LITELLM_LOCAL_MODEL_COST_MAP"}
"""What keeps an SDK from fetching something while it is imported."""


def instrumentation_checks(environ: Mapping[str, str] | None = None) -> Iterator[Check]:
    """Who would record which library here, and what would not be recorded in full."""
    environ = os.environ if environ is None else environ
    off = disabled((environ.get(DISABLED, ""),))
    planned = plan(off)
    for one in planned:
        if one.name == _HTTP:
            finding = one.detail or "their requests to models are recorded by Turnspan"
            if not resolve({}, environ).record_http:
                finding = "switched off by TURNSPAN_RECORD_HTTP"
            yield Check(_AREA, "HTTP clients", OK, finding)
        elif one.by == OURS and one.name != _THREADS:
            yield _ours(one)
        elif one.by != OURS:
            yield _other(one)
    yield _twice(planned, off, environ)


def _ours(one: Instrumented) -> Check:
    name = f"{one.name} SDK"
    if not one.version:
        return Check(_AREA, name, OK, "not installed")
    entry = f"{OURS}_{one.name}"
    entries = [e for e in metadata.entry_points(group=GROUP) if e.name == entry]
    if not entries:
        finding = f"{one.version} is installed, but Turnspan's entry point for it is not"
        advice = (
            "Install Turnspan into this environment again: pip install --force-reinstall turnspan."
        )
        return Check(_AREA, name, FAIL, finding, advice)
    if not one.enabled and one.detail.startswith("switched off"):
        return Check(_AREA, name, OK, f"{one.version}, {one.detail}")
    if not one.enabled:
        finding = (
            f"{one.version} is not a supported version ({one.detail}), so its calls are not "
            "recorded"
        )
        advice = f"Install a version of {one.name} that is: {one.detail.removeprefix('made for ')}."
        return Check(_AREA, name, WARN, finding, advice)
    return _tried(one, entries[0].load()())


def _tried(one: Instrumented, instrumentor: Any) -> Check:
    """Instrument the SDK here, to see what of it is not as expected."""
    name = f"{one.name} SDK"
    ours = not instrumentor.is_instrumented_by_opentelemetry
    try:
        if ours:
            instrumentor.instrument()
        with _quiet(one.name):
            import_module(instrumentor.package)
            for module in instrumentor.waiting:
                with contextlib.suppress(ImportError):  # which only some versions have
                    import_module(module)
        refusal, missing = instrumentor.refusal, list(instrumentor.missing)
    finally:
        if ours:
            instrumentor.uninstrument()
    advice = f"Install another version of {one.name}, and tell Turnspan's authors of this one."
    if refusal:
        finding = f"{one.version} cannot be instrumented: {refusal}"
        return Check(_AREA, name, WARN, finding, advice)
    if missing:
        finding = (
            f"{one.version}, recorded by Turnspan, but it lacks {', '.join(missing)}: what goes "
            "through these is recorded in part"
        )
        return Check(_AREA, name, WARN, finding, advice)
    return Check(_AREA, name, OK, f"{one.version}, supported: recorded by Turnspan")


@contextlib.contextmanager
def _quiet(name: str) -> Generator[None]:
    """While an SDK is imported that would fetch something from the network as it is."""
    variable = _FETCHES.get(name)
    if variable is None or variable in os.environ:
        yield
        return
    os.environ[variable] = "True"
    try:
        yield
    finally:
        del os.environ[variable]


def unrecorded_checks(spool: Path) -> Iterator[Check]:
    """What the processes of a spool saw in the last week that nothing recorded."""
    found = read_unrecorded(spool)
    if not found:
        yield Check(_AREA, "unrecorded calls", OK, "none were seen in the last week")
        return
    ago = seconds(max(0.0, time.time() - max(one.last for one in found)))
    told = "; ".join(map(str, found[:_SHOWN]))
    remedies = dict.fromkeys(one.remedy for one in found[:_SHOWN] if one.remedy)
    finding = f"{told} (the last {ago} ago)"
    advice = (
        f"To record them: {'; '.join(remedies)}. TURNSPAN_WATCH_UNRECORDED=false stops this count."
    )
    yield Check(_AREA, "unrecorded calls", WARN, finding, advice)


def _other(one: Instrumented) -> Check:
    name = f"{one.by} {one.version}"
    if one.enabled:
        return Check(_AREA, name, OK, f"turnspan.instrument() records {one.name} with it")
    if one.detail.startswith("made for "):
        finding = f"cannot record {one.name}: {one.detail}"
        advice = f"Install what it is {one.detail.partition(', found')[0]}, or uninstall it."
        return Check(_AREA, name, WARN, finding, advice)
    return Check(_AREA, name, OK, f"left off: {one.detail}")


def _twice(planned: list[Instrumented], off: frozenset[str], environ: Mapping[str, str]) -> Check:
    """Under ``opentelemetry-instrument`` with a distribution that is not ours, all are enabled."""
    name = "one tracer a call"
    doubled = [one for one in planned if one.by != OURS and one.detail.endswith("already")]
    if not doubled:
        return Check(_AREA, name, OK, "no library is traced by two packages")
    owners = sorted({one.by for one in doubled})
    distro = environ.get("OTEL_PYTHON_DISTRO", "").strip()
    found = [entry.name for entry in metadata.entry_points(group="opentelemetry_distro")]
    if distro == OURS or (not distro and found == [OURS]):
        return Check(_AREA, name, OK, f"{', '.join(owners)} stay off, theirs is recorded already")
    entries = {
        entry.name
        for entry in metadata.entry_points(group=GROUP)
        if distribution_of(entry) in owners
    }
    finding = (
        f"{', '.join(owners)} would trace the same SDKs under opentelemetry-instrument: every "
        "call would have two spans"
    )
    advice = f"Set OTEL_PYTHON_DISTRO={OURS}, or {DISABLED}={','.join(sorted(off | entries))}."
    return Check(_AREA, name, WARN, finding, advice)
