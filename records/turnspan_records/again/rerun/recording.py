"""A recording: the model calls and tool executions of a session, as a rerun plays them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import orjson

from turnspan.redaction.truncate import TRUNCATED
from turnspan.runtime.errors import TurnspanError
from turnspan_clickhouse.rows.tables import LlmCall, ToolCall
from turnspan_clickhouse.store import zstd
from turnspan_clickhouse.store.client import Store
from turnspan_records.access.fields import of_row, selected
from turnspan_records.access.questions import ask
from turnspan_records.access.window import as_parameter
from turnspan_records.conversation import CallSpan, MessageRecord, ToolExecutionRecord
from turnspan_records.lookup import SHORTEST_PREFIX
from turnspan_records.messages import load_messages, load_sources, prompt_text
from turnspan_records.replay import RowsOfSession, ended_call_rows, session_rows
from turnspan_records.sql import statement

_VERSION: Final = 1


class RecordingError(TurnspanError, ValueError):
    """A file is no recording, or a session has nothing to rerun."""


@dataclass(slots=True)
class PlayableCall(CallSpan):
    """A recorded model call. Hashes are in hex; ``number`` counts the calls of the session from 1.

    ``repeated`` says how many of the first messages are those of the call of its agent before.
    ``scope_name`` is the instrumentation that recorded it, empty in files that do not say.
    """

    request_model: str
    response_model: str
    response_id: str
    request_parameters: str
    stream: bool
    stream_outcome: str
    finish_reasons: list[str]
    input_tokens: int | None
    output_tokens: int | None
    cache_read_tokens: int | None
    cache_write_tokens: int | None
    reasoning_tokens: int | None
    tries: int
    error_type: str
    error_message: str
    system_hash: str
    tools_hash: str
    details: str
    repeated: int
    input_hashes: list[str]
    output_hashes: list[str]
    number: int = 0
    scope_name: str = ""

    @property
    def failed(self) -> bool:
        """Whether the provider, or the way to it, failed."""
        return bool(self.error_type) and not self.output_hashes


@dataclass(slots=True)
class PlayableTool(ToolExecutionRecord):
    """A recorded tool execution, with its texts.

    ``cut``: the result is only the beginning of what the tool returned. ``result_class`` names the
    class of what it returned, where that is recorded.
    """

    cut: bool = False
    result_class: str = ""


@dataclass(slots=True)
class SessionRecording:
    """The calls and tool executions of a session in the order in which they began.

    ``session_id`` is the trace's id where the calls have no session. ``definitions`` has bodies and
    sources of system prompts and tool catalogues, ``messages`` what calls sent and received, both
    by their hashes in hex.
    """

    project: str
    session_id: str
    calls: list[PlayableCall] = field(default_factory=list[PlayableCall])
    tools: list[PlayableTool] = field(default_factory=list[PlayableTool])
    messages: dict[str, MessageRecord] = field(default_factory=dict[str, MessageRecord])
    definitions: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])

    def call(self, id_: str) -> PlayableCall:
        """The call of a number, of a span's id or of its beginning (six characters or more).

        Raises:
            KeyError: there is no such call, or several begin so.
        """
        numbered = id_.isdecimal() and len(id_) < SHORTEST_PREFIX
        found = [
            one
            for one in self.calls
            if (str(one.number) == id_ if numbered else one.span_id.startswith(id_))
        ]
        if len(found) != 1 or (len(id_) < SHORTEST_PREFIX and not numbered):
            raise KeyError(id_)
        return found[0]

    def configuration(self, call: PlayableCall) -> dict[str, Any]:
        """What a call was made with: model, system prompt, tools and parameters."""
        system, tools = (self.definitions.get(one) for one in (call.system_hash, call.tools_hash))
        return {
            "model": call.request_model,
            "system_prompt": prompt_text(system[0]) if system else "",
            "tools": orjson.loads(tools[1] or tools[0]) if tools else [],
            "parameters": orjson.loads(call.request_parameters or "{}"),
        }

    def missing(self) -> dict[str, str]:
        """Why calls cannot be answered, by their spans: what of them is not recorded."""
        return {one.span_id: why for one in self.calls if (why := self._missing_of(one))}

    def _missing_of(self, call: PlayableCall) -> str:
        if not call.request_parameters:
            return (
                "its content was not recorded: content is recorded with capture_content=True "
                "(TURNSPAN_CAPTURE_CONTENT=1)"
            )
        for kind, hashes in (("sent", call.input_hashes), ("received", call.output_hashes)):
            lost = sum(one not in self.messages for one in hashes)
            if lost:
                return (
                    f"{lost} of its {len(hashes)} messages {kind} are not in the store: their "
                    "content was not recorded, or has been pruned"
                )
        replies = [self.messages[one] for one in call.output_hashes]
        if any(part.get(TRUNCATED) for one in replies for part in one.parts):
            return "its reply was cut when it was recorded: raise TURNSPAN_CONTENT_LIMIT_BYTES"
        return ""


# -- from a store ----------------------------------------------------------------------------------


def load_recording(
    store: Store, project: str, session_id: str, trace_id: str = ""
) -> SessionRecording:
    """The recording of a session, or of a trace where ``session_id`` is empty.

    Raises:
        RecordingError: the session has no model call.
        StoreError: as ``Store.query``.
    """
    place = RowsOfSession(project, session_id, trace_id)
    texts = statement("rerun/_call_texts")
    apart = ("request_model", "response_model", "stream_outcome")  # the question selects them
    columns = selected(PlayableCall, LlmCall, *apart)
    rows = ended_call_rows(store, place, columns, texts)
    if not rows:
        raise RecordingError(f"Session {session_id or trace_id} has no model call to rerun.")
    calls = [of_row(PlayableCall, row) for row in rows]
    columns = selected(PlayableTool, ToolCall)
    tools = session_rows(store, "rerun/tools", place, columns=columns)
    defined = {one for call in calls for one in (call.system_hash, call.tools_hash)}
    return _whole(
        SessionRecording(
            project,
            session_id or trace_id,
            calls,
            [of_row(PlayableTool, row) for row in tools],
            load_messages(store, project, session_id or trace_id),
            load_sources(store, project, defined),
        )
    )


def _whole(recording: SessionRecording) -> SessionRecording:
    """Number the calls, and give each its whole input."""
    before: dict[str, list[str]] = {}
    for number, call in enumerate(recording.calls, 1):
        call.number = number
        known = before.get(call.agent_name, [])[: call.repeated]
        call.input_hashes = before[call.agent_name] = [*known, *call.input_hashes]
    return recording


# -- in a file -------------------------------------------------------------------------------------


def write_recording(recording: SessionRecording, path: Path) -> int:
    """Write a recording as JSON lines, packed where the name ends in ``.zst``; returns its bytes.

    Raises:
        RecordingError: the name asks for zstd, and there is none.
        OSError: the file cannot be written.
    """
    data = b"".join(orjson.dumps(line) + b"\n" for line in _lines(recording))
    if path.suffix == ".zst":
        data, encoding = zstd.compressed(data)
        if encoding is None:
            raise RecordingError(f"To write {path}: pip install backports.zstd, or leave out .zst.")
    path.write_bytes(data)
    return len(data)


def _lines(recording: SessionRecording) -> Iterator[dict[str, Any]]:
    yield {
        "turnspan_recording": _VERSION,
        "project": recording.project,
        "session_id": recording.session_id,
    }
    for hash_, (body, source) in recording.definitions.items():
        yield {"definition": {"hash": hash_, "body": body, "source": source}}
    for message in recording.messages.values():
        yield {"message": asdict(message)}
    for call in recording.calls:
        yield {"call": {**asdict(call), "input_hashes": call.input_hashes[call.repeated :]}}
    for tool in recording.tools:
        yield {"tool": asdict(tool)}


def read_recording(path: Path) -> SessionRecording:
    """The recording in a file.

    Raises:
        RecordingError: the file is no recording, or one of a newer Turnspan.
        OSError: it cannot be read.
    """
    lines = iter(_unpacked(path).splitlines())
    try:
        head: dict[str, Any] = orjson.loads(next(lines, b""))
        version = head["turnspan_recording"]
    except (ValueError, KeyError, TypeError):
        raise RecordingError(
            f"{path} is no recording: write one with `turnspan export session`."
        ) from None
    if version != _VERSION:
        raise RecordingError(f"{path} is of a newer Turnspan (form {version}): update this one.")
    try:
        return _whole(_read(head, map(orjson.loads, lines)))
    except (ValueError, KeyError, TypeError) as error:
        raise RecordingError(f"{path} is damaged: {error}. Export the session again.") from None


def _read(head: Mapping[str, Any], lines: Iterable[dict[str, Any]]) -> SessionRecording:
    found = SessionRecording(head["project"], head["session_id"])
    for line in lines:
        for kind, row in line.items():
            if "start_time" in row:
                row["start_time"] = datetime.fromisoformat(row["start_time"])
            if kind == "call":
                found.calls.append(of_row(PlayableCall, row))
            elif kind == "tool":
                found.tools.append(of_row(PlayableTool, row))
            elif kind == "message":
                found.messages[row["hash"]] = of_row(MessageRecord, row)
            elif kind == "definition":
                found.definitions[row["hash"]] = (row["body"], row["source"])
    return found


def _unpacked(path: Path) -> bytes:
    data = path.read_bytes()
    if data[:4] != b"\x28\xb5\x2f\xfd":
        return data
    engine = zstd.decompressor()
    if engine is None:
        raise RecordingError(f"To read {path}: pip install backports.zstd, or zstd -d first.")
    try:
        found = engine.decompress(data, 2**40)
    except zstd.errors() as error:
        raise RecordingError(f"{path} is damaged: {error}. Export the session again.") from None
    if not engine.eof:
        raise RecordingError(f"{path} is cut. Copy it or export the session again.")
    return found


def recorded_by(
    store: Store, rerun_id: str, since: datetime
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The sessions that a rerun recorded since it began, and its turns, with calls that are in
    none."""
    began = as_parameter(since)
    rows = ask(store, "rerun/recorded_by", rerun=rerun_id, since=began).dicts()
    sessions = dict.fromkeys(str(row["session_id"]) for row in rows if row["session_id"])
    return tuple(sessions), tuple(dict.fromkeys(str(row["answer"]) for row in rows))
