"""Values without quotes: whether what is joined to a secret's name is one, or code and prose."""

from __future__ import annotations

from typing import Final, NamedTuple

from turnspan.redaction.secret_names import is_name_in_code
from turnspan.runtime.later import later

_PAIR_OTHER: Final = later(
    r"\b(?i:server|host|hostaddr|data source|user|username|user id|uid|dbname|database|port)"
    r"=[^\s;,()\"']{1,200}(?:;|\s|\Z)"
)
_HEX: Final = later(r"0x[0-9a-fA-F]{1,8}\Z")
_CODE: Final = later(r"\w\.[a-z_]|::|://|[/@].*[/@]|\Ahttps?:|[*+]{2}|\A[\w.-]+/[\w.-]+\Z")
_AROUND: Final = 200


class Bare(NamedTuple):
    """What stands without quotes behind a name, and around both."""

    kind: str
    key: str
    value: str
    before: str
    """The character before the key."""
    join: str
    tight: bool
    """Whether nothing but what joins is between key and value."""
    following: str
    """The character behind."""
    end: int


def is_value(text: str, bare: Bare) -> bool:
    """Whether this is a value that somebody set, no expression and no sentence."""
    value, key, join = bare.value, bare.key, bare.join
    if value[0] == "/" and bare.kind == "pwd":
        return False
    letters = value.replace("_", "").replace(".", "").isalpha()
    digits = value.replace(".", "").isdigit()
    mixed = not letters and not digits
    if bare.tight and join in ("=", "%3D", "%3d"):
        if bare.before in ("?", "&", ";") or key.startswith("--"):
            return len(value) > 2
        if key.upper() == key:
            return not digits or len(value) >= 4
        if bare.following in (",", ")") and value.isidentifier():
            return False
        return mixed or has_pairs(text, bare.end)
    if join == ">":
        return bare.following == "<" and len(value) > 2 and (mixed or bare.before == "<")
    if digits:
        return len(value) >= 6 and "." not in value
    if mixed:
        if is_name_in_code(value) or _HEX.match(value) is not None:
            return False
        return any(c.isalpha() for c in value) and _CODE.search(value) is None
    return join == ":" and value.islower() and "." not in value and _is_line(text, bare)


def _is_line(text: str, bare: Bare) -> bool:
    """Whether a name that leaves no doubt and its value, letters only, are all of a line."""
    key, value, end = bare.key, bare.value, bare.end
    sure = "-" in key or "password" in bare.kind or bare.kind in ("passwd", "pwd", "passphrase")
    if not (sure or key.upper() == key) or text[end : end + 1] not in ("", "\n", "\r"):
        return False
    start = text.rfind("\n", max(0, end - _AROUND), end) + 1
    line = text[start:end].strip(" -+\t\"'")
    size = len(key) + len(value) + 4
    return line.startswith(key) and line.endswith(value) and len(line) <= size


def has_pairs(text: str, end: int) -> bool:
    """Whether other pairs of a connection string stand around."""
    start, stop = max(0, end - _AROUND), min(len(text), end + _AROUND)
    return _PAIR_OTHER.search(text, start, stop) is not None
