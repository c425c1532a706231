"""Text anywhere in the records, and how far back it was looked for.

One week is looked through after the other, the newest first, until there are enough hits or the
time is up: what is said of the reach is what was done, and the search can go on from there. Where a
stretch of weeks takes next to no time, the next is twice as long, and longer after one without.

A text is found in capitals or not, as ``positionCaseInsensitiveUTF8`` does. Before that the text
indexes ``by_word`` skip rows whose lowered texts do not have the text's longest runs of ASCII
letters and digits: as words where the text goes on with another ASCII character on both sides, else
as words or parts of them, for which all words are looked through. Without such a run every row is
read.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any

from turnspan_clickhouse.store.client import Store
from turnspan_records.access.fields import of_row, utc
from turnspan_records.access.questions import ask, shown_sql
from turnspan_records.access.window import EARLIEST, Window, as_parameter
from turnspan_records.sql import statement
from turnspan_records.turn_filters import TurnFilter

SECONDS = 2.0
"""For so long a search goes on to a further week."""
_QUICK = 0.5
"""A stretch of weeks that takes fewer seconds is followed by one twice as long."""
_FURTHER = 16
"""So many times as long is what follows a stretch without a hit: no index is read twice for what
is nowhere."""
LONGEST = 1_000
"""Characters that can be looked for."""
_BY_TIME = ("text_search/_turns", "text_search/_tools")
"""What is asked of some weeks. Messages do not lie by time: all that are left are asked at once."""
_SETTINGS = {"text_search/_messages": {"final": 0}}
"""A message's rows differ in their times alone, and `LIMIT BY` shows the newest. Without FINAL the
engine reads the texts of those rows that have the words, else of all that lie beside them."""
_ROLES = {
    "user message": "user message",
    "reply": "assistant message",
    "tool result": "tool message",
}
"""As what kind of message each text of a turn and a tool is seen by a model."""
# The engine looks up no other characters in a text index.
_WORD = re.compile(r"[0-9A-Za-z]+")
_WORDS = 3
"""So many words of a text are asked of the indexes, the longest."""
_ESCAPE = re.compile(r'\\(u[0-9a-fA-F]{4}|["\\/bfnrt])')
_QUOTE = re.compile(r'(?<!\\)(?:\\\\)*"')
_MEANINGS = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


@dataclass(frozen=True, slots=True)
class Hit:
    """One place where the text was found."""

    kind: str
    """``user message``, ``reply``, ``why it stopped``, ``error``, ``tool``, ``tool arguments``,
    ``tool result``, ``tool error``, or a message that a model saw: ``system message``, ..."""
    project: str
    session: str
    """Of what is outside a session, its trace."""
    turn: str
    """Empty of a message: many turns may have seen it."""
    span: str
    message: str
    """The hash of a message; empty of what is not one."""
    time: datetime
    before: str
    match: str
    after: str


@dataclass(frozen=True, slots=True)
class FoundSession:
    """A session in which a text was found."""

    project: str
    scope: str
    """The ``session`` of its hits."""
    session: str
    """Empty of a trace outside a session."""
    trace: str
    """Empty of a session."""
    time: datetime
    """When its last turn began."""
    agent: str
    end: str
    """How its last turn ended."""
    turns: int
    user_message: str
    """What was said first, its first 240 characters."""


@dataclass(frozen=True, slots=True)
class Search:
    """Hits, newest first, and how far back the search went."""

    hits: list[Hit]
    """A message that a turn or a tool has as well is one hit."""
    sessions: list[FoundSession]
    """Those of the hits that have turns."""
    back_to: datetime | None
    """Everything that began since then was looked through; ``None`` where nothing is recorded."""
    finished: bool
    """Nothing older is left to be looked through."""
    next: str
    """What to give as ``until`` to go on; empty when it is finished."""
    sql: str
    """One statement over the whole time that was looked through."""


def find_text(
    store: Store,
    text: str,
    *,
    project: str = "",
    window: Window | None = None,
    limit: int = 50,
    seconds: float = SECONDS,
    filter: TurnFilter | None = None,
) -> Search:
    """Search turns, tools and all messages that models saw for a text, ignoring case. A ``filter``
    keeps what belongs to turns that match; of messages those of their sessions.

    Turns, tools and messages are searched separately; each gives at most ``limit`` hits.

    Raises:
        ValueError: the text is empty or too long.
        StoreError: as ``Store.query``.
    """
    if not text.strip() or len(text) > LONGEST:
        raise ValueError(f"Write a text to find: 1 to {LONGEST} characters.")
    window = window or Window()
    # That a row is there twice until it is merged changes nothing of this.
    # Messages are of the time of a call; those without are few, or all there is.
    for name in ("text_search/range", "text_search/range_of_messages"):
        [(first, last, rows)] = ask(store, name, {"final": 0}, project=project).rows
        if rows:
            break
    else:
        return Search([], [], None, finished=True, next="", sql="")
    oldest = max(utc(first), window.since)
    newest = min(utc(last) + timedelta(microseconds=1), window.until)
    to = window.until if newest > oldest else oldest
    hits: list[Hit] = []
    messages: list[Hit] = []
    known = to  # those since then are all in messages
    began = now = time.monotonic()
    weeks = 1
    wanted = filter or TurnFilter()
    parts = _filtered(wanted)
    while to > oldest:
        since = max(_monday(min(to, newest)) - timedelta(weeks=weeks - 1), window.since)
        since = since if since > oldest else window.since
        given = {**text_parameters(text, project, (since, to), limit), **wanted.values}
        if known >= to:
            left = given | {"from": as_parameter(window.since)}
            messages, known = _hits(store, "text_search/_messages", text, parts, left, window.since)
        found, reach = _of_weeks(store, text, max(since, known), parts, given)
        found += [hit for hit in messages if reach <= hit.time < to]
        to = reach
        hits += sorted(found, key=lambda hit: hit.time, reverse=True)
        before, now = now, time.monotonic()
        if len(hits) >= limit or now - began >= seconds:
            break
        weeks = _FURTHER * weeks if not found else 2 * weeks if now - before < _QUICK else 1
    hits = _each_once(hits)
    finished, back_to = to <= oldest, max(to, _monday(oldest + timedelta(microseconds=1)))
    given = {**text_parameters(text, project, (to, window.until), limit), **wanted.values}
    sql = shown_sql(text_question("text_search/everything", given, **parts), given)
    following = "" if finished else to.isoformat()
    return Search(hits, _sessions(store, hits, project), back_to, finished, following, sql)


def _filtered(wanted: TurnFilter) -> dict[str, str]:
    """The conditions of a filter on each kind of what is searched."""
    if not wanted.conditions:
        return {"filter": "", "of_turns": "", "of_scopes": ""}
    turns = f"FROM turn_summary AS t WHERE {statement('fragments/of_project')}{wanted.sql}"
    scope = "if(session_id = '', trace_id, session_id)"
    return {
        "filter": wanted.sql,
        "of_turns": f"AND (project, turn_id) IN (SELECT project, turn_id {turns})",
        "of_scopes": f"AND (project, scope) IN (SELECT project, {scope} {turns})",
    }


def _of_weeks(
    store: Store,
    text: str,
    since: datetime,
    parts: Mapping[str, str],
    given: Mapping[str, Any],
) -> tuple[list[Hit], datetime]:
    """The hits of some weeks but for messages, and since when they are all of them."""
    every: list[Hit] = []
    for question in _BY_TIME:
        hits, since = _hits(store, question, text, parts, given, since)
        every += hits
    return [hit for hit in every if hit.time >= since], since


def _hits(
    store: Store,
    question: str,
    text: str,
    parts: Mapping[str, str],
    given: Mapping[str, Any],
    since: datetime,
) -> tuple[list[Hit], datetime]:
    """The hits of a question, newest first, and since when they are all of them."""
    limit = given["limit"]
    # With one more than is shown: else the last's moment is in doubt, and all is asked once more.
    sql = text_question(question, given, **parts)
    asked = store.query(sql, {**given, "limit": limit + 1}, _SETTINGS.get(question))
    hits = [_hit(row, text) for row in asked.dicts()]
    if len(hits) > limit:  # perhaps not all of the moment of the last, unless all are of one
        rest = 1 if hits[-1].time < hits[0].time else 0
        since = max(since, hits[-1].time + timedelta(microseconds=rest))
    return hits[:limit], since


def _each_once(hits: Sequence[Hit]) -> list[Hit]:
    """The hits without the messages that a turn or a tool is found with as well."""
    known = {(hit.project, hit.session, _ROLES[hit.kind], _seen(hit)) for hit in hits if hit.turn
             and hit.kind in _ROLES}  # fmt: skip
    return [
        hit
        for hit in hits
        if hit.turn or (hit.project, hit.session, hit.kind, _seen(hit)) not in known
    ]


def _seen(hit: Hit) -> str:
    """What of a hit is the same wherever its text is kept."""
    return f"{hit.before[-20:]}{hit.match}{hit.after[:100]}"


def _sessions(store: Store, hits: Sequence[Hit], project: str) -> list[FoundSession]:
    if not hits:
        return []
    scopes = list(dict.fromkeys(hit.session for hit in hits))
    rows = ask(store, "text_search/sessions", project=project, scopes=scopes).dicts()
    found = {(hit.project, hit.session) for hit in hits}
    return [
        of_row(
            FoundSession,
            row,
            time=utc(row["time"]),
            end=row["ended"],
            user_message=row["said"],
            trace="" if row["session"] else row["trace"],
        )
        for row in rows
        if (row["project"], row["scope"]) in found
    ]


def text_question(name: str, parameters: Mapping[str, object], /, **fragments: str) -> str:
    """The SQL of a question of a search with these parameters."""

    def words(prefix: str) -> str:
        named = [one for one in parameters if one.startswith(f"{prefix}_")]
        return "".join(
            f" AND hasToken(words, lowerUTF8({{{one}:String}}))"
            if one.endswith("_whole")
            else f" AND words LIKE lowerUTF8({{{one}:String}})"
            for one in named
        )

    return statement(name, words=words("word"), written_words=words("written"), **fragments)


def text_parameters(
    text: str, project: str, time: tuple[datetime, datetime], limit: int
) -> dict[str, object]:
    """What the questions of a search are given."""
    written = json.dumps(text, ensure_ascii=False)[1:-1]  # as it stands in a message's JSON
    return {
        "text": text,
        "written": written,
        **_words("word", text),
        **_words("written", written),
        "project": project,
        "from": as_parameter(time[0]),
        "since": as_parameter(EARLIEST),  # a filter's
        "to": as_parameter(time[1]),
        "limit": limit,
    }


def _words(prefix: str, text: str) -> dict[str, str]:
    """What the lowered texts must have to have this text, as parameters."""
    whole: dict[str, bool] = {}
    for found in _WORD.finditer(text):
        begin, end = found.span()
        around = (text[begin - 1 : begin], text[end : end + 1])
        inside = all(one and one.isascii() for one in around)
        whole[found[0]] = inside or whole.get(found[0], False)
    words = sorted(whole, key=lambda word: (-len(word), word))[:_WORDS]
    return {
        f"{prefix}_{at}{'_whole' if whole[word] else ''}": word if whole[word] else f"%{word}%"
        for at, word in enumerate(words)
    }


def _monday(before: datetime) -> datetime:
    """When the week began in which the last moment before this one is."""
    last = before - timedelta(microseconds=1)
    day = datetime(last.year, last.month, last.day, tzinfo=timezone.utc)
    return day - timedelta(days=day.weekday())


def _hit(row: Mapping[str, Any], text: str) -> Hit:
    cut = str(row["cut"])
    if not row["turn_id"] and str(row["kind"]).endswith(" message"):
        cut = _of_string(cut, json.dumps(text, ensure_ascii=False)[1:-1])
    at = max(cut.lower().find(text.lower()), 0)
    return of_row(
        Hit,
        row,
        session=row["session_id"],
        turn=row["turn_id"],
        span=row["span_id"],
        time=utc(row["nanoseconds"]),
        before=cut[:at],
        match=cut[at : at + len(text)],
        after=cut[at + len(text) :],
    )


def _of_string(cut: str, written: str) -> str:
    """Of a piece of JSON the string that has the text, as it was before it was written."""
    at = max(cut.lower().find(written.lower()), 0)
    end = at + len(written)
    begin = max((found.end() for found in _QUOTE.finditer(cut, 0, at)), default=0)
    closing = _QUOTE.search(cut, end)
    return _ESCAPE.sub(_meaning, cut[begin : closing.start() if closing else len(cut)])


def _meaning(found: re.Match[str]) -> str:
    """What an escape of JSON stands for; one half of a pair is left as it is."""
    said = found[1]
    if said[0] == "u":
        code = int(said[1:], 16)
        return found[0] if 0xD800 <= code < 0xE000 else chr(code)
    return _MEANINGS.get(said, said)
