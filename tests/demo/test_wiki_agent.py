"""The wiki agent's pipeline: properties over random wikis, and each step over its own."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator

import pytest
from openai import OpenAI

import turnspan
from support.shared import REPOSITORY
from turnspan.testing import ModelServer, record
from turnspan_clickhouse.rows.tables import NO_HASH, ContextAssemblyRow, ContextItemRow, LlmCall
from turnspan_clickhouse.store.dsn import Dsn
from wiki_agent import gather
from wiki_agent.agent import Answer, WikiAgent
from wiki_agent.candidates import (
    DROP_ORDER,
    INSTRUCTIONS,
    ORDER,
    Candidate,
    deduplicate,
    rank,
    serialise,
    tokens,
    trim,
)
from wiki_agent.demonstration import REQUESTS
from wiki_agent.model import serve
from wiki_agent.pages import FolderWiki, MemoryWiki, Page
from wiki_agent.plan import is_obviously_query, read
from wiki_agent.settings import PAGE, TASKS, Settings, load

pytestmark = pytest.mark.with_schema

SEEDS = range(100)
WORDS = ("cape", "lamp", "keeper", "tide", "ship", "harbour", "board", "stone", "oil", "rain")


def candidates(chance: random.Random) -> list[Candidate]:
    """A random collection: long and short, of all sections, with equal texts and ids among them."""
    made: list[Candidate] = []
    for number in range(chance.randrange(25)):
        text = " ".join(chance.choices(WORDS, k=chance.randrange(1, 60)))
        again = made and chance.random() < 0.2
        made.append(
            Candidate(
                id=chance.choice(made).id if again and chance.random() < 0.5 else f"p{number}",
                section=chance.choice(ORDER),
                title=f"Page {number}",
                text=chance.choice(made).text.upper() if again else text,
                hop=chance.choice((None, 0, 1)),
            )
        )
    return made


@pytest.mark.parametrize("seed", SEEDS)
def test_what_comes_out_is_in_order_once_and_within_the_budget(seed: int) -> None:
    """Whatever goes in: the sections' order, nothing twice, nothing lost without a word, and a
    budget that is exceeded by nothing but the instructions, which are all there."""
    chance = random.Random(seed)
    found, budget = candidates(chance), chance.randrange(0, 600)
    unique, twice = deduplicate(found)
    trimmed = trim(rank(unique, "lamp keeper", ["Cape"]), budget)
    text = serialise(trimmed.kept)

    sections = [ORDER.index(one.section) for one in trimmed.kept]
    assert sections == sorted(sections)
    headers = [text.find(f"[{section.upper()}]") for section in ORDER]
    there = [at for at in headers if at >= 0]
    assert there == sorted(there)
    for section in ORDER:
        assert text.count(f"[{section.upper()}]") == any(
            one.section == section for one in trimmed.kept
        )

    assert len({one.id for one in unique}) == len(unique)
    assert len({one.text.casefold() for one in unique}) == len(unique)
    assert len(unique) + len(twice) == len(found)
    kept, dropped = {one.id for one in trimmed.kept}, {one.id for one in trimmed.dropped}
    assert not kept & dropped and kept | dropped == {one.id for one in unique}

    rules = [one.id for one in unique if one.section == INSTRUCTIONS]
    assert [one.id for one in trimmed.kept if one.section == INSTRUCTIONS] == rules
    assert trimmed.over_budget == (tokens(text) > budget)
    if trimmed.over_budget:
        assert {one.section for one in trimmed.kept} <= {INSTRUCTIONS}


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_dropped_is_dropped_in_the_stated_order(seed: int) -> None:
    """A section loses something only when those before it in the order have nothing left; in a
    section the worst goes first, and nothing goes that need not."""
    chance = random.Random(seed)
    unique, _ = deduplicate(candidates(chance))
    budget = chance.randrange(0, 600)
    trimmed = trim(rank(unique, "lamp keeper", []), budget)
    gone = [DROP_ORDER.index(one.section) for one in trimmed.dropped]
    assert gone == sorted(gone)
    for place, section in enumerate(DROP_ORDER):
        left = [one for one in trimmed.kept if one.section == section]
        lost = [one for one in trimmed.dropped if one.section == section]
        if any(one > place for one in gone):
            assert not left
        if left and lost:
            assert min(one.score for one in left) >= max(one.score for one in lost)
    if trimmed.dropped:
        last = trimmed.dropped[-1]
        assert tokens(serialise([*trimmed.kept, last])) > budget


def walks(
    first: list[str], edges: dict[str, list[str]], full: set[str], most: int
) -> dict[str, int]:
    """The least requirements to each page, by walking every way there is."""
    least: dict[str, int] = {}
    here = {(title, title in full) for title in first if title in edges}
    for depth in range(2 * len(edges) + 1):
        for title, _ in here:
            least.setdefault(title, depth)
        here = {
            (target, unlimited or target in full)
            for title, unlimited in here
            if unlimited or depth < most
            for target in edges[title]
            if target in edges
        }
    return least


@pytest.mark.parametrize("seed", SEEDS)
def test_the_depth_of_requirements_is_right_with_cycles(seed: int) -> None:
    """Each page once, at its least depth, breadth first, never further than the limit but below a
    page that is to be resolved in full; pages that do not exist are passed over."""
    chance = random.Random(seed)
    titles = [f"p{number}" for number in range(chance.randrange(1, 9))]
    edges = {title: chance.choices([*titles, "gone"], k=chance.randrange(0, 4)) for title in titles}
    full = {title for title in titles if chance.random() < 0.15}
    pages = {
        title: Page(
            "Instructions",
            title,
            f"{{{{requires|{'|'.join(targets)}}}}}\n"
            + ("{{fully_resolve}}\n" if title in full else "")
            + "Text.",
        )
        for title, targets in edges.items()
    }
    first = chance.sample(titles, k=min(2, len(titles)))
    most = chance.randrange(0, 4)
    found = gather.required([pages[title] for title in first], pages.get, most)
    assert {page.title: depth for page, depth in found} == walks(first, edges, full, most)
    assert len({page.title for page, _ in found}) == len(found)
    depths = [depth for _, depth in found]
    assert depths == sorted(depths)
    assert [page.title for page, _ in found][: len(first)] == first


@pytest.fixture(scope="module")
def wiki() -> FolderWiki:
    """The example's own."""
    return FolderWiki()


