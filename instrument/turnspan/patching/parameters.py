"""Request parameters as span attributes: the names that providers have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from turnspan import semconv

_TEXTS: Final = {
    "model": semconv.REQUEST_MODEL,
    "reasoning_effort": semconv.REQUEST_REASONING_LEVEL,
}
_INTEGERS: Final = {
    "max_tokens": semconv.REQUEST_MAX_TOKENS,
    "max_completion_tokens": semconv.REQUEST_MAX_TOKENS,
    "top_k": semconv.REQUEST_TOP_K,
    "seed": semconv.REQUEST_SEED,
}
_NUMBERS: Final = {
    "temperature": semconv.REQUEST_TEMPERATURE,
    "top_p": semconv.REQUEST_TOP_P,
    "frequency_penalty": semconv.REQUEST_FREQUENCY_PENALTY,
    "presence_penalty": semconv.REQUEST_PRESENCE_PENALTY,
}
_STOPS: Final = frozenset({"stop", "stop_sequences"})
_INTEGER: Final = 2**63  # what an attribute can hold


def describe(body: Mapping[str, Any], attributes: dict[str, Any]) -> None:
    """Write the attributes of a request's parameters; those of another type are left out."""
    for key, value in body.items():
        kind = cast("type[object]", type(value))
        if kind is str:
            if key in _TEXTS:
                attributes.setdefault(_TEXTS[key], value)  # Azure's deployment is the model
            elif key in _STOPS:
                attributes[semconv.REQUEST_STOP_SEQUENCES] = [value]
        elif kind is float or (kind is int and -_INTEGER <= cast("int", value) < _INTEGER):
            if key in _NUMBERS:
                attributes[_NUMBERS[key]] = float(value)
            elif kind is int and key in _INTEGERS:
                attributes[_INTEGERS[key]] = value
            elif key == "n" and value != 1:
                attributes[semconv.REQUEST_CHOICE_COUNT] = value
        elif kind is list:
            if key in _STOPS:
                texts = [item for item in value if type(item) is str]
                attributes[semconv.REQUEST_STOP_SEQUENCES] = texts
        elif value is True and key == "stream":
            attributes[semconv.REQUEST_STREAM] = True
