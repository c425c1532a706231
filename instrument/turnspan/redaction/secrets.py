"""Secrets in a text, found by scans that ordinary text passes quickly and that are linear in any.

Nearly every secret is a long run of letters, digits and ``_-+/=~.%``. So the text is mapped once
to runs and gaps, the long runs are found by a substring search, and only they are searched for the
fixed letters that secrets have (``sk-ant-``, ``ghp_``, ``AKIA``, ...), wherever these stand in a
run, since a secret may be glued to anything. What has no shape is known by the name before it
(``named_secrets.py``, ``vendor_secrets.py``), passwords in URLs and private keys by what must stand
in them.
"""

from __future__ import annotations

import re
from typing import Final

from turnspan.redaction.command_lines import phrases
from turnspan.redaction.disguised import disguised, wrapped
from turnspan.redaction.found import PLACEHOLDER, Span, has_rare_pair, reads_as_words
from turnspan.redaction.named_secrets import named_secrets
from turnspan.redaction.secret_rules import (
    IN_ANY,
    IN_LOWER,
    PLAIN,
    SIGNED,
    SIGNS,
    SecretRule,
)
from turnspan.redaction.vendor_secrets import vendor_secret
from turnspan.runtime.later import later
from turnspan.runtime.throttle import WINDOW, give_way, holds

_RUN: Final = 16
"""Shorter runs are no secrets without a name that says so."""

_WORD: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+/=~.%"
_TABLE: Final = bytes(97 if byte in _WORD else 32 for byte in range(256))
_LONG: Final = b"a" * _RUN
_EXTEND: Final = later(r"[A-Za-z0-9]*")
_MAX_KNOWN: Final = 16_384
_MAX_KNOWN_LENGTH: Final = 64
_known: Final[dict[str, bool]] = {}
"""Runs without a secret of their own (identifiers and paths repeat), and whether they read as
words, which no vendor's value does."""
_DIGIT: Final = later(r"[0-9%]")


def _runs(text: str, marked: bytes, spans: list[Span], deep: bool) -> None:
    # Lists to add to, here and below: a generator's variables are slow where it is compiled.
    find = marked.find
    position = find(_LONG)
    end = len(text)
    broken: list[tuple[int, int]] = []
    while position >= 0:
        start = position
        stop = find(b" ", position)
        stop = end if stop < 0 else stop
        run = text[start:stop]
        words = _known.get(run)
        if words is None:
            words = _unknown(text, run, start, spans, deep)
        if deep and not words and (text[stop : stop + 1] in _BREAKS or _begins_line(text, start)):
            broken.append((start, stop))
        if not words and (
            "=" in run
            or "%" in run
            or (_is_joined(text, start) and _may_be_value(run, text[start - 1]))
        ):
            _after_names(text, start, stop, spans)
        position = find(_LONG, stop)
    known = {span[0] for span in spans if broken}
    done = 0
    for start, stop in broken:
        if start >= done:
            done = wrapped(text, start, stop, _shaped, known, spans)


_BREAKS: Final = ("\n", "\r", "\\")


def _begins_line(text: str, start: int) -> bool:
    before = text[max(0, start - 48) : start].rstrip(" \t>|")
    return before[-1:] in _BREAKS and before != ""


def _shaped(text: str) -> list[Span]:
    """The secrets in a text that are known wherever they stand."""
    spans: list[Span] = []
    _shapes(text, text, 0, len(text), spans)
    return spans


def _unknown(text: str, run: str, start: int, spans: list[Span], deep: bool) -> bool:
    """Whether a run that was not seen before is words; its secrets are added."""
    # A part as short as vendors' values of letters alone is too short to tell from words.
    short = any(14 <= len(part) <= 24 and part.isalpha() for part in run.split("="))
    words = not short and reads_as_words(run)
    if not words:
        give_way()
        if _shapes(text, run, start, start + len(run), spans) or (
            deep and disguised(run, start, _plainly, spans)
        ):
            return False
        words = not short and _DIGIT.search(run) is None and not has_rare_pair(run)
    if deep and len(run) <= _MAX_KNOWN_LENGTH:
        if len(_known) >= _MAX_KNOWN:
            _known.clear()
        _known[run] = words
    return words


_JUNK: Final = frozenset(" \t\r\n\v\f'\"`(")
_JOINS: Final = frozenset("\\=:>|,;[m")
"""What joins a vendor's name to its value, or ends an escape that does."""


def _is_joined(text: str, start: int) -> bool:
    """Whether something that joins stands before, within a few quotes and spaces."""
    position = start - 1
    last = max(-1, start - 12)
    while position > last:
        before = text[position]
        if before in _JOINS:
            return True
        if before not in _JUNK:
            return False
        position -= 1
    return False


