"""What a recording of one execution is to the wrapper around the user's function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Protocol

from opentelemetry import context as otel_context
from opentelemetry.context import Context

from turnspan.runtime.guard import guard
from turnspan.tracing.recording import detach

_BLOCK: Final = guard("decorated_block")


class Recording(Protocol):
    """One execution being recorded. No method ever raises (each guards itself); here none does
    anything."""

    __slots__ = ()

    instead: Any = None
    """What is called in place of the user's function; a rerun's recorded result."""

    def enter(self) -> object | None:
        """Make the span current; returns a token for ``leave``."""
        return None

    def leave(self, token: object | None) -> None:
        """Make the former span current again."""
        return

    def suspend(self, token: object | None, item: Any) -> None:
        """As ``leave``, at a yield of this item: the next ``enter`` finds the context as the code
        left it."""
        return

    def succeeded(self, result: Any) -> None:
        """The code returned; ends the span."""
        return

    def exhausted(self, result: Any) -> None:
        """A generator ran to its end; ends the span with the items as its output."""
        return

    def failed(self, error: BaseException, *, stream: bool = False) -> None:
        """The code (with ``stream``: a generator) raised; ends the span."""
        return

    def abandoned(self) -> None:
        """The consumer left a generator before its end; ends the span, without an error."""
        return


StartRecording = Callable[[tuple[Any, ...], dict[str, Any]], Recording]
WrapperOf = Callable[[Callable[..., Any], StartRecording], Callable[..., Any]]
"""Wraps functions of one kind."""


class NoRecording(Recording):
    """Stands in when a recording could not begin: does nothing."""

    __slots__ = ()


class ContextRecording(NoRecording):
    """Makes a context current while a decorated function runs; records nothing itself."""

    __slots__ = ("_context",)

    def __init__(self, context: Context) -> None:
        self._context = context

    def enter(self) -> object | None:
        """Make it current."""
        with _BLOCK:
            return otel_context.attach(self._context)
        return None

    def leave(self, token: object | None) -> None:
        """Make the former context current again."""
        with _BLOCK:
            detach(token)

    def suspend(self, token: object | None, item: Any) -> None:
        """Leave at a yield."""
        with _BLOCK:
            if token is not None:
                self._context = otel_context.get_current()
                detach(token)


class BlockCall(NoRecording):
    """A block that is a call of a decorated function: a generator ends it as a function does."""

    __slots__ = ()

    def exhausted(self, result: Any) -> None:
        """A generator ran to its end."""
        self.succeeded(result)

    def abandoned(self) -> None:
        """The consumer left a generator before its end."""
        self.failed(GeneratorExit())


NO_RECORDING: Final = NoRecording()
