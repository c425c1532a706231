"""Configuration: one table, resolved once into a frozen ``Settings``.

An argument of ``configure`` beats its environment variable, which beats the default. A bad
environment value is logged and replaced by the default (a deployment's typo never stops the
application); a bad argument raises ``ValueError`` (a mistake in code).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from turnspan.runtime import inspection
from turnspan.runtime.call_limits import LimitSet
from turnspan.runtime.call_limits import read as read_limits
from turnspan.runtime.errors import ConfigError
from turnspan.runtime.guard import logger as logger
from turnspan.runtime.guard import warn_once
from turnspan.runtime.type_guards import is_dict

RedactHook = Callable[[str, str], "str | None"]
"""``redact(text, where) -> text``: sees every text before it is written anywhere."""

ToolRule = Callable[[Any], "bool | None"]
"""``tool_failed(result) -> bool``: whether a tool that did not raise failed; ``None``: as usual."""

CAPTURE_ON_SPANS: Final = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
EMIT_EVENT: Final = "OTEL_INSTRUMENTATION_GENAI_EMIT_EVENT"
STABILITY: Final = "OTEL_SEMCONV_STABILITY_OPT_IN"


@dataclass(frozen=True, slots=True)
class Settings:
    """The resolved configuration of the emitting side."""

    enabled: bool = True
    """False when OTEL_SDK_DISABLED is true: nothing is recorded."""
    project: str = ""
    """Groups the records. Empty: the service's name, else the program's."""
    capture_content: bool = True
    """Record prompts, replies, tool arguments and results. ``false``: only tokens, cost, latency
    and stop reasons."""
    capture_media: bool = False
    """Record the bytes of images and files, not only hash, size and type."""
    content_limit_bytes: int = 0
    """The most bytes kept of a message part, tool arguments or result; 0 keeps everything."""
    content_on_spans: bool = False
    """Put content on spans, too, for OTLP backends: ``SPAN_ONLY`` or ``SPAN_AND_EVENT``; else
    ``NO_CONTENT``."""
    content_on_events: bool = False
    """Put content on the events of model calls, too, if ``emit_events``: ``EVENT_ONLY`` or
    ``SPAN_AND_EVENT``."""
    emit_events: bool = False
    """Also emit model calls and exceptions as log events. Unset: if content goes to events."""
    mask_secrets: bool = True
    """Mask secrets of known shapes."""
    redact: RedactHook | None = None
    """A function ``(text, where) -> text`` that sees every text before it is written. ``None``
    drops the text; an exception puts a marker in its place."""
    tool_failed: ToolRule | None = None
    """When a tool that did not raise has failed: a function ``(result) -> True``, ``False`` or
    ``None`` (decide as usual); in the variable, a regular expression."""
    classify_intent: bool = False
    """Classify turns without an intent by keywords."""
    silent_rounds: int = 30
    """Tool rounds in a row without visible text that end a turn as ``silent_rounds``."""
    request_stream_usage: bool = True
    """Ask OpenAI streams for token usage, and hide the extra chunk."""
    earlier_names: bool = False
    """Write the names of the GenAI conventions 1.41 beside those of 0.1.0: ``gen_ai/dup``."""
    record_http: bool = True
    """Record requests to models that only an HTTP client sees."""
    watch_unrecorded: bool = True
    """Count model calls that nothing records."""
    limits: LimitSet | None = None
    """Limits of model calls everywhere (``turnspan.limits``); in the variable
    ``usd=5 calls=100 per=session``."""
    flush_interval: float = 0.5
    """Seconds between writes to the spool. A kill -9 can lose that much."""
    running_calls_after: float = 1.0
    """Seconds after which a model call that still runs is stored: its prompt, then its text so far,
    every 2 seconds at most. A kill -9 loses only the text since. 0: calls are stored when they
    end."""
    queue_size: int = 65_536
    """The most finished spans in memory. Beyond it the oldest are dropped and counted."""
    batch_size: int = 1_024
    """Finished spans that trigger a write before ``flush_interval`` is over."""


@dataclass(frozen=True, slots=True)
class Option:
    """One row of the configuration table."""

    field: str
    variable: str
    read: Callable[[str], Any]
    help: str


def _boolean(text: str) -> bool:
    value = text.strip().lower()
    if value in ("1", "true", "yes", "on"):
        return True
    if value in ("0", "false", "no", "off"):
        return False
    raise ValueError("write true or false")


def _positive_int(text: str) -> int:
    value = int(text)
    if value <= 0:
        raise ValueError("write a whole number above 0")
    return value


def _limit(text: str) -> int:
    value = int(text)
    if value < 0:
        raise ValueError("write a number of bytes, or 0 for no limit")
    return value


def _positive_float(text: str) -> float:
    value = float(text)
    if not 0 < value < 86_400:
        raise ValueError("write a number of seconds above 0")
    return value


def _seconds(text: str) -> float:
    return _positive_float(text) if float(text) else 0.0


def _content_mode(text: str) -> bool:
    value = text.strip().lower()
    if value in ("span_only", "span_and_event", "true", "1"):
        return True
    if value in ("no_content", "event_only", "false", "0"):
        return False
    raise ValueError("write NO_CONTENT, SPAN_ONLY, EVENT_ONLY or SPAN_AND_EVENT")


def _matching(text: str) -> ToolRule:
    """The rule that a result fails that a pattern is found in: its text, the text of its parts (as
    MCP has them), and what is no text as JSON."""
    import json  # only where there is such a rule

    try:
        pattern = re.compile(text)
    except re.error as error:
        raise ValueError(f"write a regular expression: {error}") from None

    def failed(result: Any) -> bool | None:
        texts: list[Any] = [result]
        if not isinstance(result, str):
            parts: list[Any] = [*result] if isinstance(result, (list, tuple)) else [result]
            texts = [part.get("text") if is_dict(part) else part for part in parts]
            texts.append(json.dumps(result, ensure_ascii=False, default=str))
        return any(isinstance(one, str) and pattern.search(one) for one in texts) or None

    return failed


def _event_mode(text: str) -> bool:
    return text.strip().lower() in ("event_only", "span_and_event")


def _has_dup(text: str) -> bool:
    """Other packages read the same variable: what is theirs says nothing to us."""
    return "gen_ai/dup" in [value.strip().lower() for value in text.split(",")]


OPTIONS: Final[tuple[Option, ...]] = (
    Option("project", "TURNSPAN_PROJECT", str, "the project that records belong to"),
    Option("capture_content", "TURNSPAN_CAPTURE_CONTENT", _boolean, "record content at all"),
    Option("capture_media", "TURNSPAN_CAPTURE_MEDIA", _boolean, "record images' and files' bytes"),
    Option("content_limit_bytes", "TURNSPAN_CONTENT_LIMIT", _limit, "bytes a message part keeps"),
    Option("content_on_spans", CAPTURE_ON_SPANS, _content_mode, "also put content on the spans"),
    Option("content_on_events", CAPTURE_ON_SPANS, _event_mode, "also put content on events"),
    Option("emit_events", EMIT_EVENT, _boolean, "emit model calls as log events as well"),
    Option("mask_secrets", "TURNSPAN_MASK_SECRETS", _boolean, "mask secrets of known shapes"),
    Option("tool_failed", "TURNSPAN_TOOL_FAILED", _matching, "results of tools that failed"),
    Option("classify_intent", "TURNSPAN_CLASSIFY_INTENT", _boolean, "classify turns by keywords"),
    Option("silent_rounds", "TURNSPAN_SILENT_ROUNDS", _positive_int, "limit for silent_rounds"),
    Option(
        "request_stream_usage",
        "TURNSPAN_REQUEST_STREAM_USAGE",
        _boolean,
        "ask OpenAI streams for token usage",
    ),
    Option("earlier_names", STABILITY, _has_dup, "also write names of conventions 1.41"),
    Option("record_http", "TURNSPAN_RECORD_HTTP", _boolean, "record calls of HTTP clients"),
    Option("watch_unrecorded", "TURNSPAN_WATCH_UNRECORDED", _boolean, "count unrecorded calls"),
    Option("limits", "TURNSPAN_LIMITS", read_limits, "limits of model calls"),
    Option("flush_interval", "TURNSPAN_FLUSH_INTERVAL", _positive_float, "seconds between writes"),
    Option(
        "running_calls_after",
        "TURNSPAN_RUNNING_CALLS_AFTER",
        _seconds,
        "seconds until a running call is stored",
    ),
    Option("queue_size", "TURNSPAN_QUEUE_SIZE", _positive_int, "finished spans kept in memory"),
    Option("batch_size", "TURNSPAN_BATCH_SIZE", _positive_int, "spans that trigger a write"),
)


def resolve(arguments: Mapping[str, Any], environ: Mapping[str, str] | None = None) -> Settings:
    """Resolve arguments (``None`` = not given), environment and defaults into Settings.

    Raises:
        ConfigError: an argument is of the wrong type or out of range.
    """
    environ = os.environ if environ is None else environ
    values: dict[str, Any] = {}
    for option in OPTIONS:
        text = environ.get(option.variable, "")
        if text.strip():
            try:
                values[option.field] = option.read(text)
            except ValueError as error:
                warn_once(
                    f"{option.variable}={text!r} is not understood ({error}); the default is used."
                )
    values.setdefault("emit_events", values.get("content_on_events", False))
    if environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        values["enabled"] = False
    defaults = Settings()
    for name, value in arguments.items():
        if value is None:
            continue
        values[name] = _checked(name, value, getattr(defaults, name))
    return replace(defaults, **values)


def check_texts(**arguments: Any) -> None:
    """Raises ``ConfigError`` where one of these is no text; ``None`` = not given."""
    for name, value in arguments.items():
        if value is not None:
            _checked(name, value, "")


def _checked(name: str, value: Any, default: Any) -> Any:
    if name == "redact":
        if not callable(value):
            raise ConfigError("redact must be a function (text, where) -> text")
        return value
    if name == "tool_failed":
        if not callable(value):
            raise ConfigError("tool_failed must be a function (result) -> True, False or None")
        return value
    if name == "limits":
        found = getattr(value, "limit_set", None)
        if not isinstance(found, LimitSet):
            raise ConfigError(f"limits must be turnspan.limits(...), not {value!r}")
        return found
    if isinstance(default, bool):
        if not isinstance(value, bool):
            raise ConfigError(f"{name} must be True or False, not {value!r}")
        return value
    may_be_none = name in ("content_limit_bytes", "running_calls_after")
    if may_be_none and type(value) in (int, float) and not value:
        return type(default)(0)
    if isinstance(default, (int, float)):
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value <= 0:
            raise ConfigError(f"{name} must be a number above 0, not {value!r}")
        return type(default)(value)
    if not isinstance(value, str):
        raise ConfigError(f"{name} must be text, not {value!r}")
    return value


_active = resolve({})
activated: Callable[[Settings], None] | None = None
"""Told of the settings that are put in force."""
look_up: Callable[[], Settings] | None = None
"""Finds the settings of the current recorder, where a process has several."""


def active() -> Settings:
    """The settings in force here; before ``configure`` those of the environment. While a value is
    looked at, nothing is recorded."""
    found = _active if look_up is None else look_up()
    return replace(found, enabled=False) if inspection.threads and inspection.on() else found


def of_process() -> Settings:
    """The settings of the process's default recorder."""
    return _active


def activate(settings: Settings) -> None:
    """Put settings in force for the process's default recorder."""
    global _active
    _active = settings
    if activated is not None:
        activated(settings)
