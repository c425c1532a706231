"""Patterns of secrets that are found in escaped texts as well.

In a URL, in JSON and in HTML the marks of base64 (``=``, ``+``, ``/``) stand as escapes
(``%3D``, ``\\u003d``, ``\\/``) in the middle of a secret.
"""

from __future__ import annotations

import re
from typing import Final

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
    """The pattern, in which each mark of ``_ESCAPES`` may be escaped."""
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
