"""Python values of recorded results: of the class that was recorded, or that a function's return
annotation names."""

from __future__ import annotations

import builtins
import collections.abc
import dataclasses
import enum
import functools
import inspect
import sys
import types
import typing
from collections.abc import Iterator
from typing import Any, Final

import orjson

_ANY: Final = (Any, None, type(None), object, inspect.Parameter.empty)
_UNIONS: Final = (typing.Union, types.UnionType)
_STEPS: Final = (
    *(collections.abc.Iterator, collections.abc.Iterable, collections.abc.Generator),
    *(collections.abc.AsyncIterator, collections.abc.AsyncIterable),
    collections.abc.AsyncGenerator,
)
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
    except Exception as error:
        raise CannotRebuildError(f"{class_name or target}: {error}") from error


def returned_by(gives: Any) -> Any:
    """The type that a function returns or is awaited for, a list of what it yields; a type is
    itself."""
    if isinstance(gives, type) or not callable(gives):
        return gives
    function: Any = inspect.unwrap(gives)
    while isinstance(function, (functools.partial, functools.partialmethod)):
        function = inspect.unwrap(function.func)
    if not inspect.isroutine(function):
        function = getattr(type(function), "__call__", function)  # noqa: B004  to read its hints
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
    """A value of this type, of plain JSON.

    Raises:
        CannotRebuildError: JSON has no form for it.
    """
    if target in _ANY or isinstance(target, typing.TypeVar):
        return data
    origin, parameters = typing.get_origin(target), typing.get_args(target)
    if origin is typing.Annotated:
        return build(data, parameters[0])
    if origin in _UNIONS:
        return _first_fitting(data, parameters)
    if origin is typing.Literal:
        return data
    if origin is not None:
        return _container(data, origin, parameters)
    if not isinstance(target, type):
        raise CannotRebuildError(f"{target!r}")
    if typing.is_typeddict(target):
        return {**data, **_fields(data, target)}
    if dataclasses.is_dataclass(target):
        return _dataclass(data, target)
    if hasattr(target, "model_validate"):  # pydantic's
        return typing.cast("Any", target).model_validate(data)
    if issubclass(target, enum.Enum):
        return next((one for one in target if repr(one) == data), None) or target(data)
    if issubclass(target, tuple) and hasattr(target, "_fields") and isinstance(data, list):
        hints = typing.get_type_hints(target)
        names: tuple[str, ...] = target._fields
        return target(*(build(one, hints.get(n, Any)) for n, one in zip(names, data, strict=True)))
    if target in (tuple, set, frozenset) and isinstance(data, list):
        return target(data)
    if target is float and type(data) is int:
        return float(data)
    if type(data) is target or (inspect.isabstract(target) and isinstance(data, target)):
        return data
    raise CannotRebuildError(f"{target.__module__}.{target.__qualname__}")


def _first_fitting(data: Any, types_: tuple[Any, ...]) -> Any:
    if data is None and type(None) in types_:
        return None
    for each in types_:
        if each is not type(None):
            try:
                return build(data, each)
            except Exception:  # noqa: BLE001  the next type may fit
                continue
    raise CannotRebuildError(f"{types_}")


def _container(data: Any, origin: Any, parameters: tuple[Any, ...]) -> Any:
    if isinstance(data, dict):
        if not issubclass(dict, origin):
            raise CannotRebuildError(f"{origin}")
        inner = parameters[1] if len(parameters) == 2 else Any
        return {key: build(item, inner) for key, item in data.items()}
    if not isinstance(data, list):
        raise CannotRebuildError(f"{origin}")
    if origin is tuple and not (len(parameters) == 2 and parameters[1] is Ellipsis):
        return tuple(build(one, each) for one, each in zip(data, parameters, strict=True))
    items = [build(item, parameters[0] if parameters else Any) for item in data]
    if issubclass(list, origin):
        return items
    if origin in (tuple, set, frozenset):
        return origin(items)
    raise CannotRebuildError(f"{origin}")


def _fields(data: Any, target: Any) -> dict[str, Any]:
    hints = typing.get_type_hints(target)
    return {name: build(data[name], kind) for name, kind in hints.items() if name in data}


def _dataclass(data: Any, target: Any) -> Any:
    values = _fields(data, target)
    taken = {field.name for field in dataclasses.fields(target) if field.init}
    made = target(**{name: value for name, value in values.items() if name in taken})
    for name, value in values.items():
        if name not in taken:
            object.__setattr__(made, name, value)
    return made


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
    class that the program knows by it, else of one that is made from ``Exception``."""
    known: Any = getattr(builtins, name, None)
    if not (isinstance(known, type) and issubclass(known, Exception)):
        known = next((kind for kind in _kinds(Exception) if kind.__qualname__ == name), Exception)
    plain = name.rpartition(".")[2]
    try:
        error: Any = known(message)
        if str(error) == message and known is not Exception:
            return typing.cast("BaseException", error)
    except Exception:  # noqa: BLE001  its class takes other arguments
        error = None
    said = {"__str__": lambda _: message, "__init__": lambda *_: None, "__qualname__": name}
    kind: Any = type(plain, (known,), {**said, "__module__": known.__module__})
    made: Any = kind.__new__(kind, message)
    made.args = (message,)
    return typing.cast("BaseException", made)


def _kinds(base: type[Exception]) -> Iterator[type[Exception]]:
    for kind in base.__subclasses__():
        yield kind
        yield from _kinds(kind)
