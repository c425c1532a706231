"""The frame around an SDK's function: our code before and behind it, never in its way.

The user's value passes through none of ours. What fails in a hook is counted, and the caller gets
what the SDK returned or raised.
"""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from turnspan.patching.patches import Args, Function, Kwargs
from turnspan.runtime.guard import errors, guard
from turnspan.tracing import tool_answers

C = TypeVar("C")
"""A call under way."""


class Frame(Generic[C]):
    """The wrapper of a function and that of its asynchronous twin, around three hooks."""

    place: str = "sdk"
    """What errors of ours are counted under."""

    def _begin(self, owner: Any, args: Args, kwargs: Kwargs, /) -> tuple[C, Kwargs] | None:
        """Begin to record a call, which gets these keywords; ``None``: it is not recorded."""
        raise NotImplementedError

    def _failed(self, call: C, owner: Any, error: BaseException, /) -> None:
        """The function raised this."""
        raise NotImplementedError

    def _answered(self, call: C, result: Any, /) -> None:
        """The function returned this."""
        raise NotImplementedError

    def _unsettled(self, call: C, result: Any, /) -> None:
        """``_answered`` has failed: the call ends here."""

    def call(self, wrapped: Function, owner: Any, args: Args, kwargs: Kwargs) -> Any:
        """Around a function."""
        begun: tuple[C, Kwargs] | None = None
        try:
            begun = self._begin(owner, args, kwargs)
        except BaseException as error:  # noqa: BLE001  ours, never the caller's
            errors.record(f"{self.place}.before_call", error)
        if begun is None:
            return wrapped(*args, **kwargs)
        call, kwargs = begun
        try:
            result = wrapped(*args, **kwargs)
        except BaseException as error:
            with guard(f"{self.place}.call_failed"):
                self._failed(call, owner, error)
            raise
        try:
            self._answered(call, result)
        except BaseException as error:  # noqa: BLE001  ours, never the caller's
            errors.record(f"{self.place}.call_answered", error)
            with guard(f"{self.place}.unsettled"):
                self._unsettled(call, result)
        return result

    async def acall(self, wrapped: Function, owner: Any, args: Args, kwargs: Kwargs) -> Any:
        """Around an asynchronous function."""
        begun: tuple[C, Kwargs] | None = None
        try:
            begun = self._begin(owner, args, kwargs)
        except BaseException as error:  # noqa: BLE001  ours, never the caller's
            errors.record(f"{self.place}.before_call", error)
        if begun is None:
            return await wrapped(*args, **kwargs)
        call, kwargs = begun
        try:
            result = await wrapped(*args, **kwargs)
        except BaseException as error:
            with guard(f"{self.place}.call_failed"):
                self._failed(call, owner, error)
            raise
        try:
            self._answered(call, result)
        except BaseException as error:  # noqa: BLE001  ours, never the caller's
            errors.record(f"{self.place}.call_answered", error)
            with guard(f"{self.place}.unsettled"):
                self._unsettled(call, result)
        return result


class ToolFrame(Frame[C]):
    """The frame around a function of an SDK that executes a tool: a rerun may answer in its
    place."""

    def _in_rerun(self, wrapped: Function, answers: tool_answers.ToolAnswers, /) -> Any:
        """The function, or what gives the recorded result in its place: here, plain JSON."""
        return answers.result(wrapped, Any)

    def call(self, wrapped: Function, owner: Any, args: Args, kwargs: Kwargs) -> Any:
        """Around a function."""
        if tool_answers.answers is not None:
            wrapped = self._in_rerun(wrapped, tool_answers.answers)
        return super().call(wrapped, owner, args, kwargs)

    async def acall(self, wrapped: Function, owner: Any, args: Args, kwargs: Kwargs) -> Any:
        """Around an asynchronous function."""
        if tool_answers.answers is not None:
            wrapped = self._in_rerun(wrapped, tool_answers.answers)
        return await super().acall(wrapped, owner, args, kwargs)
