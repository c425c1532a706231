"""What a recording of one execution is to the wrapper around the user's function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Protocol


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
