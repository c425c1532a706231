"""instrument() and uninstrument(): what they put on, take off, and say."""

from __future__ import annotations

import logging
import subprocess
import sys
from typing import Any, cast

import anthropic
import openai
import pytest

import turnspan
from providers.conftest import Spans
from turnspan import instrumentation
from turnspan_console.checks.instrumentation import instrumentation_checks

_FUNCTIONS: list[tuple[Any, str]] = [
    (sys.modules["openai._base_client"].SyncAPIClient, "request"),
    (sys.modules["openai._base_client"].AsyncAPIClient, "request"),
    (openai.Stream, "close"),
    (openai.AsyncStream, "close"),
    (sys.modules["anthropic._base_client"].SyncAPIClient, "request"),
    (sys.modules["anthropic._base_client"], "start_api_call_span"),
    (anthropic.Stream, "close"),
]


def _held(owner: Any, name: str) -> Any:
    held = cast("dict[str, Any]", vars(owner))
    return held[name]


def test_uninstrument_restores_the_originals() -> None:
    """Each function is the SDK's own again, by identity."""
    functions = [(owner, name) for owner, name in _FUNCTIONS if hasattr(owner, name)]
    before = [_held(owner, name) for owner, name in functions]
    turnspan.instrument()
    during = [_held(owner, name) for owner, name in functions]
    turnspan.uninstrument()

    assert len(functions) >= 5
    assert [_held(owner, name) for owner, name in functions] == before
    assert all(ours is not original for ours, original in zip(during, before, strict=True))


@pytest.mark.needs("openai.lib.streaming.responses")
@pytest.mark.usefixtures("spans")
def test_instrument_is_idempotent_and_tells(caplog: pytest.LogCaptureFixture) -> None:
    """Called again it changes nothing, logs nothing, and says what is on."""
    wrapped = _held(*_FUNCTIONS[0])
    with caplog.at_level(logging.WARNING):
        report = turnspan.instrument()

    assert _held(*_FUNCTIONS[0]) is wrapped
    assert caplog.records == []
    assert [(entry.name, entry.enabled, entry.detail) for entry in report[:2]] == [
        ("openai", True, ""),
        ("anthropic", True, ""),
    ]
    assert report[0].version == openai.__version__
    assert all(entry.missing == () for entry in report)
    assert instrumentation.report() == report


def test_report_of_what_is_off() -> None:
    """Not instrumented, and for which versions it is made."""
    assert not any(entry.enabled for entry in instrumentation.report())
    assert "openai >= 1.40" in instrumentation.report()[0].detail


@pytest.mark.needs("anthropic:Anthropic.__init__(open_telemetry)")
def test_an_sdk_without_what_is_wrapped_is_left_alone(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A renamed private part costs the recording of that SDK, said once, and nothing else."""
    monkeypatch.delattr(_FUNCTIONS[0][0], "request")
    monkeypatch.delattr(_FUNCTIONS[5][0], "start_api_call_span")
    try:
        with caplog.at_level(logging.WARNING):
            report = turnspan.instrument()
        assert [entry.enabled for entry in report[:2]] == [False, False]
        assert "SyncAPIClient.request" in report[0].detail
        assert "traces itself" in report[1].detail
        assert len(caplog.records) == 2
    finally:
        turnspan.uninstrument()


def test_a_missing_extra_only_degrades(monkeypatch: pytest.MonkeyPatch) -> None:
    """A part that is not essential is noted; the rest works."""
    before = turnspan.instrument()[0].missing
    turnspan.uninstrument()
    monkeypatch.delattr(openai.Stream, "close")
    try:
        report = turnspan.instrument()
        assert report[0].enabled
        assert set(report[0].missing) - set(before) == {"openai._streaming:Stream.close"}
    finally:
        turnspan.uninstrument()


def test_somebody_elses_wrapper_stays(spans: Spans) -> None:
    """A package that wrapped after us keeps its wrapper; ours inside it is inert."""
    import wrapt

    def theirs(wrapped: Any, instance: Any, args: Any, kwargs: Any) -> Any:
        return wrapped(*args, **kwargs)

    owner, name = _FUNCTIONS[0]
    ours = _held(owner, name)
    wrapt.wrap_function_wrapper(owner, name, theirs)
    wrapper = _held(owner, name)
    try:
        turnspan.uninstrument()
        assert _held(owner, name) is wrapper
    finally:
        setattr(owner, name, ours.__wrapped__)


def test_the_doctor_tries_every_sdk_and_takes_it_off_again() -> None:
    """Also the modules that an SDK loads late, which are wrapped only then."""
    found = {check.name: check for check in instrumentation_checks({})}
    for name in ("openai", "anthropic"):
        check = found[f"{name} SDK"]
        assert check.level == "ok"
        assert check.finding.endswith("supported: recorded by Turnspan")
    assert not any(one.enabled for one in instrumentation.report())


_LAZY = """
import sys, time
import turnspan
turnspan.instrument()
assert "openai" not in sys.modules and "anthropic" not in sys.modules
assert turnspan.instrument()[0].detail == "waits for the application to import it"
import openai
assert turnspan.instrument()[0].detail == ""
assert hasattr(openai.OpenAI.request, "__wrapped__")
turnspan.uninstrument()
assert not hasattr(openai.OpenAI.request, "__wrapped__")
turnspan.instrument()
assert hasattr(openai.OpenAI.request, "__wrapped__")
"""


def test_no_sdk_is_imported_for_its_own_sake() -> None:
    """instrument() waits for the application to import an SDK, and is there when it does."""
    subprocess.run([sys.executable, "-W", "error", "-c", _LAZY], check=True, timeout=60)
