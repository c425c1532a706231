"""Requests that show each way through the pipeline, and what plays them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from openai import OpenAI

import turnspan
from wiki_agent.agent import Answer, WikiAgent
from wiki_agent.model import serve
from wiki_agent.pages import FolderWiki

EDITOR: Final = "editor"


@dataclass(frozen=True)
class Request:
    """What is asked, and with which budget if not the wiki's own."""

    text: str
    budget: int | None = None
    kept: bool = False
    """Whether the editor left the page as it was."""
    corrected: str = ""
    """What the editor made of it."""


REQUESTS: Final = (
    Request(
        "Write an article about the lighthouse and the tide at Cabo Norte.",
        corrected=(
            "Cabo Norte is the northern cape of the island, where two tides meet. The lighthouse "
            "on it warns ships of the Race of Ilse; Jorun Hale kept its lamp."
        ),
    ),
    Request("When was the lamp lit?"),
    Request("Repair the timeline of Jorun Hale and the Ada Vale.", kept=True),
    Request("Expand the stub about the Seal Rocks.", 700, kept=True),
    Request("Add the keeper's brother to Jorun Hale."),
    Request("Report what Port Ilse lacks."),
    Request("Write a source page for the Race of Ilse.", 60),
    Request("Who governs the island?"),
)
"""A context that loses something, two that are bypassed, a task of the wiki's own, a small budget,
and one that not even the instructions fit into."""


def _edit(request: Request, made: Answer) -> None:
    """What an editor does with a page later: leaves it, or writes it anew."""
    if request.kept:
        turnspan.annotate(made.page, kind="artifact", outcome="used", author=EDITOR)
    if request.corrected:
        turnspan.annotate(made.page, kind="artifact", outcome="modified", author=EDITOR)
        better = turnspan.artifact(made.target, request.corrected, kind="correction")
        turnspan.prefer(better, made.page, kind="artifact", author=EDITOR)


def play(stamp: str, done: Callable[[Answer], None] | None = None) -> list[str]:
    """Answer all of them, each in a session of its own; returns the sessions' ids."""
    wiki = FolderWiki()
    sessions: list[str] = []
    with serve(wiki) as server, OpenAI(base_url=server.url, api_key="any") as client:
        for number, request in enumerate(REQUESTS, 1):
            session = f"wiki-{number}-{stamp}"
            with turnspan.session(session):
                made = WikiAgent(wiki, client, budget=request.budget).answer(request.text)
            _edit(request, made)
            sessions.append(session)
            if done is not None:
                done(made)
    return sessions
