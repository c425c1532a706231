"""Finding a text, and what is said of how far back it was looked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import orjson
import pytest

from support.landing import insert
from support.representatives import few, first_on
from support.rows import PROJECT, SECOND, T0, message, said, tool, turn
from turnspan_clickhouse.rows.tables import Record
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.migrations import migrations, statements
from turnspan_records import find_text
from turnspan_records.access.fields import utc
from turnspan_records.access.window import Window, moment
from turnspan_records.sandbox import Sandbox
from turnspan_records.screens.text_search import text_parameters, text_question
from turnspan_records.turn_filters import turn_filter

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


def test_a_message_that_a_turn_has_as_well_is_one_hit(module_store: Store) -> None:
    """As often as it is said, it is found; with the session, or the trace without one, it is in."""
    long = "before " * 30 + 'the "lantern" burns ' + "after " * 60
    own = {"project": "once", "session_id": "talk"}
    insert(
        module_store,
        turn("o1", 50, **own, user_message=long, response_text="A lantern?", agent_name="keeper"),
        turn("o2", 51, **own, user_message="And now?", stop_reason="max_tokens", agent_name="boss"),
        tool("o3", 50, turn_id="o1", **own, name="look", result="one lantern"),
        turn("o4", 52, project="once", session_id="", trace_id="4" * 32, user_message="lantern"),
        *(
            message(role, first_seen=T0 + at * SECOND, parts=written(text), project="once",
                    scope="talk", hash=bytes([at]) * 16)
            for at, (role, text) in enumerate(
                [("user", long), ("assistant", "A lantern?"), ("tool", "one lantern"),
                 ("system", "Mind the lantern")], 50)
        ),
    )  # fmt: skip
    found = find_text(module_store, "lantern", project="once", seconds=60)
    assert sorted((hit.kind, hit.session) for hit in found.hits) == [
        ("assistant message", "talk"),
        ("system message", "talk"),
        ("tool result", "talk"),
        ("user message", "4" * 32),
        ("user message", "talk"),
    ], [(hit.kind, hit.before[-20:], hit.match, hit.after[:100]) for hit in found.hits]
    sessions = {one.scope: one for one in found.sessions}
    assert sessions.keys() == {"talk", "4" * 32}
    talk, alone = sessions["talk"], sessions["4" * 32]
    assert (talk.agent, talk.end, talk.turns, talk.trace) == ("boss", "max_tokens", 2, "")
    assert (alone.session, alone.trace) == ("", "4" * 32)
    of_keeper = ["assistant message", "system message", "tool result", "user message"]
    for filter_, kinds in (
        ("agent:keeper", of_keeper),
        ("tool:look -session:none", of_keeper),
        # What the other turn's session has been told, by its messages alone.
        ("agent:boss", ["assistant message", "system message", "tool message", "user message"]),
        ("agent:none", []),
    ):
        wanted = turn_filter(filter_)
        found = find_text(module_store, "lantern", project="once", seconds=60, filter=wanted)
        assert sorted(hit.kind for hit in found.hits) == kinds
        if kinds:
            with Sandbox(module_store) as sandbox:
                assert len(sandbox.query(found.sql).rows) >= len(kinds)


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


@pytest.mark.parametrize("limit", few((1, 2, 5, 23), (2, 23)))
def test_messages_are_asked_once_for_all_weeks(
    store: Store, monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    """They do not lie by time: a word that is nowhere costs one look at their index, and one in
    more than a page of them one reading. From page to page each is found once, among what is asked
    week by week."""
    insert(
        store,
        *(turn(f"t{week}", -week * WEEK, user_message="weekly") for week in range(12)),
        *(
            message("system", said(f"weekly {at}"), first_seen=T0 - (at * WEEK // 2 + 9) * SECOND)
            for at in range(22)
        ),
    )
    asked: list[str] = []
    query = store.query

    def noted(sql: str, *args: Any) -> Any:
        asked.append(sql)
        return query(sql, *args)

    monkeypatch.setattr(store, "query", noted)
    for text, hits in (("nowhere", 0), ("weekly", 34)):
        asked.clear()
        found = find_text(store, text, limit=50, seconds=60)
        assert (len(found.hits), found.finished) == (hits, True)
        assert sum("FROM message" in sql for sql in asked) == 1
    hits_: list[Any] = []
    window = Window()
    while True:
        asked.clear()
        part = find_text(store, "weekly", window=window, limit=limit, seconds=60)
        assert sum("FROM message" in sql for sql in asked) == 1
        hits_ += part.hits
        if part.finished:
            break
        window = Window(until=moment(part.next))
    assert hits_ == found.hits


def test_a_message_of_several_rows_is_one_hit(store: Store) -> None:
    """Each process that saw it may have written one: the newest is shown, merged or not."""
    for at in range(3):
        insert(store, message("user", said("seen again"), first_seen=T0 + at * SECOND))
    for merged in (False, True):
        if merged:
            store.command("OPTIMIZE TABLE message FINAL")
        [hit] = find_text(store, "seen again").hits
        assert hit.time == utc(T0 + 2 * SECOND)


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


ODD = (
    "Käse9needle中文字符在这里 naïve_value-x.y",
    "\u212aELVIN mil\u212a and \u0130stanbul, \u017fharp, stra\u1e9ee, \u2126hm, \u01c5ungla",
    "ΟΔΟΣ ΟΔΥΣΣΕΥΣ Привет МИР",
    'tab\there, line\nbreak, "quoted\\path" 100% a_b <b>\u202egnp.exe\u202c \x07bell \x00nul',
    "👩\u200d🚀 e\u0301cole ﬁne İİ \u0131I",
    "A" * 300 + "needle" + "B" * 300,
    "",
)
PIECES = (
    *(one[at : at + length] for one in ODD for at in range(0, 60, 7) for length in (1, 2, 3, 5, 9)),
    *("kelvin", "milk", "MILK", "istanbul", "strasse", "straße", "οδος", "οδοσ", "привет мир"),
    *(
        "9NEEDLE中",
        "字符",
        "aaneedlebb",
        "%",
        "_",
        "a_b",
        "\\path",
        "100% a",
        "\nBreak",
        "gone twice",
    ),
)
EVERY_ROW = """
    SELECT span_id FROM turn_summary WHERE positionCaseInsensitiveUTF8(user_message, {text:String})
    UNION ALL
    SELECT span_id FROM tool_call WHERE positionCaseInsensitiveUTF8(result, {text:String})
    UNION ALL
    SELECT scope FROM message WHERE positionCaseInsensitiveUTF8(parts, {written:String})
