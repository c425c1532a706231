"""Python values of recorded results: of the class that was recorded, or that a function's return
annotation names."""

from __future__ import annotations

import ast
import builtins
import collections.abc
import dataclasses
import functools
import inspect
import sys
import types
import typing
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final, cast

import orjson

from turnspan.runtime.type_guards import is_list, kind_of

_ANY: Final = (Any, None, type(None), object, inspect.Parameter.empty)
_STEPS: Final = (
    *(collections.abc.Iterator, collections.abc.Iterable, collections.abc.Generator),
    *(collections.abc.AsyncIterator, collections.abc.AsyncIterable),
    collections.abc.AsyncGenerator,
)
_MADE: Final = "_turnspan_made"
_AWAITED: Final = (collections.abc.Awaitable, collections.abc.Coroutine)


class CannotRebuildError(TypeError):
    """A recorded result is no value of the class that it had."""


def value_of(text: str, class_name: str, gives: Any) -> Any:
    """The value that a tool returned.

    Args:
        text: the recorded result, as the row has it.
        class_name: what was recorded of its class (``tool_answers.class_of``); may be empty.
        gives: a type, or a function whose return annotation names it.

    Raises:
        CannotRebuildError: the value's class cannot be made of JSON.
    """
    target = returned_by(gives)
    if class_name == "str" or (target is str and not class_name):
        return text
    if not text and not class_name:
        return None
    try:
        data: Any = orjson.loads(text)
    except orjson.JSONDecodeError:
        data = text
    if class_name:
        inner = class_name.removeprefix("list[").removesuffix("]")
        known = _class_named(inner)
        if known is not None:
            target = types.GenericAlias(list, known) if inner != class_name else known
        elif target in _ANY:
            raise CannotRebuildError(class_name)
    try:
        return build(data, target)
    except CannotRebuildError:
        if class_name:
            raise
        return data  # the annotation is wrong: what was returned is plain JSON


def returned_by(gives: Any) -> Any:
    """The type that a function returns or is awaited for, a list of what it yields; a type is
    itself."""
    if isinstance(gives, type) or not callable(gives):
        return gives
    function: Any = inspect.unwrap(cast("types.FunctionType", gives))
    while kind_of(function) in (functools.partial, functools.partialmethod):
        function = inspect.unwrap(function.func)
    if not inspect.isroutine(function):
        function = getattr(kind_of(function), "__call__", function)  # noqa: B004  to read its hints
    try:
        found = typing.get_type_hints(function).get("return", Any)
    except (NameError, TypeError, AttributeError):  # names that exist for type checkers only
        return Any
    origin, parameters = typing.get_origin(found), typing.get_args(found)
    if origin in _STEPS:
        return types.GenericAlias(list, parameters[:1] or (Any,))
    if origin in _AWAITED:
        return parameters[-1] if parameters else Any
    return found


def build(data: Any, target: Any) -> Any:
    """A value of this type, of plain JSON: by pydantic, where that is installed.

    Raises:
        CannotRebuildError: JSON has no form for it.
    """
    if target in _ANY:
        return data
    try:
        from pydantic import TypeAdapter
    except ImportError:
        return _built_by_hand(data, target)
    try:
        return TypeAdapter(target).validate_python(data)
    except Exception as error:
        raise CannotRebuildError(f"{target}: {error}") from error


def _built_by_hand(data: Any, target: Any) -> Any:
    if typing.get_origin(target) is list and is_list(data):
        return [_built_by_hand(item, typing.get_args(target)[0]) for item in data]
    if dataclasses.is_dataclass(target) and isinstance(data, dict):
        hints = typing.get_type_hints(target)
        fields = [one.name for one in dataclasses.fields(target) if one.init and one.name in data]
        built = {name: _built_by_hand(data[name], hints[name]) for name in fields}
        return cast("Any", target)(**built)
    if target in (tuple, set, frozenset) and is_list(data):
        return cast("Any", target)(data)
    if isinstance(target, type) and not isinstance(data, target):
        raise CannotRebuildError(f"{target.__module__}.{target.__qualname__}")
    return data


def _class_named(name: str) -> Any:
    """The class of this name, in the modules that the program has imported: none is imported for a
    name that stands in a record."""
    module, _, place = name.rpartition(".")
    found: Any = None
    while module and found is None:
        found = sys.modules.get(module)
        for each in place.split(".") if found is not None else ():
            found = getattr(found, each, None)
        if found is None:
            module, _, rest = module.rpartition(".")
            place = f"{rest}.{place}"
    return found if isinstance(found, type) else None


def error_of(name: str, message: str) -> BaseException:
    """An exception whose class has this (qualified) name and whose text is the message: of the
    class that the program knows by it, of all that it knows if they are several, else of one that
    is made from ``Exception``."""
    builtin: Any = getattr(builtins, name, None)
    known: tuple[Any, ...] = _kinds_named(name) or (Exception,)
    if isinstance(builtin, type) and issubclass(builtin, Exception):
        known = (builtin,)
    # Without an argument its text is empty; KeyError quotes its argument.
    for arguments in ((message,) if message else (), (_unquoted(message),)):
        with suppress(Exception):  # its class takes other arguments
            error: Any = known[0](*arguments)
            if str(error) == message and known != (Exception,) and len(known) == 1:
                return cast("BaseException", error)

    def text(_: Any) -> str:
        return message

    names = {"__str__": text, "__init__": object.__init__, "__qualname__": name, _MADE: True}
    names["__module__"] = known[0].__module__
    last = name.rpartition(".")[2]
    try:
        kind: Any = type(last, known, names)
    except TypeError:  # no object can be of all of them
        kind = type(last, known[:1], names)
    made: Any = kind.__new__(kind, message)
    made.args = (message,)
    return cast("BaseException", made)


def _kinds_named(name: str) -> tuple[type[Exception], ...]:
    """The classes of this qualified name, without those that another of them is made from."""
    found = dict.fromkeys(kind for kind in _kinds(Exception) if kind.__qualname__ == name)
    every = [kind for kind in found if _MADE not in vars(kind)]
    return tuple(
        kind
        for kind in every
        if not any(issubclass(other, kind) for other in every if other is not kind)
    )


def _unquoted(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text


def _kinds(base: type[Exception]) -> Iterator[type[Exception]]:
    for kind in base.__subclasses__():
        yield kind
        yield from _kinds(kind)
