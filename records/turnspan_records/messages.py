"""Messages and definitions of a conversation, and the exact messages of one call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import orjson

from turnspan.dialects.convert import rebuild_message
from turnspan.runtime.errors import TurnspanError
from turnspan_clickhouse.rows.tables import NO_HASH
from turnspan_clickhouse.store.client import Store
from turnspan_records.access.questions import ask, ask_row
from turnspan_records.conversation import MessageRecord, ToolRequestRecord

NONE = NO_HASH.hex()
"""The hash column's value, in hex, where a record has no such content."""

ONE_SESSION = {
    "max_threads": 1,
    "optimize_read_in_order": 0,
    "max_block_size": 256,
    "query_plan_execute_functions_after_sorting": 0,
}
"""Settings of a query that reads one session, a granule or two of a table: threads and streams in
the order of the key cost it more than they read, histories of 5,000 calls are half as much memory
in small blocks, and texts are cut before rows are sorted."""


class ContentMissingError(TurnspanError, LookupError):
    """A message of a call is not in the store: not recorded, or pruned."""


def known_hash(value: object) -> str:
    """A hash column's value in hex; empty where the record has no such content."""
    return "" if value == NONE else str(value)


def load_messages(
    store: Store, project: str, scope: str, hashes: Iterable[str] | None = None
) -> dict[str, MessageRecord]:
    """The messages of a scope (a session, or a trace without one) by their hash in hex: all of
    them, or those named."""
    wanted = None if hashes is None else sorted(set(hashes))
    if wanted == []:
        return {}
    which = {"project": project, "scope": scope, "hashes": wanted or []}
    name = "messages/of_scope" if wanted is None else "messages/named"
    result = ask(store, name, ONE_SESSION, **which)
    return {
        hash_: MessageRecord(hash_, role, name, _parts(parts), source, dialect)
        for hash_, role, name, parts, source, dialect in result.rows
    }


def message_of(hash_: str, known: Mapping[str, MessageRecord]) -> MessageRecord:
    """The message of a hash in hex, which says so where its content is not known."""
    return known.get(hash_) or MessageRecord(hash_, recorded=False)


def load_definitions(store: Store, project: str, hashes: Iterable[str]) -> dict[str, str]:
    """The bodies of definitions by their hash in hex; unknown ones are left out."""
    wanted = sorted(set(hashes) - {NONE, ""})
    if not wanted:
        return {}
    result = ask(store, "messages/definitions", ONE_SESSION, project=project, hashes=wanted)
    return {str(id_): str(body) for id_, body in result.rows}


def load_sources(
    store: Store,
    project: str,
    hashes: Iterable[str],
    settings: Mapping[str, Any] | None = ONE_SESSION,
) -> dict[str, tuple[str, str]]:
    """As ``load_definitions``, each with its source: what the provider was sent."""
    wanted = sorted(set(hashes) - {NONE, ""})
    if not wanted:
        return {}
    result = ask(store, "messages/sources", settings, project=project, hashes=wanted)
    return {str(id_): (str(body), str(source)) for id_, body, source in result.rows}


def load_system_prompts(store: Store, project: str, hashes: Iterable[str]) -> dict[str, str]:
    """System prompts as text by their hash in hex."""
    found = load_definitions(store, project, hashes)
    return {hash_: prompt_text(body) for hash_, body in found.items()}


def prompt_text(body: str) -> str:
    """A system prompt's text: its body is plain text, or a JSON array of parts."""
    if not body.startswith("["):
        return body
    parts = _parts(body)
    if not parts or not all(part.get("type") == "text" for part in parts):
        return body
    return "\n\n".join(str(part.get("content", "")) for part in parts)


def requested_tools(replies: Sequence[MessageRecord], inline: str) -> list[ToolRequestRecord]:
    """The tools that a reply asks for; from the inline column where messages are not recorded."""
    parts = [part for reply in replies for part in reply.parts]
    if not any(reply.recorded for reply in replies):
        parts = _parts(inline)
    return [
        ToolRequestRecord(
            call_id=str(part.get("id") or ""),
            name=str(part.get("name") or ""),
            arguments=part.get("arguments"),
        )
        for part in parts
        if part.get("type", "tool_call") == "tool_call"
    ]


def exact_messages(store: Store, project: str, span_id: str) -> list[Any]:
    """The message list of a call in its provider's form, exactly as sent.

    Raises:
        KeyError: there is no such call.
        ContentMissingError: the content of a message was not recorded, or was pruned.
    """
    call = ask_row(store, "messages/of_call", span_id, project=project, span=span_id)
    hashes: list[str] = list(call["hashes"])
    known = load_messages(store, project, str(call["scope"]), hashes)
    missing = sum(1 for one in hashes if one not in known)
    if missing:
        raise ContentMissingError(
            f"{missing} of the {len(hashes)} messages of call {span_id} are not in the store: "
            "their content was not recorded, or has been pruned."
        )
    return [provider_message(known[one]) for one in hashes]


def provider_message(message: MessageRecord) -> Any:
    """The message as its provider spells it: kept as it was, or rebuilt exactly."""
    if message.source:
        return orjson.loads(message.source)
    return rebuild_message(message.dialect, message.role, message.name, message.parts)


def _parts(text: str) -> list[dict[str, Any]]:
    if not text:
        return []
    try:
        loaded: object = orjson.loads(text)
    except orjson.JSONDecodeError:
        return [{"type": "text", "content": text}]
    items = cast("list[object]", loaded) if isinstance(loaded, list) else [loaded]
    return [
        cast("dict[str, Any]", item)
        if isinstance(item, dict)
        else {"type": "text", "content": str(item)}
        for item in items
    ]
