"""``turnspan replay``: a whole conversation."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import click

from turnspan_console.commands._empty_results import explain, print_found
from turnspan_console.failures import FINDING, Failure
from turnspan_console.options import format_option, html_option, open_chosen, store_option

if TYPE_CHECKING:
    from turnspan_clickhouse.store.client import Store
    from turnspan_records.conversation import Conversation


@click.command("replay", short_help="Replay a session: messages, tools, why it stopped.")
@click.argument("id_", metavar="SESSION", required=False)
@click.option("--full", is_flag=True, help="Show long texts whole (a pipe always gets them whole).")
@html_option
@click.option("--color/--no-color", default=None, help="Force colour on or off.")
@format_option("text", "json")
@store_option
def command(id_: str | None, full: bool, html: str, color: bool | None, format_: str) -> None:
    """Replay SESSION: the messages, the tool calls with their results, and why each turn stopped.

    SESSION is a session's id or its beginning; the id of a turn, call, tool or trace means its
    session. Without SESSION it replays the only one, or lists the newest.
    """
    from turnspan_console.output import Output

    output = Output(color)
    with open_chosen() as store:
        id_ = id_ or _only_session(store, format_)
        if not id_:
            return
        conversation = _conversation(store, id_)
    if html:
        from turnspan_console.panels.html_file import save
        from turnspan_records.conversation.html import conversation_html

        name = conversation.session_id or conversation.trace_id
        save(html, name, conversation_html(conversation))
        return
    if format_ == "json":
        output.json(conversation)
        return
    from turnspan_console.panels.transcript import Transcript

    Transcript(output, full=full).print(conversation)


def _conversation(store: Store, id_: str) -> Conversation:
    from turnspan_console.ids import one
    from turnspan_records.consortium.runs import sessions_of
    from turnspan_records.replay import replay
    from turnspan_records.sessions import session_of_trace

    found = one(store, id_, prefer=("session", "trace"))
    conversation = replay(store, found.project, found.session_id, found.trace_id)
    if not conversation.steps and found.session_id == "" and found.kind == "trace":
        # The trace of a session: replay all of it.
        session = session_of_trace(store, found.project, found.trace_id)
        if session:
            return replay(store, found.project, session)
    if not conversation.steps and found.kind == "consortium":
        sessions = sessions_of(store, found.project, found.id)
        if len(sessions) == 1:
            return replay(store, found.project, sessions[0])
        if sessions:
            raise Failure(
                f"The calls of consortium {found.id} are in {len(sessions):,} sessions: `turnspan "
                f"consortium {found.id}` shows their answers.",
                FINDING,
            )
    if not conversation.steps:
        raise Failure(f"Nothing is recorded in {found.kind} {found.id} to replay.", FINDING)
    return conversation


def _only_session(store: Store, format_: str) -> str:
    """The id of the only session there is; of several, the newest are listed."""
    from turnspan_console.output import tell
    from turnspan_records.sessions import sessions

    newest = sessions(store, limit=10)
    if not newest.rows:
        explain(store, "no sessions to replay", kind="session")
    if len(newest.rows) != 1:
        print_found(newest, "json" if format_ == "json" else "table")
    id_ = str(newest.rows[0][newest.names.index("session")])
    if len(newest.rows) == 1:
        return id_
    tell(f"\nturnspan replay {shlex.quote(id_)}")
    return ""
