"""Letters that no word has beside each other: what tells random letters from words."""

from __future__ import annotations

from typing import Final

from turnspan.runtime.later import later

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
