"""Whether two contents are the same but for what varies from run to run.

What varies: times, dates, durations, UUIDs, ids and addresses in hex, names of temporary files, and
the frames of Python's tracebacks: a rerun raises a tool's exception at a place of its own.
Redacted parts of a record stand for anything, and a cut text for all that begin so.
"""

from __future__ import annotations

import re
from typing import Any, Final

from turnspan.content.model import as_dict, as_list

_MONTH: Final = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.?"
_CLOCK: Final = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:\s?[APap]\.?[Mm]\b\.?)?"
_ZONE: Final = r"(?:\s?(?:Z\b|UTC|GMT|[+-]\d{2}:?\d{2}\b))?"
_VARYING: Final = re.compile(
    rf"\b\d{{4}}-\d{{2}}-\d{{2}}(?:[T ]{_CLOCK})?{_ZONE}"
    rf"|\b(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,?\s)?(?:\d{{1,2}}\s{_MONTH}|{_MONTH}\s\d{{1,2}}),?"
    rf"(?:\s{_CLOCK}{_ZONE})?(?:\s\d{{4}}\b)?(?:\s{_CLOCK}{_ZONE})?"
    rf"|\b\d{{1,2}}/\d{{1,2}}/\d{{4}}\b|\b{_CLOCK}{_ZONE}"
    r"|\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b"
    r"|\b0x[0-9a-fA-F]{4,16}\b"
    r"|\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{8,64}\b"
    r"|\b1[5-9]\d{8}(?:\d{3}|\d{6}|\d{9}|\.\d+)?\b"
    r"|\b\d+(?:\.\d+)?\s?(?:ns|µs|us|ms|s|sec|secs|seconds?|minutes?)\b"
    r"|\btmp[0-9a-z_]{6,10}\b"
    r"|(?<=Traceback \(most recent call last\):\n)(?:[ \t]+\S.*\n)+"
)
_REDACTED: Final = re.compile(r"\[REDACTED(?::[^\]]*)?\]")


def masked(text: str) -> str:
    """The text with a mark in the place of all that varies."""
    return _VARYING.sub("\0", text)


def is_alike(recorded: Any, now: Any, *, cut: bool = False) -> bool:
    """Whether a value of now is the recorded one but for what varies.

    Args:
        recorded: JSON; redacted parts of its texts stand for anything.
        now: JSON. A key without a value counts as one that is absent.
        cut: whether texts of ``recorded`` may be only beginnings.
    """
    if isinstance(recorded, str) and isinstance(now, str):
        return recorded == now or _is_alike_text(recorded, now, cut)
    old, new = as_dict(recorded), as_dict(now)
    if old is not None and new is not None:
        keys = {key for one in (old, new) for key, value in one.items() if value is not None}
        return all(is_alike(old.get(key), new.get(key), cut=cut) for key in keys)
    before, after = as_list(recorded), as_list(now)
    if before is not None and after is not None:
        return len(before) == len(after) and all(
            is_alike(one, other, cut=cut) for one, other in zip(before, after, strict=True)
        )
    return type(recorded) is type(now) and bool(recorded == now)


def _is_alike_text(recorded: str, now: str, cut: bool) -> bool:
    old, new = masked(recorded), masked(now)
    if old == new:
        return True
    pieces = _REDACTED.split(old)
    if len(pieces) == 1:
        # What varies may itself be cut, so its beginning is compared without it.
        return cut and (new.startswith(old) or now.startswith(recorded))
    at = 0
    for piece in pieces[:-1]:
        found = new.find(piece, at)
        if found < 0 or (at == 0 and found and piece is pieces[0]):
            return False
        at = found + len(piece)
    last = pieces[-1]
    return new.find(last, at) >= 0 if cut else new[at:].endswith(last)
