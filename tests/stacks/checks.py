"""Compares what a run's records say with what was asked for, answered and done."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import turnspan_records
from stacks.running import RAISED, Played
from stacks.script import ORDER
from stacks.stub import Request

Row = dict[str, Any]


class Records:
    """The rows of one store."""

    def __init__(self, store: Path) -> None:
        with turnspan_records.open(f"chdb://{store}") as opened:
            self.calls = _rows(opened, "llm_call")
            self.tools = _rows(opened, "tool_call")
            self.turns = [row for row in _rows(opened, "turn_summary") if not row["parent_turn_id"]]
            self.spans = _rows(opened, "span")

    def show(self) -> str:
        """The rows, short, to find a fault by."""
        lines = [
            *(_short("call", row, _CALL) for row in self.calls),
            *(_short("tool", row, _TOOL) for row in self.tools),
            *(_short("turn", row, _TURN) for row in self.turns),
            *(_short("span", row, _SPAN) for row in self.spans),
        ]
        lines += [f"{row['span_id']} {row['name']}: {row['attributes']}" for row in self.spans]
        return "\n".join(lines)


_CALL = (
    *("scope_name", "span_id", "parent_span_id", "session_id", "turn_id", "round", "response_id"),
    *("input_tokens", "output_tokens", "finish_reasons", "response_text", "tool_calls"),
    "error_type",
)
_TOOL = (
    *("scope_name", "span_id", "parent_span_id", "session_id", "turn_id", "round", "name"),
    *("call_id", "arguments", "result", "failed", "error_type"),
)
_TURN = (
    *("scope_name", "span_id", "session_id", "turn_id", "agent_name", "user_message"),
    *("response_text", "stop_reason", "rounds", "llm_call_count", "tool_call_count"),
    *("tool_error_count", "input_tokens", "output_tokens"),
)
_SPAN = ("scope_name", "name", "trace_id", "span_id", "parent_span_id")


def _short(kind: str, row: Row, names: Sequence[str]) -> str:
    said = " ".join(f"{name}={str(row[name])[:60]!r}" for name in names)
    return f"{kind}: {said}"


def _rows(store: turnspan_records.Store, table: str) -> list[Row]:
    found = store.query(f"SELECT * FROM {table} ORDER BY start_time").dicts()
    return [{key: _text(value) for key, value in row.items()} for row in found]


def _text(value: Any) -> Any:
    return value.decode() if isinstance(value, bytes) and value.isascii() else value


def faults(played: Played, records: Records) -> dict[str, str]:
    """What is wrong, by the name of the check."""
    found: dict[str, str] = {}
    for check in (_flush, _calls, _tools, _turns, _sessions, _counts, _stops, _report):
        for name, what in check(played, records):
            if name not in played.cell.waived:
                found.setdefault(name, what)
    return found


Found = Iterator[tuple[str, str]]


def _flush(played: Played, records: Records) -> Found:
    if not played.flushed:
        yield "flush", "flush() was not ok"
    if played.stub.unknown:
        yield "stub", f"asked for {played.stub.unknown}"
    wanted = played.cell.stack.beside.get(played.cell.beside, {}).values()
    for one in played.report:
        off = not one["enabled"] and "records this library already" not in one["detail"]
        if one["by"] in wanted and off:
            yield "beside", f"{one['by']} is not on: {one['detail']}"


def _calls(played: Played, records: Records) -> Found:
    """Each request is one row, with its tokens, finish reason and text."""
    asked = played.stub.requests
    if len(records.calls) != len(asked):
        yield "calls", f"{len(asked)} requests, {len(records.calls)} rows"
    by_id = {row["response_id"]: row for row in records.calls if row["response_id"]}
    by_tokens = {(row["input_tokens"], row["output_tokens"]): row for row in records.calls}
    in_order = sorted(records.calls, key=lambda row: row["start_time"])
    for place, request in enumerate(asked):
        # LiteLLM makes up ids of its own, and not every instrumentation records them.
        row = by_id.get(request.response_id) or by_tokens.get(
            (request.input_tokens, request.output_tokens)
        )
        if row is None and not request.told_usage and place < len(in_order):
            row = in_order[place]
        if row is None:
            yield "calls", f"no row is of {request.response_id}"
        else:
            yield from _call(request, row, theirs=played.cell.manner.theirs)


def _call(request: Request, row: Row, *, theirs: bool) -> Found:
    if request.told_usage:
        cached = row["cache_read_tokens"] or 0
        if theirs and row["cache_read_tokens"] is None:  # not every one of them records it
            cached = request.cached_tokens
        said = (row["input_tokens"], row["output_tokens"], cached)
        counted = (request.input_tokens, request.output_tokens, request.cached_tokens)
        if said != counted:
            yield "tokens", f"{request.response_id}: {said}, not {counted}"
    if bool(row["stream"]) != request.stream and not theirs:
        yield "stream", f"{request.response_id}: {row['stream']}, not {request.stream}"
    if request.stream and row["time_to_first_chunk"] is None:
        yield "first chunk", f"{request.response_id} was streamed"
    if request.api != "embeddings" and row["response_text"] != request.text:
        yield "text", f"{request.response_id}: {row['response_text']!r}, not {request.text!r}"
    wanted = [(call.id, call.name, _same(call.arguments)) for call in request.calls]
    made = json.loads(row["tool_calls"] or "[]")
    asked = [(c.get("id"), c.get("name"), _same(c.get("arguments"))) for c in made]
    if asked != wanted:
        yield "asked", f"{request.response_id}: {asked}, not {wanted}"


def _tools(played: Played, records: Records) -> Found:
    """Each execution is one row, under the id by which the model asked for it."""
    stack = played.cell.stack
    if not stack.native:
        yield from _told_tools(played, records)
        return
    asked = [call for request in played.stub.requests for call in request.calls]
    # With final_answer smolagents ends a run: a tool to it, and to nobody else.
    asked = [call for call in asked if call.name != "final_answer" and stack.executes]
    if played.cell.manner.raises and not played.cell.tells_failures:
        asked = [call for call in asked if call.name != "broken_lookup"]  # no request brings it
    rows = [row for row in records.tools if row["name"] != "final_answer"]
    if len(asked) != len(rows):
        names = [row["name"] for row in rows]
        yield "tools", f"{len(asked)} executions, {len(names)} rows: {names}"
    ids = Counter(row["call_id"] for row in rows)
    if ids != Counter(call.id for call in asked):
        yield "call ids", f"{sorted(ids)}, not {sorted(call.id for call in asked)}"
    by_id = {row["call_id"]: row for row in rows}
    ran = list(played.ran)
    for call in asked:
        done = next((one for one in ran if one["name"] == call.name), None)
        row = by_id.get(call.id)
        if done is not None:
            ran.remove(done)
        if row is None or done is None:
            continue
        if row["name"] != call.name:
            yield "tools", f"{call.id} is of {row['name']}, not {call.name}"
        if _same(row["arguments"]) != _same(call.arguments):
            yield "arguments", f"{call.id}: {row['arguments']!r}, not {call.arguments}"
        failed = done["result"] is None and played.cell.tells_failures
        if bool(row["failed"]) != failed:
            yield "failed", f"{call.id}: {row['failed']}, not {failed}"
        if not row["result"] and not played.cell.manner.raises:
            yield "results", f"{call.id} has none"
        if done["result"] is not None and done["result"] not in _words(row["result"]):
            yield "results", f"{call.id}: {row['result']!r}, not {done['result']!r}"


def _told_tools(played: Played, records: Records) -> Found:
    """The same, of tools that no request of the API tells of: their spans do, where there are."""
    cell = played.cell
    told = cell.manner.tools or cell.beside in cell.stack.beside
    wanted = [(one["name"], one["result"] is None) for one in played.ran] if told else []
    found = [(r["name"], bool(r["failed"])) for r in records.tools if r["name"] != "finish"]
    if sorted(found) != sorted(wanted):
        yield "tools", f"{found}, not {wanted}"


def _same(value: Any) -> Any:
    """Arguments as they are, however they are written."""
    if isinstance(value, str):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def _words(value: str) -> str:
    return str(_same(value)) if isinstance(_same(value), str) else value


def _turns(played: Played, records: Records) -> Found:
    """Each message of a user is one turn, with the reply that the application got."""
    if played.cell.stands_alone:
        if len(records.turns) != len(played.stub.requests):
            yield "turns", f"{len(played.stub.requests)} calls, {len(records.turns)} turns"
        return
    scripts = played.cell.manner.scripts
    talks = _talks(played, records)
    if talks is None:
        said = [(row["session_id"], row["user_message"]) for row in records.turns]
        yield "turns", f"{sum(map(len, scripts))} messages, {len(said)} turns: {said}"
        return
    for script, replies, turns in zip(scripts, played.replies, talks, strict=True):
        for text, reply, row in zip(script, replies, turns, strict=True):
            if text not in row["user_message"]:
                yield "user messages", f"{row['user_message']!r}, not {text!r}"
            if reply != RAISED and not _is_reply(row["response_text"], reply):
                yield "replies", f"{row['response_text']!r}, not {reply!r}"


def _talks(played: Played, records: Records) -> list[list[Row]] | None:
    """The turns of each conversation, in order; ``None`` where there are more or fewer."""
    scripts = played.cell.manner.scripts
    lines = [(number, text) for number, text in _lines(played)]
    if len(lines) != len(records.turns):
        return None
    talks: list[list[Row]] = [[] for _ in scripts]
    if not played.cell.manner.at_once:
        for (number, _), row in zip(lines, records.turns, strict=True):
            talks[number].append(row)
        return talks
    left = [*records.turns]  # nobody knows who was first: the words and the replies tell
    for talk, script, replies in zip(talks, scripts, played.replies, strict=True):
        for text, reply in zip(script, replies, strict=True):
            fits = [
                row
                for row in left
                if text in row["user_message"] and _is_reply(row["response_text"], reply)
            ]
            mine = [row for row in fits if talk and row["session_id"] == talk[0]["session_id"]]
            row = next(iter(mine or fits or left))
            talk.append(row)
            left.remove(row)
    return talks


def _is_reply(recorded: str, given: str) -> bool:
    """The model's last words are what the application got, or its end: some give all its words."""
    said = recorded.strip()
    return given.strip() in said or bool(said and given.strip().endswith(said))


