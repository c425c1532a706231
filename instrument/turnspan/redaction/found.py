"""What the searches for secrets share: what they find, and what is none."""

from __future__ import annotations

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
