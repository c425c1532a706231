"""What is kept in memory of a log: times, models and hashes of the rows that may be in runs."""

from __future__ import annotations

import enum
from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from turnspan.runtime.type_guards import is_dict, is_list
from turnspan_llm.grouping.prompts import (
    MemberPrompt,
    is_arbiter_prompt,
    may_be_member_prompt,
    member_prompt,
)
from turnspan_llm.grouping.texts import PREFIX, KnownText, digest, known
from turnspan_llm.logs.logged import LoggedResponse, interval, is_ulid, ulid_milliseconds
from turnspan_llm.logs.messages import UnresolvedError, resolved
from turnspan_llm.logs.responses import OpenedLog

SLACK: Final = 2_000
"""Microseconds: durations are cut to milliseconds, and clocks of two kinds are read."""
JSON_OF_OUTPUTS: Final = '"model_responses"'
"""Stands in what llm-consortium keeps with an output."""
_RECENT: Final = 256
_NEAR: Final = 60_000_000
"""Further away from its call, an id says nothing about it: a conversation may be an old one."""


class Kind(enum.IntEnum):
    """What a row is by its model, its prompt and what its provider said."""

    OUTPUT = 0
    ARBITER = 1
    MEMBER = 2
    OTHER = 3
    """Only in a file of llm-consortium's own, where the tables say more."""


@dataclass(frozen=True, slots=True)
class ToldAnswer:
    """A member's answer as an output tells of it."""

    model: str
    failed: bool
    text: KnownText


@dataclass(frozen=True, slots=True)
class OutputJson:
    """What an output's JSON says of its run."""

    answers: tuple[ToldAnswer, ...]
    """Of the last iteration."""
    iterations: int | None
    arbiter: str | None


@dataclass(slots=True, eq=False)
class LogRow:
    """A row that may be in a run."""

    id: str
    database: int
    """0 the log, 1 llm-consortium's own file."""
    table: str
    position: int
    model: str
    began: int
    ended: int
    since: int
    """When llm was busy with it at the latest: its ids are made before or after the call."""
    until: int
    """Until when llm was busy with it at the earliest."""
    kind: Kind
    answer: KnownText
    prompt: bytes
    assigned: str | None
    assigned_role: int | None
    question: KnownText | None = None
    """Of an output."""
    json: OutputJson | None = None
    """Of an output."""
    member: MemberPrompt | None = None

    @property
    def order(self) -> tuple[int, int, str]:
        """By time, and where that is the same by id: never by where a row stands in its table,
        which a copy of the log may have changed."""
        return self.began, self.ended, self.id

    def within(self, other: LogRow) -> bool:
        """Whether another row's interval contains this one's."""
        return self.began >= other.began - SLACK and self.ended <= other.ended + SLACK


class Index:
    """Finds the rows whose answer stands at a place of a longer text.

    By the first characters of the answer: some look-ups a place, whatever the number of rows.
    """

    def __init__(self) -> None:
        self._rows: dict[int, list[LogRow]] = {}
        self._lengths: set[int] = set()
        self._sorted = False

    def add(self, row: LogRow, answer: str) -> None:
        """Make a row's answer findable."""
        self._rows.setdefault(hash(answer[:PREFIX]), []).append(row)
        self._lengths.add(min(len(answer), PREFIX))
        self._sorted = False

    def at(self, whole: str, position: int, since: int, until: int) -> Iterator[LogRow]:
        """The rows that began between two times whose answer may stand at the place."""
        if not self._sorted:
            for rows in self._rows.values():
                rows.sort(key=lambda row: row.order)
            self._sorted = True
        for length in self._lengths:
            rows = self._rows.get(hash(whole[position : position + length]), [])
            first = bisect_left(rows, since, key=_began)
            last = bisect_right(rows, until, key=_began)
            for number in range(last - 1, first - 1, -1):  # the newest first
                row = rows[number]
                if min(row.answer.length, PREFIX) == length:
                    yield row


def _began(row: LogRow) -> int:
    return row.began


def began_between(rows: list[LogRow], since: int, until: int) -> list[LogRow]:
    """Those of rows in the order of their time that began between two moments."""
    return rows[bisect_left(rows, since, key=_began) : bisect_right(rows, until, key=_began)]


@dataclass(slots=True)
class LogRows:
    """The rows of a database, by what they may be."""

    outputs: list[LogRow] = field(default_factory=list[LogRow])
    arbiters: list[LogRow] = field(default_factory=list[LogRow])
    members: list[LogRow] = field(default_factory=list[LogRow])
    by_id: dict[str, LogRow] = field(default_factory=dict[str, LogRow])
    index: Index = field(default_factory=Index)
    models: set[str] = field(default_factory=set[str])
    """All that the log names, also those that are in no run, and in other stretches of it."""
    seen: int = 0


