"""What the tools ask of the records: a store, the place of a page and arguments in, an answer out.

A question's docstring and the annotations of its arguments are what the agent is told of the tool.
Nothing here writes but ``judging_as``. What is wrong with a question is raised in one sentence, as
``Failure`` or ``ValueError``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from turnspan_clickhouse.store.client import Result, Store
from turnspan_console.failures import FINDING, USAGE, Failure, failing
from turnspan_console.ids import (
    conversation_of,
    detail_of,
    diagnostic,
    difference_of,
    record_of,
    run_of,
    turn_end_of,
)
from turnspan_console.judgment_command import JUDGED
from turnspan_console.mcp_server.answers import Cursor, ToolAnswer
from turnspan_console.mcp_server.transcripts import Level, end_text, quoted, record, transcript
from turnspan_console.options import AskedRecords
from turnspan_records.access import land_what_waits
from turnspan_records.access.absence import why_nothing
from turnspan_records.access.row_writer import judging_spool
from turnspan_records.access.window import Window, window
from turnspan_records.consortium.run_detail import ConsortiumRun, consortium_runs
from turnspan_records.contexts import contexts
from turnspan_records.detail import Detail
from turnspan_records.diagnostics import diagnostics
from turnspan_records.judging.annotation import annotate
from turnspan_records.lookup import find
from turnspan_records.sandbox import Limits, RefusedError, Sandbox
from turnspan_records.screens.text_search import find_text
from turnspan_records.sessions import sessions, turns

MOST_ROWS: Final = 500
SQL_LIMITS: Final = Limits(seconds=10, memory=10**9, rows=MOST_ROWS + 1, bytes=5 * 10**6, threads=2)
SEARCH_SECONDS: Final = 5.0
SOURCE: Final = "machine:mcp"
"""Of judgments: a machine's, so that what a person said holds."""
_HEAD: Final = 4_000
"""Characters of a text in what ``show`` answers."""

Id = Annotated[str, Field(description="An id, whole or its beginning of at least six characters.")]
Project = Annotated[str, Field(description="Only this project; empty for all.")]
Since = Annotated[
    str, Field(description="Only records that began since: 30m, 12h, 7d, or a UTC time.")
]
Until = Annotated[str, Field(description="Only records that began before; as since.")]
Sort = Annotated[
    str,
    Field(description="A column, as cost; -cost for the largest first. Empty: newest first."),
]
Rows = Annotated[int, Field(ge=1, le=MOST_ROWS, description="The most rows.")]


@dataclass(frozen=True, slots=True)
class ToolListing:
    """What every list of records is asked with: arguments of the tool, each by its own name."""

    project: Project = ""
    since: Since = ""
    until: Until = ""
    limit: Rows = 20

    def of(self, place: Cursor) -> AskedRecords:
        """The project, and the window up to the moment of the first page.

        Raises:
            Failure: it has no length.
        """
        asked = window(self.since or None, self.until or None)
        if asked.since >= asked.until:
            raise Failure("since must be before until.", USAGE)
        until = min(asked.until, place.until)
        return {"project": self.project, "window": Window(asked.since, until)}

    def answer(self, store: Store, result: Result, what: str, of: AskedRecords) -> ToolAnswer:
        """Rows, one a line; says whether there are more. One more than the limit was asked for."""
        lines = [record(row) for row in result.dicts()[: self.limit]]
        if not lines:
            return ToolAnswer("No rows.", why_nothing(store, **of))
        rest = (
            "; there are more: ask with a later since, an earlier until, or a limit up to "
            f"{MOST_ROWS}"
        )
        more = rest if len(result.rows) > self.limit else ""
        return ToolAnswer(f"{what}: {len(lines)}{more}.", "\n".join(lines))


def list_sessions(
    store: Store, place: Cursor, sort: Sort = "", listing: ToolListing = ToolListing()
) -> ToolAnswer:
    """List sessions: turns, calls, tools, cost, how the last turn ended."""
    of = listing.of(place)
    result = sessions(store, **of, sort=sort, limit=listing.limit + 1)
    return listing.answer(store, result, f"sessions, {_order(sort)}", of)


def _order(sort: str) -> str:
    return f"sorted by {sort}" if sort else "newest first"


def list_turns(
    store: Store,
    place: Cursor,
    session: Annotated[str, Field(description="Only this session.")] = "",
    sort: Sort = "",
    listing: ToolListing = ToolListing(),
) -> ToolAnswer:
    """List turns: agent, stop reason, rounds, tools, duration, cost, question."""
    of = listing.of(place)
    if session:
        named = record_of(store, session, prefer=("session",))
        session, of["project"] = named.session_id, named.project
    result = turns(store, session=session, **of, sort=sort, limit=listing.limit + 1)
    return listing.answer(store, result, f"turns, {_order(sort)}", of)


