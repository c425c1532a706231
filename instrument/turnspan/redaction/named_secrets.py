"""Secrets in a text that are known by the name before them: assignments, headers, JSON, YAML.

The names are found in one pass; what follows one is read only where something joins it to a value
(``=``, ``:``, ``=>``, ...), through quotes, escapes and colours. Every step back or ahead is
bounded, and what was read as a value is not searched for names again: the cost is linear.
"""

from __future__ import annotations

import re
from typing import Final

from turnspan.redaction.command_lines import authorization, credentials, curl, kubernetes
from turnspan.redaction.found import PLACEHOLDER, Span, closed
from turnspan.redaction.secret_names import (
    Bare,
    has_pairs,
    hints_secret,
    is_name_in_code,
    is_value,
    looks_random,
    names_secret,
)
from turnspan.redaction.vendor_secrets import is_listed, longest_value, named_before, vendor_values
from turnspan.runtime.later import later
from turnspan.runtime.throttle import WINDOW, give_way

# One expression a letter that they begin with here, and small letters only: a search for what
# begins with one letter passes the others ten times as fast as one for any of six.
_NAMES: Final = tuple(
    re.compile(pattern)
    for pattern in (
        rb"k(?:e(?:y|n(?<=ok..)|d(?<=link..))|ie(?<=ok..)|(?<=zxlk))",
        rb"p(?:as(?:s(?:[wp]|cod|(?<=[_-]p...)(?![a-z])))|i(?<=ap.)|wd|box(?<=rop...))",
        rb"c(?:re(?:t(?<=ec...)|d)|cess(?<=ac....)|url(?=[ \t%]))",
        rb"u(?:th(?<=au..)|mo(?<=su..))",
        rb"b(?:earer|asic)(?=[ +%\t])",
        # Vendors whose values are short, and short tokens.
        rb"x(?:ox(?=[aros]-)|app(?=-\d-))",
    )
)
_ANY_NAME: Final = re.compile(b"|".join(name.pattern for name in _NAMES))
_FEW: Final = 96
"""In shorter texts to begin six searches costs more than one for any name."""
_LONGEST_NAME: Final = 16
"""Characters that an expression looks at, ahead of where it begins, at most."""