def _lines(played: Played) -> list[tuple[int, str]]:
    scripts = played.cell.manner.scripts
    return [
        (number, script[row])
        for row in range(max(map(len, scripts)))
        for number, script in enumerate(scripts)
        if row < len(script)
    ]


def _sessions(played: Played, records: Records) -> Found:
    """Each conversation is one session, of its turns, calls and tools, by the name that the
    application gave it, else the framework."""
    every = [*records.calls, *records.turns, *records.tools]
    if any(not row["session_id"] for row in every):
        yield (
            "sessions",
            f"no session: {[row['span_id'] for row in every if not row['session_id']]}",
        )
    turn_of = {row["turn_id"]: row["session_id"] for row in records.turns}
    for row in (*records.calls, *records.tools):
        if turn_of.get(row["turn_id"], row["session_id"]) != row["session_id"]:
            yield "sessions", f"{row['span_id']} is not in its turn's session"
    if played.cell.stands_alone:
        return
    talks = _talks(played, records)
    if talks is None:
        yield "sessions", f"{len({row['session_id'] for row in records.calls})} sessions"
        return
    stack, decorated = played.cell.stack, played.cell.manner.decorated
    if stack.remembers or decorated:
        wanted = [{row["session_id"] for row in talk} for talk in talks]
    else:
        wanted = [{row["session_id"]} for talk in talks for row in talk]
    if any(len(ids) != 1 for ids in wanted):
        yield "sessions", f"a conversation is in {max(map(len, wanted))} sessions"
    elif len({found for ids in wanted for found in ids}) != len(wanted):
        yield "sessions", f"{len(wanted)} conversations are in one session"
    named: set[str] = set(played.named)
    if decorated:
        named = {f"ada-{number}" for number in range(len(talks))}
    elif not played.cell.has_names:
        named.clear()
    found = {row["session_id"] for row in every}
    if named and found != named:
        yield "session ids", f"{sorted(found)}, not {sorted(named)}"


