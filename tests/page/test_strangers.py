"""What a stranger wants of the page, by keys alone, beginning at its first screen. Nothing is known
but what stands there; each test prints how many keys it took, and how long the page did."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from playwright.sync_api import expect

from support.improved import Improved
from support.kept_stores import copy_schema
from support.landing import insert
from support.pages import Look, ServedPage, Watched, served
from support.rows import answered, asked, call, message, said, turn
from turnspan.testing import ModelRequest, ModelServer, Reply, ToolRequest, Usage
from turnspan_clickhouse.rows.tables import Record
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.opening import open_store
from turnspan_records.access import land_what_waits

AGENT = """
import json, sys, openai, turnspan
turnspan.configure(project="desk", capture_content=True)
turnspan.instrument()
client = openai.OpenAI(base_url=sys.argv[1], api_key="k", max_retries=0)
system = {"role": "system", "content": "You keep the archive of a lighthouse. " * 150}

@turnspan.agent(name="archivist")
def answer(messages, question):
    messages.append({"role": "user", "content": question})
    reply = client.chat.completions.create(model="gpt-4o", temperature=0.25, messages=messages)
    messages.append({"role": "assistant", "content": reply.choices[0].message.content})
    return messages[-1]["content"]

@turnspan.tool
def find_order(number):
    raise KeyError(number)

@turnspan.agent(name="clerk")
def clerk(question):
    messages = [{"role": "user", "content": question}]
    reply = client.chat.completions.create(model="gpt-4o", messages=messages)
    for one in reply.choices[0].message.tool_calls:
        try:
            find_order(**json.loads(one.function.arguments))
        except KeyError:
            return "I could not look."

with turnspan.session("archive"):
    messages = [system]
    for at in range(9):
        if at == 5:
            messages[1] = {"role": "user", "content": "Today is Tuesday. Question 0?"}
        answer(messages, f"Question {at}?")
with turnspan.session("orders"):
    clerk("Where is order 4711?")