@pytest.fixture
def model(wiki: FolderWiki) -> Iterator[ModelServer]:
    """The example's model."""
    with serve(wiki) as server:
        yield server


@pytest.fixture
def client(model: ModelServer) -> Iterator[OpenAI]:
    """A client of it."""
    with OpenAI(base_url=model.url, api_key="any", max_retries=0) as made:
        yield made


def test_the_configuration_page_is_read_first_and_adds_tasks(wiki: FolderWiki) -> None:
    """Limits, sections and tasks are the wiki's; what is no number is as by default."""
    settings = load(wiki)
    assert (settings.budget, settings.max_depth, settings.links) == (700, 2, 4)
    assert settings.tasks == (*TASKS, "timeline_repair")
    odd = Page("Project", PAGE, "== Limits ==\n* budget: much\n* max_depth: 1\n")
    assert load(MemoryWiki.of([odd])) == Settings(max_depth=1)
    assert load(MemoryWiki()) == Settings()


@pytest.mark.parametrize(
    ("request_", "plain"),
    [
        ("When was the lamp lit?", True),
        ("  list the ships? ", True),
        ("Which pages should I edit?", False),
        ("Write an article about the lighthouse.", False),
        ("When was the lamp lit", False),
        ("Who " + "really " * 20 + "lit it?", False),
        ("", False),
    ],
)
def test_what_is_obviously_a_query(request_: str, plain: bool) -> None:
    """A short question without a word for work."""
    assert is_obviously_query(request_) is plain


def test_a_model_that_does_not_plan_costs_the_plan_only(wiki: FolderWiki) -> None:
    """Its task is unknown, and the titles in the request stand in for its entities."""
    settings = load(wiki)
    for answer in ("", "Sure!", "[1]", '{"task": "fly", "entities": "all"}', "null"):
        plan = read(answer, wiki, settings, "Look at the Race of Ilse near Cabo Norte")
        assert (plan.task, plan.entities) == ("unknown", ["Race of Ilse", "Cabo Norte"])


def test_requirements_go_deeper_where_a_page_says_so(wiki: FolderWiki) -> None:
    """Two deep for an article; for the timeline to the end, through a cycle, each page once."""
    settings = load(wiki)

    def depths(task: str) -> dict[str, int]:
        first = gather.first_instructions(wiki, settings, task)
        found = gather.required(first, lambda one: wiki.page("Instructions", one), 2)
        return {page.title: depth for page, depth in found}

    assert depths("create_encyclopedia_article") == {
        "World bible": 0,
        "Writing an article": 0,
        "Tone": 1,
        "Citations": 1,
        "Layout": 1,
        "Dates": 2,
    }
    assert depths("timeline_repair") == {
        "World bible": 0,
        "Repairing the timeline": 0,
        "Tone": 1,
        "Dates": 1,
        "Citations": 2,
        "Calendar": 2,
    }


def test_linked_pages_are_those_that_occur_most_together(wiki: FolderWiki) -> None:
    """What both pages link to, or what names them, comes before the rest."""
    about = gather.entity_pages(wiki, ["cabo norte", "Jorun Hale", "Atlantis"])
    assert [page.title for page in about] == ["Cabo Norte", "Jorun Hale"]
    linked = gather.linked_pages(wiki, about, ["Cabo Norte", "Jorun Hale"], 3)
    assert [page.title for page in linked] == [
        "Cabo Norte lighthouse",
        "Ada Vale (ship)",
        "Race of Ilse",
    ]


