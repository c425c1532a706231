"""What changed between two model calls, by their messages' hashes: without contents it still tells
which messages changed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

import orjson

from turnspan.content.model import as_dict, as_list, dumps_text
from turnspan_clickhouse.store.client import Store
from turnspan_records.access.fields import of_row, parsed
from turnspan_records.access.questions import ask
from turnspan_records.conversation import MessageRecord
from turnspan_records.messages import known_hash, load_definitions, load_messages, prompt_text
from turnspan_records.screens.alignment import common_pairs
from turnspan_records.screens.outline_types import HEAD, Head, Text, ToolsChange
from turnspan_records.screens.previews import head_of

_WORDS = re.compile(r"\w+")
_COMPARED = 20_000
"""Characters by which it is judged whether a message is another's edited form."""
_ALIKE = 0.5
"""Of the words of two messages, this share is in both where one is the other's edited form."""


@dataclass(frozen=True, slots=True)
class ComparedCall:
    """One of the two calls. ``system`` and ``tools`` are hashes, empty for none."""

    project: str
    span_id: str
    session_id: str
    trace_id: str
    turn_id: str
    agent_name: str
    start_time: datetime
    model: str
    input_tokens: int | None
    output_tokens: int | None
    cache_read_tokens: int | None
    cache_write_tokens: int | None
    cost_usd: Decimal | None
    messages: int
    system: str
    tools: str


@dataclass(frozen=True, slots=True)
class ParameterChange:
    """A parameter that differs: its JSON in either request, empty where it was not given."""

    name: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class TextChange:
    """A text that is the same or has changed, by its hash; how each begins."""

    same: bool
    before: Text
    after: Text


@dataclass(frozen=True, slots=True)
class MessageChange:
    """Messages at a place of either request: ``same`` (as many as ``count``), ``edited`` (one in
    the place of one), ``dropped`` or ``added``. Places count from 0; -1 where there is none. What
    is not the same has its beginnings."""

    kind: str
    before: int
    after: int
    count: int = 1
    was: Head | None = None
    now: Head | None = None


@dataclass(frozen=True, slots=True)
class CacheBreak:
    """Where the beginning that both requests share ends, which is as far as a cache could hold.

    ``place`` is the first thing that differs, in the order in which providers cache: model, tools,
    system, message (at ``message``, counted from 0), or nothing. ``shared_tokens`` is estimated
    from bytes. ``cached`` are the tokens that the first call had read from the cache or written
    into it, ``read`` those that the second read, ``lost`` what it could have read too.
    """

    place: str
    message: int
    shared_messages: int
    shared_tokens: int | None
    cached: int | None
    read: int | None
    lost: int | None


@dataclass(frozen=True, slots=True)
class Difference:
    """What changed between two calls."""

    before: ComparedCall
    after: ComparedCall
    parameters: tuple[ParameterChange, ...]
    system: TextChange
    tools: ToolsChange
    tools_same: bool
    messages: tuple[MessageChange, ...]
    cache: CacheBreak

    @property
    def nothing(self) -> bool:
        """Whether the two requests are equal."""
        return (
            not self.parameters
            and self.system.same
            and self.tools_same
            and all(one.kind == "same" for one in self.messages)
        )


def diff(store: Store, project: str, before: str, after: str) -> Difference:
    """What changed between two calls, by their spans.

    Raises:
        KeyError: a call does not exist; the key is its id.
        StoreError: as ``Store.query``.
    """
    rows = ask(store, "call/compared", project=project, spans=[before, after]).dicts()
    known = {str(row["span_id"]): row for row in rows}
    for span in (before, after):
        if span not in known:
            raise KeyError(span)
    old, new = known[before], known[after]
    messages = _messages(store, project, (old, new))
    bodies = load_definitions(
        store, project, (str(row[name]) for row in (old, new) for name in ("system", "tools"))
    )
    hashes = old["hashes"], new["hashes"]

    def with_heads(change: MessageChange) -> MessageChange:
        if change.kind == "same":
            return change
        places = zip(hashes, (change.before, change.after), strict=True)
        was, now = (head_of(of[at], messages.get(of[at])) if at >= 0 else None for of, at in places)
        return replace(change, was=was, now=now)

    changes = tuple(map(with_heads, message_changes(*hashes, messages)))
    parameters = tuple(parameter_changes(old["request_parameters"], new["request_parameters"]))
    return Difference(
        _call(old),
        _call(new),
        parameters,
        TextChange(old["system"] == new["system"], _prompt(old, bodies), _prompt(new, bodies)),
        tools_change(bodies.get(old["tools"], ""), bodies.get(new["tools"], "")),
        old["tools"] == new["tools"],
        changes,
        _cache_break(old, new, changes, messages),
    )


def _messages(
    store: Store, project: str, rows: Iterable[Mapping[str, Any]]
) -> dict[str, MessageRecord]:
    wanted: dict[str, list[str]] = {}
    for row in rows:
        wanted.setdefault(str(row["session_id"] or row["trace_id"]), []).extend(row["hashes"])
    found: dict[str, MessageRecord] = {}
    for scope, hashes in wanted.items():
        found |= load_messages(store, project, scope, hashes)
    return found


def _call(row: Mapping[str, Any]) -> ComparedCall:
    return of_row(
        ComparedCall,
        row,
        messages=len(row["hashes"]),
        system=known_hash(row["system"]),
        tools=known_hash(row["tools"]),
    )


def _prompt(row: Mapping[str, Any], bodies: Mapping[str, str]) -> Text:
    text = prompt_text(bodies.get(str(row["system"]), ""))
    return Text(text[:HEAD], len(text.encode("utf-8", "replace")))


