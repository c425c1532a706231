"""What a request says that is new, read for whether the user speaks."""

from __future__ import annotations

from collections.abc import Sequence

from turnspan_clickhouse.normalise.history_keys import ERROR, HistoryMessage, is_reminder, observed


def observe(news: Sequence[HistoryMessage], waiting: bool) -> None:
    """Take apart what a framework that tells of tools in texts writes as the user's; ``waiting``
    is whether a tool was asked for."""
    for said in news:
        if said.by_user and said.text:
            brought, words = observed(said.text, waiting)
            if brought:
                said.text, said.by_user = words, bool(words)
                if waiting:
                    result = {"type": "tool_call_response", "response": brought}
                    said.results = [{**result, "is_error": brought.startswith(ERROR)}]


def speaks(said: HistoryMessage) -> bool:
    """Whether the user speaks in a message that follows a reply which asked for tools."""
    if not said.by_user:
        return False
    brought, words = observed(said.text, True)
    return not brought or bool(words)


def asks_anew(news: Sequence[HistoryMessage]) -> bool:
    """Whether the user speaks in what is new.

    Text beside or right after tool results that is wholly in a tag is the application's reminder.
    """
    after_results = False
    for said in news:
        if said.results:
            after_results = True
        if said.by_user and not (after_results and is_reminder(said.text)):
            return True
    return False


def asked_in(news: Sequence[HistoryMessage]) -> str:
    """What the user said last in what is new; empty where that is nothing."""
    for said in reversed(news):
        if said.by_user and said.text:
            return said.text
    return ""
