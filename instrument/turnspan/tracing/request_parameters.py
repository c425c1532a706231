"""Request parameters as span attributes: the names that providers have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from turnspan import semconv
from turnspan.runtime.type_guards import kind_of

_TEXT: Final = "text"
_INTEGER: Final = "integer"
_NUMBER: Final = "number"
_STOPS: Final = "stops"
_CHOICES: Final = "choices"
_STREAM: Final = "stream"
_BOUND: Final = 2**63  # what an attribute can hold

PARAMETERS: Final = {
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
        known = PARAMETERS.get(key)
        if known is None:
            continue
        kind, name = known
        given = kind_of(value)
        if given is str:
            if kind is _TEXT:
                if name not in attributes:  # Azure's deployment is the model
                    attributes[name] = value
            elif kind is _STOPS:
                attributes[name] = (value,)
        elif given is float or (given is int and -_BOUND <= value < _BOUND):
            if kind is _NUMBER:
                attributes[name] = float(value)
            elif (given is int and kind is _INTEGER) or (kind is _CHOICES and value != 1):
                attributes[name] = value
        elif given is list:
            if kind is _STOPS:
                attributes[name] = tuple(item for item in value if kind_of(item) is str)
        elif value is True and kind is _STREAM:
            attributes[name] = True