def test_only_the_named_sections_of_talk_pages_are_read(wiki: FolderWiki) -> None:
    """Not the chat."""
    about = gather.entity_pages(wiki, ["Cabo Norte", "Jorun Hale"])
    found = [one.id for one in gather.talk(wiki, about, load(wiki).talk_sections)]
    assert found == [
        "Talk:Cabo Norte#Editorial notes",
        "Talk:Cabo Norte#Continuity",
        "Talk:Cabo Norte#Open questions",
        "Talk:Jorun Hale#Continuity",
    ]


def answered(client: OpenAI, wiki: FolderWiki, request: str, budget: int | None = None) -> Answer:
    return WikiAgent(wiki, client, budget=budget).answer(request)


def test_a_whole_turn_is_recorded(client: OpenAI, wiki: FolderWiki) -> None:
    """Every step, what was kept and dropped, and the call that used it; the planner did not."""
    with record() as recorded:
        answer = answered(client, wiki, REQUESTS[0].text)
    (assembly,) = recorded.rows(ContextAssemblyRow)
    assert assembly.step_names == [
        "load_config",
        "pre_check",
        "plan",
        "load_instructions",
        "resolve_requires",
        "fetch_pages",
        "expand_links",
        "search_sources",
        "talk_sections",
        "external_lookup",
        "deduplicate",
        "rank",
        "trim",
        "serialise",
    ]
    assert assembly.task_type == "create_encyclopedia_article"
    assert assembly.budget is not None and assembly.used is not None
    assert 0 < assembly.used <= assembly.budget == 700
    items = recorded.rows(ContextItemRow)
    assert {one.reason for one in items if not one.kept} == {"duplicate", "budget"}
    kept = sorted((one for one in items if one.kept), key=lambda one: one.position)
    sections = [ORDER.index(one.section) for one in kept]
    assert sections == sorted(sections)
    assert (kept[0].item_id, kept[0].requires_depth) == ("Instructions:World bible", 0)
    planner, writer = recorded.rows(LlmCall)
    assert planner.context_assembled == NO_HASH
    assert writer.context_assembled == assembly.context_hash != NO_HASH
    turn = recorded.turn()
    assert (turn.stop_reason, turn.row.task_type) == ("completed", assembly.task_type)
    assert answer.context["assembly_id"] == assembly.assembly_id
    assert answer.context["task"] == assembly.task_type
    assert "Cabo Norte" in answer.text


def test_a_plain_question_bypasses_it(client: OpenAI, wiki: FolderWiki, model: ModelServer) -> None:
    """One call, without a plan and without pages."""
    with record() as recorded:
        answer = answered(client, wiki, "When was the lamp lit?")
    (assembly,) = recorded.rows(ContextAssemblyRow)
    assert (assembly.bypassed, assembly.bypass_reason) == (True, "obviously a query")
    assert assembly.step_names == ["load_config", "pre_check"]
    assert answer.context["bypassed"] and answer.context["items"] == []
    assert len(model.requests) == 1


def test_instructions_that_are_too_long_are_kept_and_said(client: OpenAI, wiki: FolderWiki) -> None:
    """Everything else goes."""
    with record() as recorded:
        answer = answered(client, wiki, "Write a source page for the Race of Ilse.", 60)
    assert answer.over_budget
    (assembly,) = recorded.rows(ContextAssemblyRow)
    assert assembly.used is not None and assembly.used > 60
    kept = {one.section for one in recorded.rows(ContextItemRow) if one.kept}
    assert kept == {INSTRUCTIONS}


def test_it_works_the_same_without_a_recorder(client: OpenAI, wiki: FolderWiki) -> None:
    """Also the facts that it returns."""
    assert turnspan.current_turn().id == ""
    answer = answered(client, wiki, REQUESTS[0].text)
    assert answer.context["used"] <= answer.context["budget"]
    assert [step["name"] for step in answer.context["steps"]][:2] == ["load_config", "pre_check"]


@pytest.mark.release
def test_it_runs_from_the_command_line(embedded_dsn: Dsn) -> None:
    """The answer on standard output, the facts about its context on standard error."""
    ended = subprocess.run(
        [sys.executable, "-m", "wiki_agent", "Repair the timeline of Jorun Hale"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        cwd=REPOSITORY / "examples",
        env=os.environ | {"TURNSPAN_STORE": str(embedded_dsn)},
    )
    assert "Jorun Hale" in ended.stdout
    assert json.loads(ended.stderr)["task"] == "timeline_repair"
