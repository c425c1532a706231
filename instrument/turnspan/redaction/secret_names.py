"""Which names announce a secret, and which values look like one.

A name *says* that its value is secret (``API_KEY``, ``db-password``, ``accessToken``): whatever
stands there is masked. Or it only *hints* at one (``cache_key``, ``auth_url``): what stands there
is masked where it looks random.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from math import log2
from typing import Final, NamedTuple

from turnspan.redaction.found import has_rare_pair
from turnspan.redaction.vendor_secrets import vendor_values
from turnspan.runtime.later import later

_SAYS: Final = later(
    r"(?:(?P<kind>passwords?|passwds?|passphrases?|passcodes?|pwd|secrets?|apikeys?|accesskey(?:id)?s?"
    r"|authkeys?|secretkeys?|secretaccesskeys?|privatekeys?|signingkeys?|encryptionkeys?|masterkeys?"
    r"|accountkeys?|sharedkeys?|sharedaccesskeys?|sharedaccesssignature|servicekeys?|sessionkeys?"
    r"|subscriptionkeys?|licensekeys?|storagekeys?|deploykeys?|adminkeys?|rootkeys?|writekeys?|sshkeys?"
    r"|functionskey|credentials?|creds|authorization|cookies?|connectionstrings?|connstr|sastoken"
    r"|(?:api|access|auth|refresh|session|security|bearer|bot|client|user|id|csrf|xsrf|oauth|jwt"
    r"|personal|deploy|app|service|sas|web|hub|lab|npm|git|vault|webhook)tokens|token"
    r"|(?<=db)pass|(?<=sql)pass|(?<=user)pass|(?<=smtp)pass|(?<=ftp)pass|(?<=admin)pass|(?<=root)pass"
    r"|(?<=mail)pass|(?<=auth)pass|(?<=redis)pass|(?<=ssh)pass|(?<=pg)pass|(?<=my)pass)\d{0,3})\Z"
)
_NOT: Final = later(
    r"(?:next|page|continuation|continue|sync|resume|cursor|previous|prev|first|last|new"
    r"|eos|bos|pad|unk|sep|cls|mask|stop|special|start|begin|end|per|max|min|num|of|delta"
    r"|cancellation|cancel|input|output|prompt|completion|total|cached|reasoning|text|image|audio)"
    r"token\Z|(?:accept|has|is|no|use|show|hide|forgot|forget|reset|change|need|needs|requires?"
    r"|require|set|get|check|verify|invalid|wrong|missing|bad|empty)"
    r"(?:password|passwd|passphrase|pwd|token|secret|apikey|credentials?|cookies?)\Z"
)
_UPPER_KEY: Final = later(r"[A-Z0-9_.-]*[_.-](?:KEY|PASS|PWD|PW)\d{0,3}\Z")
_NO_KEY: Final = later(
    r"(?:^|[_.-])(?:PUBLIC|PUB|PRIMARY|FOREIGN|PARTITION|SORT|CACHE|HASH|IDEMPOTENCY|INDEX|LOOKUP"
    r"|GROUP|HOT|SHORTCUT|ROW|MAP|DICT|UNIQUE|SHIFT|CTRL|ALT|REGISTRY|OBJECT|MESSAGE|ROUTING|FIELD"
    r"|ARROW|MENU|H|JSON|CONFIG|SETTINGS?|PARAM|ITEM|ENTRY|CONTEXT|STATE|NO|HAS)_KEY\Z"
)
_HINTS: Final = later(
    r"access|auth(?!ors?(?:[^i]|\Z))|api(?!t)|cred|key(?!w|b|p|f|s\b)|passw|secret|token(?!i)"
)
_NO_HINT: Final = later(
    r"(?:cache|idempotency|primary|foreign|public|partition|sort)[_.-]?key|count|length|tokens\Z"
    r"|(?:version|url|uri|hash|sha\d*|md5|digest|checksum|fingerprint|path|file|name|host|type|model)\Z"
)
_SHAPELESS: Final = str.maketrans("", "", "_-. ")
_RANDOM: Final = later(r"[\w.=+/~-]{10,}\Z", re.ASCII)
_PIECES: Final = later(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_PLAIN_DATE: Final = later(r"\d{4}-\d\d-\d\d(?:[-T_].*)?\Z")


@lru_cache(maxsize=4096)
def names_secret(key: str) -> str:
    """The kind of secret that a key says it holds (``X-Api-Key``: ``apikey``); empty for none."""
    plain = key.lower().translate(_SHAPELESS)
    if len(plain) > 80:
        plain = plain[-80:]
    found = _SAYS.search(plain)
    if found is not None:
        return "" if _NOT.search(plain) is not None else found["kind"]
    if _UPPER_KEY.match(key) is not None and _NO_KEY.search(key) is None:
        return "key" if key.rstrip("0123456789").endswith("KEY") else "password"
    return ""


@lru_cache(maxsize=4096)
def hints_secret(key: str) -> bool:
    """Whether a key may hold a secret: what looks random under it is taken for one."""
    plain = key.lower()
    return _HINTS.search(plain) is not None and _NO_HINT.search(plain) is None


@lru_cache(maxsize=4096)
def may_hold_secret(key: str) -> bool:
    """Whether ``secret_under`` could find one under this key."""
    return hints_secret(key) or bool(vendor_values(key[-45:]))


def secret_under(key: str, value: str) -> str:
    """The kind of secret that a text is under a key that does not say so; empty for none."""
    if not 10 <= len(value) <= 600 or not may_hold_secret(key):
        return ""
    for rule, pattern in vendor_values(key[-45:]):
        found = pattern.match(value)
        if found is not None and found.end() == len(value):
            return rule
    return "generic" if hints_secret(key) and looks_random(value) else ""


def is_name_in_code(value: str) -> bool:
    """Whether a word without quotes is more likely a class or variable than a password."""
    if not value.isidentifier():
        return False
    return "_" in value or (_CAMEL.search(value) is not None and _reads_like_words(value))


_CAMEL: Final = later(r"[A-Z][a-z]+.*[A-Z][a-z]")


def looks_random(value: str) -> bool:
    """Whether a value is letters and digits in no order that people write."""
    if _RANDOM.match(value) is None or len(value) > 600:
        return False
    if not any(c.isdigit() for c in value) or not any(c.isalpha() for c in value):
        return False
    if _entropy(value) < 3.3 or _PLAIN_DATE.match(value) is not None:
        return False
    return not _reads_like_words(value)


def _reads_like_words(value: str) -> bool:
    """Whether letters stand together, as they do in words, and digits too: names, versions."""
    if value.islower() and value.isalnum():
        return False
    pieces = _PIECES.findall(value)
    digits = sum(1 for piece in pieces if piece.isdigit())
    if digits > 2 or sum(map(len, pieces)) < (3 if digits < 2 else 4) * len(pieces):
        return False
    return not any(has_rare_pair(piece) for piece in pieces)


def _entropy(value: str) -> float:
    size = len(value)
    return -sum(n / size * log2(n / size) for n in Counter(value).values())


# -- values without quotes: whether what is joined to a name is one, or code and prose -------------

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
