"""A plugin of the command ``llm``: records what its models are asked, the command unchanged.

``llm`` loads it by its entry point with every command, so it must cost nothing and break nothing:
Turnspan is imported when the first model is asked, where the environment says that it is to record
(``TURNSPAN_STORE``, or ``TURNSPAN_LLM=true``). Programs that use ``llm`` as a library are left
alone: they call ``turnspan.instrument()`` themselves.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Callable
from typing import Any, Final

import pluggy

_hookimpl: Final = pluggy.HookimplMarker("llm")
_logger: Final = logging.getLogger("turnspan")

SWITCH: Final = "TURNSPAN_LLM"
"""``true``: record the command ``llm``, in the default store if no other is named; ``false``: do
not. Unset: record if ``TURNSPAN_STORE`` is set."""
_STORE: Final = "TURNSPAN_STORE"
_NO: Final = ("0", "false", "no", "off")

_ASKING: Final = (("llm", "Prompt"), ("llm_consortium", "ConsortiumOrchestrator"))
"""What is made before a model is asked, by module."""


@_hookimpl
def register_commands(cli: Any) -> None:
    """The command begins; none is added to it. Never raises."""
    try:
        if _is_wanted():
            _Start().wait()
    except Exception as error:  # noqa: BLE001  the command goes on
        _tell(error)


def _is_wanted() -> bool:
    said = os.environ.get(SWITCH, "").strip().lower()
    return said not in _NO if said else bool(os.environ.get(_STORE, "").strip())


class _Start:
    """Begins to record when the first of ``_ASKING`` is made: most commands ask no model."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._given_back: list[Callable[[], None]] = []

    def wait(self) -> None:
        """Watch them."""
        for module, name in _ASKING:
            kind: Any = getattr(sys.modules.get(module), name, None)
            if kind is not None:
                self._watch(kind)

    def _watch(self, kind: Any) -> None:
        original = kind.__init__

        def first(made: Any, *args: Any, **kwargs: Any) -> None:
            self._begin()
            original(made, *args, **kwargs)

        def give_back() -> None:
            if kind.__init__ is first:
                kind.__init__ = original

        kind.__init__ = first
        self._given_back.append(give_back)

    def _begin(self) -> None:
        with self._lock:  # another thread's waits until everything is recorded
            while self._given_back:
                self._given_back.pop()()
                if not self._given_back:
                    _record()


def _record() -> None:
    """Begin to record, unless that was done already (``opentelemetry-instrument``)."""
    try:
        import turnspan  # with the first model that is asked
        from turnspan import lifecycle

        if not lifecycle.default_recorder.records:
            turnspan.configure()
            turnspan.instrument()
    except Exception as error:  # noqa: BLE001  the command goes on
        _tell(error)


def _tell(error: Exception) -> None:
    _logger.warning("Turnspan cannot record this command: %s: %s.", type(error).__name__, error)