def answered_diagnostic(
    store: Store,
    place: Cursor,
    name: Annotated[str, Field(description="A diagnostic; empty lists them.")] = "",
    listing: ToolListing = ToolListing(),
) -> ToolAnswer:
    """Run a diagnostic over all records: early stops, failing tools, loops, errors by type,
    slow and expensive calls, usage..."""
    if not name:
        known = [{"name": one.name, "question": one.question} for one in diagnostics().values()]
        return ToolAnswer("The diagnostics: give one's name.", "\n".join(map(record, known)))
    asked, of = diagnostic(name, "Without a name they are listed."), listing.of(place)
    result = asked.run(store, **of, limit=listing.limit + 1)
    about = f"{asked.title}: {asked.question} What to do: {asked.remedy} Rows"
    return listing.answer(store, result, about, of)


def consortium(
    store: Store,
    place: Cursor,
    run: Annotated[str, Field(description="A run's id; empty lists the runs.")] = "",
    listing: ToolListing = ToolListing(),
) -> ToolAnswer:
    """List consortium runs (several models answer, an arbiter decides), or show one."""
    if not run:
        of = listing.of(place)
        result = consortium_runs(store, **of, limit=listing.limit + 1)
        return listing.answer(store, result, "consortium runs, newest first", of)
    about = "A consortium run: members' answers, and what the arbiter decided."
    return ToolAnswer(about, _run(run_of(store, run)))


def found_text(
    store: Store,
    place: Cursor,
    text: Annotated[str, Field(description="A text, or an id or its beginning.")],
    listing: ToolListing = ToolListing(),
) -> ToolAnswer:
    """Find a text in what users, agents, tools and models wrote, newest first, and the records
    with an id. The answer names the time it looked back to."""
    meant = find(store, text)
    of = listing.of(place)
    searched = find_text(store, text, **of, limit=listing.limit, seconds=SEARCH_SECONDS)
    lines = [*_each("id", meant), *_each("text", searched.hits)]
    about = f"{len(meant)} records of this id, {len(searched.hits)} places with this text"
    rest = f"go on with until={searched.next}"
    if searched.finished:
        rest = "everything was looked through."
    return ToolAnswer(f"{about}; {rest}", "\n".join(lines))


def answered_sql(
    store: Store,
    _: Cursor,
    query: Annotated[str, Field(description="One SELECT in ClickHouse's SQL.")],
) -> ToolAnswer:
    """Run one reading query on the records, within limits of time, memory and rows. Tables:
    llm_call, turn_summary, tool_call, message, definition, span, annotation,
    context_assembly, context_item; views llm_call_full, turn_full, consortium_run,
    annotation_current. Each record appears once; DESCRIBE TABLE lists a table's columns."""
    refusal = failing(RefusedError, code=USAGE, end=".")
    with Sandbox(store, limits=SQL_LIMITS) as sandbox, refusal:
        result = sandbox.query(query)
    lines = [record(row) for row in result.dicts()[:MOST_ROWS]]
    more = len(result.rows) > MOST_ROWS
    about = f"{len(lines)} rows{', and more: aggregate or LIMIT' if more else ''}."
    return ToolAnswer(about, "\n".join(lines))


def why(store: Store, _: Cursor, id: Id) -> ToolAnswer:
    """Explain why a turn stopped: stop reason, rule, evidence, last model and tool calls. A
    session's id means its last turn; a call's or tool's id the turn around it."""
    about = "Why a turn stopped: the rule, what shows it, and its last model and tool calls."
    return ToolAnswer(about, end_text(turn_end_of(store, id)))


def replayed(
    store: Store,
    _: Cursor,
    id: Id,
    level: Annotated[
        Level, Field(description="outline: turns; messages: texts cut; full: whole texts.")
    ] = "outline",
) -> ToolAnswer:
    """Show the conversation of a session, or of one turn: messages, model calls, tools with
    results, how each turn ended."""
    named = record_of(store, id, prefer=("session", "turn", "trace"))
    conversation = conversation_of(store, named)
    only = named.turn_id if named.kind in ("turn", "call", "tool") else ""
    what = "One turn" if only else "The conversation"
    about = f"{what}, level {level}. Levels: outline, messages (texts cut), full."
    return ToolAnswer(about, transcript(conversation, level, only))


def shown(store: Store, _: Cursor, id: Id) -> ToolAnswer:
    """Show everything about one record, with its judgments: a session, turn, trace, model
    call (with the messages it sent), tool call, span, context, attempt, artifact or consortium
    run."""
    about = "A record with its texts, messages and what is below it."
    return ToolAnswer(about, _detail(detail_of(store, record_of(store, id))))