def parameter_changes(before: str, after: str) -> Iterator[ParameterChange]:
    """What differs between two JSON objects of parameters."""
    old, new = (as_dict(orjson.loads(text or "{}")) or {} for text in (before, after))
    for name in dict.fromkeys((*old, *new)):
        was, now = (dumps_text(one[name]) if name in one else "" for one in (old, new))
        if was != now:
            yield ParameterChange(str(name), was, now)


def message_changes(
    before: Sequence[str], after: Sequence[str], messages: Mapping[str, MessageRecord]
) -> Iterator[MessageChange]:
    """The changes in the order of the second request, each gap's dropped ones before the added."""
    old = new = run = 0
    for same_old, same_new in [*common_pairs(before, after), (len(before), len(after))]:
        if (same_old, same_new) != (old, new) and run:
            yield MessageChange("same", old - run, new - run, run)
            run = 0
        yield from _gap(
            [(at, messages.get(before[at])) for at in range(old, same_old)],
            [(at, messages.get(after[at])) for at in range(new, same_new)],
        )
        old, new, run = same_old + 1, same_new + 1, run + 1
    if run > 1:
        yield MessageChange("same", old - run, new - run, run - 1)


_Place = tuple[int, MessageRecord | None]


def _gap(before: list[_Place], after: list[_Place]) -> Iterator[MessageChange]:
    """What stands between two messages that are the same: edited where one reads like the other."""
    at = 0
    for place, message in before:
        like = next(
            (n for n in range(at, len(after)) if _is_edited(message, after[n][1])), len(after)
        )
        if like == len(after):
            yield MessageChange("dropped", place, -1)
            continue
        for added, _ in after[at:like]:
            yield MessageChange("added", -1, added)
        yield MessageChange("edited", place, after[like][0])
        at = like + 1
    for added, _ in after[at:]:
        yield MessageChange("added", -1, added)


def _is_edited(before: MessageRecord | None, after: MessageRecord | None) -> bool:
    if before is None or after is None or before.role != after.role:
        return False
    old_ids, new_ids = _call_ids(before), _call_ids(after)
    if old_ids or new_ids:
        return old_ids == new_ids
    texts = [one.text or dumps_text(one.parts) for one in (before, after)]
    old, new = (Counter(_WORDS.findall(text[:_COMPARED])) for text in texts)
    both = (old & new).total()
    return 2 * both >= _ALIKE * max(1, old.total() + new.total())


def _call_ids(message: MessageRecord) -> list[str]:
    kinds = ("tool_call", "tool_call_response")
    return [str(part.get("id")) for part in message.parts if part.get("type") in kinds]


def _cache_break(
    old: Mapping[str, Any],
    new: Mapping[str, Any],
    changes: Sequence[MessageChange],
    messages: Mapping[str, MessageRecord],
) -> CacheBreak:
    first = changes[0] if changes else None
    shared = first.count if first is not None and first.kind == "same" else 0
    columns = {"model": "request_model", "tools": "tools", "system": "system"}
    place = next((name for name, one in columns.items() if old[one] != new[one]), "")
    if not place:
        place = "message" if shared < len(old["hashes"]) else ""
    if place in columns:
        shared = 0
    tokens = 0 if place in ("model", "tools") else _shared_tokens(old, shared, messages)
    return CacheBreak(
        *(place, shared, shared, tokens),
        cached=cached_tokens(old),
        read=new["cache_read_tokens"],
        lost=cache_lost(old, new),
    )


def _shared_tokens(
    row: Mapping[str, Any], shared: int, messages: Mapping[str, MessageRecord]
) -> int | None:
    """How many tokens the first messages of a request are, by the bytes of all of them; ``None``
    where one is not recorded."""
    found = [messages.get(one) for one in row["hashes"]]
    sizes = [len(one.source or dumps_text(one.parts)) for one in found if one is not None]
    tokens: int | None = row["input_tokens"]
    if tokens is None or len(sizes) < len(found) or not sum(sizes):
        return None
    return round(tokens * sum(sizes[:shared]) / sum(sizes))


def tools_change(before: str, now: str) -> ToolsChange:
    """The names of the tools that were added, removed and changed; bodies of definitions."""
    old, new = catalogue(before), catalogue(now)
    return ToolsChange(
        added=tuple(name for name in new if name not in old),
        removed=tuple(name for name in old if name not in new),
        changed=tuple(name for name, tool in new.items() if name in old and old[name] != tool),
    )


def catalogue(body: str) -> dict[str, Any]:
    """The tools of a definition by name; one without a name by its type."""
    found: dict[str, Any] = {}
    for tool in as_list(parsed(body)) or []:
        known = as_dict(tool) or {}
        name = str(known.get("name") or known.get("type") or "")
        found[f"{name} #{len(found)}" if name in found else name] = tool
    return found


def cache_lost(before: Mapping[str, Any], row: Mapping[str, Any]) -> int | None:
    """The tokens that the call before had read from the cache or written into it, and that this
    one, which continues its conversation, did not read. None where either is not known."""
    cached = cached_tokens(before)
    read = row["cache_read_tokens"]
    return None if cached is None or read is None else max(0, cached - int(read))


def cached_tokens(row: Mapping[str, Any]) -> int | None:
    """What was in the cache when a call was over, as far as it is known."""
    known = [row[name] for name in ("cache_read_tokens", "cache_write_tokens")]
    found = [int(value) for value in known if value is not None]
    return sum(found) if found else None