_QUOTE: Final = (
    r"\\*[\"'`]|\\+u00(?:22|27|60)|%(?:25){0,3}(?:22|27|60)|&(?:amp;)?(?:quot|apos|#3[49]|#x2[27]);"
)
_SPACE: Final = (
    r"\s|\\+[nrt]|\\(?=\s)|%(?:25){0,3}(?:20|09|0[aAdD])|\\+u00(?:20|0[9aAdD])|\+(?=[:=\s])"
    r"|(?:\x1b|\\+(?:u001[bB]|x1[bB]|033|e))\[[\d;]{0,12}m"
)
_JOIN: Final = (
    r"=>|->|(?:value|content)\s?(?:=|%(?:25){0,3}3[dD]|\\+u003[dD])|:{1,3}=|\?=|:|=|\|\||>|,|\||&(?:amp;)?gt;|%(?:25){0,3}(?:3[aAdDeE]|2[cC]|7[cC])"
    r"|\\+u003[aAdDeE]|&(?:amp;)?#(?:61|x3[dD]);"
)
_JOINED: Final = later(
    rf"(?P<more>[\w.\-]{{0,24}})(?![\w.\-])(?P<words>(?:(?:[ \t]|%(?:25){{0,3}}(?:20|09)|\\+t)"
    rf"[\w.\-]{{1,20}}(?![\w.\-])){{0,3}})"
    rf"(?P<close>(?:{_QUOTE}|{_SPACE}){{0,14}})\]?\s{{0,40}}"
    rf"(?P<join>(?:{_JOIN})(?:{_JOIN}){{0,2}})"
    rf"(?P<open>\s{{0,40}}(?:{_QUOTE}|{_SPACE}|=|[rbuf](?=[\"'])){{0,16}})",
    re.ASCII,
)
_QUOTES: Final = later(rf"(?:{_QUOTE})")
_KEY_BACK: Final = later(
    r"[\w.\-]{0,64}(?: (?:ipa|ssecca|terces|etavirp|htua|tneilc|tnuocca|derahs)(?![a-z]))?",
    re.ASCII | re.IGNORECASE,
)
"""A key, read backwards."""
_BARE: Final = later(r"[^\s\"'`<>,;(){}\[\]\\|&\x1b]{1,2000}")
_VALUE: Final = later(r"[\w.=+/~-]{10,600}", re.ASCII)
_JUDGED: Final = 160
"""Characters that tell whether a value is random."""
_KEYWORD: Final = later(r"[a-z_]+\d{0,2}=.")
_DOTTED: Final = later(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+\Z", re.ASCII)
_NUMBER: Final = later(r"-?\d[\d.eE+-]{2,400}(?=\s{0,20}(?:[,}\]\\\n]|\Z))")
_BRACKET: Final = later(r"[\[\]{}]")
_SCHEMA: Final = later(
    r"\{\s*\\*[\"'](?:type|title|description|anyOf|oneOf|allOf|enum|format|default|\$ref)\\*[\"']\s*:"
)
_TYPES: Final = frozenset(
    (
        *("string", "str", "int", "integer", "number", "float", "bool", "boolean", "object"),
        *("array", "list", "dict", "null", "none", "undefined", "true", "false", "required"),
        *("optional", "any", "bytes", "text", "yes", "no", "enabled", "disabled", "empty"),
        *("unknown", "default", "password", "passwd", "passphrase", "pwd", "secret", "token"),
        *("key", "apikey", "api_key", "api-key", "credentials", "self", "auth", "basic", "bearer"),
        *("cookie", "user", "username", "login", "missing", "invalid", "expired"),
    )
)
"""Types, and words of sentences about secrets."""
_TOKEN: Final = later(
    r"(xox[ar]-(?:\d-)?[0-9a-zA-Z]{8,48}|xox[os](?:-\d{1,40}){3}-[a-fA-F\d]{1,99}"
    r"|(?i:xapp-\d-[A-Z0-9]{1,60}-\d{1,40}-[a-z0-9]{1,99}))"
    r"|ZXlK(?=[A-Za-z0-9/\\_+\-\r\n%]{40})(?:[A-Za-z0-9/_+%-]+|\\+n?|\r?\n){1,200}=*"
)
_VENDORS: Final = later("linked|dropbox|sumo", re.IGNORECASE)
_NUMBERED: Final = later(r"\d+(?:\.\d+){3,}\Z")
"""An address or an object's identifier."""
_SHORT: Final = later(r"(?=[\w=-]*\d)([A-Za-z0-9=_-]{8,20})\\*\"", re.ASCII)
_REGION: Final = 4096


class _Scan:
    """One pass over a text."""

    def __init__(self, text: str, spans: list[Span]) -> None:
        self.text = text
        self.spans = spans
        self.done = 0
        """Where what was read ends: no names are looked for before."""
        self.judged = 0
        """Where the last value ends that was looked at and is none."""
        self.commands = 0
        self.manifests = 0

    def name(self, start: int, end: int) -> None:
        """What a name that was found announces."""
        text = self.text
        first = text[start]
        if first in "bB":
            self._add(credentials(text, start, end))
            return
        if text[end - 1] in "lL":
            self.commands = curl(text, end, self.commands, self.spans)
            return
        if first in "xX" or text.startswith("ZXlK", start - 3):
            self._token(start if first in "xX" else start - 3)
            return
        joined = _JOINED.match(text, end)
        if joined is None and text[end : end + 1] not in _OPTIONS and first not in "cC":
            return
        begin = max(0, start - 72)
        back = _KEY_BACK.match(text[begin:start][::-1])
        key_start = start - (back.end() if back is not None else 0)
        if first in "cC" and text[max(0, key_start - 12) : key_start].rstrip(" \"'").endswith(
            "ind:"
        ):
            self.manifests = kubernetes(text, end, self.manifests, self.spans)
        if joined is None:
            self._option(key_start, end)
            return
        if (first + text[end - 1]).lower() in ("kd", "px", "uo"):
            self._vendor(joined.end())
            return
        more, words = joined.group("more", "words")
        key = text[key_start:end] + more
        kind = "" if words else names_secret(key)
        if kind == "secretaccesskey":
            kind = "aws_secret_access_key"
        compared = joined["join"] in ("==", "===")
        known = len(self.spans)
        if kind and not compared:
            self._said(kind, key, key_start, joined)
        if len(self.spans) == known and _VENDORS.search(key) is not None:
            self._vendor(joined.end())
        if len(self.spans) == known and (kind or hints_secret(key)):
            self._random(joined, kind or "generic")
            if joined["open"][-1:] == '"' and "assw" in key.lower():
                self._password(joined.end())
        if not words:
            self.done = max(self.done, joined.end())

    def _add(self, span: Span | None) -> None:
        if span is not None:
            self.spans.append(span)
            self.done = max(self.done, span[1])

    def _random(self, joined: re.Match[str], kind: str) -> None:
        start = joined.end()
        found = _VALUE.match(self.text, start) if start >= self.judged else None
        if found is not None:
            self.judged = found.end()
            value = found.group().rstrip(".")
            if joined["join"] == "," and ("\n" in joined["open"] or _KEYWORD.match(value)):
                return
            if not _last(joined["open"]) and _DOTTED.match(value) and value.count("_") + 1 > 1:
                return
            if self.text[found.end() : found.end() + 1] != "(" and looks_random(value[:_JUDGED]):
                self._add((start, start + len(value), kind, ""))

    def _token(self, start: int) -> None:
        """A token that may be too short, or too broken up by new lines, to be found as a run."""
        found = _TOKEN.match(self.text, start)
        if found is not None:
            name = "slack_token" if found[1] else "jwt_base64"
            self._add((start, found.end(), name, ""))

    def _vendor(self, start: int) -> None:
        """A value of a vendor whose values are too short to be found by themselves."""
        values = vendor_values(named_before(self.text, start))
        found = longest_value(self.text, start, values)
        if found is not None and not is_listed(self.text, found[0], found[1]):
            self._add((*found, ""))

    def _password(self, start: int) -> None:
        """A short value in quotes behind a name with ``password`` somewhere in it."""
        found = _SHORT.match(self.text, start)
        if found is not None and not is_name_in_code(found[1]):
            self._add((start, found.end(1), "password", ""))

    def _said(self, kind: str, key: str, key_start: int, joined: re.Match[str]) -> None:
        """The value of a key that says it is secret."""
        text, start = self.text, joined.end()
        join = joined["join"]
        opening = _last(joined["open"])
        quoted = _last(joined["close"])
        if join in (",", "|", "||") or "2" in join or "7" in join:
            self._random(joined, kind)
        elif "```" in joined["open"]:
            return
        elif opening:
            self._quoted(kind, key, start, opening, bool(quoted))
        elif quoted and text[start : start + 1] in ("{", "["):
            self._structure(kind, start, quoted)
        elif (kind == "authorization" or kind.startswith("cookie")) and _is_header(joined):
            if start >= self.judged:
                span, self.judged = authorization(text, start, kind)
                self._add(span)
        elif quoted:
            found = _NUMBER.match(text, start)
            if found is not None:
                self._add((start, found.end(), kind, quoted))
        else:
            self._bare(kind, key, key_start, joined)

    def _quoted(self, kind: str, key: str, start: int, quote: str, key_quoted: bool) -> None:
        if self.text[start - 3 : start] == quote * 3:
            quote *= 3
        line = -1 if key_quoted else self.text.find("\n", start, start + _REGION)
        end = closed(self.text, start, quote, line - start if line >= 0 else _REGION)
        if end < 0:
            found = _BARE.match(self.text, start)
            end = start if found is None else found.end()
            if self.text[end : end + 1] not in ("", "\n", "\r", "'", '"', "`", "\\"):
                return
        value = self.text[start:end]
        if not value.strip() or PLACEHOLDER.match(value) or value.lower() in _TYPES:
            return
        plain = _NUMBERED.match(value) is not None or not any(c.isdigit() for c in value)
        if kind == "key" and not key_quoted and plain:
            return
        if kind.startswith("cookie") and "=" not in value:
            return
        if not key_quoted and not _literal(value, key):
            if looks_random(value):
                self._add((start, end, kind, ""))
            self.done = max(self.done, start)
            return
        self._add((start, end, kind, ""))

    def _structure(self, kind: str, start: int, quote: str) -> None:
        """A list or dictionary under a key that says so; the schema of one stays."""
        text, depth, end = self.text, 0, start
        if _SCHEMA.match(text, start) is not None:
            return
        for found in _BRACKET.finditer(text, start, start + _REGION):
            depth += 1 if found.group() in "{[" else -1
            end = found.end()
            if depth == 0:
                break
        else:
            end = min(len(text), start + _REGION)
        if end - start > 2:
            self._add((start, end, kind, quote))

    def _option(self, key_start: int, end: int) -> None:
        """``--password hunter2``: nothing joins but a space."""
        text = self.text
        if text[key_start : key_start + 2] != "--" or text[end : end + 1] not in _OPTIONS:
            return
        rest = _OPTION.match(text, end)
        if rest is not None and names_secret(text[key_start + 2 : end] + rest[1]):
            value = rest[2]
            if any(c.isdigit() for c in value) and not PLACEHOLDER.match(value):
                self._add((rest.start(2), rest.end(2), "password", ""))

    def _bare(self, kind: str, key: str, key_start: int, joined: re.Match[str]) -> None:
        """A value without quotes: text is masked, code is not."""
        text, start = self.text, joined.end()
        found = _BARE.match(text, start)
        if found is None:
            return
        value = found.group().rstrip(".,:!?")
        end = start + len(value)
        if not value or PLACEHOLDER.match(value) or value.lower() in _TYPES:
            return
        following = text[found.end() : found.end() + 1]
        if (following and following in "([{") or (
            following == "\\" and text[end + 1 : end + 2] == "s"
        ):
            return
        tight = joined.end() == joined.end("join")
        before = text[max(0, key_start - 1) : key_start]
        if before == "{":
            return
        join = joined["join"]
        bare = Bare(kind, key, value, before, join, tight, following, end)
        if is_value(text, bare):
            if tight and kind in ("password", "pwd") and has_pairs(text, end):
                kind = "connection_password"
            self._add((start, end, kind, ""))


_OPTIONS: Final = frozenset(" odh")
_OPTION: Final = later(r"([\w-]{0,20})[ \t]+[\"']?([^\s\"'`<>|&;-][^\s\"'`<>|&;]{3,200})")


def _literal(value: str, key: str) -> bool:
    """Whether what is quoted behind a key that is not is a value, no words or pattern."""
    if len(value) > 512 or value.lower() in key.lower():
        return False
    if " " in value and (not any(c.isdigit() for c in value) or len(value) > 80):
        return False
    return not (value.endswith((":", "=")) or "%s" in value or "{}" in value)


def _is_header(joined: re.Match[str]) -> bool:
    return joined["join"] == ":" or joined.end() == joined.end("join")


def _last(gap: str) -> str:
    """The last quote in a gap; empty for none."""
    found = _QUOTES.findall(gap)
    return str(found[-1]) if found else ""


def named_secrets(text: str, small: bytes, spans: list[Span]) -> None:
    """Add the secrets of a text that a name announces.

    ``small`` is the text in small letters, a byte each: what is no Latin-1 is a question mark.
    """
    if len(small) < _FEW and _ANY_NAME.search(small) is None:
        return
    names: list[tuple[int, int]] = []
    for start in range(0, len(small), WINDOW):
        give_way()
        end = start + WINDOW
        last = end + _LONGEST_NAME
        for name in _NAMES:
            found = name.search(small, start, last)
            while found is not None and found.start() < end:
                names.append(found.span())
                found = name.search(small, found.end(), last)
    if names:
        names.sort()
        scan = _Scan(text, spans)
        for start, end in names:
            if start >= scan.done:
                scan.name(start, end)
