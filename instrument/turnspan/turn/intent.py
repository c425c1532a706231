"""``turn_intent`` by keywords: what the user wants of a turn, where the application does not say.

The first rule that holds gives the intent. Keywords are whole words with their usual
endings: "ship it" and "shipping" are a deploy, "membership" and "shipment" are not.
"""

from __future__ import annotations

import re
from typing import Final

FEATURE_LENGTH: Final = 50
"""A building request longer than this many characters is a feature, a shorter one a small fix."""

SHORT: Final = 20
"""A text shorter than this many characters without any keyword is conversation."""


def _words(*patterns: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{'|'.join(patterns)})(?!\w)")


_FEATURE: Final = "feature_build"
_RULES: Final = {
    "autonomous": _words(
        r"go ahead",
        r"go for it",
        r"do it",
        r"just do it",
        r"proceed",
        r"carry on",
        r"keep going",
        r"continue",
        r"make it so",
        r"you decide",
        r"your call",
        r"do what you think(?: is best)?",
        r"work autonomously",
        r"don'?t ask(?: me)?",
    ),
    "deploy": _words(
        r"deploy(?:s|ed|ing|ments?)?",
        r"ship(?:s|ped|ping)?",
        r"releas(?:e|es|ed|ing)",
        r"publish(?:es|ed|ing)?",
    ),
    _FEATURE: _words(
        r"buil(?:d|ds|ding|t)",
        r"creat(?:e|es|ed|ing)",
        r"add(?:s|ed|ing)?",
        r"implement(?:s|ed|ing)?",
        r"integrat(?:e|es|ed|ing)",
    ),
    "diagnose": _words(
        r"why",
        r"broken",
        r"errors?",
        r"fail(?:s|ed|ing|ures?)?",
        r"bugs?",
        r"buggy",
        r"fix(?:es|ed|ing)?",
        r"time[ -]?outs?",
        r"tim(?:ed|es|ing) out",
        r"5\d\d",
        r"5xx",
    ),
    "status_check": _words(
        r"status(?:es)?", r"logs?", r"show(?:s|ed|ing|n)?", r"check(?:s|ed|ing)?"
    ),
}
"""What is meant, and the keywords that say so, in the order of the rules."""
_SMALL_TALK: Final = re.compile(
    r"(?:hi|hello|hey|good (?:morning|afternoon|evening)|thanks|thank you|thx|yes|yeah|yep|no|nope)"
    r"(?!\w)"
)


def classify_intent(text: str) -> str:
    """The intent of a user's message: ``autonomous``, ``deploy``, ``feature_build``, ``small_fix``,
    ``diagnose``, ``status_check`` or ``conversational``."""
    text = text.strip().lower().replace("\u2019", "'")
    for intent, words in _RULES.items():
        if words.search(text):
            small = intent == _FEATURE and len(text) <= FEATURE_LENGTH
            return "small_fix" if small else intent
    if len(text) < SHORT or _SMALL_TALK.match(text):
        return "conversational"
    return _FEATURE
