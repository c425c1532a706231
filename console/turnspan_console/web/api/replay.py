"""A session: its outline, its texts by their hashes, why its turns stopped, what is found in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from turnspan_clickhouse.store.client import Store
from turnspan_console.web.api.refusals import refusing
from turnspan_console.web.api.turns import TurnId
from turnspan_console.web.endpoints import NothingFoundError, endpoint
from turnspan_records.conversation.html import conversation_html, document
from turnspan_records.replay import replay
from turnspan_records.screens.outline import FoundInSession, find_in_session, newest, outline
from turnspan_records.screens.outline_types import Outline
from turnspan_records.screens.saved import call_html
from turnspan_records.screens.stop_evidence import StopEvidence, stop_evidence
from turnspan_records.screens.texts import (
    TextRange,
    Texts,
    ToolField,
    definition_text,
    text_range,
    texts,
    tool_range,
)

Hash = Annotated[str, Meta(pattern="^[0-9a-f]{32}$")]


@dataclass(frozen=True, slots=True)
class OutlineQuery:
    """Which session, or which trace without one."""

    project: str
    session: str = ""
    trace: str = ""
    after: str = ""
    """The ``cursor`` of the outline that is known already."""
    calls: Annotated[int, Meta(ge=0, le=100_000)] = 0
    """Its beginning alone, as far as so many calls; 0: all of it."""


@dataclass(frozen=True, slots=True)
class OutlineAnswer:
    """The outline; nothing where no row is newer than the one that is known."""

    outline: Outline | None


@endpoint("GET", "/api/outline", "A session's outline.")
def _outline(store: Store, query: OutlineQuery) -> OutlineAnswer:
    if query.after and newest(store, query.project, query.session, query.trace) == query.after:
        return OutlineAnswer(None)
    found = outline(store, query.project, query.session, query.trace, calls=query.calls)
    return OutlineAnswer(found)


@dataclass(frozen=True, slots=True)
class MessagesQuery:
    """Which messages of a scope: a session, or a trace without one."""

    project: str
    scope: str
    hashes: Annotated[tuple[Hash, ...], Meta(max_length=2_000)]


@endpoint("POST", "/api/messages", "Messages by their hashes.")
def _messages(store: Store, query: MessagesQuery) -> Texts:
    return texts(store, query.project, query.scope, query.hashes)


@dataclass(frozen=True, slots=True)
class MessageTextQuery:
    """From which character of which part of a message."""

    project: str
    scope: str
    hash: Hash
    part: Annotated[int, Meta(ge=0)] = 0
    start: Annotated[int, Meta(ge=0)] = 0


@endpoint("GET", "/api/message-text", "More of a long message.")
def _message_text(store: Store, query: MessageTextQuery) -> TextRange:
    try:
        return text_range(store, query.project, query.scope, query.hash, query.part, query.start)
    except KeyError:
        raise NothingFoundError(f"There is no message {query.hash} with such a part.") from None


@dataclass(frozen=True, slots=True)
class ToolTextQuery:
    """From which character of what a tool was asked, or gave."""

    project: str
    span: str
    field: ToolField
    start: Annotated[int, Meta(ge=0, le=2**40)] = 0


@endpoint("GET", "/api/tool-text", "More of what a tool was asked, or gave.")
def _tool_text(store: Store, query: ToolTextQuery) -> TextRange:
    with refusing("tool call", query.project):
        return tool_range(store, query.project, query.span, query.field, query.start)


@dataclass(frozen=True, slots=True)
class DefinitionQuery:
    """Which system prompt or tool catalogue."""

    project: str
    hash: Hash


@dataclass(frozen=True, slots=True)
class DefinitionText:
    """Its text."""

    text: str


@endpoint("GET", "/api/definition", "A system prompt or a tool catalogue.")
def _definition(store: Store, query: DefinitionQuery) -> DefinitionText:
    try:
        return DefinitionText(definition_text(store, query.project, query.hash))
    except KeyError:
        raise NothingFoundError(
            f"Definition {query.hash} is not in the store: it was not recorded, or was pruned."
        ) from None


@endpoint("GET", "/api/stop", "Why a turn stopped.")
def _stop(store: Store, query: TurnId) -> StopEvidence:
    with refusing("turn", query.project):
        return stop_evidence(store, query.project, query.turn)


@dataclass(frozen=True, slots=True)
class FindInSessionQuery:
    """Which characters, in which session."""

    project: str
    text: Annotated[str, Meta(max_length=1_000)]
    session: str = ""
    trace: str = ""


@endpoint("GET", "/api/session-find", "Where a text stands in a session.")
def _find(store: Store, query: FindInSessionQuery) -> FoundInSession:
    return find_in_session(store, query.project, query.session, query.text, query.trace)


@dataclass(frozen=True, slots=True)
class SavedQuery:
    """Which call; without one which session, or which trace without that."""

    project: str
    session: str = ""
    trace: str = ""
    call: str = ""


@dataclass(frozen=True, slots=True)
class SavedPage:
    """A page that is complete in itself."""

    html: str


@endpoint("GET", "/api/saved", "A session or a call as one file.")
def _saved(store: Store, query: SavedQuery) -> SavedPage:
    if query.call:
        with refusing("model call", query.project):
            return SavedPage(document(query.call, call_html(store, query.project, query.call)))
    found = replay(store, query.project, query.session, query.trace)
    return SavedPage(document(query.session or query.trace, conversation_html(found)))
