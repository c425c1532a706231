"""A model that needs no network: it classifies by words, and answers from what it is given."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from turnspan.testing import ModelRequest, ModelServer, Reply, Usage
from wiki_agent.candidates import tokens
from wiki_agent.pages import Wiki
from wiki_agent.plan import titles_in

_TASKS: Final = (
    ("timeline", "timeline_repair"),
    ("stub", "stub_expansion"),
    ("red link", "red_link_generation"),
    ("article", "create_encyclopedia_article"),
    ("source", "create_source"),
    ("report", "maintenance_report"),
    ("every page", "batch_operation"),
    ("edit", "edit_page"),
    ("change", "edit_page"),
    ("add", "edit_page"),
)


def serve(wiki: Wiki) -> ModelServer:
    """A model server that knows this wiki's titles, and nothing else of it."""

    def answer(request: ModelRequest) -> Reply:
        system, asked = (_text(message) for message in request.messages[:2])
        if system.startswith("Classify"):
            said = json.dumps({"task": _task(asked, system), "entities": titles_in(wiki, asked)})
        else:
            said = _written(system)
        return Reply(said, usage=Usage(tokens(system + asked), tokens(said)))

    return ModelServer(answer)


def _text(message: Any) -> str:
    return str(message.get("content") or "")


def _task(asked: str, system: str) -> str:
    text = asked.lower()
    found = next((task for word, task in _TASKS if word in text), "query")
    return found if found in system else "unknown"


def _written(system: str) -> str:
    """The first sentence of each page that it was given, but for instructions."""
    _, _, rest = system.partition("[ENCYCLOPEDIA]")
    pages = re.findall(r"^--- (.+?) ---\n(.+?)(?:\.\s|\.$|$)", rest, re.MULTILINE)
    if not pages:
        return "I was given no page about that."
    return " ".join(f"{sentence} ({title})." for title, sentence in pages[:4])
