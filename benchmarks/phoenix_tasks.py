"""The tasks of ``page_tasks.py`` in the page of Phoenix, as a new user does them."""

from __future__ import annotations

import re

from beside_phoenix import ERROR, SESSION
from page_person import Doing, Person
from playwright.sync_api import expect

JUDGED = 20
"""Turns to be judged."""


def _project(person: Person, tab: str = "") -> None:
    person.clicks_on(person.page.get_by_role("link", name=re.compile("^watch")))
    person.sees("css=.cm-content")
    if tab:
        person.clicks_on(person.page.get_by_role("tab", name=tab))


def _filtered(person: Person, condition: str) -> None:
    person.clicks_on("css=.cm-content")
    person.presses("Control+a")
    person.types(condition)
    person.presses("Escape", "Enter")


def opened(person: Person) -> None:
    """The list of projects."""
    person.sees("watch")


def failing(person: Person) -> None:
    """A filter among all spans; what came of it stands in the model call after it."""
    _project(person)
    _filtered(person, "status_code == 'ERROR'")
    person.clicks_on("run_query")
    person.sees(ERROR)
    tree = person.page.locator("a, button, li").filter(has_text=re.compile("^chat"))
    person.clicks_on(tree.last)
    person.sees(person.page.get_by_text(re.compile(r"\bmessages\b", re.IGNORECASE)))


def changed(person: Person) -> None:
    """Two model calls side by side: what differs is not marked."""
    _project(person)
    _filtered(person, "span_kind == 'LLM'")
    person.sees(person.page.get_by_role("link", name="chat"))
    for at in (1, 2):
        person.clicks_on(person.page.locator("tbody tr").nth(at).locator("td").first)
    person.clicks_on(person.page.get_by_role("button", name="Compare"))
    person.sees(person.page.get_by_text("Question ").last)


def texts(person: Person) -> None:
    """A condition on the sessions' inputs and outputs."""
    _project(person, "Sessions")
    person.clicks_on("css=.cm-content")
    person.types("'Question 7' in any_input or 'Question 7' in any_output")
    person.presses("Escape", "Enter")
    person.sees(SESSION)


def view(person: Person) -> None:
    """A condition, which stands in the address; it has no name."""
    _project(person)
    _filtered(person, "span_kind == 'TOOL'")
    person.sees("run_query")
    assert "spanFilterCondition" in person.page.url, "the address is what is shared"


def judged(person: Person) -> None:
    """A note to each trace: an answer that should have been has no form of its own."""
    _project(person)
    person.clicks_on("agent")
    person.clicks_on(person.page.get_by_role("button", name="Take notes"))  # stays open
    for number in range(JUDGED):
        note = person.page.get_by_placeholder("Add a note")
        person.clicks_on(note)
        person.types("wrong. Yes.")
        person.presses("Enter")
        expect(note).to_have_value("")
        if number < JUDGED - 1:
            person.clicks_on(person.page.get_by_role("button", name="Next trace"))


def costs(person: Person) -> None:
    """A chart by day, and another by model."""
    _project(person, "Metrics")
    person.sees("Top models by cost")
    person.sees("gpt-4o")


def export(person: Person) -> None:
    """The spans, as JSON lines."""
    _project(person)
    person.sees("agent")
    for at in (0, 1, 2):
        person.clicks_on(person.page.locator("tbody tr").nth(at).locator("td").first)
    person.clicks_on(person.page.get_by_role("button", name="Download selection"))
    person.page.evaluate("window.showSaveFilePicker = undefined")  # as in Firefox: no driver has it
    with person.page.expect_download():
        person.clicks_on(person.page.get_by_role("button", name="Download", exact=True))


def log_line(trace_id: str) -> Doing:
    """By the id, which has to be cut out of the line."""

    def doing(person: Person) -> None:
        _project(person)
        _filtered(person, f"trace_id == '{trace_id}'")
        person.clicks_on("agent")
        person.sees("View Session")

    return doing
