"""Messages of a role and a text: equal to their dictionaries, and no work for the collector."""

from __future__ import annotations

import gc
from enum import Enum, IntEnum
from typing import Any

import pytest

from turnspan.content.frozen_history import FrozenHistory
from turnspan.content.sizes import size_of
from turnspan.content.snapshot import freeze
from turnspan.content.text_message import COMPILED, TextMessage, as_dict_message, lean
from turnspan.dialects.convert import convert_message

PLAIN: dict[str, Any] = {"role": "user", "content": "hello"}


class Role(str, Enum):
    """A text that is more than one."""

    USER = "user"


OTHERS: list[Any] = [
    {"role": "user"},
    {"role": "user", "content": "hello", "name": "x"},
    {"role": "user", "content": [{"type": "text", "text": "hello"}]},
    {"role": "user", "content": None},
    {"role": Role.USER, "content": "hello"},
    {"content": "hello", "role": "user"},
    {"type": "user", "content": "hello"},
    {},
    "hello",
    None,
]
"""What is no message of a role and a text, in this order."""


def test_it_is_equal_to_its_dictionary_only() -> None:
    """Whoever compares histories need not know."""
    message = TextMessage("user", "hello")
    same: list[Any] = [message, dict(PLAIN), TextMessage("user", "hello")]
    assert (
        [message == other for other in same] == [other == message for other in same] == [True] * 3
    )
    assert (
        [message != other for other in same] == [other != message for other in same] == [False] * 3
    )
    assert [message, dict(PLAIN)] == [dict(PLAIN), message]
    different = [
        TextMessage("user", "hell"),
        TextMessage("assistant", "hello"),
        {**PLAIN, "role": "tool"},
        {"role": "user", "text": "hello"},
        *(other for other in OTHERS if other != PLAIN),
    ]
    for other in different:
        assert message != other
        assert other != message
    with pytest.raises(TypeError):
        hash(message)


def test_it_reads_as_its_dictionary() -> None:
    """Thawed it is one, fields in order; what is none stays itself."""
    message = TextMessage("user", "hello")
    assert repr(message) == repr(PLAIN)
    assert repr(as_dict_message(message)) == repr(PLAIN)
    assert convert_message("openai.chat", message) == convert_message("openai.chat", PLAIN)
    for other in OTHERS:
        assert as_dict_message(other) is other


def test_only_the_compiled_build_makes_them() -> None:
    """Of exactly these fields in this order; the collector sees none of them."""
    assert all(lean(other) is None for other in OTHERS)
    made = lean(PLAIN)
    assert (made is not None) is COMPILED
    if made is not None:
        assert made == PLAIN
        assert not gc.is_tracked(made)
        assert size_of(made) < size_of(PLAIN)


def test_a_frozen_history_keeps_what_was_said() -> None:
    """No change made later reaches it, and the next call shares it."""
    history = FrozenHistory()
    messages = [dict(PLAIN), {"role": "assistant", "content": "yes?"}, *OTHERS[:5]]
    frozen = history.freeze(messages)
    assert [as_dict_message(message) for message in frozen] == messages
    again = history.freeze([*(dict(m) for m in messages), {"role": "user", "content": "more"}])
    assert all(old is new for old, new in zip(frozen, again, strict=False))
    messages[0]["content"] = "changed"
    assert frozen[0] == PLAIN
    assert history.freeze(messages)[0] == messages[0]


class Level(IntEnum):
    """A number as others write it."""

    HIGH = 3


class Amount(float):
    """A number of a library's own."""


@pytest.mark.parametrize(
    ("value", "wanted"),
    [(Role.USER, "user"), (Level.HIGH, 3), (Amount(2.5), 2.5), (True, True)],
)
def test_what_is_frozen_is_what_goes_on_the_wire(value: object, wanted: object) -> None:
    """Of a member or a subclass the plain value, whose text is that of its JSON."""
    found = freeze([{"role": value}])[0]["role"]
    assert type(found) is type(wanted)
    assert (found, str(found)) == (wanted, str(wanted))
