"""Request parameters as span attributes: the names that providers have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from turnspan import semconv

_TEXT: Final = "text"
_INTEGER: Final = "integer"
_NUMBER: Final = "number"
_STOPS: Final = "stops"
_CHOICES: Final = "choices"
_STREAM: Final = "stream"

_PARAMETERS: Final = {
    "model": (_TEXT, semconv.REQUEST_MODEL),
    "reasoning_effort": (_TEXT, semconv.REQUEST_REASONING_LEVEL),
    "max_tokens": (_INTEGER, semconv.REQUEST_MAX_TOKENS),
    "max_completion_tokens": (_INTEGER, semconv.REQUEST_MAX_TOKENS),
    "top_k": (_INTEGER, semconv.REQUEST_TOP_K),
    "seed": (_INTEGER, semconv.REQUEST_SEED),
    "temperature": (_NUMBER, semconv.REQUEST_TEMPERATURE),
    "top_p": (_NUMBER, semconv.REQUEST_TOP_P),
    "frequency_penalty": (_NUMBER, semconv.REQUEST_FREQUENCY_PENALTY),
    "presence_penalty": (_NUMBER, semconv.REQUEST_PRESENCE_PENALTY),
    "stop": (_STOPS, semconv.REQUEST_STOP_SEQUENCES),
    "stop_sequences": (_STOPS, semconv.REQUEST_STOP_SEQUENCES),
    "n": (_CHOICES, semconv.REQUEST_CHOICE_COUNT),
    "stream": (_STREAM, semconv.REQUEST_STREAM),
}


def describe(body: Mapping[str, Any], attributes: dict[str, Any]) -> None:
    """Write the attributes of a request's parameters; those of another type are left out."""
    for key, value in body.items():
        known = _PARAMETERS.get(key)
        if known is not None:
            _write(known[0], known[1], value, attributes)


def _write(kind: str, name: str, value: Any, attributes: dict[str, Any]) -> None:
    given = cast("type[object]", type(value))
    if given is str:
        if kind is _TEXT:
            attributes.setdefault(name, value)  # Azure's deployment is the model
        elif kind is _STOPS:
            attributes[name] = [value]
    elif given is int or given is float:
        if kind is _NUMBER:
            attributes[name] = float(value)
        elif (given is int and kind is _INTEGER) or (kind is _CHOICES and value != 1):
            attributes[name] = value
    elif given is list:
        if kind is _STOPS:
            attributes[name] = [str(item) for item in cast("list[Any]", value)]
    elif value is True and kind is _STREAM:
        attributes[name] = True
