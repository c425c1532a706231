"""A span's attributes, redacted: as the columns say them, and as maps that are written as they are.

Spans of one kind have the same keys in the same order, and their values repeat. So what follows
from the keys is found once a kind (``SpanShape``), and what a text becomes once a text
(``KnownTexts``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

from opentelemetry.sdk.util.instrumentation import InstrumentationScope

from turnspan import semconv
from turnspan.content.media import media_out
from turnspan.redaction.content_keys import has_landed, is_content, is_left_without_content
from turnspan.redaction.redactor import Redactor
from turnspan.runtime.type_guards import kind_of
from turnspan_clickhouse import foreign_dialects
from turnspan_clickhouse.normalise.column_values import text
from turnspan_clickhouse.rows.native_types import EncodedMap, encode_string

_MAX_KNOWN: Final = 2_000
"""Texts of one attribute that are remembered."""
_MAX_KEYS: Final = 2_000
_MAX_SHAPES: Final = 1_000
_MAX_SCOPES: Final = 1_000
_MAX_NUMBERS: Final = 10_000
_MAX_KNOWN_LENGTH: Final = 256

CONTENT: Final = frozenset(
    {
        semconv.INPUT_MESSAGES,
        semconv.OUTPUT_MESSAGES,
        semconv.SYSTEM_INSTRUCTIONS,
        semconv.TOOL_DEFINITIONS,
        semconv.TOOL_CALL_ARGUMENTS,
        semconv.TOOL_CALL_RESULT,
    }
)
"""Attributes that hold content: they land as messages, definitions and columns of their own."""

EVERYWHERE: Final = frozenset(
    {
        semconv.OPERATION_NAME,
        semconv.CONVERSATION_ID,
        semconv.SESSION_GIVEN,
        semconv.SESSION_ID,
        semconv.AGENT_NAME,
        semconv.TURN_ID,
        semconv.ERROR_TYPE,
    }
)
"""Attributes that have columns in the rows of calls, tools and turns."""

IN_THE_LOOP: Final = frozenset(
    {semconv.LINEAGE_ID, semconv.ROLLOUT_ID, semconv.ATTEMPT_ID, semconv.TURN_AGENT_VERSION}
)
"""Attributes by which calls and turns have their place in the improvement loop."""

_OWN_IDS: Final = IN_THE_LOOP | {semconv.TURN_ID, semconv.TURN_PARENT_ID}
_ID: Final = re.compile(r"[0-9a-f]{16}(?:[0-9a-f]{16}(?:[0-9a-f]{32})?)?")
"""Ids of ours: random or hashes, so there is nothing in them to hide, and records are joined by
them."""


class KnownTexts:
    """One attribute's texts as they may be written, found once each."""

    __slots__ = ("_cleaner", "_encoded", "_lists", "_media", "_texts", "_where")

    def __init__(self, key: str, cleaner: Cleaner) -> None:
        self._where = f"attribute:{key}"
        self._cleaner = cleaner
        self._media = cleaner.redactor.settings.capture_media or not is_content(key)
        self._texts: dict[str, str] = {}
        self._encoded: dict[str, bytes] = {}
        self._lists: dict[tuple[str, ...], bytes] = {}

    def text(self, value: str) -> str:
        """A text, redacted."""
        found = self._texts.get(value)
        if found is None:
            kept: str = value if self._media else media_out(value)
            found = self._cleaner.redactor.text(kept, self._where)
            if found != value:
                self._cleaner.changes = True
            if len(value) <= _MAX_KNOWN_LENGTH:
                if len(self._texts) >= _MAX_KNOWN:
                    self._texts.clear()
                self._texts[value] = found
        return found

    def encoded(self, value: str) -> bytes:
        """A text, redacted, as a map has it."""
        found = self._encoded.get(value)
        if found is None:
            found = encode_string(self.text(value))
            if len(value) <= _MAX_KNOWN_LENGTH:
                if len(self._encoded) >= _MAX_KNOWN:
                    self._encoded.clear()
                self._encoded[value] = found
        return found

    def sequence(self, value: Any) -> Any:
        """A value that is neither text nor number, redacted; the same object if nothing is."""
        if not isinstance(value, (list, tuple)):
            return value
        items: list[Any] = list(cast("Iterable[Any]", value))
        if not self._media:
            items = media_out(items)
        kept = self._cleaner.redactor.value(items, self._where)
        if kept == list(cast("Iterable[Any]", value)):
            return cast("Any", value)
        self._cleaner.changes = True
        return kept

    def encoded_sequence(self, value: Any) -> bytes:
        """The same as a map has it."""
        if not _are_texts(value):
            return encode_string(text(self.sequence(value)))
        found = self._lists.get(value)
        if found is None:
            found = encode_string(text(self.sequence(value)))
            if len(found) <= _MAX_KNOWN_LENGTH:
                if len(self._lists) >= _MAX_KNOWN:
                    self._lists.clear()
                self._lists[value] = found
        return found


