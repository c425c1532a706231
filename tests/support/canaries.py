"""The canaries: secrets of well-known shapes, and one that only the application's hook knows."""

from __future__ import annotations

KNOWN_TO_HOOK = "VELVET-OTTER-7731"
RANDOM = "A1b2C3d4E5f6G7h8I9j0K1l2"

# Written in pieces, so that no scanner of this repository takes them for real ones.
SECRETS = (
    "sk-" + f"ant-api03-{RANDOM}-{RANDOM}AA",
    "ghp_" + f"{RANDOM}M3n4O5p6Q7r8",
    "xoxb-" + f"1234567890-1234567890-{RANDOM}",
    "postgres://app:" + "hunter2-swordfish@db.internal:5432/app",
    KNOWN_TO_HOOK,
)

NEEDLES = (RANDOM[2:16], "swordfish", "VELVET", "OTTER-7731")
"""Pieces of every canary: half a secret counts as a leak."""

PLAIN = "plainword"
"""Stands beside every canary and is no secret: what finds it would find the canaries."""

CONTENT = "bodyword"
"""Stands in content only: none of it may be found where content is not recorded."""


def said(place: str) -> str:
    """Content of a place."""
    return f"{metadata(place)} {CONTENT}"


def metadata(place: str) -> str:
    """A text of a place that is no content."""
    return f"{PLAIN} {place} " + " and ".join(SECRETS)


def hook(text: str, where: str) -> str:
    """What the application configures as ``redact``."""
    return text.replace(KNOWN_TO_HOOK, "<codename>")