def _counts(played: Played, records: Records) -> Found:
    """What the turns count is what there is, and no call or tool is in none."""
    turns = {row["turn_id"] for row in records.turns}
    for kind, rows, column in (
        ("calls", records.calls, "llm_call_count"),
        ("tools", records.tools, "tool_call_count"),
    ):
        lost = [row["span_id"] for row in rows if row["turn_id"] not in turns]
        if lost and kind == "calls":
            yield "turns", f"{len(lost)} {kind} are in no turn of a user"
        for turn in records.turns:
            mine = sum(row["turn_id"] == turn["turn_id"] for row in rows)
            if mine != turn[column]:
                yield "counts", f"turn {turn['turn_id']} counts {turn[column]} {kind}, has {mine}"
    asked = sum(request.input_tokens for request in played.stub.requests if request.told_usage)
    told = sum(row["input_tokens"] or 0 for row in records.turns)
    if asked != told and all(r.told_usage for r in played.stub.requests):
        yield "sums", f"the turns have {told} input tokens, not {asked}"


def _stops(played: Played, records: Records) -> Found:
    """Why each turn ended."""
    talks = _talks(played, records)
    if talks is None or played.cell.stands_alone:
        return
    # The last tool counts; smolagents ends a run with one, where what records it sees it.
    ended = {row["turn_id"] for row in records.tools if row["name"] == "final_answer"}
    for script, replies, turns in zip(
        played.cell.manner.scripts, played.replies, talks, strict=True
    ):
        for text, reply, row in zip(script, replies, turns, strict=True):
            failed = text == ORDER and played.cell.tells_failures and played.cell.stack.executes
            failed = failed and row["turn_id"] not in ended
            wanted: tuple[str, ...] = ("tool_failure",) if failed else ("completed",)
            if reply == RAISED:
                wanted = ("error", "tool_failure") if failed else ("completed",)
            if row["stop_reason"] not in wanted or row["status"] != "final":
                said = f"{row['status']} {row['stop_reason']}"
                yield "stop reasons", f"{text!r}: {said}, not {wanted}"


def _report(played: Played, records: Records) -> Found:
    """What ``instrument()`` (and so ``doctor``) says that it records with, has recorded."""
    seen = {row["scope_name"] for row in records.spans}
    for one in played.report:
        waits = "waits" in one["detail"]
        if not one["enabled"] or waits or one["name"] in ("threads",) or one["by"] == "turnspan":
            continue
        words = one["by"].removeprefix("opentelemetry-instrumentation-").replace("-", "")
        if not any(_plain(words) in _plain(s) or _plain(s) in _plain(words) for s in seen):
            yield "doctor", f"says that {one['by']} records; scopes seen: {sorted(seen)}"


def _plain(name: str) -> str:
    for word in ("openinference", "instrumentation", "opentelemetry", ".", "-", "_"):
        name = name.replace(word, "")
    return name
