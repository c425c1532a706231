"""Whether values are the same JSON, which being equal does not say.

1, 1.0 and True are equal in Python, and 0, 0.0, -0.0 and False, also as keys, and dictionaries
whose keys are in another order. Whatever remembers what it knows of a value by its being equal
asks here.
"""

from __future__ import annotations

from typing import Any, Final, final

from turnspan.content.text_message import TextMessage
from turnspan.runtime.mypyc import mypyc_attr
from turnspan.runtime.type_guards import kind_of

_OPTIONS: Final = 1 << 9 | 1 << 11
"""orjson's OPT_PASSTHROUGH_DATETIME and OPT_PASSTHROUGH_DATACLASS."""

_MAX_DEPTH: Final = 32
_MAX_LEAVES: Final = 24
"""Numbers that are looked at one by one; more are compared as JSON."""

_dumps: Any = None  # imported with the first value: ``import turnspan`` stays light


def is_alike(one: Any, other: Any) -> bool:
    """Whether two *equal* values surely are the same JSON."""
    kind = kind_of(one)
    if kind_of(other) is not kind:
        # A text of a class of its own (an enumeration's member) is the text.
        return (kind is str and isinstance(other, str)) or kind is TextMessage
    if kind is str or kind is int or kind is bool or one is None:
        return True
    if kind is float:
        return is_alike_number(one, other)
    if kind is list:
        items: list[Any] = one
        others: list[Any] = other
        for place, item in enumerate(items):
            if type(item) is not str and not is_alike(item, others[place]):
                return False
        return True
    if kind is not dict:
        return kind is bytes or kind is TextMessage
    fields: dict[Any, Any] = one
    more: dict[Any, Any] = other
    keys: list[Any] = list(more)
    for place, key in enumerate(fields):
        if type(key) is not str or key != keys[place]:
            return False
        item = fields[key]
        if type(item) is not str and not is_alike(item, more[key]):
            return False
    return True


@final
@mypyc_attr(acyclic=True)
class _Exactly:
    """A number, equal only to what is the same JSON."""

    __slots__ = ("_kind", "_value")

    def __init__(self, value: Any) -> None:
        self._value = value
        self._kind = kind_of(value)

    def __eq__(self, other: object) -> bool:
        value = self._value
        return other is value or (kind_of(other) is self._kind and is_alike_number(value, other))

    def __hash__(self) -> int:
        raise TypeError("no key")


def is_alike_number(one: Any, other: Any) -> bool:
    """Whether two numbers of one type are the same."""
    return bool(one == other) and (one != 0 or str(one) == str(other))


@final
@mypyc_attr(acyclic=True)
class _Model:
    """An SDK's object (a pydantic model), equal only to one of its class that says the same."""

    __slots__ = ("_extra", "_fields", "_kind", "_names")

    def __init__(self, kind: Any, fields: Any, names: frozenset[str], extra: Any) -> None:
        self._kind = kind
        self._fields = fields
        self._names = names
        self._extra = extra

    def __eq__(self, other: object) -> bool:
        if kind_of(other) is not self._kind:
            return False
        found: Any = other
        return bool(
            self._fields == found.__dict__
            and self._names == found.__pydantic_fields_set__
            and self._extra == found.__pydantic_extra__
        )

    def __hash__(self) -> int:
        raise TypeError("no key")


def exactly(value: Any, depth: int = 0) -> Any:
    """What is equal to a value, and to nothing that is other JSON but for the order of keys; later
    changes of the value do not change it. ``None`` where that cannot be made.

    To compare with it costs little more than to compare with the value, in C; it belongs to the
    left, since the right may be an SDK's object whose own comparison is slow.
    """
    kind = kind_of(value)
    if depth > _MAX_DEPTH:
        return None
    if kind is dict:
        fields: dict[Any, Any] = value
        made: dict[Any, Any] = {}
        for key, item in fields.items():
            if type(key) is not str:
                return None
            made[key] = item if type(item) is str else _exact_item(item, depth)
            if made[key] is _NOT_MADE:
                return None
        return made
    if kind is list:
        items: list[Any] = value
        found = [item if type(item) is str else _exact_item(item, depth) for item in items]
        return None if any(item is _NOT_MADE for item in found) else found
    if kind is int or kind is float or kind is bool:
        return _Exactly(value)
    if kind is str or kind is bytes:
        return value
    if isinstance(value, str):
        return str.__str__(value)
    return _exact_model(kind, value, depth) if hasattr(kind, "__pydantic_fields_set__") else None


def _exact_model(kind: Any, value: Any, depth: int) -> Any:
    fields, extra = exactly(value.__dict__, depth + 1), value.__pydantic_extra__
    more = extra and exactly(extra, depth + 1)
    if fields is None or (more is None and extra is not None):
        return None
    return _Model(kind, fields, frozenset(value.__pydantic_fields_set__), more)


def _exact_item(item: Any, depth: int) -> Any:
    if item is None:
        return None
    made = exactly(item, depth + 1)
    return _NOT_MADE if made is None else made


_NOT_MADE: Final = object()


class Numbers:
    """The numbers in a frozen value, by which it is told from what is equal to it."""

    __slots__ = ("_leaves", "_said", "_value")

    def __init__(self, value: Any) -> None:
        self._value = value
        self._leaves: list[tuple[tuple[Any, ...], Any]] = []
        self._said = b""
        if not _collect(value, (), self._leaves) or len(self._leaves) > _MAX_LEAVES:
            self._leaves, self._said = [], written(value)

    def are_of(self, other: Any) -> bool:
        """Whether a value that is *equal* has the same ones, as far as JSON tells them apart."""
        if not self._leaves:
            return bool(self._said and written(other) == self._said) or is_alike(self._value, other)
        for path, leaf in self._leaves:
            found = other
            for step in path:
                found = found[step]
            if found is not leaf and not is_alike(leaf, found):
                return False
        return True


def _collect(value: Any, path: tuple[Any, ...], leaves: list[tuple[tuple[Any, ...], Any]]) -> bool:
    """Add the numbers in a value with the ways to them; False where keys are no texts."""
    kind = kind_of(value)
    if kind is dict:
        fields: dict[Any, Any] = value
        for key, item in fields.items():
            if type(key) is not str:
                return False
            if type(item) is not str and not _collect(item, (*path, key), leaves):
                return False
    elif kind is list:
        items: list[Any] = value
        for place, item in enumerate(items):
            if type(item) is not str and not _collect(item, (*path, place), leaves):
                return False
    elif kind is int or kind is float or kind is bool:
        leaves.append((path, value))
    return True


def written(value: Any) -> bytes:
    """A value as JSON; nothing where that would not say all of it."""
    global _dumps
    if _dumps is None:
        import orjson

        _dumps = orjson.dumps
    try:
        found: bytes = _dumps(value, None, _OPTIONS)
    except TypeError:  # a key that is no text, a decimal, an integer of more than 64 bits
        return b""
    return b"" if b"null" in found and not _is_plain(value) else found


def _is_plain(value: Any) -> bool:
    """Whether JSON has all of it: no number that is none, which becomes null as well."""
    kind = kind_of(value)
    if kind is dict:
        fields: dict[Any, Any] = value
        return all(_is_plain(item) for item in fields.values())
    if kind is list:
        items: list[Any] = value
        return all(_is_plain(item) for item in items)
    if kind is float:
        number: float = value
        return number - number == 0
    return kind is str or kind is int or kind is bool or value is None
