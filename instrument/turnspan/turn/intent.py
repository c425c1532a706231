"""``turn_intent`` by keywords: what the user wants of a turn, where the application does not say.

The first rule that holds gives the intent. Keywords are whole words with their usual
endings: "ship it" and "shipping" are a deploy, "membership" and "shipment" are not.
"""

from __future__ import annotations

import re
from typing import Final

CONVERSATIONAL: Final = "conversational"
STATUS_CHECK: Final = "status_check"
DIAGNOSE: Final = "diagnose"
SMALL_FIX: Final = "small_fix"
FEATURE_BUILD: Final = "feature_build"
DEPLOY: Final = "deploy"
AUTONOMOUS: Final = "autonomous"

INTENTS: Final = (
    CONVERSATIONAL,
    STATUS_CHECK,
    DIAGNOSE,
    SMALL_FIX,
    FEATURE_BUILD,
    DEPLOY,
    AUTONOMOUS,
)

FEATURE_LENGTH: Final = 50
"""A building request longer than this many characters is a feature, a shorter one a small fix."""

SHORT: Final = 20
"""A text shorter than this many characters without any keyword is conversation."""


def _words(*patterns: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{'|'.join(patterns)})(?!\w)")


_GO_AHEAD: Final = _words(
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
)
_DEPLOY: Final = _words(
    r"deploy(?:s|ed|ing|ments?)?",
    r"ship(?:s|ped|ping)?",
    r"releas(?:e|es|ed|ing)",
    r"publish(?:es|ed|ing)?",
)
_BUILD: Final = _words(
    r"buil(?:d|ds|ding|t)",
    r"creat(?:e|es|ed|ing)",
    r"add(?:s|ed|ing)?",
    r"implement(?:s|ed|ing)?",
    r"integrat(?:e|es|ed|ing)",
)
_DIAGNOSE: Final = _words(
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
)
_STATUS: Final = _words(r"status(?:es)?", r"logs?", r"show(?:s|ed|ing|n)?", r"check(?:s|ed|ing)?")
_SMALL_TALK: Final = re.compile(
    r"(?:hi|hello|hey|good (?:morning|afternoon|evening)|thanks|thank you|thx|yes|yeah|yep|no|nope)"
    r"(?!\w)"
)


def classify_intent(text: str) -> str:
    """The intent of a user's message, one of ``INTENTS``."""
    text = text.strip().lower().replace("\u2019", "'")
    if _GO_AHEAD.search(text):
        return AUTONOMOUS
    if _DEPLOY.search(text):
        return DEPLOY
    if _BUILD.search(text):
        return FEATURE_BUILD if len(text) > FEATURE_LENGTH else SMALL_FIX
    if _DIAGNOSE.search(text):
        return DIAGNOSE
    if _STATUS.search(text):
        return STATUS_CHECK
    if len(text) < SHORT or _SMALL_TALK.match(text):
        return CONVERSATIONAL
    return FEATURE_BUILD
