"""Fifteen tasks in the page of `turnspan console`, and in that of Phoenix, as a new user does them.

    python benchmarks/page_tasks.py [--runs 3] [--phoenix URL] [--only WORD]

Turnspan's store has what `turnspan demo` records, an experiment, consortium runs, an assembled
context, a turn that runs, and the session of ``beside_phoenix.py``: 500 model calls in 25 turns,
475 tools, one of which fails. Phoenix, which runs at ``URL``, is sent the same session over OTLP
(OpenInference's conventions) unless it has it. Each task begins at ``/`` in a Chromium without
storage, and follows what is on the screen: no address is typed. It ends when what was wanted is
visible. Clicks and keys are counted; seconds are the median of ``--runs``, wall clock, without
the time that a person reads. What the screens of a product do not offer has its reason instead.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import expect, sync_playwright

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import phoenix_tasks as phoenix
from beside_phoenix import SESSION, spans
from page_person import Doing, Person
from phoenix_tasks import JUDGED

from support.assembled import FULL, assembled
from support.camp_rows import camp_rows
from support.clickhouse_server import free_ports
from support.consortium_rows import consortium_rows
from support.demo_records import play
from support.landing import insert
from support.pages import ServedPage, browser_path, served
from support.rows import turn
from turnspan_clickhouse.store.dsn import parse
from turnspan_clickhouse.store.opening import open_store

WAITING = 90_000
"""Milliseconds at most for each step: the machine may be busy."""
RUNNING = "What is the tide at noon?"
_SELECT = (
    "SELECT toStartOfMinute(start_time) AS minute, count() AS turns FROM turn_summary GROUP BY 1"
)
_ROWS = "table.list tbody tr"


class Task(NamedTuple):
    """What is to be done."""

    name: str
    turnspan: Doing
    phoenix: Doing | str
    """Or why it cannot be done."""


# In Turnspan


def _overview(person: Person) -> None:
    person.sees("css=.figure .value")


def _ends(person: Person) -> None:
    person.clicks_on("round limit")
    person.clicks_on(f"css={_ROWS} .text, {_ROWS}")
    person.sees("css=.stop.bad, .stop.warn")


def _failing(person: Person) -> None:
    person.clicks_on("Errors")
    person.clicks_on(person.page.locator(_ROWS, has_text="Unknown expression").first)
    person.sees("css=.fed")


def _changed(person: Person) -> None:
    person.clicks_on("Sessions")
    person.clicks_on(person.page.locator(_ROWS, has_text="Question 1:").first)
    for at, button in ((2, "Select"), (9, "Compare with selected")):
        link = person.page.get_by_role("link", name=f"call {at}", exact=True)
        person.clicks_on(person.page.locator("article", has=link).locator(".line bdi"))
        person.clicks_on(person.page.get_by_role("button", name=button, exact=True))
    person.sees("css=.change")


def _texts(person: Person) -> None:
    person.clicks_on("Turns")
    person.clicks_on(person.page.get_by_placeholder("find a text"))
    person.types("lighthouse")
    person.presses("Enter")
    person.sees("css=.hit .group")


def _view(person: Person) -> None:
    person.clicks_on("Turns")
    person.clicks_on("css=.facets .value:has-text('travel-agent')")
    person.clicks_on("Save view")
    person.types(f"travel {time.monotonic_ns()}")
    person.presses("Enter")
    person.sees("css=.saved-views a[aria-current=page]")
    assert "f=agent" in person.page.url, "the address is what is shared"
    person.page.locator(".save-view").click()  # away again, for the next run: not counted
    person.page.get_by_role("button", name="Remove").click()


def _judged(person: Person) -> None:
    person.clicks_on("Review")
    progress = person.page.locator(".progress")
    expect(progress).to_contain_text(" left")
    judged = int(progress.inner_text().split()[0])
    for number in range(judged + 1, judged + JUDGED + 1):
        person.clicks_on("Correct the answer")
        person.clicks_on(person.page.get_by_label("What the answer should have been"))
        person.types(" Yes.")
        person.clicks_on("Save the correction")
        expect(person.page.locator("button:has-text('Save the correction')")).to_be_disabled()
        person.clicks_on("css=.verdicts button")
        expect(progress).to_contain_text(f"{number} of")


def _costs(person: Person) -> None:
    person.sees("css=[aria-label='Cost by model'] canvas")
    person.sees("css=[aria-label='Cost by model'] td.number")


def _context(person: Person) -> None:
    _find(person, FULL)
    person.sees("css=.context tbody tr")


def _find(person: Person, text: str) -> None:
    person.clicks_on("css=.finder")
    person.pastes(text)
    person.presses("Enter")


def _consortium(person: Person) -> None:
    person.clicks_on("Consortium")
    person.clicks_on(person.page.locator(_ROWS, has_text="finished").get_by_role("link"))
    person.sees("css=.decision")


def _lineage(person: Person) -> None:
    person.clicks_on("Lineage")
    person.clicks_on("camp")
    person.clicks_on("css=.versions a.best")
    person.sees("css=.lineage ins")


def _live(person: Person) -> None:
    person.clicks_on("Turns")
    person.clicks_on("css=.facets .value:has-text('running')")
    person.clicks_on(person.page.locator(_ROWS, has_text=RUNNING).first)
    person.sees("css=.stop.busy")


def _export(person: Person) -> None:
    person.clicks_on("Turns")
    for at in (0, 1, 2):
        person.clicks_on(person.page.locator(f"{_ROWS} input").nth(at))
    with person.page.expect_download() as saved:
        person.clicks_on("css=.selected button:has-text('JSON')")
    assert len(json.loads(saved.value.path().read_text("utf-8"))) == 3


def _chart(person: Person) -> None:
    person.clicks_on("SQL")
    person.clicks_on("css=.cm-content, textarea")
    person.presses("Control+a")
    person.types(_SELECT)
    person.presses("Escape", "Control+Enter")
    person.sees("css=.result")
    person.clicks_on("Chart")
    person.sees("css=.plot canvas, table.bars")


def _log_line(trace_id: str) -> Doing:
    line = f"2026-11-27 06:50:42 ERROR worker trace_id={trace_id} query failed"

    def doing(person: Person) -> None:
        person.sees("css=.finder")
        person.presses("Control+k")
        person.pastes(line)
        person.page.get_by_role("option").first.wait_for()
        person.presses("Enter")
        person.sees(f"css=.row, {_ROWS}")

    return doing


def tasks(trace_ids: dict[str, str]) -> list[Task]:
    """All fifteen."""
    return [
        Task("open", _overview, phoenix.opened),
        Task("why do turns stop", _ends, "no reason is derived or stored"),
        Task("the failing tool of 500 calls, and what the model was fed", _failing,
             phoenix.failing),
        Task("what changed between any two calls", _changed, phoenix.changed),
        Task("every session with a text", _texts, phoenix.texts),
        Task("filter, save and share a view", _view, phoenix.view),
        Task(f"judge {JUDGED} turns with corrections", _judged, phoenix.judged),
        Task("cost by model and day", _costs, phoenix.costs),
        Task("what a prompt was assembled from", _context, "no such record"),
        Task("a run of several models, and who decided", _consortium, "no such record"),
        Task("versions of an agent, and what made one better", _lineage, "no such record"),
        Task("a turn that is running", _live, "a span is shown when it has ended"),
        Task("export what is selected", _export, phoenix.export),
        Task("SQL to chart", _chart, "no SQL on its pages"),
        Task("from a log line to its turn", _log_line(trace_ids["turnspan"]),
             phoenix.log_line(trace_ids.get("phoenix", ""))),
    ]  # fmt: skip


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--phoenix", default="", metavar="URL")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", default="", metavar="WORD", help="tasks with this word")
    given = parser.parse_args()
    expect.set_options(timeout=WAITING)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page, trace_id = _filled(Path(folder))
        with page as shown:
            traces = {"turnspan": trace_id(shown)}
            if given.phoenix:
                traces["phoenix"] = _in_phoenix(given.phoenix)
            browser = playwright.chromium.launch(
                executable_path=browser_path(), args=["--no-sandbox", "--disable-dev-shm-usage"]
            )
            products = ["Turnspan", "Phoenix"] if given.phoenix else ["Turnspan"]
            print(_line("clicks / keys / seconds", products), flush=True)
            for task in tasks(traces):
                if given.only not in task.name:
                    continue
                entrance = f"{shown.address}#t={shown.token}"
                cells = [_measured(browser, entrance, task.turnspan, given.runs)]
                if isinstance(task.phoenix, str):
                    cells.append(f"cannot: {task.phoenix}")
                elif given.phoenix:
                    cells.append(_measured(browser, given.phoenix, task.phoenix, given.runs))
                print(_line(task.name, cells[: len(products)]), flush=True)


def _line(name: str, cells: Sequence[str]) -> str:
    return f"{name:<62}" + "".join(f"{cell:>24}" for cell in cells)


def _measured(browser: Any, address: str, doing: Doing, runs: int) -> str:
    """``clicks / keys / seconds``; of a task that fails, that it does, and why on stderr."""
    seconds: list[float] = []
    counted = ""
    for _ in range(runs):
        context = browser.new_context(viewport={"width": 1440, "height": 900})
        person = Person(context.new_page())
        person.page.set_default_timeout(WAITING)
        begun = time.perf_counter()
        try:
            person.page.goto(address, wait_until="commit")
            doing(person)
        except (AssertionError, PlaywrightError) as error:
            print(f"{person.page.url}: {str(error)[:400]}", file=sys.stderr, flush=True)
            return f"failed after {person.clicks} / {person.keys}"
        finally:
            context.close()
        seconds.append(time.perf_counter() - begun)
        counted = f"{person.clicks} / {person.keys}"
    return f"{counted} / {median(seconds):.1f} s"


def _filled(home: Path) -> tuple[Any, Callable[[ServedPage], str]]:
    """The page over a store that has something for every task; and what sends the session."""
    dsn = f"chdb://{home / 'store'}"
    play(dsn)
    with open_store(parse(dsn)) as store:
        running = turn("7e" * 8, 0, status="running", user_message=RUNNING, session_id="live")
        insert(store, *assembled(), *camp_rows(), *consortium_rows(), running)
    (port,) = free_ports(1)

    def sent(page: ServedPage) -> str:
        spans(f"http://127.0.0.1:{port}/v1/traces")
        question = f"/api/outline?project=watch&session={SESSION}"
        end = time.monotonic() + 600
        while time.monotonic() < end:
            outline = page.ask(question).json().get("outline", {})
            if len(outline.get("calls", ())) == 500:
                return str(page.ask("/api/turns?project=watch").json()["turns"][0]["trace_id"])
            time.sleep(0.5)
        raise SystemExit("The session did not land within ten minutes.")

    return served(dsn, home, "--receive-port", str(port)), sent


def _in_phoenix(address: str) -> str:
    """Send the session unless it is there; the id of a trace of it."""
    url = f"{address.rstrip('/')}/v1/projects/watch/spans?limit=1"
    for attempt in range(60):
        try:
            with urllib.request.urlopen(url, timeout=60) as reply:
                found: list[Any] = json.load(reply)["data"]
        except urllib.error.HTTPError:
            found = []
        if found:
            return str(found[0]["context"]["trace_id"])
        if attempt == 0:
            spans(f"{address.rstrip('/')}/v1/traces")
        time.sleep(1)
    raise SystemExit("Phoenix did not show the session within a minute.")


if __name__ == "__main__":
    main()
