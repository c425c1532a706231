"""What the searches for secrets share: what they find, what is none, and how it may be written."""

from __future__ import annotations

import re
from typing import Final

from turnspan.runtime.later import later

Span = tuple[int, int, str, str]
"""(start, end, kind of secret, quotes to put around the mask: what it takes to stay JSON)"""

PLACEHOLDER: Final = later(
    r"\$\{|\$[A-Za-z_]\w*\Z|\$\(|%\(|%[sdr]|\{[\w.\[\]!: ]*\}|<[\w \-./|]*>?|\{\{|\*{3,}|\.{3}"
    r"|\[?REDACTED|\[(?:Filtered|FILTERED|hidden|masked)|x{3,}\Z|X{3,}\Z|os\.environ|process\.env"
    r"|(?i:(?:basic|bearer|token) *(?:\Z|[<{]|\$\{|%s))"
    r"|your[_-]|YOUR[_-]|(?i:example|placeholder|changeme)\Z"
)
"""What stands where people leave a secret out."""


def closed(text: str, start: int, quote: str, limit: int) -> int:
    """Where a quoted value ends that begins here; negative where its quote does not follow.

    With ``\\"`` as the quote (JSON in JSON) a quote with more backslashes is one of the value's.
    """
    position = text.find(quote, start, start + limit)
    while position >= 0:
        before = position
        while before > start and text[before - 1] == "\\":
            before -= 1
        slashes = position - before
        if quote[0] == "\\":
            if slashes == 0:
                return position
        elif quote[0] not in "\"'`" or slashes % 2 == 0:
            return position
        position = text.find(quote, position + len(quote), start + limit)
    return -1


# -- letters that no word has beside each other: what tells random letters from words -------------

_PAIRS: Final = (
    "b[hkqvwx]|c[jxz]|d[qz]|f[hjkqvwxz]|g[jkqx]|h[bfghjpqvwxz]|i[hjwy]|j[bcdfghjklmnqrtvwxyz]"
    "|k[jkmqvxz]|l[jqxz]|m[hqxz]|n[xz]|oq|p[jqvz]|q[abcdefghijklmnopqrtvwxyz]|r[jqxz]|s[jz]|t[jq]"
    "|u[hjqvwyz]|v[bdfhjklnpqrtvwxyz]|w[fgjkpquvxyz]|x[gjknqruvwz]|y[hjkqx]|z[bcdfgjklmnpqrstuvwxyz]"
)
"""Pairs that words and names in code have at most one of in 40,000."""
_RARE: Final = later(_PAIRS)
_WORDS: Final = later(rf"[0-9=%]|hf_|api_org_|{_PAIRS}")


def has_rare_pair(text: str) -> bool:
    """Whether two letters stand beside each other as they do in no word."""
    return _RARE.search(text.lower()) is not None


def reads_as_words(run: str) -> bool:
    """Whether a run of small letters and signs is words, without a digit."""
    return run.islower() and _WORDS.search(run) is None


_ESCAPES: Final = {
    "=": r"%(?:25){0,3}3[dD]|\\+u003[dD]",
    "+": r"%(?:25){0,3}2[bB]|\\+u002[bB]",
    "/": r"%(?:25){0,3}2[fF]|\\+/|\\+u002[fF]",
    ":": r"%(?:25){0,3}3[aA]",
    "|": r"%(?:25){0,3}7[cC]",
    "@": r"%(?:25){0,3}40",
}
_TOKEN: Final = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?(?:<?[=!]|[a-z-]*:)|.", re.DOTALL)


def encoded(pattern: str) -> str:
    """The pattern, in which each mark of ``_ESCAPES`` may be escaped.

    In a URL, in JSON and in HTML the marks of base64 (``=``, ``+``, ``/``) stand as escapes
    (``%3D``, ``\\u003d``, ``\\/``) in the middle of a secret.
    """
    return "".join(_either(token) for token in _TOKEN.findall(pattern))


def _either(token: str) -> str:
    if token == "%":
        return "%(?:25){0,3}"
    if token[0] == "[" and token[1] != "^":
        marks = [mark for mark in _ESCAPES if mark in token]
    else:
        mark = token[1:] if token in (r"\|", r"\/", r"\+") else token if token in "=:@/" else ""
        marks = [mark] if mark else []
    if not marks:
        return token
    return f"(?:{token}|{'|'.join(_ESCAPES[mark] for mark in marks)})"
