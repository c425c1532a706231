"""Which ``with`` blocks of a reusable object are open.

One object (a module-level ``turnspan.session(...)``) may be entered by many threads and tasks at
once, and again inside itself: each exit must find its own entry. And a block may be left in another
context than it was entered in (an async generator closed by the event loop, a web framework that
runs both halves of a dependency in a pool), where a context variable no longer knows of it.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Generic, TypeVar, cast

State = TypeVar("State")


Entered = TypeVar("Entered")


class WithBlock(Generic[Entered]):
    """What is entered by ``with`` and by ``async with`` alike: neither waits for anything."""

    def __enter__(self) -> Entered:
        raise NotImplementedError

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        raise NotImplementedError

    async def __aenter__(self) -> Entered:
        return self.__enter__()

    async def __aexit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self.__exit__(kind, error, trace)


class _StackEntry:
    """One entry of one object."""

    __slots__ = ("owner", "state")

    def __init__(self, owner: object, state: object) -> None:
        self.owner = owner
        self.state = state


# Innermost last, those of all objects.
_open_here: ContextVar[tuple[_StackEntry, ...]] = ContextVar("turnspan-open-blocks", default=())


class OpenBlocks(Generic[State]):
    """The open blocks of one object, each with what its exit needs."""

    __slots__ = ("_everywhere",)

    def __init__(self) -> None:
        self._everywhere: dict[_StackEntry, None] = {}

    def push(self, state: State) -> None:
        """The object is entered."""
        block = _StackEntry(self, state)
        self._everywhere[block] = None
        _open_here.set((*_open_here.get(), block))

    def pop(self) -> State | None:
        """The object is left: what belongs to its innermost block of this thread or task.

        A context that knows of none of its blocks gets the newest; ``None`` when none is open.
        """
        here = _open_here.get()
        for index in range(len(here) - 1, -1, -1):
            block = here[index]
            if block.owner is self and block in self._everywhere:
                _open_here.set((*here[:index], *here[index + 1 :]))
                self._everywhere.pop(block, None)
                return self._taken(block)
        try:
            return self._taken(self._everywhere.popitem()[0])
        except KeyError:
            return None

    def _taken(self, block: _StackEntry) -> State:
        # Copies of the context (of tasks still running) may go on holding the block.
        state, block.state = block.state, None
        return cast("State", state)