turnspan.flush(local=True)
"""
QUESTION = "Which lamp?"
ANSWERS = 4
TURNS = 30
LONG = 500


class Provider:
    """A model provider that has a cache of prompts, as providers have: it reads what the request
    before began with, in steps."""

    def __init__(self) -> None:
        self._before = ""

    def __call__(self, request: ModelRequest) -> Reply:
        """A reply that says how much of the request was cached."""
        text = json.dumps(request.body["messages"])
        alike = itertools.takewhile(
            lambda two: two[0] == two[1], zip(text, self._before, strict=False)
        )
        shared = sum(1 for _ in alike)
        self._before = text
        usage = Usage(len(text) // 4, 9, cache_read_tokens=shared // 4 // 128 * 128)
        if "order" in request.messages[-1]["content"]:
            return Reply(tool_requests=[ToolRequest("find_order", {"number": "47-11"})])
        return Reply("It is in the archive. " * 200, usage=usage)


def long_session() -> list[Record]:
    """500 calls with all that was said before, 5 MB of text."""
    rows: list[Record] = []
    talk: list[bytes] = []
    for at in range(LONG):
        turn_id = f"long{at - at % 20:012x}"
        text = f"{at} " + "the light is lit at dusk, " * 400
        new = message("user", said(text), scope="long")
        if at % 20 == 0:
            rows.append(
                turn(
                    turn_id, at, session_id="long", user_message="Long watch", response_text="Lit."
                )
            )
        else:
            new = message("tool", answered(f"c{at - 1}", text), scope="long")
        reply = message("assistant", asked(f"c{at}", "look", n=at), scope="long")
        talk = [*talk, new.hash]
        rows += [new, reply]
        rows.append(call(f"call{at:012x}", at + 0.3, session_id="long", turn_id=turn_id,
                         input_messages=talk, output_messages=[reply.hash]))  # fmt: skip
        talk = [*talk, reply.hash]
    return rows


def answers() -> list[Record]:
    """Turns to be judged, and four answers to one question."""
    made = Improved()
    for number in range(TURNS):
        made.turn(f"judged-{number}", f"Q {number}?", "Yes.", response_text="Yes.",
                  user_message=f"Q {number}?")  # fmt: skip
    for number in range(ANSWERS):
        text = f"The {number} lamp, {'and so on, ' * number}."
        made.turn(f"answer-{number}", QUESTION, text, response_text=text, user_message=QUESTION,
                  agent_name="lamplighter")  # fmt: skip
    return made.rows


@pytest.fixture(scope="module")
def sent() -> list[dict[str, Any]]:
    """The requests that the agent has made, in order; filled when the page is there."""
    return []


@pytest.fixture(scope="module")
def page(
    tmp_path_factory: pytest.TempPathFactory, sent: list[dict[str, Any]]
) -> Iterator[ServedPage]:
    """The page over what an agent in a process of its own recorded, with other records."""
    folder = tmp_path_factory.mktemp("strangers")
    dsn = f"chdb://{folder / 'store'}"
    copy_schema(folder / "store")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("OTEL_", "TURNSPAN_"))}
    with ModelServer(Provider()) as provider:
        subprocess.run([sys.executable, "-c", AGENT, provider.url], check=True, timeout=120,
                       env={**kept, "TURNSPAN_STORE": dsn})  # fmt: skip
        sent += [one.body for one in provider.requests]
    with open_store(Dsn(scheme="chdb", path=folder / "store")) as store:
        land_what_waits(store)
        insert(store, *long_session(), *answers())
    with served(dsn, folder) as made:
        yield made


class Stranger:
    """Somebody who has keys, and eyes."""

    def __init__(self, seen: Watched, what: str) -> None:
        self.seen = seen
        self.keys = 0
        self._what = what
        self._begun = time.perf_counter()

    def press(self, *keys: str) -> None:
        """Press them; one that is of two is two."""
        for key in keys:
            self.seen.press(*key.split())
            self.keys += len(key.split())

    def type(self, text: str) -> None:
        """Write into the field that has the focus."""
        self.seen.page.keyboard.type(text)
        self.keys += len(text)

    def sees(self, selector: str, text: str = "") -> str:
        """Wait until it is there; its text."""
        found = self.seen.page.locator(selector)
        if text:
            found = found.filter(has_text=text)
        found.first.wait_for()
        return found.first.inner_text()

    def until(self, key: str, selector: str, reads: Callable[[str], bool]) -> str:
        """Press a key until what is chosen reads so."""
        text = ""
        for _ in range(200):
            self.press(key)
            self.seen.page.wait_for_selector(selector)
            text = self.seen.page.inner_text(selector)
            if reads(text):
                return text
        raise AssertionError(f"{key} leads nowhere: {text}")

    def tell(self) -> None:
        """Print what it took."""
        took = time.perf_counter() - self._begun
        print(f"{self._what}: {self.keys} keys, {took * 1_000:,.0f} ms")


ROW = 'tbody tr[aria-selected="true"]'
CHOSEN = 'article[aria-current="true"]'


def at_first(look: Look, page: ServedPage, what: str) -> Stranger:
    """The first screen."""
    seen = look(page, "/")
    seen.page.wait_for_selector(".panel .bars a")
    seen.page.wait_for_selector(".panel .looks a")
    return Stranger(seen, what)


def at_session(stranger: Stranger, first: str) -> None:
    """Open the session that begins with these words."""
    stranger.press("g s")
    stranger.sees("tbody tr")
    stranger.until("j", ROW, lambda text: first in text)
    stranger.press("Enter")
    stranger.sees("article")


def test_which_call_lost_the_cache_and_why(look: Look, page: ServedPage) -> None:
    """The next problem is the call that lost it; what changed says by which message."""
    stranger = at_first(look, page, "which call lost the prompt cache, and why")
    at_session(stranger, "Question 0?")
    row = stranger.until("n", CHOSEN, lambda text: "prompt cache" in text)
    assert "call 6" in row and "fewer" in row
    stranger.press("d")
    why = stranger.sees(".difference .cache")
    assert "Message 2 changed first" in why and "fewer than before" in why
    stranger.press("n")
    stranger.sees(".change.edited ins", "Tuesday")
    stranger.tell()
    assert stranger.keys <= 10


def test_from_an_early_end_to_the_argument_that_fails(look: Look, page: ServedPage) -> None:
    """Four keys from the first screen: what to look at, its turns, the newest, its problem."""
    stranger = at_first(look, page, "from turns that end early to the argument that fails")
    stranger.press("n")
    focused = stranger.seen.page.evaluate("document.activeElement.parentElement.innerText")
    assert "fewer than three rounds" in focused
    stranger.press("Enter")
    stranger.sees("tbody tr", "tool failed")
    stranger.press("Enter")
    stranger.sees("article")
    stranger.press("n")
    assert "47-11" in stranger.sees(CHOSEN)
    assert "KeyError" in stranger.sees(CHOSEN)
    stranger.tell()
    assert stranger.keys == 4


def test_a_call_is_sent_again_with_curl(
    look: Look, page: ServedPage, sent: list[Mapping[str, Any]]
) -> None:
    """What the page copies sends the body that the agent's SDK has sent."""
    stranger = at_first(look, page, "call 7 sent again with curl")
    stranger.seen.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    at_session(stranger, "Question 0?")
    stranger.until("j", CHOSEN, lambda text: "call 7" in text)
    stranger.press("y u")
    stranger.seen.page.wait_for_selector('[role="status"]:has-text("Copied the curl command")')
    stranger.tell()
    command = str(stranger.seen.page.evaluate("navigator.clipboard.readText()"))
    with ModelServer("Again.") as again:
        where = {"OPENAI_BASE_URL": f"{again.url}/v1", "OPENAI_API_KEY": "k"}
        subprocess.run(["sh", "-c", command], check=True, timeout=30, capture_output=True,
                       env={"PATH": os.environ["PATH"], "NO_PROXY": "*", **where})  # fmt: skip
        [got] = [one.body for one in again.requests]
    assert got == sent[6]
    assert sent[6]["messages"][-1]["content"] == "Question 6?"