def changed(store: Store, _: Cursor, before: Id, after: Id) -> ToolAnswer:
    """Show what changed between two model calls: messages edited, dropped or added, the system
    prompt, tools, parameters, and where the provider's cache broke."""
    found = difference_of(store, before, after)
    about = "What changed from the first call to the second, and where a cache broke."
    if found.nothing:
        about += " Both requests are the same."
    lines = [
        f"before {record(found.before)}",
        f"after {record(found.after)}",
        *_each("parameter", found.parameters),
        *_each("system prompt", [] if found.system.same else [found.system]),
        *_each("tools", [] if found.tools_same else [found.tools]),
        *_each("messages", found.messages),
        f"cache {record(found.cache)}",
    ]
    return ToolAnswer(about, "\n".join(lines))


def context_of(store: Store, _: Cursor, id: Id) -> ToolAnswer:
    """Show what went into prompts, what was left out, and why. The id is that of a context
    assembly, model call, turn, session or trace."""
    named = record_of(store, id, prefer=("context", "session"))
    assembled = contexts(store, named)
    if not assembled:
        raise Failure(
            f"No context assembly is recorded of {named.kind} {named.id}: "
            "turnspan.context_assembly(...) records one.",
            FINDING,
        )
    lines: list[str] = []
    for each in assembled:
        facts = asdict(each)
        items, sections, text = (facts.pop(name) for name in ("items", "sections", "text"))
        lines.append(f"context {record(facts)}")
        lines += [f"  section {record(section)}" for section in sections]
        lines += [f"  item {record({**item, 'text': _cut(item['text'])})}" for item in items]
        lines += quoted("text", text or "", _HEAD, "  ")
    return ToolAnswer(
        "Contexts assembled for prompts: what was kept, dropped, and why.", "\n".join(lines)
    )


def _each(name: str, values: Iterable[Any]) -> list[str]:
    return [f"{name} {record(value)}" for value in values]


def _cut(text: str | None) -> str:
    text = text or ""
    return text if len(text) <= _HEAD else f"{text[:_HEAD]} ({len(text) - _HEAD:,} more characters)"


def _detail(shown: Detail) -> str:
    lines = [f"{shown.kind} {record({'id': shown.id, **shown.facts})}"]
    for name, text in shown.texts.items():
        lines += quoted(name, text, _HEAD, "")
    for name, messages in (("sent", shown.input_messages), ("answered", shown.output_messages)):
        for message in messages:
            said = {"role": message.role, "parts": message.parts} if message.recorded else {}
            lines.append(f"{name} {record({**said, 'hash': message.hash})}")
    for name, table in shown.tables.items():
        lines += _each(f"{name}:", table.dicts())
    lines += [*_each("span", shown.spans), *_each("judgment", shown.judgments)]
    return "\n".join(lines)


def _run(run: ConsortiumRun) -> str:
    facts = asdict(run)
    for name in ("iterations", "judgments", "prompt", "final_text"):
        del facts[name]
    lines = [f"run {record(facts)}", *quoted("prompt", run.prompt, _HEAD, "")]
    for iteration in run.iterations:
        lines.append(f"iteration {iteration.number}")
        for member in iteration.members:
            said = {**asdict(member), "answer": ""}
            lines.append(f"  member {record(said)}")
            lines += quoted("answer", member.answer, _HEAD, "  ")
        for decision in iteration.decisions:
            said = {**asdict(decision), "synthesis": ""}
            lines.append(f"  arbiter {record(said)}")
            lines += quoted("synthesis", decision.synthesis, _HEAD, "  ")
    lines += quoted("final", run.final_text, _HEAD, "")
    lines += _each("judgment", run.judgments)
    return "\n".join(lines)


def judging_as(author: str) -> Callable[..., ToolAnswer]:
    """The question that writes an author's judgments of a record. They have landed when it is
    answered, or wait in the spool."""

    def judge(
        store: Store,
        _: Cursor,
        id: Id,
        outcome: Annotated[
            Literal["", "pending", "used", "modified", "rejected"],
            Field(description="The outcome of the answer."),
        ] = "",
        training_flag: Annotated[
            Literal[-1, 0, 1] | None,
            Field(description="1 good example, -1 exclude, 0 neither."),
        ] = None,
        score: Annotated[float | None, Field(description="1 to 10.")] = None,
        comment: Annotated[str, Field(description="The reason.")] = "",
        confidence: Annotated[float | None, Field(description="0 to 1.")] = None,
    ) -> ToolAnswer:
        """Judge a turn, call, tool, session or consortium run. It is stored as a machine's
        judgment; a person's takes precedence."""
        subject = record_of(store, id, prefer=JUDGED)
        given = annotate(
            *(judging_spool(store), subject),
            outcome=outcome or None,
            training_flag=training_flag,
            score=score,
            comment=comment or None,
            author=author,
            confidence=confidence,
            source=SOURCE,
        )
        if not given:
            raise Failure("Give a judgment: outcome, training_flag, score or comment.", USAGE)
        waits: list[str] = []
        land_what_waits(store, waits.append)
        lines = [record({"kind": subject.kind, "id": subject.id}), *waits]
        return ToolAnswer(f"{len(given)} written, as a machine's judgment.", "\n".join(lines))

    return judge
