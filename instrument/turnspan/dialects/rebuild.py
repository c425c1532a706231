"""From the GenAI schema back to the provider's own JSON, byte for byte, and what that needs."""

from __future__ import annotations

from typing import Any

from turnspan.content.json_codec import BARE, LAYOUT
from turnspan.content.media import digest_media
from turnspan.content.model import Message, Part, as_dict, dumps
from turnspan.dialects.convert import convert_message, dialect_of
from turnspan.runtime.value_exceptions import delivered


def rebuild_message(dialect: str, role: str, name: str, parts: list[Part]) -> Any:
    """The provider's message of these parts, exact where the record has no ``source``.

    Embedded files come back as ``sha256:<hex>;size=<bytes>`` in the place of their base64 text.

    Raises:
        LookupError, TypeError, ValueError: the parts are not of a message of this dialect.
    """
    if len(parts) == 1 and parts[0].get(LAYOUT) == BARE:
        return parts[0]["content"]
    return dialect_of(dialect).from_message(role, name, parts)


def convert_sealed(
    dialect: str,
    raw: Any,
    *,
    default_role: str = "user",
    keep_bytes: bool = False,
) -> tuple[Message, str]:
    """A message in the GenAI schema and, where it cannot be rebuilt byte for byte, the provider's
    JSON of it (else ``""``). Never raises.

    Where embedded files are reduced to their hashes, they are so in the returned JSON too, and it
    is that JSON which is compared.
    """
    reduced = raw if keep_bytes else digest_media(raw)
    message = convert_message(dialect, reduced, default_role=default_role, keep_bytes=True)
    fields = as_dict(reduced)
    if fields is not None and dialect_of(dialect).is_exact(fields):
        return message, ""
    return message, _source(dialect, dumps(reduced), message)


def _source(dialect: str, written: bytes, message: Message) -> str:
    try:
        rebuilt = rebuild_message(
            dialect, message["role"], message.get("name", ""), message["parts"]
        )
    except BaseException as error:
        if delivered(error):
            raise
        return written.decode()
    return "" if dumps(rebuilt) == written else written.decode()
