"""``turnspan replay``: a whole conversation."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import click

from turnspan_console.commands._listing import explain, print_found
from turnspan_console.options import (
    format_option,
    full_option,
    html_option,
    open_chosen,
    store_option,
)
from turnspan_console.output import Output, tell

if TYPE_CHECKING:
    from turnspan_clickhouse.store.client import Store


@click.command("replay", short_help="Replay a session: messages, tools, why it stopped.")
@click.argument("id_", metavar="SESSION", required=False)
@full_option
@html_option
@click.option("--color/--no-color", default=None, help="Force colour on or off.")
@format_option("text", "json")
@store_option
def command(id_: str | None, full: bool, html: str, color: bool | None, format_: str) -> None:
    """Replay SESSION: the messages, the tool calls with their results, and why each turn stopped.

    SESSION is a session's id or its beginning; the id of a turn, call, tool or trace means its
    session. Without SESSION it replays the only one, or lists the newest.

    \b
      turnspan replay
      turnspan replay thread-42 --full
    """
    from turnspan_console.ids import conversation_of, record_of
    from turnspan_console.panels.html_file import save
    from turnspan_console.panels.transcript import Transcript
    from turnspan_records.conversation.html import conversation_html

    output = Output(color)
    with open_chosen() as store:
        id_ = id_ or _only_session(store, format_)
        if not id_:
            return
        conversation = conversation_of(store, record_of(store, id_, prefer=("session", "trace")))
    if html:
        name = conversation.session_id or conversation.trace_id
        save(html, name, conversation_html(conversation))
    else:
        output.answer(conversation, format_, lambda it, to: Transcript(to, full=full).print(it))


def _only_session(store: Store, format_: str) -> str:
    """The id of the only session there is; of several, the newest are listed."""
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
