"""Secrets that are not written as they are: in percent, in base64, over the end of a line."""

from __future__ import annotations

import base64
import codecs
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from typing import Final

from turnspan.redaction.found import Span
from turnspan.runtime.later import later

Find = Callable[[str], list[Span]]
_utf8 = codecs.utf_8_decode  # which lets the last character be cut in two

_NEEDLESS: Final = later(
    r"%(?:25){0,3}(?:2[dDeE]|3\d|[46][1-9a-fA-F]|[57][0-9aA]|5[1-9fF]|7[1-9eE])"
)
"""Of what no URL has to escape."""
_ESCAPE: Final = later(r"%(?:25){0,3}([2-7][0-9a-fA-F])")
_BASE64: Final = later(r"[A-Za-z0-9+/_-]{24,}")
_CONTROL: Final = later(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_URL_SAFE: Final = str.maketrans("-_", "+/")
_AFTER: Final = later(
    r"\\?(?:\r?\n|\\r\\n|\\n)[ \t]{0,40}(?:[>|][ \t]{0,4}){0,3}([\w+/=~.%-]+)", re.ASCII
)
_BEFORE: Final = later(r"[ \t>|]{0,48}(?:\n\r?|n\\(?:r\\)?)\\?([\w+/=~.%-]{1,64})", re.ASCII)
"""The same read backwards."""
_REST: Final = later(r"(?=.{8}).*(?:\d.*[a-z]|[a-z].*[A-Z\d])")
"""What of the next line may be the rest of a secret that is whole without it."""


def disguised(run: str, start: int, find: Find, spans: list[Span]) -> bool:
    """Whether a run at a place of its text has secrets in percent or base64; they are added."""
    known = len(spans)
    if "%" in run and _NEEDLESS.search(run) is not None:
        plain: list[str] = []
        places: list[int] = []
        at = 0
        for found in _ESCAPE.finditer(run):
            plain += run[at : found.start()], chr(int(found[1], 16))
            places += range(at, found.start() + 1)
            at = found.end()
        places += range(at, len(run) + 1)
        spans += [
            (start + places[begin], start + places[end], name, "")
            for begin, end, name, _ in find("".join((*plain, run[at:])))
        ]
    for found in _BASE64.finditer(run):
        coded, at = found.group().translate(_URL_SAFE), start + found.start()
        if not _is_text(_decoded(coded[:64])):
            continue
        spans += [
            (at + begin // 3 * 4, at + min(len(coded), -(-end // 3) * 4), name, "")
            for begin, end, name, _ in find(_decoded(coded).decode("latin-1"))
        ]
    return len(spans) > known


def _decoded(coded: str) -> bytes:
    coded = coded[: len(coded) - (len(coded) % 4 == 1)]
    return base64.b64decode(coded + "=" * (-len(coded) % 4))


def _is_text(beginning: bytes) -> bool:
    try:
        return _CONTROL.search(_utf8(beginning)[0]) is None
    except UnicodeDecodeError:
        return False


def wrapped(text: str, start: int, stop: int, find: Find, found: set[int], out: list[Span]) -> int:
    """Add the secrets that a run and those of the lines around make together, a span a line.

    ``found`` is where the secrets begin that are known. Returns how far was looked.
    """
    start += text.startswith("\\n", start - 1)
    before = _BEFORE.match(text[max(0, start - 120) : start][::-1])
    pieces = [(start - before.end(1), start - before.start(1))] if before is not None else []
    own = sum(end - begin for begin, end in pieces)
    pieces.append((start, stop))
    after = _AFTER.match(text, stop)
    while after is not None:
        begin, end = pieces[-1]
        pieces[-1] = (begin, end - (text[end - 1] == "="))  # a soft break
        pieces.append(after.span(1))
        after = _AFTER.match(text, after.end())
    if len(pieces) == 1:
        return stop
    joined, offsets = "".join(text[begin:end] for begin, end in pieces), [0]
    for begin, end in pieces:
        offsets.append(offsets[-1] + end - begin)
    # What begins further on are random letters of a file, line after line.
    secrets = [one for one in find(joined) if one[0] < offsets[2]]
    shaped = len(secrets)
    disguised(joined[own:], own, find, secrets)
    for number, (begin, end, name, _) in enumerate(secrets):
        first, last = bisect_right(offsets, begin) - 1, bisect_left(offsets, end) - 1
        if number < shaped and pieces[first][0] + begin - offsets[first] in found:
            tail = joined[offsets[first + 1] : end]
            if pieces[last][0] in found or _REST.match(tail) is None:
                continue
        for at in range(first, last + 1):
            left, shift = pieces[at], pieces[at][0] - offsets[at]
            out.append((max(left[0], begin + shift), min(left[1], end + shift), name, ""))
    return pieces[-1][1]