@pytest.mark.release  # `test_review` judges by keys as well
def test_judging_at_reading_speed(look: Look, page: ServedPage) -> None:
    """A key for each turn and no other."""
    stranger = at_first(look, page, f"{TURNS} turns judged")
    stranger.press("g r")
    judging = '.judging[aria-busy="false"]'
    stranger.seen.page.wait_for_selector(judging)
    before = stranger.seen.page.evaluate("location.href")
    for number in range(TURNS):
        stranger.press(str(number % 3 + 1))
        stranger.seen.page.wait_for_function("before => location.href !== before", arg=before)
        stranger.seen.page.wait_for_selector(judging)
        before = stranger.seen.page.evaluate("location.href")
    assert stranger.sees(".progress").startswith(f"{TURNS} of ")
    stranger.tell()
    assert stranger.keys == TURNS + 2


@pytest.mark.release  # `test_compare` orders answers by keys
def test_four_answers_are_ranked(look: Look, page: ServedPage) -> None:
    """They are found, put side by side without names, and their order is stored."""
    stranger = at_first(look, page, "four answers ranked")
    stranger.press("g t")
    stranger.sees("tbody tr")
    stranger.press("/")
    stranger.type("agent:lamplighter")
    stranger.press("Enter")
    expect(stranger.seen.page.locator("table.list tbody tr")).to_have_count(ANSWERS)
    stranger.press("Escape")
    for _ in range(ANSWERS):
        stranger.press("j", "x")
    stranger.press("C")
    stranger.seen.page.wait_for_selector('.compare[aria-busy="false"] .answer')
    stranger.press("o", "3", "1", "2", "4", "Enter")
    stranger.seen.page.wait_for_selector('[role="status"]:has-text("6 preferences stored")')
    stranger.tell()
    assert stranger.keys <= 40


@pytest.mark.release  # `test_replay` opens a long session and scrolls it
def test_a_long_session_is_open_at_once(look: Look, page: ServedPage) -> None:
    """One key, and what is in view is there; every row and the texts follow."""
    stranger = at_first(look, page, "a session of 500 calls and 5 MB, found and open")
    stranger.press("g s")
    stranger.sees("tbody tr")
    stranger.until("j", ROW, lambda text: "Long watch" in text)
    opening = Stranger(stranger.seen, "the same, from its line to its first text")
    opening.press("Enter")
    opening.sees("article .words, article .verbatim", "the light is lit")
    opening.tell()
    assert opening.keys == 1
    shown = stranger.seen.page
    shown.wait_for_selector('[role="feed"][aria-busy="false"]')
    assert shown.locator('article[aria-setsize="1050"]').count() == 1_050
    stranger.tell()
