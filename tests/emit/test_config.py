"""One configuration table: argument > environment > default."""

from __future__ import annotations

import logging
from dataclasses import fields
from typing import Any

import pytest

from turnspan import config


def test_argument_beats_environment_beats_default() -> None:
    """The order of precedence."""
    environ = {"TURNSPAN_PROJECT": "from-env", "TURNSPAN_CAPTURE_CONTENT": "no"}

    settings = config.resolve({"project": "argument", "queue_size": None}, environ)

    assert settings.project == "argument"
    assert settings.capture_content is False
    assert settings.queue_size == 65_536


def test_bad_environment_is_logged_and_defaulted(caplog: pytest.LogCaptureFixture) -> None:
    """A deployment's typo never stops the application. It is said once a process: no other test
    makes this one."""
    with caplog.at_level(logging.WARNING, logger="turnspan"):
        settings = config.resolve({}, {"TURNSPAN_QUEUE_SIZE": "plenty"})

    assert settings.queue_size == 65_536
    assert "TURNSPAN_QUEUE_SIZE='plenty' is not understood" in caplog.text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"capture_content": "yes"}, "capture_content must be True or False, not 'yes'"),
        ({"queue_size": -1}, "queue_size must be a number above 0, not -1"),
        ({"queue_size": True}, "queue_size must be a number above 0, not True"),
        ({"project": 7}, "project must be text, not 7"),
        ({"redact": "mask"}, "redact must be a function"),
    ],
)
def test_bad_argument_raises(arguments: dict[str, Any], message: str) -> None:
    """A mistake in code is said at once."""
    with pytest.raises(ValueError, match=message):
        config.resolve(arguments, {})


@pytest.mark.parametrize(
    ("text", "on_spans", "on_events"),
    [
        ("SPAN_ONLY", True, False),
        ("span_and_event", True, True),
        ("EVENT_ONLY", False, True),
        ("NO_CONTENT", False, False),
        ("true", True, False),
    ],
)
def test_standard_content_variable(text: str, on_spans: bool, on_events: bool) -> None:
    """OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT, the old booleans included."""
    settings = config.resolve({}, {config.CAPTURE_ON_SPANS: text})

    assert settings.content_on_spans is on_spans
    assert settings.content_on_events is on_events
    assert settings.emit_events is on_events


def test_events_are_emitted_where_asked_for() -> None:
    """OTEL_INSTRUMENTATION_GENAI_EMIT_EVENT beats what the content mode implies."""
    event_only = {config.CAPTURE_ON_SPANS: "EVENT_ONLY"}

    assert config.resolve({}, {config.EMIT_EVENT: "true"}).emit_events is True
    assert config.resolve({}, {**event_only, config.EMIT_EVENT: "false"}).emit_events is False
    assert config.resolve({"emit_events": False}, event_only).emit_events is False


def test_sdk_disabled() -> None:
    """OTEL_SDK_DISABLED=true records nothing."""
    assert config.resolve({}, {"OTEL_SDK_DISABLED": "TRUE"}).enabled is False


def test_every_option_names_a_setting() -> None:
    """The table and the dataclass agree."""
    assert {option.field for option in config.OPTIONS} <= {f.name for f in fields(config.Settings)}
