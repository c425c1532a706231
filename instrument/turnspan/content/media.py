"""Bytes in messages (images, audio, files): replaced by their hash, size and type.

The replacement stands where the base64 text stood, so a reduced message is still a message of its
provider: ``"sha256:<hex>;size=<bytes>"``, after the head of the URL where it was a ``data:`` URL.
"""

from __future__ import annotations

import base64
import hashlib
import re
from typing import Any, Final, cast

import orjson

from turnspan.content.model import BLOB, URI, Part
from turnspan.runtime.type_guards import kind_of

_PREFIX: Final = "sha256:"
_DIGEST: Final = re.compile(r"sha256:([0-9a-f]{64});size=(\d+)\Z")
_DATA_URL: Final = re.compile(r"data:([^;,]*)(?:;[^;,]*)*;base64,", re.IGNORECASE)
_ANY_URL: Final = re.compile(r"(data:[^,\s\"\\]{0,200};base64,)([A-Za-z0-9+/=_-]+)(?!;size=|[:\w])")
_IN_JSON: Final = re.compile(
    r'"(?:data|result|file_data|\w{0,20}b64\w{0,20}|\w{1,20}Bytes)"\s*:\s*"'
)
_SPACE: Final = re.compile(r"[\r\n]+")
_BASE64_KEYS: Final = frozenset(
    {"file_data", "b64_json", "image_b64", "partial_image_b64"}
    | {"bytesBase64Encoded", "imageBytes", "videoBytes", "audioBytes"}
)
_FILE_KEYS: Final = _BASE64_KEYS | {"data", "result"}
_FILE_TYPES: Final = frozenset({"image", "audio", "video", "document"})
_TYPE_KEYS: Final = ("media_type", "mime_type", "mimeType", "format")
_MODALITIES: Final = frozenset({"image", "audio", "video"})
_MAX_DEPTH: Final = 80


def decoded_base64(text: str) -> bytes | None:
    """The bytes of base64 in one of its two alphabets, padded or not and wrapped or not; ``None``
    of any other text. (Read leniently, the other alphabet's letters are left out, silently.)"""
    if "-" in text or "_" in text:
        if "+" in text or "/" in text:
            return None
        text = text.replace("-", "+").replace("_", "/")
    try:
        if _SPACE.search(text) is not None:
            text = _SPACE.sub("", text)
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except ValueError:
        return None


def digest_of(encoded: str | bytes) -> str:
    """``sha256:<hex>;size=<bytes>`` of base64 text (of the bytes in it) or of bytes."""
    if isinstance(encoded, str):
        if _DIGEST.match(encoded):
            return encoded
        decoded = decoded_base64(encoded)
        raw = encoded.encode("utf-8", "surrogatepass") if decoded is None else decoded
    else:
        raw = encoded
    return hash_text(hashlib.sha256(raw).hexdigest(), len(raw))


def hash_text(digest: str, size: int) -> str:
    """What stands in the place of bytes: their SHA-256 in hexadecimal digits, and their size."""
    return f"{_PREFIX}{digest};size={size}"


def digest_media(value: Any, depth: int = 0) -> Any:
    """The value with every embedded file replaced; the same object when there is none."""
    kind = kind_of(value)
    if kind is str:
        return _reduced_url(value) if value[4:5] == ":" else value
    if kind is dict:
        return _reduced_dict(cast("dict[Any, Any]", value), depth)
    if kind is list:
        return _reduced_list(cast("list[Any]", value), depth)
    if isinstance(value, (bytes, bytearray)):
        return digest_of(bytes(value))
    return value


def media_out(value: Any) -> Any:
    """An attribute of a span without the bytes of the files that are in its texts: in a ``data:``
    URL wherever it stands, or in a document of JSON."""
    if not isinstance(value, str):
        items: Any = value
        return [media_out(item) for item in items] if kind_of(value) in (list, tuple) else value
    found = value
    if value[:1] in ("{", "[") and _IN_JSON.search(value) is not None:
        try:
            parsed = orjson.loads(value)
        except ValueError:  # cut short, perhaps
            parsed = None
        reduced = digest_media(parsed)
        if reduced is not parsed:
            found = orjson.dumps(reduced).decode()
    if "base64," in found:
        found = _ANY_URL.sub(lambda at: at[1] + digest_of(at[2]), found)
    return found


def _reduced_list(items: list[Any], depth: int) -> list[Any]:
    if depth > _MAX_DEPTH:
        return items
    changed: list[Any] | None = None
    for index, item in enumerate(items):
        reduced = digest_media(item, depth + 1)
        if reduced is not item:
            if changed is None:
                changed = list(items)
            changed[index] = reduced
    return items if changed is None else changed


def _reduced_dict(items: dict[Any, Any], depth: int) -> dict[Any, Any]:
    if depth > _MAX_DEPTH:
        return items
    changed: dict[Any, Any] | None = None
    reduced: Any
    for key, item in items.items():
        kind = kind_of(item)
        if kind is int or kind is bool or item is None or kind is float:
            continue
        if kind is str and key in _FILE_KEYS and _holds_base64(key, items):
            reduced = _reduced_url(item) if item[:5].lower() == "data:" else digest_of(item)
        else:
            reduced = digest_media(item, depth + 1)
        if reduced is not item:
            if changed is None:
                changed = dict(items)
            changed[key] = reduced
    return items if changed is None else changed


def _holds_base64(key: Any, items: dict[Any, Any]) -> bool:
    if key == "data":
        kind = items.get("type")
        typed = any(k in items for k in _TYPE_KEYS)
        return kind != "text" and (typed or (type(kind) is str and kind in _FILE_TYPES))
    if key == "result":
        return items.get("type") == "image_generation_call"
    return key in _BASE64_KEYS


def _reduced_url(url: str) -> str:
    head = _DATA_URL.match(url, 0, 256)
    if head is None:
        return url
    body = url[head.end() :]
    return url if _DIGEST.match(body) else head.group(0) + digest_of(body)


def blob_part(encoded: str, mime_type: str, modality: str = "") -> Part:
    """The part of embedded base64 text: hash and size if it is reduced, else the text itself."""
    part: Part = {"type": BLOB, "modality": modality or modality_of(mime_type)}
    if mime_type:
        part["mime_type"] = mime_type
    found = _DIGEST.match(encoded)
    if found is None:
        part["content"] = encoded
    else:
        part["sha256"] = found.group(1)
        part["size"] = int(found.group(2))
    return part


def url_part(url: str, modality: str) -> Part:
    """The part of an image's or file's URL: a blob for a ``data:`` URL, else a uri part."""
    head = _DATA_URL.match(url, 0, 256)
    if head is None:
        return {"type": URI, "modality": modality, "uri": url}
    return blob_part(url[head.end() :], head.group(1), modality)


def blob_text(part: Part) -> str:
    """The text that stands in the provider's message for a blob part: the inverse of blob_part."""
    if "sha256" in part:
        return f"{_PREFIX}{part['sha256']};size={part['size']}"
    return str(part["content"])


def part_url(part: Part) -> str:
    """The URL of a uri or blob part: the inverse of url_part."""
    if part["type"] == URI:
        return str(part["uri"])
    return f"data:{part.get('mime_type', '')};base64,{blob_text(part)}"


def modality_of(mime_type: str) -> str:
    """``image``, ``audio``, ``video`` or ``document``."""
    head = mime_type.partition("/")[0].lower()
    return head if head in _MODALITIES else "document"
