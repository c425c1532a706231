"""Secrets by the form of what they stand in: headers, commands, SQL, sentences, manifests."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Final

from turnspan.redaction.found import PLACEHOLDER, Span
from turnspan.runtime.later import later

_REACH: Final = 2000
_SEP: Final = r"(?:[ \t]|%20|\+|\\+u0020)+"
_SCHEMED: Final = later(
    rf"(?P<scheme>(?i:bearer|basic|token|api-?key|key|jwt|bot|oauth|splunk|negotiate|ntlm|sso-key|apitoken"
    rf"|bearertoken|privatetoken|personal|zoho-oauthtoken|sharedaccesssignature|genie(?:key)?))"
    rf"{_SEP}(?P<token>[^\s\"'`\\<>,;&\x1b]{{1,4096}})"
)
_PARAMETERS: Final = later(
    r"(?P<scheme>(?i:digest|aws4-hmac-sha256|aws|hmac|hawk|signature|sharedkey(?:lite)?))"
    r"[ \t]+(?P<token>[^\n\r\"`]{1,2000})"
)
_ALONE: Final = later(r"[^\s\"'`\\<>,;&()\[\]\x1b]{6,4096}(?![(\[])")
_COOKIES: Final = later(
    r"[\w.%-]{1,64}=[^\s;,\"'`\\]{1,4096}(?:;[ +]?[\w.%-]{1,64}(?:=[^\s;,\"'`\\]{0,4096})?){0,64}"
)
_SESSION: Final = later(
    r"(?i:sess|sid|auth|tok|csrf|jwt|remember|login|user|key)[\w.%-]{0,40}=[^;\s]"
    r"|=(?=[^;\s]{0,40}\d)(?![A-Z_0-9]+\b)[^;\s]{8}"
)
_TOKEN: Final = later(r"(?:[ \t]|%20|\+)+([\w.~+/=%-]{6,4096})", re.ASCII)
_WORDS: Final = frozenset(
    ["token", "auth", "authentication", "authorization", "required", "none", "null", "header"]
)


def authorization(text: str, start: int, kind: str) -> tuple[Span | None, int]:
    """What a header that begins here holds, and how far was looked."""
    if kind.startswith("cookie"):
        cookies = _COOKIES.match(text, start)
        if cookies is None:
            return None, start
        found = _SESSION.search(text, start, cookies.end()) is not None
        return (start, cookies.end(), "cookie", "") if found else None, cookies.end()
    schemed = _SCHEMED.match(text, start) or _PARAMETERS.match(text, start)
    if schemed is not None:
        return _schemed(text, schemed), start
    alone = _ALONE.match(text, start)
    if alone is None:
        return None, start
    found = any(c.isdigit() for c in alone.group())
    return (start, alone.end(), "authorization", "") if found else None, alone.end()


def _schemed(text: str, found: re.Match[str]) -> Span | None:
    token = found["token"]
    scheme = found["scheme"].lower()
    name = {"bearer": "bearer_token", "basic": "basic_auth"}.get(scheme, "authorization")
    if PLACEHOLDER.match(token) or token.lower() in _WORDS or token[-1] == ":":
        return None
    if token.isalpha() and token.islower() and len(token) < 16 and _goes_on(text, found.end()):
        return None
    return found.start("token"), found.end("token"), name, ""


def _goes_on(text: str, end: int) -> bool:
    """Whether a sentence goes on here."""
    return text[end : end + 1] in (" ", ".", ",") or text[end : end + 2] == "\n "


def credentials(text: str, start: int, end: int) -> Span | None:
    """What follows ``Bearer`` or ``Basic`` wherever it stands, if it looks like credentials."""
    found = _TOKEN.match(text, end)
    if found is None:
        return None
    token = found[1].rstrip(".")
    stop = found.start(1) + len(token)
    if text[start + 1] in "aA":
        return (found.start(1), stop, "basic_auth", "") if _is_basic(token) else None
    plain = not any(c.isdigit() for c in token) or not any(c.isalpha() for c in token)
    if plain and (len(token) < 20 or token.islower() or token.replace("-", "").isalpha()):
        return None
    return found.start(1), stop, "bearer_token", ""


def _is_basic(encoded: str) -> bool:
    try:
        plain = base64.b64decode(encoded + "=" * (-len(encoded) % 4))
        return b":" in plain and plain.decode().isprintable()
    except (binascii.Error, ValueError):
        return False


_USER: Final = later(
    r"(?:[ \t\n]|%20)(?:-u|--user|--proxy-user|--oauth2-bearer)(?:=|(?:[ \t]|%20){0,5})"
    r"(?:\\*\"([^\"\\]{3,200})|\\*'([^'\\]{3,200})|((?:[^\s\"'\\%]|%(?!20)){3,200}))"
)
_HEADER: Final = later(
    r"[ \t\n](?:-H|--header)(?:=|[ \t]{0,5})\\*[\"'](?i:authorization|[\w-]{0,40}(?:key|token))"
    r":[ \t]{0,5}(?i:(?:basic|bearer|(?:api-)?token)[ \t])?([\w=~@.+/-]{8,4096})"
)


def curl(text: str, end: int, done: int, spans: list[Span]) -> int:
    """What a ``curl`` command gives to log in with; returns how far was looked."""
    start = max(end, done)
    stop = min(len(text), end + _REACH)
    if start >= stop:
        return done
    for found in _USER.finditer(text, start, stop):
        group = found.lastindex or 0
        value = found[group]
        if (":" in value or "%3A" in value or "bearer" in found.group()) and not PLACEHOLDER.match(
            value
        ):
            spans.append((found.start(group), found.end(group), "curl_user", ""))
    spans += [
        (found.start(1), found.end(1), "authorization", "")
        for found in _HEADER.finditer(text, start, stop)
        if not PLACEHOLDER.match(found[1])
    ]
    return stop


_DATA: Final = later(r"\b(?:data|stringData)\\*[\"']?:")
_ENTRY: Final = later(
    r"[\w.-]+\\*[\"']?:[ \t]*(?:[|>][-+]?)?(?:\s|\\+n)*\\*[\"']?([A-Za-z0-9+/]{10,}={0,3})"
)


def kubernetes(text: str, end: int, done: int, spans: list[Span]) -> int:
    """What a manifest of a Secret holds, around its ``kind``; returns how far was looked."""
    start = max(done, end - 600)
    stop = min(len(text), end + _REACH)
    data = _DATA.search(text, start, stop) if start < stop else None
    if data is None:
        return max(done, stop)
    spans += [
        (found.start(1), found.end(1), "kubernetes_secret", "")
        for found in _ENTRY.finditer(text, data.end(), stop)
        if not found[1].isalpha() or len(found[1]) >= 16
    ]
    return stop


_QUOTED: Final = r"\\*[\"'`]"
_WORD: Final = r"[^\s\"'`\\|;&]{1,256}"
_TOOL: Final = later(r"\b(?:docker|podman|nerdctl|buildah|skopeo|crane|oras|helm|az|oc|cf)[ \t]")
_NETRC: Final = later(
    rf"login\s{{1,8}}\S{{1,128}}\s{{1,8}}(?:account\s{{1,8}}\S{{1,128}}\s{{1,8}})?"
    rf"password\s{{1,8}}({_WORD})"
)
_LOGIN: Final = later(rf"login\b[^\n]{{0,300}}?[ \t]-p(?:=|[ \t]{{1,8}})(?:{_QUOTED})?({_WORD})")
_MYSQL: Final = later(rf"[\w-]{{5,32}}(?:[ \t][^\n|;&]{{0,300}}?)?[ \t]-p(?:{_QUOTED})?({_WORD})")
_SAID: Final = later(
    rf"[a-z]+(?: token| key)?\s(?:is|was):?\s(?:{_QUOTED}([^\s'\"`]{{3,256}}?){_QUOTED}"
    r"|((?=[^\s,;]{0,64}\d)(?=[^\s,;]{0,64}[^\W\d])[^\s'\"`,;()\\]{4,256}(?<![.!?])))",
    re.IGNORECASE,
)
_PHRASES: Final = (
    (b"sshpass", later(rf"sshpass[ \t]{{1,8}}-p[ \t]{{0,8}}(?:{_QUOTED})?({_WORD})")),
    (b"mysql", _MYSQL),
    (b"mariadb", _MYSQL),
    (
        b"net use",
        later(
            r"net use[ \t][^\n]{0,200}?\\\\\S{1,200}[ \t]{1,8}(?:/user:\S{1,100}[ \t]{1,8})?"
            rf"(?:{_QUOTED})?(?![*/])({_WORD})",
            re.IGNORECASE,
        ),
    ),
    (
        b"identified",
        later(
            r"identified\s{1,8}(?:with\s{1,8}[\w'\"]{1,40}\s{1,8})?(?:by|as)\s{1,8}"
            rf"(?:password\s{{1,8}})?{_QUOTED}([^\s'\"`]{{1,256}}?){_QUOTED}",
            re.IGNORECASE,
        ),
    ),
    (
        b"password",
        later(r"password\s{1,8}e?\\*'([^\s'\"`,()]{3,256}?)\\*'", re.IGNORECASE),
    ),
    (b"login", _NETRC),
    (b"login", _LOGIN),
    *((word, _SAID) for word in (b"password", b"passphrase", b"passcode", b"secret", b"api key")),
    (b"access token", _SAID),
)
"""What a phrase begins with, in small letters, and the phrase."""
_HASH: Final = later(
    r"\$(?:apr1|[1256y]|2[abxy]|argon2(?:id|[id])|scrypt|pbkdf2-\w{1,12})\$"
    r"[A-Za-z0-9./=,$+_-]{20,512}"
)


def phrases(text: str, small: bytes, spans: list[Span]) -> None:
    """Add the secrets of commands, SQL, a ``.netrc`` and sentences, and the hashes of passwords.

    ``small`` is as for ``named_secrets``. Nearly no text has any of the words looked for first.
    """
    if b"$" in small:
        spans += [(m.start(), m.end(), "password_hash", "") for m in _HASH.finditer(text)]
    for word, phrase in _PHRASES:
        start = small.find(word)
        while start >= 0:
            found = None if text[start - 1 : start].isalnum() else phrase.match(text, start)
            if found is not None and (
                phrase is not _LOGIN or _TOOL.search(text, max(0, start - 60), start) is not None
            ):
                group = found.lastindex or 0
                if not PLACEHOLDER.match(found[group]) and found[group].lower() not in _WORDS:
                    spans.append((found.start(group), found.end(group), "password", ""))
            start = small.find(word, start + len(word))