def _are_texts(value: Any) -> bool:
    """Whether this is a tuple of texts, and so a key: 1, 1.0 and True would be one."""
    if kind_of(value) is not tuple:
        return False
    items: tuple[Any, ...] = value
    return all(type(item) is str for item in items)


class View:
    """Which of a shape's attributes are in a map, and their names."""

    __slots__ = ("_all", "_keys", "_places")

    def __init__(self, names: list[str], places: list[int], of: int) -> None:
        self._places = places
        self._keys = b"".join([encode_string(name) for name in names])
        self._all = len(places) == of

    def pairs(self, encoded: list[bytes]) -> EncodedMap:
        """The map of a span whose attributes are encoded like this."""
        places = self._places
        if self._all:
            return EncodedMap(len(places), self._keys, b"".join(encoded))
        return EncodedMap(len(places), self._keys, b"".join([encoded[place] for place in places]))


class SpanShape:
    """The keys of spans of one kind, in their order: which texts there are, and under what name."""

    __slots__ = ("known", "names", "spoken", "views")

    def __init__(self, keys: tuple[str, ...], cleaner: Cleaner) -> None:
        self.names = [cleaner.redactor.key(key) for key in keys]
        self.known: list[KnownTexts | None] = [
            None if key in CONTENT else cleaner.known(key) for key in keys
        ]
        self.views: dict[tuple[frozenset[str], bool, bool], View] = {}
        self.spoken: dict[str, bool] = {}

    def view(self, columns: frozenset[str], foreign: bool, captured: bool) -> View:
        """What has none of these columns. Of a ``foreign`` span without content that landed, and
        where content is not ``captured`` without what may quote it."""
        key = (columns, foreign, captured)
        found = self.views.get(key)
        if found is None:
            places: dict[str, int] = {}
            for place, (name, known) in enumerate(zip(self.names, self.known, strict=True)):
                if known is None or name in columns or (foreign and has_landed(name)):
                    continue
                if captured or is_left_without_content(name):
                    places[name] = place  # masking may have made one name of two
            found = View(list(places), list(places.values()), len(self.names))
            self.views[key] = found
        return found

    def is_spoken(self, scope: str, attributes: Mapping[str, Any]) -> bool:
        """Whether a dialect of another package speaks like this: its scope and keys tell."""
        found = self.spoken.get(scope)
        if found is None:
            if len(self.spoken) >= _MAX_SHAPES:
                self.spoken.clear()
            found = self.spoken[scope] = foreign_dialects.detect(scope, attributes) is not None
        return found


class ScopeName:
    """An instrumentation scope, and its name as it may be written."""

    __slots__ = ("_of", "cleaned", "name", "version")

    def __init__(self, of: InstrumentationScope | None, cleaner: Cleaner) -> None:
        self._of = of  # kept so that its id is not given to another one
        self.name = of.name if of is not None else ""
        self.version = (of.version or "") if of is not None else ""
        self.cleaned = cleaner.column("otel.scope.name", self.name)


