"""What the tools ask of the records: a store and arguments in, an answer out. Nothing here writes.

What is wrong with a question is raised as ``Failure`` or ``ValueError``, in one sentence.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Final

from turnspan_clickhouse.store.client import Result, Store
from turnspan_console.failures import FINDING, USAGE, Failure
from turnspan_console.ids import diagnostic, one, two_calls
from turnspan_console.mcp_server.answers import Cursor, ToolAnswer
from turnspan_console.mcp_server.transcripts import Level, end_text, quoted, record, transcript
from turnspan_records.access.absence import why_nothing
from turnspan_records.access.window import Window, window
from turnspan_records.consortium.run_detail import ConsortiumRun, consortium_run
from turnspan_records.consortium.runs import consortium_runs, sessions_of
from turnspan_records.contexts import contexts
from turnspan_records.detail import detail
from turnspan_records.detail_types import Detail
from turnspan_records.diagnostics import diagnostics
from turnspan_records.lookup import find
from turnspan_records.replay import replay
from turnspan_records.sandbox import Limits, RefusedError, Sandbox
from turnspan_records.screens.difference import diff
from turnspan_records.screens.text_search import find_text
from turnspan_records.screens.turn_end import turn_end
from turnspan_records.sessions import session_of_trace, sessions, turns

MOST_ROWS: Final = 500
SQL_LIMITS: Final = Limits(seconds=10, memory=10**9, rows=MOST_ROWS + 1, bytes=5 * 10**6, threads=2)
SEARCH_SECONDS: Final = 5.0
_HEAD: Final = 4_000
"""Characters of a text in what ``show`` answers."""


def list_sessions(
    store: Store, place: Cursor, project: str, since: str, until: str, limit: int
) -> ToolAnswer:
    """The newest sessions."""
    when = within(since, until, place)
    found = sessions(store, project=project, window=when, limit=_rows(limit) + 1)
    return listed(store, found, limit, "sessions, newest first", project, when)


def list_turns(
    store: Store, place: Cursor, session: str, project: str, since: str, until: str, limit: int
) -> ToolAnswer:
    """The newest root turns, of one session or of all."""
    when = within(since, until, place)
    if session:
        named = one(store, session, prefer=("session",))
        session, project = named.session_id, named.project
    found = turns(store, session=session, project=project, window=when, limit=_rows(limit) + 1)
    return listed(store, found, limit, "turns, newest first", project, when)


def replayed(store: Store, _: Cursor, id_: str, level: Level) -> ToolAnswer:
    """A session, or the turn that an id is of, as a transcript."""
    named = one(store, id_, prefer=("session", "turn", "trace"))
    session = named.session_id
    if named.kind == "consortium" and not session:
        known = sessions_of(store, named.project, named.id)
        session = known[0] if len(known) == 1 else ""
    if not session and named.trace_id:
        session = session_of_trace(store, named.project, named.trace_id)
    conversation = replay(store, named.project, session, named.trace_id)
    if not conversation.steps:
        raise Failure(f"Nothing is recorded in {named.kind} {named.id} to replay.", FINDING)
    only = named.turn_id if named.kind in ("turn", "call", "tool") else ""
    what = "One turn" if only else "The conversation"
    about = f"{what}, level {level}. Levels: outline, messages (texts cut), full."
    return ToolAnswer(about, transcript(conversation, level, only))


def shown(store: Store, _: Cursor, id_: str) -> ToolAnswer:
    """Everything about one record."""
    named = one(store, id_)
    try:
        found = detail(store, named)
    except KeyError:
        raise Failure(f"The {named.kind} {named.id} has just been removed.", FINDING) from None
    return ToolAnswer("A record with its texts, messages and what is below it.", _detail(found))


def why(store: Store, _: Cursor, id_: str) -> ToolAnswer:
    """Why a turn stopped, with the rule and the evidence."""
    named = one(store, id_, prefer=("turn", "session"))
    try:
        end = turn_end(store, named)
    except KeyError:
        raise Failure(
            f"The {named.kind} {named.id} has no turn: give the id of a turn, or of a session, a "
            "model call or a tool call in one.",
            FINDING,
        ) from None
    about = "Why a turn stopped: the rule, what shows it, and its last model and tool calls."
    return ToolAnswer(about, end_text(end))


def changed(store: Store, _: Cursor, before: str, after: str) -> ToolAnswer:
    """What changed from one model call to another."""
    calls = two_calls(store, before, after)
    try:
        found = diff(store, calls[0].project, calls[0].id, calls[1].id)
    except KeyError as error:
        raise Failure(f"The call {error.args[0]} has just been removed.", FINDING) from None
    about = "What changed from the first call to the second, and where a cache broke."
    if found.nothing:
        about += " Both requests are the same."
    lines = [f"before {record(found.before)}", f"after {record(found.after)}"]
    lines += [f"parameter {record(each)}" for each in found.parameters]
    if not found.system.same:
        lines.append(f"system prompt {record(found.system)}")
    if not found.tools_same:
        lines.append(f"tools {record(found.tools)}")
    lines += [f"messages {record(each)}" for each in found.messages]
    return ToolAnswer(about, "\n".join([*lines, f"cache {record(found.cache)}"]))


def diagnosed(
    store: Store, place: Cursor, name: str, project: str, since: str, until: str, limit: int
) -> ToolAnswer:
    """The answer of a diagnostic; without a name what there are."""
    if not name:
        lines = [record({"name": one.name, "question": one.question})
                 for one in diagnostics().values()]  # fmt: skip
        return ToolAnswer("The diagnostics: give one's name.", "\n".join(lines))
    asked = diagnostic(name, "Without a name they are listed.")
    when = within(since, until, place)
    found = asked.run(store, project=project, window=when, limit=_rows(limit) + 1)
    about = f"{asked.title}: {asked.question} What to do: {asked.remedy} Rows"
    return listed(store, found, limit, about, project, when)


def found(
    store: Store, place: Cursor, text: str, project: str, since: str, until: str, limit: int
) -> ToolAnswer:
    """Where a text stands in the records, and what it means where it is an id."""
    meant = find(store, text)
    lines = [f"id {record(each)}" for each in meant]
    searched = find_text(
        store,
        text,
        project=project,
        window=within(since, until, place),
        limit=_rows(limit),
        seconds=SEARCH_SECONDS,
    )
    lines += [f"text {record(hit)}" for hit in searched.hits]
    about = f"{len(meant)} records of this id, {len(searched.hits)} places with this text"
    if searched.finished:
        return ToolAnswer(f"{about}; everything was looked through.", "\n".join(lines))
    return ToolAnswer(f"{about}; go on with until={searched.next}", "\n".join(lines))


def context_of(store: Store, _: Cursor, id_: str) -> ToolAnswer:
    """What prompts were made of, and what was left out."""
    named = one(store, id_, prefer=("context", "session"))
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


def consortium(
    store: Store, place: Cursor, run: str, project: str, since: str, until: str, limit: int
) -> ToolAnswer:
    """The consortium runs, or one of them."""
    if not run:
        when = within(since, until, place)
        runs = consortium_runs(store, project=project, window=when, limit=_rows(limit) + 1)
        return listed(store, runs, limit, "consortium runs, newest first", project, when)
    named = one(store, run, prefer=("consortium",))
    if named.kind != "consortium":
        raise Failure(f"{run!r} is a {named.kind} and no consortium run.", FINDING)
    loaded = consortium_run(store, named.project, named.id)
    return ToolAnswer(
        "A consortium run: members' answers, and what the arbiter decided.", _run(loaded)
    )


def answered_sql(store: Store, _: Cursor, query: str) -> ToolAnswer:
    """One query that reads."""
    with Sandbox(store, limits=SQL_LIMITS) as sandbox:
        try:
            result = sandbox.query(query)
        except RefusedError as error:
            raise Failure(f"{error}.", USAGE) from None
    lines = [record(row) for row in result.dicts()[:MOST_ROWS]]
    more = len(result.rows) > MOST_ROWS
    about = f"{len(lines)} rows{', and more: aggregate or LIMIT' if more else ''}."
    return ToolAnswer(about, "\n".join(lines))


# -- what they have in common ------------------


def within(since: str, until: str, place: Cursor) -> Window:
    """The window that was asked about, up to the moment of the first page."""
    asked = window(since or None, until or None)
    if asked.since >= asked.until:
        raise Failure("since must be before until.", USAGE)
    return Window(asked.since, min(asked.until, place.until))


def listed(
    store: Store, result: Result, limit: int, what: str, project: str, when: Window
) -> ToolAnswer:
    """Rows, one a line; says whether there are more."""
    limit = _rows(limit)
    lines = [record(row) for row in result.dicts()[:limit]]
    if not lines:
        return ToolAnswer("No rows.", why_nothing(store, project=project, window=when))
    more = len(result.rows) > limit
    rest = (
        f"; there are more: ask with a later since, an earlier until, or a limit up to {MOST_ROWS}"
    )
    return ToolAnswer(f"{what}: {len(lines)}{rest if more else ''}.", "\n".join(lines))


def _rows(limit: int) -> int:
    return min(max(limit, 1), MOST_ROWS)


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
        lines += [f"{name}: {record(row)}" for row in table.dicts()]
    lines += [f"span {record(span)}" for span in shown.spans]
    lines += [f"judgment {record(judged)}" for judged in shown.judgments]
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
    lines += [f"judgment {record(judged)}" for judged in run.judgments]
    return "\n".join(lines)
