"""What was recorded, made fit to be seen: it neither steers a terminal nor hides from its reader.

Everything that the command prints goes through here (``output.py``); JSON keeps every character, as
an escape, and ``--raw`` keeps csv as it is.
"""

from __future__ import annotations

import re

_JOINED = r"\u0600-\u1cff\ua800-\uabff\u2190-\u2bff\ufe0f\U0001f000-\U0001faff"
"""Scripts and pictures that are written with joiners."""
_STEERS = r"\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff"
_HIDES = (
    r"\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    r"\u3164\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff"
)
UNFIT = re.compile(
    rf"[{_STEERS}{_HIDES}]"
    rf"|(?<![{_JOINED}])[\u200c\u200d]|[\u200c\u200d](?![{_JOINED}])"
    r"|(?<=[\ufe00-\ufe0f])[\ufe00-\ufe0f]"
)
"""Control characters, halves of pairs, what changes the direction of text, and what is not seen."""
_SUSPECT = re.compile(rf"[{_STEERS}{_HIDES}\u200c\u200d\ufe00-\ufe0f]")
_ASCII_CONTROL = bytes(code for code in (*range(0x20), 0x7F) if code not in b"\t\n")
_CONTROL = re.compile(rf"[{_STEERS}]")
_FORMULA = re.compile(r"[\s\ufffd]*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r]")
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|inf)", re.ASCII | re.IGNORECASE)


def visible(text: str) -> str:
    """The text with a mark for every character that is unfit: ``\N{REPLACEMENT CHARACTER}`` for
    control characters, ``<U+202E>`` for what is not seen. Line breaks and tabs stay."""
    return text if _fit(text) else UNFIT.sub(mark, text.replace("\r\n", "\n"))


def mark(found: re.Match[str]) -> str:
    """What stands for an unfit character."""
    character = found[0]
    if _CONTROL.match(character):
        return "\N{REPLACEMENT CHARACTER}"
    return f"<U+{ord(character):04X}>"


def json_text(text: str) -> str:
    """Dumped JSON with an escape for every unfit character, so that it reads back the same."""
    return text if _fit(text) else UNFIT.sub(_json_escape, text)


def cell(text: str) -> str:
    """A text for a cell of csv that no spreadsheet takes for a formula, and that is visible."""
    text = visible(text)
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def _fit(text: str) -> bool:
    """Whether nothing in it can be unfit: the quick way for almost every text."""
    if text.isascii():
        raw = text.encode()
        return len(raw) == len(raw.translate(None, _ASCII_CONTROL))
    return _SUSPECT.search(text) is None


def _json_escape(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
