"""Redaction: every text passes here before it is written anywhere.

First the built-in masks, then the application's hook. Both fail closed: where one raises, a marker
stands instead of the text, and the failure is counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

import orjson

from turnspan.config import Settings
from turnspan.content.json_codec import WRITING, WRITTEN
from turnspan.content.media import decoded_base64
from turnspan.content.model import BLOB, TEXT, Message, Part, as_dict, as_list, dumps_text
from turnspan.redaction.exemptions import KEYS, WORDS, is_models, with_opaque
from turnspan.redaction.secret_names import may_hold_secret, names_secret, secret_under
from turnspan.redaction.secrets import find_secrets, mask_secrets
from turnspan.redaction.truncate import beginning, ending
from turnspan.runtime.guard import errors
from turnspan.runtime.inspection import looking
from turnspan.runtime.type_guards import is_list, kind_of
from turnspan.runtime.value_exceptions import delivered

FAILED: Final = "[redaction failed]"
"""Stands where redaction raised."""
DROPPED: Final = "[REDACTED]"
"""Stands where the application's hook returned ``None``."""
_NAMED: Final = "[REDACTED:{}]"
_MAX_DEPTH: Final = 100
_MAX_KEYS: Final = 10_000
_MAX_KNOWN: Final = 20_000
_MAX_KNOWN_LENGTH: Final = 256
_MAX_LONG: Final = 2**20
"""Characters of the long texts that are remembered."""
_KEYED: Final = ("attribute:", "resource:")
_SCHEMA_TYPE: Final = frozenset({"type", "$ref", "anyOf", "oneOf", "allOf", "enum"})
_SCHEMA: Final = _SCHEMA_TYPE | {
    *("title", "description", "format", "pattern", "minLength", "maxLength", "minimum", "maximum"),
    *("items", "properties", "required", "additionalProperties", "nullable", "deprecated"),
    *("writeOnly", "readOnly", "minItems", "maxItems", "$defs", "definitions", "default"),
}
"""Keys of a JSON schema."""
_SCALARS: Final = frozenset({int, float, bool, type(None)})