"""


@first_on("server")
@pytest.mark.parametrize("part", few(range(4), [0]))
def test_an_index_hides_nothing(store: Store, part: int) -> None:
    """Of every piece of odd texts the same is found as by reading every row: in capitals or not,
    parts of words, other scripts, what JSON writes otherwise; also in parts older than the index,
    and not in what a newer row has replaced."""
    for table in ("message", "tool_call", "turn_summary"):
        store.command(f"ALTER TABLE {table} DROP INDEX by_word")
    insert(
        store,
        *odd(ODD[::2]),
        turn("late", 99, status="running", user_message="gone twice", stop_reason=""),
    )
    for one in migrations():
        if "INDEX IF NOT EXISTS by_word" in one.template:
            for sql in statements(one, store.dsn):
                store.command(sql)
    insert(
        store,
        *odd(ODD[1::2]),
        turn("late", 99, written_at=T0 + 1, user_message="said once", stop_reason=""),
    )
    for text in filter(str.strip, PIECES[part::4]):
        found = find_text(store, text, limit=99, seconds=60)
        written = orjson.dumps(text).decode()[1:-1]
        every = store.query(EVERY_ROW, {"text": text, "written": written}).rows
        assert sorted(hit.span or hit.session for hit in found.hits) == sorted(
            one for (one,) in every
        ), text


def odd(texts: Sequence[str]) -> list[Record]:
    """A turn, a tool and a message of each."""
    return [
        row
        for text in texts
        for at in [ODD.index(text)]
        for row in (
            turn(f"turn{at}", at, user_message=text, stop_reason=""),
            tool(f"tool{at}", at, name="-", result=text),
            message("user", said(text), scope=f"message{at}", parts=written(text)),
        )
    ]


def test_what_no_word_has_is_not_read(store: Store) -> None:
    """Whether as a word, as a part of one, or in a phrase: the indexes say so."""
    insert(
        store,
        *(turn(f"t{at}", at, user_message="some hay") for at in range(20)),
        *(tool(f"o{at}", at, result="more hay") for at in range(20)),
        *(message("user", said(f"hay {at}"), scope=f"m{at}") for at in range(20)),
    )
    any_turn = {"filter": "", "of_turns": "", "of_scopes": ""}
    texts = ("Needle", "some needles", "foo", "hay needle hay")
    for text, name in product(texts, ("turns", "tools", "messages")):
        given = text_parameters(text, "", (moment("2020-01-01"), moment("2030-01-01")), 5)
        plan = store.query(
            f"EXPLAIN indexes = 1 {text_question(f'text_search/_{name}', given, **any_turn)}", given
        ).rows
        lines = [str(line).strip(" │") for (line,) in plan]
        skipped = lines[lines.index("Name: by_word") :]
        assert next(line for line in skipped if line.startswith("Granules:")) == "Granules: 0/1"


def test_letters_that_are_alike_to_the_search_are_alike_to_the_index(module_store: Store) -> None:
    """The engine compares letters in capitals or not; an index has them lowered. Where the former
    finds one, the latter has it: of all letters of Unicode that have another case."""
    pairs = {
        pair
        for one in map(chr, range(0x110000))
        if not "\ud800" <= one <= "\udfff"
        for other in (one.lower(), one.upper(), one.title(), one.casefold())
        if other != one and "0" <= other.casefold()[:1] <= "z"
        for pair in ((one, other), (other, one))
    }
    [missed] = module_store.query(
        "SELECT groupArray(pair) FROM (SELECT arrayJoin({pairs:Array(Tuple(String, String))}) AS"
        " pair, concat('--', pair.1, '--') AS said, concat('-', pair.2) AS wanted)"
        " WHERE positionCaseInsensitiveUTF8(said, wanted) > 0"
        " AND position(lowerUTF8(said), lowerUTF8(wanted)) = 0",
        {"pairs": sorted(pairs)},
    ).rows
    assert len(pairs) > 52
    assert missed == ([],)
