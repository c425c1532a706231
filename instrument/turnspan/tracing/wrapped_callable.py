"""Wrappers of what is more than a function: everything that can be asked of it goes on to it.

``lru_cache`` objects (``cache_info``, ``cache_clear``), partials, builtins, methods, compiled
functions, objects with a ``__call__``, and generator functions, which must bind their arguments
when they are called. ``isinstance`` and ``inspect`` say of a wrapper what they say of what it
wraps; it is copied and pickled as that is.
"""

from __future__ import annotations

import copy
import functools
import inspect
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import wrapt
from opentelemetry import context as otel_context
from opentelemetry.context import Context

from turnspan.runtime.type_guards import kind_of
from turnspan.tracing.arguments import name_of

if TYPE_CHECKING:
    from turnspan.tracing.recording_protocol import Recording, StartRecording, WrapperOf

_Function: Any = wrapt.FunctionWrapper
_BoundFunction: Any = wrapt.BoundFunctionWrapper
_Object: Any = wrapt.ObjectProxy


def _itself(value: Any) -> Any:
    return value


class _Bound(_BoundFunction):  # type: ignore[misc]
    """A wrapped method of an object."""

    __slots__ = ()

    def __reduce_ex__(self, _protocol: Any) -> Any:
        owner: Any = self._self_instance
        return (_itself, (self.__wrapped__,)) if owner is None else (getattr, (owner, _name(self)))


class _Alike:
    """What a wrapper of anything has in common with what it wraps."""

    # Without slots ``__dict__`` would be ours, with annotations of ours ``__annotations__``.
    __slots__ = ()

    @property
    def __name__(self: Any) -> str:
        return name_of(self.__wrapped__)

    def __copy__(self: Any) -> Any:
        return self._around(copy.copy(self.__wrapped__))

    def __deepcopy__(self: Any, memo: Any) -> Any:
        return self._around(copy.deepcopy(self.__wrapped__, memo))

    def __reduce_ex__(self: Any, _protocol: Any) -> Any:
        """By its name, as functions are; what has none is pickled without us."""
        found: Any = sys.modules.get(str(getattr(self.__wrapped__, "__module__", "")))
        place = str(getattr(self.__wrapped__, "__qualname__", ""))
        for name in place.split("."):
            found = getattr(found, name, None)
        return place if found is self else (_itself, (self.__wrapped__,))

    def __reduce__(self: Any) -> Any:
        return self.__reduce_ex__(2)

    def _around(self: Any, other: Any) -> Any:
        make: Any = kind_of(self)
        return self if other is self.__wrapped__ else make(other, self._self_wrapper)


class Wrapped(_Alike, _Function):  # type: ignore[misc]
    """A function, a method, or what binds to an object as they do."""

    __slots__ = ()

    __bound_function_wrapper__ = _Bound


_WRAP: Any = Wrapped


class _WrappedCall:
    """``__call__`` of an object, of the kind that the object's own is."""

    def __get__(self, instance: Any, _owner: Any = None) -> Any:
        return self if instance is None else instance._self_call


class WrappedObject(_Alike, _Object):  # type: ignore[misc]
    """A partial, or an object with a ``__call__``."""

    __slots__ = ()

    def __init__(self: Any, subject: Any, wrapper: Callable[..., Any]) -> None:
        _Object.__init__(self, subject)
        self._self_wrapper = wrapper
        self._self_call = _WRAP(subject.__call__, wrapper)

    __call__ = _WrappedCall()


_PARTIAL: Final[Any] = functools.partial
_DISPATCHER: Final[Any] = functools.singledispatchmethod


def around(
    func: Any,
    kind: WrapperOf,
    begin_for: Callable[[Callable[..., Any]], StartRecording],
    *,
    later: bool,
) -> Any:
    """``func`` with a recording around each of its calls; ``later``: it makes generators."""
    routine = _is_routine_like(func)
    begin = begin_for(func.func if isinstance(func, _DISPATCHER) else func)
    at_once = getattr(func, "__self__", None) is not None or not routine
    call = (_binding_at_once if later else _bound)(kind, begin, at_once)
    make: Any = Wrapped if routine else WrappedObject
    return make(func, call)


def _is_routine_like(func: Any) -> bool:
    """Whether it is a function, or binds to an object as functions do."""
    if isinstance(func, _PARTIAL):
        return False
    return hasattr(kind_of(func), "__get__") or inspect.isroutine(func)


def _bound(kind: WrapperOf, begin: StartRecording, at_once: bool) -> Callable[..., Any]:
    """What is called for each call of a wrapped callable; ``at_once``: it has its object already,
    which is none of its arguments."""

    def begin_call(made: tuple[Any, ...], _: dict[str, Any]) -> Recording:
        return begin(made[1], made[3])

    recorded = kind(_called, begin_call)

    def call(wrapped: Any, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        given = args if instance is None or at_once else (instance, *args)
        return recorded(wrapped, given, args, kwargs)

    return call


def _called(func: Any, _: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return func(*args, **kwargs)


def _binding_at_once(kind: WrapperOf, begin: StartRecording, at_once: bool) -> Callable[..., Any]:
    """As ``_bound``, of a generator function: it binds its arguments when called, as ``func`` does,
    and belongs to the session and the turn that it is called in.

    A generator of our own would take any arguments, and fail at its first step. What wrapt makes is
    called like a plain function, and is a generator function to whoever inspects it.
    """

    def begin_running(made: tuple[Any, ...], _: dict[str, Any]) -> Recording:
        return _begun(begin, made[1], made[2], made[3])

    # Made once and not for each call: it is given the generator, and what it was called with.
    recorded = kind(_made, begin_running)

    def call(wrapped: Any, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        given = args if instance is None or at_once else (instance, *args)
        try:
            generator = wrapped(*args, **kwargs)  # runs nothing of it yet
        except BaseException as error:
            begin(given, kwargs).failed(error, stream=True)
            raise
        running = recorded(generator, given, kwargs, otel_context.get_current())
        running.__name__, running.__qualname__ = generator.__name__, generator.__qualname__
        return running

    return call


def _made(generator: Any, *_: Any) -> Any:
    return generator


def _begun(begin: StartRecording, args: Any, kwargs: dict[str, Any], called: Context) -> Recording:
    """A generator takes its first step: the recording begins where the generator was made (in
    ``with session(): return stream()`` that is no longer), as far as that says anything."""
    now = otel_context.get_current()
    if now is called or not called:
        return begin(args, kwargs)
    token = otel_context.attach(Context({**now, **called}))
    try:
        return begin(args, kwargs)
    finally:
        otel_context.detach(token)


def _name(bound: Any) -> str:
    return str(bound.__wrapped__.__name__)