def _may_be_value(run: str, before: str) -> bool:
    """Whether a run is as vendors' values are: the short ones have no signs in them."""
    size = len(run)
    if before == "|":
        return True
    if ("_" in run and size < 32) or ("-" in run and size < 22):
        return False
    return "." not in run[:-1] or run.startswith(("sl.", "pk.", "t1.", "tfp_", "u00"))


def _shapes(text: str, run: str, start: int, stop: int, spans: list[Span]) -> bool:
    """Whether a run has secrets that are known wherever they stand; they are added."""
    known = len(spans)
    position = 0
    for sign in SIGNS.finditer(run):
        at = sign.start()
        if at < position:
            continue
        for tail in (run[max(0, at - 2) : at + 1], run[max(0, at - 1) : at + 1]):
            for head, back, rules in SIGNED.get(tail, ()):
                if run.startswith(head, at - back):
                    position = max(position, _ask(text, rules, start + at - back, spans) - start)
    heads = IN_LOWER if run.islower() else IN_ANY
    found = heads.search(run)
    while found is not None:
        stopped = _ask(text, PLAIN[found.group()], start + found.start(), spans) - start
        found = heads.search(run, max(stopped, found.start() + 1))
    jwt = text.find(".ey", start, stop)
    if jwt >= 0:
        _jwts(text, start, stop, jwt, spans)
    return len(spans) > known


def _ask(text: str, rules: tuple[SecretRule, ...], head: int, spans: list[Span]) -> int:
    """Where the secret ends that begins with a head: named by the first rule, as long as the
    longest. The beginning of the text where none does."""
    start = end = 0
    name = ""
    for rule in rules:
        matched = rule.match(text, head)
        if matched is not None:
            group = matched.lastindex or 0
            if not name:
                name, start = rule.name, matched.start(group)
            more = _EXTEND.match(text, matched.end(group))
            end = max(end, matched.end(group) if more is None else more.end())
    if name:
        spans.append((start, end, name, ""))
        if name == "aws_access_key_id":
            found = _AWS_SECRET.search(text, end, end + 200)
            if found is not None and any(c.isdigit() for c in found.group()):
                spans.append((found.start(), found.end(), "aws_secret_access_key", ""))
    return end


_JWT_REST: Final = later(
    r"\.ey[\w-]{8,8000}\.[\w-]{8,}={0,2}"
    r"|\.ey(?:[\w/\\-]|%2[fF]|%5[cC]){17,8000}\."
    r"(?:(?:[\w/-]|%2[fF]|%5[cC]|\\(?![nrtbfu\"'`])){10,8000}={0,2})?",
    re.ASCII,
)
_JWT_MORE: Final = later(
    r"(?:(?:/|%2[fF]|%5[cC])+[\w-]+|(?:(?<!\\)(?:\\\\)+|\\(?![nrtbfu\"'`\\/])"
    r"|\\+(?=[\w/\\-]{0,40}\d)(?=[\w/\\-]{0,40}[A-Z]))[\w-]{4,})+={0,2}",
    re.ASCII,
)
"""A signature with what only some writers put into one."""


def _jwts(text: str, start: int, stop: int, dot: int, spans: list[Span]) -> None:
    while dot >= 0:
        reach = max(start, dot - 8_000)
        rest = _JWT_REST.match(text, dot)
        if rest is not None:
            head = text[reach:dot]
            cut = max(head.rfind(c) for c in ".+/=~%") + 1
            begin = head.find("ey", cut)
            if begin >= 0 and len(head) - begin >= 10:
                more = _JWT_MORE.match(text, rest.end())
                end = rest.end() if more is None else more.end()
                spans.append((reach + begin, end, "jwt", ""))
                dot = end - 1
        dot = text.find(".ey", dot + 1, stop)


_AWS_SECRET: Final = later(r"(?<![\w/+=])[\w/+]{40}(?![\w/+=])")


_TELEGRAM_KEY: Final = later(r"AA[\w-]{30,}", re.ASCII)


def _after_names(text: str, start: int, stop: int, spans: list[Span]) -> None:
    """A run that is one by what stands before it."""
    if text.startswith("AA", start) and text[start - 9 : start - 1].isdigit():
        key = _TELEGRAM_KEY.match(text, start)
        if key is not None and text[start - 1] == ":":
            spans.append((start, key.end(), "telegram_token", ""))
            return
    found = vendor_secret(text, start, stop)
    if found is not None:
        spans.append((*found, ""))


# -- what is no run --------------------------------------------------------------------------------

_AUTHORITY: Final = later(r"[^\s\"'<>`\\]{0,512}")
_HOST: Final = later(r"[\w.\-\[\]*]*(?::\d+|:\$?\{?\w+\}?)?(?:[/?#,;)&|\]}.]|\Z)")
_PORT: Final = later(r"\d{1,5}(?:[/?#]|\Z)")
_ENCODED: Final = later(
    r"%3[aA]%2[fF]%2[fF](?:[^\s%]|%(?!40|2[fF])[0-9a-fA-F]{2}){0,128}?%3[aA]"
    r"((?:[^\s%&]|%(?!40|2[fF])[0-9a-fA-F]{2}){1,128})%40"
)


