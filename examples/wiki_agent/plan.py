"""What is to be done: a look that costs nothing, then a cheap model that classifies the request."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Final, cast

from openai import OpenAI

from wiki_agent.pages import ENCYCLOPEDIA, Wiki
from wiki_agent.settings import UNKNOWN, Settings

MODEL: Final = "gpt-4.1-mini"
PROMPT: Final = (
    "Classify the request. Answer with JSON alone: "
    '{{"task": one of {tasks}, "entities": the titles of the pages it is about}}.'
)
_ASKING: Final = re.compile(
    r"(who|what|when|where|which|how (many|much|old|high)|is|are|was|were|does|did|list)\b"
)
_DOING: Final = re.compile(
    r"\b(write|create|edit|change|rewrite|expand|add|repair|fix|report|generate|merge|rename)\b"
)
_LONGEST_QUERY: Final = 80


@dataclass(frozen=True)
class Plan:
    """The kind of task, and the pages that it is about."""

    task: str
    entities: list[str]


def is_obviously_query(request: str) -> bool:
    """Whether a request is so plainly a question that nothing has to be put together for it."""
    text = request.strip().lower()
    plain = len(text) <= _LONGEST_QUERY and _ASKING.match(text) is not None
    return plain and text.endswith("?") and _DOING.search(text) is None


def plan(client: OpenAI, wiki: Wiki, settings: Settings, request: str) -> Plan:
    """Ask the model; what it answers that is no plan is none: the task is then unknown."""
    reply = client.chat.completions.create(
        model=MODEL,
        messages=[
            {"role": "system", "content": PROMPT.format(tasks=", ".join(settings.tasks))},
            {"role": "user", "content": request},
        ],
    )
    return read(reply.choices[0].message.content or "", wiki, settings, request)


def read(answer: str, wiki: Wiki, settings: Settings, request: str) -> Plan:
    """The plan in a model's answer. Entities that it does not name are those of the wiki's titles
    that the request has in it."""
    try:
        found: Any = json.loads(answer)
    except ValueError:
        found = None
    said = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
    task = said.get("task")
    given = cast("list[Any]", said.get("entities"))
    named = [str(one) for one in given] if isinstance(said.get("entities"), list) else []
    return Plan(
        task if isinstance(task, str) and task in settings.tasks else UNKNOWN,
        named or titles_in(wiki, request),
    )


def titles_in(wiki: Wiki, request: str) -> list[str]:
    """The titles of pages that stand in a request, the longest first."""
    text = request.casefold()
    found = [p.title for p in wiki.pages(ENCYCLOPEDIA) if _bare(p.title).casefold() in text]
    return sorted(found, key=lambda title: (-len(title), title))


def _bare(title: str) -> str:
    return re.sub(r" \([^)]*\)$", "", title)