def read_rows(
    source: OpenedLog,
    stretch: Iterable[tuple[str, Sequence[int]]],
    names: frozenset[str],
    window: int,
    named: frozenset[str] | None,
) -> LogRows:
    """Read what is to be grouped.

    Args:
        source: the database.
        stretch: by table, the positions of the rows.
        names: of consortiums, which are models in a log.
        window: microseconds that a run takes at most where its output does not say.
        named: ids of rows that are kept, whatever kind they are of; ``None`` keeps all.
    """
    rows = LogRows()
    prompts = _Prompts()
    for table, positions in stretch:
        for logged in source.responses(table, positions):
            rows.seen += 1
            # It is of a consortium's name, or its JSON is that of llm-consortium.
            output = logged.model in names or JSON_OF_OUTPUTS in (logged.response_json or "")
            row = _row(logged, source.number, output, window, prompts)
            of_no_kind = row.kind is Kind.OTHER and row.assigned is None
            if of_no_kind and named is not None and row.id not in named:
                continue
            rows.by_id[row.id] = row
            if row.member is not None:
                rows.index.add(row, logged.response)
            if row.kind is not Kind.OTHER:
                (rows.outputs, rows.arbiters, rows.members)[row.kind].append(row)
    for found in (rows.outputs, rows.arbiters, rows.members):
        found.sort(key=lambda row: row.order)
    return rows


class _Prompts:
    """Reads members' prompts, those of one iteration once: they are all the same."""

    def __init__(self) -> None:
        self._recent: OrderedDict[bytes, MemberPrompt | None] = OrderedDict()

    def of(self, prompt: str) -> tuple[MemberPrompt | None, bytes]:
        """What a member was asked, and the prompt's hash."""
        if not may_be_member_prompt(prompt):
            return None, b""
        key = digest(prompt)
        if key not in self._recent:
            self._recent[key] = member_prompt(prompt)
            if len(self._recent) > _RECENT:
                self._recent.popitem(last=False)
        found = self._recent[key]
        # The very same bytes for all of them, not a copy each.
        return found, found.prompt if found is not None else b""


def _row(
    logged: LoggedResponse, database: int, output: bool, window: int, prompts: _Prompts
) -> LogRow:
    began, ended = interval(logged.datetime_utc, logged.duration_ms)
    if output and logged.duration_ms is None and began >= 0:
        ended = began + window
    since, until = _busy(logged, began, ended)
    row = LogRow(
        id=logged.id,
        database=database,
        table=logged.table,
        position=logged.position,
        model=_kept(logged.model),
        began=began,
        ended=ended,
        since=since,
        until=until,
        kind=Kind.OTHER,
        answer=known(logged.response),
        prompt=b"",
        assigned=logged.consortium_id,
        assigned_role=logged.is_arbiter_response,
    )
    if not is_arbiter_prompt(logged.prompt):  # an output may be a member of a run around it
        row.member, row.prompt = prompts.of(logged.prompt)
    if output:
        row.kind = Kind.OUTPUT
        _tell(row, logged)
    elif is_arbiter_prompt(logged.prompt):
        row.kind = Kind.ARBITER
    elif row.member is not None:
        row.kind = Kind.MEMBER
    return row


def _busy(logged: LoggedResponse, began: int, ended: int) -> tuple[int, int]:
    """The time in which llm was busy with a call for certain, by its times and by its ids.

    A ULID has the millisecond in which it was made: of the row before or after the call, of a
    conversation that is the call's own when the call is logged.
    """
    since, until = began, ended
    for id_ in (logged.id, logged.conversation_id):
        milliseconds = ulid_milliseconds(id_ or "")
        if id_ is None or milliseconds is None or not is_ulid(id_):
            continue
        made = milliseconds * 1_000
        if began - _NEAR <= made <= ended + _NEAR:
            since, until = min(since, made + 1_000), max(until, made)
    return since, until


_models: dict[str, str] = {}


def _kept(model: str) -> str:
    """The same string for the same model: a log has many rows and few models."""
    return _models.setdefault(model, model) if len(_models) < 10_000 else model


def _tell(row: LogRow, logged: LoggedResponse) -> None:
    question = logged.prompt
    try:
        said = resolved(logged.response_json, logged.texts)
    except UnresolvedError:
        said = None
    if is_dict(said):
        if isinstance(said.get("original_prompt"), str):
            question = said["original_prompt"]
        row.json = _told(said)
    row.question = known(question)


def _told(said: dict[str, Any]) -> OutputJson | None:
    answers = said.get("model_responses")
    if not is_list(answers) or not all(is_dict(answer) for answer in answers):
        return None
    metadata: dict[str, Any] = said["metadata"] if is_dict(said.get("metadata")) else {}
    count, arbiter = metadata.get("iteration_count"), metadata.get("arbiter")
    return OutputJson(
        answers=tuple(_answer(answer) for answer in answers),
        iterations=count if isinstance(count, int) and count > 0 else None,
        arbiter=arbiter if isinstance(arbiter, str) else None,
    )


def _answer(answer: dict[str, Any]) -> ToldAnswer:
    failed = "response" not in answer
    text = f"Error: {answer.get('error', 'Unknown error')}" if failed else str(answer["response"])
    return ToldAnswer(_kept(str(answer.get("model", ""))), failed, known(text))
