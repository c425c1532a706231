"""The functions of ours between an application and what is recorded, each of which may fail."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterator, Sequence
from types import ModuleType
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider

import turnspan
from turnspan.tracing.state import default

Seam = tuple[str, Any, str]
"""A function's full name, what holds it, and its name there."""


class Boom(BaseException):
    """The fault, of the kind that an ``except Exception`` lets through."""


def boom(*_: Any, **__: Any) -> Any:
    """Stands in for a function.

    Raises:
        Boom: always.
    """
    raise Boom


def seams(modules: Sequence[ModuleType], outermost: Collection[str]) -> list[Seam]:
    """Functions and methods of these modules.

    Args:
        modules: Where they are defined.
        outermost: What calls the application's own function, or is a guard and nothing else.
    """
    return [
        (f"{module.__name__}.{spelled}", owner, name)
        for module in modules
        for spelled, owner, name in _of_module(module)
        if spelled not in outermost
    ]


def _of_module(module: ModuleType) -> Iterator[Seam]:
    for name, value in vars(module).items():
        if getattr(value, "__module__", None) != module.__name__:
            continue
        if inspect.isfunction(value):
            yield name, module, name
        elif inspect.isclass(value) and not issubclass(value, (BaseException, tuple)):
            for method, function in vars(value).items():
                dunder = method.startswith("__") and method not in ("__init__", "__call__")
                if inspect.isfunction(function) and not dunder:
                    yield f"{name}.{method}", value, method


@pytest.fixture
def wire_recording() -> Iterator[None]:
    """The wire is recorded."""
    provider = TracerProvider()
    default.provider = provider
    default.content.attach()
    turnspan.instrument(only=["http"], tracer_provider=provider)
    yield
    turnspan.uninstrument()
    default.content.detach()
    default.provider = None