class Cleaner:
    """Redacts attributes, remembering what it has seen."""

    def __init__(self, redactor: Redactor) -> None:
        self.redactor = redactor
        self.capture_content = redactor.settings.capture_content
        self.changes = False
        """Whether redaction has changed any attribute yet."""
        self._known: dict[str, KnownTexts] = {}
        self._shapes: dict[tuple[str, ...], SpanShape] = {}
        self._scopes: dict[int, ScopeName] = {}
        self._numbers: dict[int, bytes] = {}
        self._turn_ids: dict[str, str] = {}

    def known(self, key: str) -> KnownTexts:
        """What has been redacted of an attribute."""
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= _MAX_KEYS:
                self._known.clear()
                self._shapes.clear()
            found = self._known[key] = KnownTexts(key, self)
        return found

    def shape(self, attributes: dict[str, Any]) -> SpanShape:
        """The shape of a span's attributes."""
        keys = tuple(attributes)
        shape = self._shapes.get(keys)
        if shape is None:
            if len(self._shapes) >= _MAX_SHAPES:
                self._shapes.clear()
            shape = self._shapes[keys] = SpanShape(keys, self)
        return shape

    def scope(self, scope: InstrumentationScope | None) -> ScopeName:
        """What is known of an instrumentation scope."""
        found = self._scopes.get(id(scope))
        if found is None:
            if len(self._scopes) >= _MAX_SCOPES:
                self._scopes.clear()
            found = self._scopes[id(scope)] = ScopeName(scope, self)
        return found

    def encoded(self, attributes: dict[str, Any], shape: SpanShape) -> list[bytes]:
        """Every attribute's text, redacted, as a map has it; nothing for content."""
        found: list[bytes] = []
        values: list[Any] = list(attributes.values())
        place = 0
        for known in shape.known:
            value = values[place]
            place += 1
            if known is None:
                found.append(b"")
                continue
            kind = kind_of(value)
            if kind is str:
                found.append(known.encoded(value))
            elif kind is int:
                found.append(self._number(value))
            elif kind is bool or kind is float:
                found.append(encode_string(text(value)))
            else:
                found.append(known.encoded_sequence(value))
        return found

    def _number(self, value: Any) -> bytes:
        found = self._numbers.get(value)
        if found is None:
            found = encode_string(text(value))
            if len(self._numbers) >= _MAX_NUMBERS:
                self._numbers.clear()
            self._numbers[value] = found
        return found

    def clean(self, attributes: dict[str, Any]) -> dict[str, Any]:
        """The attributes for the columns: all redacted but content; the same object if nothing is.

        Content keeps its place: the columns it goes to redact it. So do the ids that we made.
        """
        changed: dict[str, Any] = {}
        found: Any
        for key, value in attributes.items():
            kind = kind_of(value)
            if kind is int or kind is float or kind is bool or key in CONTENT:
                continue
            if kind is str:
                if key in _OWN_IDS and _ID.fullmatch(value):
                    continue
                found = self.known(key).text(value)
            else:
                found = self.known(key).sequence(value)
            if found != value:
                changed[key] = found
        return {**attributes, **changed} if changed else attributes

    def column(self, key: str, value: str) -> str:
        """One text as a column may say it; ``key`` is the attribute it stands for."""
        return self.known(key).text(value) if value else ""

    def turn_id(self, value: str) -> str:
        """A turn's id as a column may say it."""
        found = self._turn_ids.get(value)
        if found is None:
            found = value if _ID.fullmatch(value) else self.column(semconv.TURN_ID, value)
            if len(self._turn_ids) >= _MAX_KNOWN:
                self._turn_ids.clear()
            if len(value) <= _MAX_KNOWN_LENGTH:
                self._turn_ids[value] = found
        return found