class Redactor:
    """Applies the masks and the hook of some settings. Never raises, never returns raw text then.

    ``where`` says what the text is: ``input``, ``output``, ``system``, ``tool_definitions``,
    ``tool_arguments``, ``tool_result``, ``parameters``, ``error``, ``user_message``,
    ``response_text``, ``repr``, ``trace_state``, ``span_name``, ``event``, ``attribute:<key>``,
    ``resource:<key>``, ``key`` (a key of a dictionary or an attribute's name) or ``log``.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._masks = settings.mask_secrets
        self._hook = settings.redact
        self._keys: dict[str, str] = {}
        self._plain_keys: set[str] = set()
        self._hinting: set[str] = set()
        self._plain: set[str] = set()
        self._plain_long: set[str] = set()
        """A reply is a message's part, a column of its call and comes back with the next request, a
        tool's result is a column of its row and a message of the next call, and every session has
        the same system prompt. To hash a text costs a tenth of searching it, at most."""
        self._long = 0
        self.active = self._masks or self._hook is not None
        """Whether anything is ever changed."""

    def text(self, text: str, where: str) -> str:
        """The text as it may be written."""
        if self._masks and where.startswith(_KEYED):
            text = self._under(where.partition(":")[2], text)
        if self._hook is None and len(text) <= _MAX_KNOWN_LENGTH and text in self._plain:
            return text
        try:
            return self._text(text, where)
        except BaseException as error:  # noqa: BLE001  fail closed: the raw text must not pass
            errors.record(f"redact ({where.partition(':')[0]})", error)
            return FAILED

    def beginning(self, text: str, where: str, limit: int) -> str:
        """The first ``limit`` characters as they may be written, at a cost bounded by them."""
        return self.text(beginning(text, limit), where)[:limit]

    def ending(self, text: str, where: str, limit: int) -> str:
        """The last ``limit`` characters as they may be written, at a cost bounded by them."""
        return self.text(ending(text, limit), where)[-limit:]

    def key(self, key: str) -> str:
        """A dictionary's key or an attribute's name as it may be written; they are remembered."""
        if key in KEYS:
            return key
        known = self._keys.get(key)
        if known is None:
            if len(self._keys) >= _MAX_KEYS:
                self._keys.clear()
            known = self._keys[key] = self.text(key, "key")
        return known

    def value(self, value: Any, where: str) -> Any:
        """A structure of dictionaries, lists and scalars as it may be written.

        The same object when nothing changed; otherwise changed branches are new and the rest is
        shared. Keys are masked too, and texts under keys like ``password`` or ``api_key``.
        """
        if not self.active:
            return value
        try:
            if self._masks and where.startswith(_KEYED):
                value = self._listed(where.partition(":")[2], value)
            if self._hook is None and self._is_plain(value, 0):
                return value
            return self._value(value, where, 0)
        except BaseException as error:  # noqa: BLE001  fail closed: the raw value must not pass
            errors.record(f"redact ({where.partition(':')[0]})", error)
            return FAILED

    def parts(self, parts: list[Part], where: str, role: object = "") -> list[Part]:
        """A message's parts as they may be written.

        As ``value``, but what a part says of the provider's writing (the order of its keys) is left
        as it is: it is none of the application's text, and the message is rebuilt by it. So are the
        provider's opaque values (``turnspan.redaction.exemptions``), where the message is by its
        ``role`` the model's.
        """
        if not self.active or (self._hook is None and self._are_plain(parts)):
            return parts
        redacted: Any = self.value(parts, where)
        same = redacted is parts
        if same:
            return parts
        if not is_list(redacted):
            return [{"type": TEXT, "content": FAILED}]
        kept: list[Part] = []
        for found, before in zip(redacted, parts, strict=True):
            part = with_opaque(found, before) if is_models(role) else found
            writing = before.keys() & WRITING
            if writing:
                part = {**part, **{key: before[key] for key in writing}}
            if WRITTEN in part and part.get("arguments") != before.get("arguments"):
                # The text the model wrote would give away what its arguments no longer say.
                part = {key: value for key, value in part.items() if key != WRITTEN}
            kept.append(part)
        return kept

    def messages(self, messages: list[Message], where: str) -> list[Message]:
        """Messages as they may be written, each as its ``parts``."""
        return [
            {**self.value({k: v for k, v in m.items() if k != "parts"}, where)}
            | {"parts": self.parts(m["parts"], where, m.get("role"))}
            for m in messages
        ]

    def attributes(self, attributes: Mapping[str, Any] | None) -> dict[str, Any]:
        """A span's or event's attributes as they may be written, names included."""
        found: dict[str, Any] = {}
        for key, value in (attributes or {}).items():
            where = f"attribute:{key}"
            if isinstance(value, str):
                value = self.text(value, where)
            elif isinstance(value, (list, tuple)):
                kept = self.value(list(value), where)  # pyright: ignore[reportUnknownArgumentType]
                value = tuple(kept) if isinstance(kept, list) else kept  # pyright: ignore[reportUnknownArgumentType,reportUnknownVariableType]
            found[self.key(key)] = value
        return found

    def json(self, text: str, where: str) -> str:
        """JSON text as it may be written: JSON again, redacted value by value."""
        if not self.active:
            return text
        try:
            value = orjson.loads(text)
        except orjson.JSONDecodeError:
            return self.text(text, where)
        redacted = self.value(value, where)
        return text if redacted is value else dumps_text(redacted)

    def source(self, text: str, where: str, role: object) -> str:
        """A message as its provider writes it, in JSON: as ``json``, but for the opaque values of
        one that is by its ``role`` the model's."""
        redacted = self.json(text, where)
        if redacted == text or not is_models(role):
            return redacted
        try:
            return dumps_text(with_opaque(orjson.loads(redacted), orjson.loads(text)))
        except ValueError:
            return redacted

    def _text(self, text: str, where: str) -> str:
        if self._masks and not self._is_plain_text(text):
            text = mask_secrets(text)
        hook = self._hook
        if hook is None or text in WORDS:
            return text
        with looking:
            redacted = hook(text, where)
        if redacted is None:
            return DROPPED
        if not isinstance(redacted, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"redact returned {type(redacted).__name__}, not text or None")
        return redacted

    # -- what the masks leave alone ------------------

    def _is_plain_text(self, text: str) -> bool:
        """Whether there is no secret in a text. Short ones, and the newest long ones, are known."""
        if len(text) > _MAX_KNOWN_LENGTH:
            known = self._plain_long
            if text in known:
                return True
            if find_secrets(text):
                return False
            if self._long + len(text) > _MAX_LONG:
                known.clear()
                self._long = 0
            known.add(text)
            self._long += len(text)
            return True
        if text in self._plain:
            return True
        if find_secrets(text):
            return False
        if len(self._plain) >= _MAX_KNOWN:
            self._plain.clear()
        self._plain.add(text)
        return True

    def _is_plain(self, value: Any, depth: int) -> bool:
        """Whether the masks surely change nothing in a value: one quick look, most often true."""
        kind = kind_of(value)
        if kind is str:
            return self._is_plain_text(value)
        if depth > _MAX_DEPTH:
            return False
        if kind is dict:
            keys = self._plain_keys
            for key, item in value.items():
                if key not in keys and not self._is_plain_key(key, item):
                    return False
                if type(item) not in _SCALARS and not self._is_plain(item, depth + 1):
                    return False
            return True
        if kind is list:
            for item in value:
                if type(item) not in _SCALARS and not self._is_plain(item, depth + 1):
                    return False
            return True
        return kind in _SCALARS

    def _are_plain(self, parts: list[Part]) -> bool:
        """As ``_is_plain`` for parts, whose values are texts for the most part."""
        try:
            known, keys = self._plain, self._plain_keys
            for part in parts:
                for key, value in part.items():
                    if key not in keys and not self._is_plain_key(key, value):
                        return False
                    if type(value) is str and len(value) <= _MAX_KNOWN_LENGTH and value in known:
                        continue
                    if type(value) not in _SCALARS and not self._is_plain(value, 1):
                        return False
        except BaseException as error:
            if delivered(error):
                raise
            return False
        return True

    def _is_plain_key(self, key: Any, item: Any) -> bool:
        """Whether nothing is masked in a key, nor in what it holds for being its."""
        if type(key) is not str:
            return False
        if key not in self._hinting:
            if names_secret(key) or mask_secrets(key) != key:
                return False
            hinting = may_hold_secret(key)
            known = self._hinting if hinting else self._plain_keys
            if len(known) >= _MAX_KEYS:
                known.clear()
            known.add(key)
            if not hinting:
                return True
        return type(item) is not str or not secret_under(key, item)

    # -- masks and hook ------------------

    def _value(self, value: Any, where: str, depth: int) -> Any:
        if isinstance(value, str):
            return self.text(value, where)
        mapping = as_dict(value)
        if mapping is not None:
            return self._dict(mapping, where, depth)
        items = as_list(value)
        if items is not None:
            return self._list(items, where, depth)
        if isinstance(value, (bytes, bytearray)):
            return self.text(bytes(value).decode("utf-8", "replace"), where)
        if value is None or isinstance(value, (bool, int, float)):
            return value
        if isinstance(value, Mapping):
            return self._dict({**value}, where, depth)
        if isinstance(value, (tuple, set, frozenset)):
            return self._list(list(cast("Iterable[Any]", value)), where, depth)
        return self.text(repr(value), where)  # as it would be written: nothing passes unseen

    def _under(self, key: str, text: str) -> str:
        """A text under a key that tells what it is."""
        kind = names_secret(key) or secret_under(key, text)
        return self._masked(kind, text) if kind and text else text

    def _listed(self, key: str, value: Any) -> Any:
        if is_list(value) and names_secret(key):
            return [self._masked(names_secret(key), item) for item in value]
        return value

    def _masked(self, kind: str, item: Any) -> str:
        masked = isinstance(item, str) and item.startswith("[REDACTED")
        return str(item) if masked else _NAMED.format(kind)

    def _list(self, items: list[Any], where: str, depth: int) -> Any:
        if depth > _MAX_DEPTH:
            return FAILED
        changed: list[Any] | None = None
        for index, item in enumerate(items):
            redacted = self._value(item, where, depth + 1)
            if redacted is not item and redacted != item:
                if changed is None:
                    changed = list(items)
                changed[index] = redacted
        return items if changed is None else changed

    def _dict(self, items: dict[Any, Any], where: str, depth: int) -> Any:
        if depth > _MAX_DEPTH:
            return FAILED
        changed = False
        result: dict[Any, Any] = {}
        kept: Any
        name: Any
        for key, item in items.items():
            named = names_secret(key) if self._masks and isinstance(key, str) else ""
            if named and not _stays(items, key, item):
                kept = self._masked(named, item)
            elif _is_media(items, key, item):
                kept = item
            else:
                if self._masks and not named and isinstance(key, str) and isinstance(item, str):
                    item = self._under(key, item)
                kept = self._value(item, where, depth + 1)
            name = key
            if named:
                name = mask_secrets(key)
            elif isinstance(key, str):
                name = self.key(key)
            changed = changed or name != key or (kept is not items[key] and kept != items[key])
            result[_free(name, result)] = kept
        return result if changed else items


def _stays(items: dict[Any, Any], key: str, item: Any) -> bool:
    """Whether there is nothing to hide under a key that names a secret: nothing or a truth value, a
    tool's schema, a token of a reply with its probability."""
    if item is None or isinstance(item, bool) or (not item and not isinstance(item, (int, float))):
        return True
    schema = as_dict(item)
    if schema is not None and schema.keys() <= _SCHEMA and schema.keys() & _SCHEMA_TYPE:
        return not schema.get("default")
    return key == "token" and ("logprob" in items or "logProbability" in items)


def _free(name: Any, taken: dict[Any, Any]) -> Any:
    """The key, numbered where masking has made two keys one."""
    if name not in taken:
        return name
    number = 2
    while f"{name}#{number}" in taken:
        number += 1
    return f"{name}#{number}"


def _is_media(part: Mapping[Any, Any], key: Any, item: Any) -> bool:
    """Whether this is a kept file's base64: no text, so neither masks nor hook look into it."""
    if key != "content" or part.get("type") != BLOB or not isinstance(item, str):
        return False
    return decoded_base64(item) is not None
