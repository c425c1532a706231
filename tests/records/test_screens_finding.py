"""Finding a text, and what is said of how far back it was looked for."""

from __future__ import annotations

from collections.abc import Iterator

import orjson
import pytest

from support.landing import insert
from support.rows import PROJECT, SECOND, T0, message, said, tool, turn
from turnspan_clickhouse.store.client import Store
from turnspan_records import find_text
from turnspan_records.access.window import Window, moment
from turnspan_records.sandbox import Sandbox

WEEK = 7 * 86_400


def written(text: str) -> str:
    """The parts of a message as the exporter writes them."""
    return orjson.dumps([said(text)]).decode()


@pytest.fixture(scope="module")
def filled(module_store: Store) -> Iterator[Store]:
    """A word in every kind of text, and another one in ten weeks."""
    insert(
        module_store,
        turn("u1", 1, user_message="Where is the Needle?"),
        turn("r1", 2, response_text=f"{'hay ' * 100}a NEEDLE {'hay ' * 100}"),
        turn("d1", 3, stop_detail="needle was missing"),
        turn("e1", 4, error_type="NeedleError", error_message="gone"),
        tool("a1", 5, turn_id="u1", name="search", arguments='{"q": "needle"}'),
        tool("b1", 6, turn_id="u1", name="search", result="no needle"),
        tool("n1", 7, turn_id="u1", name="needle_finder"),
        message("user", first_seen=T0 + 8 * SECOND, parts=written('He said "Nädel\n& needle"')),
        *(turn(f"w{week}", -week * WEEK, user_message="every week") for week in range(10)),
        *(turn(f"m{at}", -20 * WEEK + at, user_message="many at once") for at in range(30)),
        turn("other", 1, project="other", user_message="needle"),
    )
    yield module_store


def test_every_kind_of_text_is_found(filled: Store) -> None:
    """Newest first, with what stands around it, and where it is."""
    found = find_text(filled, "needle", project=PROJECT, seconds=60)
    assert [(hit.kind, hit.span) for hit in found.hits] == [
        ("user message", ""),
        ("tool", "n1"),
        ("tool result", "b1"),
        ("tool arguments", "a1"),
        ("error", "e1"),
        ("why it stopped", "d1"),
        ("reply", "r1"),
        ("user message", "u1"),
    ]
    assert {hit.match.lower() for hit in found.hits} == {"needle"}
    reply = found.hits[6]
    assert reply.before.endswith("hay a ")
    assert len(reply.before) == 60
    assert found.finished
    assert found.next == ""
    with Sandbox(filled) as sandbox:
        said = sandbox.query(found.sql).dicts()
    assert [(row["kind"], row["span_id"]) for row in said] == [
        (hit.kind, hit.span) for hit in found.hits
    ]


def test_a_message_is_found_as_it_was_said(filled: Store) -> None:
    """Not as it stands in its JSON: quotes, ends of lines, other scripts."""
    [hit] = find_text(filled, 'said "nädel\n& needle"', project=PROJECT).hits
    assert hit.match == 'said "Nädel\n& needle"'
    assert hit.session == "s1"


def test_it_says_how_far_back_it_looked(filled: Store) -> None:
    """And goes on from there, to the end, finding each place once."""
    turns: list[str] = []
    until, reach = None, None
    for _ in range(50):
        window = Window(until=until) if until else Window()
        found = find_text(filled, "every week", project=PROJECT, window=window, limit=3, seconds=60)
        assert found.back_to is not None
        assert reach is None or found.back_to < reach
        reach = found.back_to
        assert all(hit.time >= reach for hit in found.hits)
        turns += [hit.turn for hit in found.hits]
        if found.finished:
            break
        until = moment(found.next)
    assert turns == [f"w{week}" for week in range(10)]


def test_many_in_one_week_are_not_passed_over(filled: Store) -> None:
    """What did not fit is not said to have been looked through."""
    turns: list[str] = []
    until = None
    for _ in range(50):
        window = Window(until=until) if until else Window()
        found = find_text(
            filled, "many at once", project=PROJECT, window=window, limit=7, seconds=60
        )
        turns += [hit.turn for hit in found.hits]
        if found.finished:
            break
        until = moment(found.next)
    assert turns == [f"m{at}" for at in reversed(range(30))]


def test_time_that_is_up_ends_it_honestly(filled: Store) -> None:
    """After a week at least."""
    found = find_text(filled, "nowhere", project=PROJECT, seconds=0)
    assert found.hits == []
    assert not found.finished
    assert found.next
    assert find_text(filled, "nowhere", project=PROJECT, seconds=60).finished
    assert find_text(filled, "needle", project="nobody").back_to is None


def test_nothing_is_no_text(filled: Store) -> None:
    """Nor is a book."""
    for text in ("", "  ", "x" * 1_001):
        with pytest.raises(ValueError, match="Write a text to find"):
            find_text(filled, text)
    for text in ("%", "_", "' OR 1=1", "\\", "{text:String}"):
        assert find_text(filled, text, project="other").hits == []