def _url_passwords(text: str, spans: list[Span]) -> None:
    for joint in ("://", ":\\/\\/"):
        position = text.find(joint)
        while position >= 0:
            start = position + len(joint)
            found = _AUTHORITY.match(text, start)
            position = text.find(joint, start)
            if found is None or not text[start - len(joint) - 1].isalnum():
                continue
            end = found.end() if position < 0 else min(found.end(), max(start, position - 8))
            if text.find("@", start, end) >= 0:
                _userinfo(text, start, end, spans)


def _userinfo(text: str, start: int, end: int, spans: list[Span]) -> None:
    """The password of ``user:password@host``: up to the last ``@`` that a host follows."""
    colon = text.find(":", start, end)
    at = text.rfind("@", start, end)
    slash = text.find("/", start, end)
    first = text.find("@", start, end)
    if colon < 0 or colon > at or 0 <= slash < colon:
        user = text[start:first]
        if 0 < slash < first or len(user) < 20 or not any(c.isdigit() for c in user):
            return
        if user.isalnum():
            spans.append((start, first, "url_password", ""))
        return
    if 0 <= slash < first and _PORT.match(text, colon + 1, end):
        return
    if slash >= 0 and first < slash:
        at = text.rfind("@", start, slash)
    while at > colon and _HOST.match(text, at + 1, end) is None:
        at = text.rfind("@", start, at)
    password = text[colon + 1 : at]
    if password and password.lower() not in _NO_PASSWORDS and not PLACEHOLDER.match(password):
        spans.append((colon + 1, at, "url_password", ""))


_NO_PASSWORDS: Final = frozenset(("pass", "passwd", "password", "pwd"))

_PRIVATE_KEY: Final = later(
    r"-----BEGIN(?:[ A-Z0-9_+-]|%20){0,100}PRIVATE(?: |%20|\+)KEY", re.IGNORECASE
)


def _private_keys(text: str, spans: list[Span]) -> None:
    position = 0
    found = _PRIVATE_KEY.search(text)
    while found is not None:
        closing = text.find("-----END", found.end())
        if closing < 0:
            closing = text.find("-----end", found.end())
        position = len(text)
        if closing >= 0:
            last = text.find("KEY", closing + 8, closing + 140)
            last = last if last >= 0 else text.find("key", closing + 8, closing + 140)
            dashes = text.find("-----", last, last + 24) if last >= 0 else -1
            position = dashes + 5 if dashes >= 0 else min(len(text), closing + 8)
        spans.append((found.start(), position, "private_key", ""))
        found = _PRIVATE_KEY.search(text, position)


def _plainly(text: str) -> list[Span]:
    """The secrets of a text that was in disguise: one within another is not looked for."""
    return find_secrets(text, deep=False)


def find_secrets(text: str, deep: bool = True) -> list[Span]:
    """The secrets in a text, in order, without overlaps (the earlier and longer one wins).

    Each scan is asked only where what its secrets cannot be without is in the text: nearly no text
    has any of it, and these searches are what an ordinary text costs.
    """
    if len(text) < 8:
        return []
    found: list[Span] = []
    raw = text.encode("latin-1", "replace")
    marked = raw.translate(_TABLE)
    if len(text) > WINDOW:
        dashes, runs = holds(text, "-----"), holds(marked, _LONG)
    else:
        dashes, runs = "-----" in text, _LONG in marked
    if dashes:
        _private_keys(text, found)
    if runs:
        _runs(text, marked, found, deep)
    if "@" in text:
        _url_passwords(text, found)
    if "%" in text and "%40" in text:
        found += [(m.start(1), m.end(1), "url_password", "") for m in _ENCODED.finditer(text)]
    small = raw.lower()
    phrases(text, small, found)
    named_secrets(text, small, found)
    return found if len(found) < 2 else _kept(found)


def _kept(found: list[Span]) -> list[Span]:
    found.sort(key=_order)
    kept = found[:1]
    for span in found[1:]:
        if span[0] >= kept[-1][1]:
            kept.append(span)
        elif span[1] > kept[-1][1]:  # one that begins in the other and ends behind it
            kept.append((kept[-1][1], span[1], span[2], ""))
    return kept


def _order(span: Span) -> tuple[int, int]:
    return span[0], -span[1]


def mask_secrets(text: str) -> str:
    """The text with ``[REDACTED:<rule>]`` in the place of each secret."""
    found = find_secrets(text)
    if not found:
        return text
    pieces: list[str] = []
    position = 0
    for start, end, name, quote in found:
        pieces += text[position:start], f"{quote}[REDACTED:{name}]{quote}"
        position = end
    pieces.append(text[position:])
    return "".join(pieces)
