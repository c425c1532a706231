"""What to call a program that says no ``service.name``."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from turnspan import semconv
from turnspan.config import Settings
from turnspan.runtime.later import later

if TYPE_CHECKING:
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider

UNKNOWN = "unknown_service"
"""What OpenTelemetry calls it, with its interpreter after a colon."""

_NAMELESS = "python"
_WITH_VALUE = ("-W", "-X", "--check-hash-based-pycs")
_RUNS = later(r"-[A-Zabd-ln-z]*([mc])(.*)", re.DOTALL)
"""``-m`` or ``-c``: letters without a value may stand before it, its own value right behind."""


def with_service(resource: Resource) -> Resource:
    """The resource; named after the program where nothing names the service."""
    if not _nameless(resource):
        return resource
    return resource.merge(type(resource)({semconv.SERVICE_NAME: program_name()}))


def with_project(settings: Settings, provider: TracerProvider | None) -> Settings:
    """The settings; where nothing names a project or a service, the project is the program's.

    For the provider of an application, whose resource stays as it is.
    """
    if settings.project or provider is None or not _nameless(provider.resource):
        return settings
    if provider.resource.attributes.get(semconv.PROJECT):
        return settings
    return replace(settings, project=program_name())


def _nameless(resource: Resource) -> bool:
    return str(resource.attributes.get(semconv.SERVICE_NAME, UNKNOWN)).startswith(UNKNOWN)


def program_name(command: Sequence[str] | None = None) -> str:
    """The program's name: that of its script, or of the module that ``python -m`` runs.

    Read from the command line (default: this process's), which is there before ``sys.argv`` is.
    ``python`` where neither is: at a prompt, with ``-c``, from standard input.
    """
    words = list(sys.orig_argv if command is None else command)
    if not words:
        return _NAMELESS
    if "python" not in os.path.basename(words[0]).lower():  # an interpreter in another program
        return _stem(words[0]) or _NAMELESS
    at = 1
    while at < len(words):
        word = words[at]
        if word == "-":
            return _NAMELESS
        if not word.startswith("-"):
            return _of_script(word)
        runs = None if word.startswith(("--", "-W", "-X")) else _RUNS.fullmatch(word)
        if runs:
            module = runs[2] or "".join(words[at + 1 : at + 2])
            return _of_module(module) if runs[1] == "m" else _NAMELESS
        at += 2 if word in _WITH_VALUE else 1
    return _NAMELESS


def _of_script(path: str) -> str:
    script = os.path.abspath(path)
    if _stem(script) == "__main__":
        script = os.path.dirname(script)
    return _stem(script) or _NAMELESS


def _stem(path: str) -> str:
    return os.path.splitext(os.path.basename(path))[0]  # pathlib takes 2 ms to import


def _of_module(module: str) -> str:
    return module.strip().removesuffix(".__main__") or _NAMELESS
