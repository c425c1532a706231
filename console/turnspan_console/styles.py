"""The colours of the product: one meaning, one style."""

from __future__ import annotations

from collections.abc import Callable, Mapping

HEADING = "bold bright_black"
TITLE = "bold"
FAINT = "bright_black"
GOOD = "green"
WARN = "yellow"
BAD = "red"
BUSY = "cyan"
ID = "bright_black"
USER = "bold cyan"
ASSISTANT = "bold green"
SYSTEM = "bold bright_black"
TOOL = "magenta"
AGENT = "bold blue"

_ENDED_WELL = frozenset({"completed"})
_ENDED_BADLY = frozenset({"error", "tool_failure", "interrupted", "content_filter", "refusal"})


def stop_reason(reason: str) -> str:
    """The style of a stop reason."""
    if reason in _ENDED_WELL:
        return GOOD
    if reason == "running":
        return BUSY
    if reason in _ENDED_BADLY or reason.startswith("loop_detected"):
        return BAD
    return WARN if reason else ""


def _bad_if_any(text: str) -> str:
    return BAD if text not in ("", "0", "-") else FAINT


def _faint(_text: str) -> str:
    return FAINT


BY_COLUMN: Mapping[str, Callable[[str], str]] = {
    **dict.fromkeys(("stop_reason", "last_stop", "status"), stop_reason),
    **dict.fromkeys(("failures", "errors", "failed"), _bad_if_any),
    "error": lambda text: BAD if text else "",
    "usual_error": lambda text: BAD if text else "",
    **dict.fromkeys(("session", "turn", "span", "last_span"), _faint),
    **dict.fromkeys(("time", "last_time", "first_time"), _faint),
}
