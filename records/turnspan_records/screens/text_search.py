"""Text anywhere in the records, and how far back it was looked for.

One week is looked through after the other, the newest first, until there are enough hits or the
time is up: what is said of the reach is what was done, and the search can go on from there. Where a
stretch of weeks takes next to no time, the next is twice as long.

A text is found in capitals or not, as ``positionCaseInsensitiveUTF8`` does. Before that the text
indexes ``by_word`` skip rows whose lowered texts do not have the text's longest runs of ASCII
letters and digits, each as a word or as a part of one. Without such a run every row is read.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any

from turnspan_clickhouse.store.client import Store
from turnspan_records.access.fields import utc
from turnspan_records.access.questions import ask, shown_sql
from turnspan_records.access.window import EARLIEST, Window, as_parameter
from turnspan_records.sql import statement

SECONDS = 2.0
"""For so long a search goes on to a further week."""
_QUICK = 0.5
"""A stretch of weeks that takes fewer seconds is followed by one twice as long."""
LONGEST = 1_000
"""Characters that can be looked for."""
_QUESTIONS = ("text_search/_turns", "text_search/_tools", "text_search/_messages")
"""Of each kind of text one."""
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
    """Of a message outside a session, its trace."""
    turn: str
    """Empty of a message: many turns may have seen it."""
    span: str
    time: datetime
    before: str
    match: str
    after: str


@dataclass(frozen=True, slots=True)
class Search:
    """Hits, newest first, and how far back the search went."""

    hits: list[Hit]
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
) -> Search:
    """Search turns, tools and all messages that models saw for a text, ignoring case.

    Turns, tools and messages are searched separately; each gives at most ``limit`` hits.

    Raises:
        ValueError: the text is empty or too long.
        StoreError: as ``Store.query``.
    """
    if not text.strip() or len(text) > LONGEST:
        raise ValueError(f"Write a text to find: 1 to {LONGEST} characters.")
    window = window or Window()
    # That a row is there twice until it is merged changes nothing of this.
    [(first, last, rows)] = ask(store, "text_search/range", {"final": 0}, project=project).rows
    if not rows:
        return Search([], None, finished=True, next="", sql="")
    oldest = max(utc(first), window.since)
    newest = to = min(utc(last) + timedelta(microseconds=1), window.until)
    hits: list[Hit] = []
    began = now = time.monotonic()
    weeks = 1
    while to > oldest:
        since = max(_monday(to) - timedelta(weeks=weeks - 1), window.since)
        found, to = _of_weeks(store, text, project, (since, to), limit)
        hits += found
        before, now = now, time.monotonic()
        if len(hits) >= limit or now - began >= seconds:
            break
        weeks = 2 * weeks if now - before < _QUICK else 1
    finished, back_to = to <= oldest, max(to, EARLIEST)
    given = text_parameters(text, project, (back_to, newest), limit)
    sql = shown_sql(text_question("text_search/everything", given), given)
    return Search(hits, back_to, finished, "" if finished else to.isoformat(), sql)


def _of_weeks(
    store: Store, text: str, project: str, time: tuple[datetime, datetime], limit: int
) -> tuple[list[Hit], datetime]:
    """The hits of some weeks, newest first, and since when they are all of them."""
    given = text_parameters(text, project, time, limit)
    every: list[Hit] = []
    reach = time[0]
    for question in _QUESTIONS:
        found = store.query(text_question(question, given), given)
        hits = [_hit(row, text) for row in found.dicts()]
        if len(hits) >= limit and hits[-1].time < hits[0].time:
            reach = max(reach, hits[-1].time + timedelta(microseconds=1))
        every += hits
    every.sort(key=lambda hit: hit.time, reverse=True)
    return [hit for hit in every if hit.time >= reach], reach


def text_question(name: str, parameters: Mapping[str, object]) -> str:
    """The SQL of a question of a search with these parameters."""

    def words(prefix: str) -> str:
        named = [one for one in parameters if one.startswith(f"{prefix}_")]
        return "".join(f" AND words LIKE lowerUTF8({{{one}:String}})" for one in named)

    return statement(name, words=words("word"), written_words=words("written"))


def text_parameters(
    text: str, project: str, time: tuple[datetime, datetime], limit: int
) -> dict[str, object]:
    """What the questions of a search are given."""
    written = json.dumps(text, ensure_ascii=False)[1:-1]  # as it stands in a message's JSON
    return {
        "text": text,
        "written": written,
        **{f"word_{at}": f"%{word}%" for at, word in enumerate(_words(text))},
        **{f"written_{at}": f"%{word}%" for at, word in enumerate(_words(written))},
        "project": project,
        "from": as_parameter(time[0]),
        "to": as_parameter(time[1]),
        "limit": limit,
    }


def _words(text: str) -> list[str]:
    """What the lowered texts must have to have this text."""
    words = sorted(set(_WORD.findall(text)), key=lambda word: (-len(word), word))
    return words[:_WORDS]


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
    return Hit(
        kind=row["kind"],
        project=row["project"],
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
