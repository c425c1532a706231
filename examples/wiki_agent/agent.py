"""The agent: it puts a context together step by step, and asks the model with it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from openai import OpenAI

import turnspan
from wiki_agent import gather
from wiki_agent.candidates import (
    Candidate,
    Trimmed,
    deduplicate,
    rank,
    serialise,
    tokens,
    trim,
)
from wiki_agent.pages import INSTRUCTIONS, Wiki
from wiki_agent.plan import Plan, is_obviously_query, plan
from wiki_agent.settings import Settings, load

MODEL: Final = "gpt-4o"
READING: Final = ("query", "maintenance_report", "unknown")
"""Tasks whose answer is no page."""
BYPASSED: Final = "You answer questions about the wiki. Say so if you do not know."


@dataclass(frozen=True)
class Answer:
    """What the model wrote, and what it was given to read."""

    text: str
    context: dict[str, Any]
    over_budget: bool = False
    """The instructions alone were more than the budget allows."""
    target: str = ""
    """The page that it is about."""
    page: str = ""
    """The id of the page that it wrote; empty where it was asked for none."""


class WikiAgent:
    """Works on a wiki with a model that speaks OpenAI's chat completions."""

    def __init__(self, wiki: Wiki, client: OpenAI, *, budget: int | None = None) -> None:
        self._wiki = wiki
        self._client = client
        self._budget = budget

    def answer(self, request: str) -> Answer:
        """Do what is asked."""
        with turnspan.agent("wiki-agent") as turn:
            turn.set(user_message=request)
            prompt, made, over = self._assemble(request)
            text = self._ask(prompt, request)
            turn.set(task_type=made["task"], response_text=text)
            target = next(iter(made["entities"]), "")
            turn.set(target=target)
            page = ""
            if made["task"] not in READING:
                page = turnspan.artifact(target, text, kind="page")
        return Answer(text, made, over, target, page)

    def _ask(self, prompt: str, request: str) -> str:
        reply = self._client.chat.completions.create(
            model=MODEL,
            messages=[
                {"role": "system", "content": prompt},
                {"role": "user", "content": request},
            ],
        )
        return reply.choices[0].message.content or ""

    def _assemble(self, request: str) -> tuple[str, dict[str, Any], bool]:
        """The prompt, the facts about it, and whether it is over the budget."""
        with turnspan.context_assembly() as context:
            with context.step("load_config"):
                settings = load(self._wiki)
                budget = settings.budget if self._budget is None else self._budget
                context.set(budget=budget)
            with context.step("pre_check"):
                bypassed = is_obviously_query(request)
            if bypassed:
                context.set(task="query")
                context.bypass("obviously a query")
                return BYPASSED, context.meta(), False
            with context.step("plan"):
                planned = plan(self._client, self._wiki, settings, request)
                context.set(task=planned.task, entities=planned.entities)
            found = self._gather(context, settings, planned, request)
            trimmed = _choose(context, found, planned, request, budget)
            with context.step("serialise"):
                prompt = serialise(trimmed.kept)
                context.assembled(prompt, tokens=tokens(prompt))
            return prompt, context.meta(), trimmed.over_budget

    def _gather(
        self, context: turnspan.ContextAssembly, settings: Settings, planned: Plan, request: str
    ) -> list[Candidate]:
        wiki, entities = self._wiki, planned.entities
        found: list[Candidate] = []
        with context.step("load_instructions"):
            first = gather.first_instructions(wiki, settings, planned.task)
        with context.step("resolve_requires"):
            pages = gather.required(
                first, lambda title: wiki.page(INSTRUCTIONS, title), settings.max_depth
            )
            found += _consider(context, gather.instructions(pages))
        with context.step("fetch_pages"):
            about = gather.entity_pages(wiki, entities)
            found += _consider(context, gather.encyclopedia(about, 0))
        with context.step("expand_links"):
            linked = gather.linked_pages(wiki, about, entities, settings.links)
            found += _consider(context, gather.encyclopedia(linked, 1))
        with context.step("search_sources"):
            found += _consider(context, gather.sources(wiki, entities))
        with context.step("talk_sections"):
            found += _consider(context, gather.talk(wiki, about, settings.talk_sections))
        with context.step("external_lookup"):
            found += _consider(context, gather.external(wiki, request, entities))
        return found


def _consider(context: turnspan.ContextAssembly, found: Iterable[Candidate]) -> Sequence[Candidate]:
    told = list(found)
    for one in told:
        context.consider(
            one.id,
            text=one.text,
            section=one.section,
            source=one.source,
            tokens=one.tokens,
            hop=one.hop,
            requires_depth=one.depth,
        )
    return told


def _choose(
    context: turnspan.ContextAssembly,
    found: Sequence[Candidate],
    planned: Plan,
    request: str,
    budget: int,
) -> Trimmed:
    """Each once, the best of them, as much as fits."""
    with context.step("deduplicate"):
        unique, twice = deduplicate(found)
        for one in twice:
            context.drop(one.id, reason="duplicate")
    with context.step("rank"):
        ranked = rank(unique, request, planned.entities)
    with context.step("trim"):
        trimmed = trim(ranked, budget)
        for one in trimmed.kept:
            context.keep(one.id, score=one.score)
        for one in trimmed.dropped:
            context.consider(one.id, score=one.score)
            context.drop(one.id, reason="budget")
    return trimmed
