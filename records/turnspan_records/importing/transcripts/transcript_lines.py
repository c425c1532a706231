"""Lines of a provider's JSON -> calls: alone, in transcripts, in conversations of many lines."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any, Final

from turnspan.content.model import as_dict
from turnspan_records.importing.files.file_log import LeftOut, NotUnderstoodError, Read
from turnspan_records.importing.files.groups import Groups
from turnspan_records.importing.ids import hex_id, span_id, trace_id
from turnspan_records.importing.sources import Part, Problem
from turnspan_records.importing.spans import resource_of, scope_of
from turnspan_records.importing.transcripts import fields
from turnspan_records.importing.transcripts.calls import (
    SpanOrigin,
    TranscriptCall,
    last_results,
    told_result,
)
from turnspan_records.importing.transcripts.dialect import SourceTranscript, TranscriptProvider
from turnspan_records.importing.transcripts.exchanges import Exchange, exchange_of, of_response
from turnspan_records.importing.transcripts.joiner import Joiner

_UNKNOWN: Final = (
    "it is neither a transcript (messages), nor a request with its response, nor a batch's line"
)
_NO_ANSWER: Final = "no message in it is an answer, so there is no call to import"


class Transcripts:
    """The format of a provider's lines. ``Format`` says what its methods are for."""

    tables = False
    own_projects = False

    def __init__(self, provider: TranscriptProvider, name: str = "") -> None:
        """``name``: the provider's, where it is another one with the same API."""
        self.kind = provider.kind
        self._provider = provider
        self._origin = SpanOrigin(
            name or provider.name, bool(name), resource_of(provider.kind), scope_of(provider.kind)
        )
        self._joiner = Joiner()

    # -- what belongs together ------------------

    def index(self, read: Read, groups: Groups) -> Sequence[LeftOut]:
        """A transcript is a group; calls are one with those that they go on with."""
        said = self._said(read.value)
        if isinstance(said, SourceTranscript):
            if not any(_is_answer(message) for message in said.messages):
                raise NotUnderstoodError(_NO_ANSWER)
            groups.add(groups.group(b""), read.place)
            return ()
        if said.custom_id:
            batch = f"batch\0{said.custom_id}".encode(errors="replace")
            groups.add(groups.group(batch), read.place)
            return ()
        session = _session(said)
        group = groups.group(f"session\0{session}".encode(errors="replace") if session else b"")
        groups.add(group, read.place)
        endpoint = self._provider.endpoint(said)
        self._joiner.join(endpoint.dialect, said.request, said.response, group, groups)
        return ()

    def _said(self, value: Any) -> Exchange | SourceTranscript:
        line = as_dict(value)
        if line is not None:
            if self._provider.is_response(line):
                return of_response(line, self._request_beside(line))
            found = exchange_of(line)
            if found is not None:
                return found
        transcript = self._provider.transcript(value)
        if transcript is None:
            raise NotUnderstoodError(_UNKNOWN)
        return transcript

    def _request_beside(self, line: fields.Object) -> fields.Object:
        """What a stored response says of its request: the parameters, the messages if anywhere."""
        transcript = self._provider.transcript(line)
        request = transcript.request if transcript is not None else {}
        given = {name: line[name] for name in _ECHOED if line.get(name) is not None}
        messages = {} if transcript is None else {"messages": transcript.messages}
        return {**given, **request, **messages}

    # -- what it says ------------------

    def part(self, lines: Sequence[Read], keys: set[bytes]) -> Part:
        """The calls of a transcript, a batch's line or a conversation."""
        del keys
        part = Part()
        exchanges: list[tuple[Read, Exchange]] = []
        for read in lines:
            said = self._said(read.value)
            if isinstance(said, SourceTranscript):
                self._tell_transcript(read, said, part)
            else:
                exchanges.append((read, said))
        if exchanges and exchanges[0][1].custom_id:
            exchanges = _paired(exchanges, part)
        calls: dict[tuple[int, int], tuple[str, TranscriptCall]] = {}
        for read, said in exchanges:
            what = "a call that failed" if said.error else "a call"
            call = self._call(read, said)
            known = calls.get((call.trace_id, call.span_id))
            if known is not None and known[0] == _digest(read):
                what = "a call that came again"
            else:
                if known is not None:  # the id is of what was around several calls
                    call.span_id = span_id(self.kind, *_identity(read, said))
                calls[call.trace_id, call.span_id] = (_digest(read), call)
            part.seen[read.line.file.name, what] += 1
        self._tell([call for _, call in calls.values()], part)
        return part

    def _tell(self, calls: list[TranscriptCall], part: Part) -> None:
        for call in sorted(calls, key=lambda each: (each.end, each.start)):
            span, content = call.span_and_content(self._origin)
            part.spans.append(span)
            part.contents.append((span, content))

    def _call(self, read: Read, said: Exchange) -> TranscriptCall:
        identity = _identity(read, said)
        start = fields.started(said.holders, read.time)
        whose = said.holders[:2]  # the line's own: what is sent along may say what is around it
        trace = fields.hex_number(fields.first(whose, ("trace_id", "traceId")), 32)
        span = fields.hex_number(fields.first(whose, ("span_id", "spanId")), 16)
        return TranscriptCall(
            self._provider.endpoint(said),
            said.request or {},
            said.response,
            trace or trace_id(self.kind, *identity),
            span or span_id(self.kind, *identity),
            start,
            fields.ended(said.holders, start),
            _session(said),
            said.error,
            said.message,
            said.host(),
        )

    def _tell_transcript(self, read: Read, said: SourceTranscript, part: Part) -> None:
        holders = [said.line, as_dict(said.line.get("metadata"))]
        identity = (read.line.file.begins, read.line.offset, _digest(read))
        start = fields.started(holders, read.time)
        trace = trace_id(self.kind, *identity)
        session = fields.first(holders, fields.SESSIONS)
        session = str(session) if session else f"{self.kind}-{hex_id(self.kind, *identity)[:16]}"
        calls: list[TranscriptCall] = []
        last = 0
        for place, message in enumerate(said.messages):
            if not _is_answer(message):
                continue
            last = place
            when = fields.nanoseconds(fields.first([message], fields.TIMES))
            when = when or start + len(calls) * 1_000
            request = {**said.request, "messages": said.messages[:place]}
            calls.append(
                TranscriptCall(
                    self._provider.conversation,
                    request,
                    self._provider.answer(message),
                    trace,
                    span_id(self.kind, *identity, place),
                    when,
                    when,
                    session,
                )
            )
        self._tell(calls, part)
        results, rest = last_results(
            self._provider.conversation.dialect, said.messages[last], said.messages[last + 1 :]
        )
        for number, result in enumerate(results):
            ids = (trace, span_id(self.kind, *identity, "result", number))
            told = told_result(self._origin, result, ids, calls[-1].end + number + 1, session)
            part.spans.append(told[0])
            part.contents.append(told)
        left_out = ", what follows its last answer left out" if rest else ""
        part.seen[read.line.file.name, f"a transcript{left_out}"] += 1


_ECHOED: Final = (
    *("model", "tools", "tool_choice", "temperature", "top_p", "max_tokens", "seed", "metadata"),
    *("presence_penalty", "frequency_penalty", "response_format", "instructions", "reasoning"),
    *("max_output_tokens", "previous_response_id", "text", "input"),
)


def _is_answer(message: Any) -> bool:
    return (as_dict(message) or {}).get("role") == "assistant"


def _session(said: Exchange) -> str:
    named = fields.first(said.holders, fields.SESSIONS)
    return str(named) if isinstance(named, (str, int)) else ""


def _digest(read: Read) -> str:
    return blake2b(read.line.raw.strip(), digest_size=16).hexdigest()


def _identity(read: Read, said: Exchange) -> tuple[object, ...]:
    """What a call is known by: the response's id and all that the line says, wherever it stands;
    a line without such an id, also by its place in a file that begins so."""
    known = (said.response or {}).get("id") or said.custom_id
    if known:
        return known, _digest(read)
    return read.line.file.begins, read.line.offset, _digest(read)


def _paired(lines: list[tuple[Read, Exchange]], part: Part) -> list[tuple[Read, Exchange]]:
    """The answers of a batch with what was sent. A name that stands in several batches is paired
    in the order of files and lines."""
    sent = [each for each in lines if each[1].unanswered]
    came = [each for each in lines if not each[1].unanswered]
    if len(came) > 1 and 1 < len(sent) != len(came):
        for read, said in came:
            reason = (
                f"custom_id {said.custom_id} stands in several batches, not all of them whole:"
                " its request was left out; import each batch's two files by themselves"
            )
            part.problems.append(Problem(str(read.line), reason))
        used: set[int] = set()
    else:
        used = set(range(min(len(sent), max(1, len(came))))) if came else set()
        for number, (_, said) in enumerate(came):
            if sent:
                request = sent[min(number, len(sent) - 1)][1]
                said.request = said.request or request.request
                said.holders += request.holders
    for number, (read, _) in enumerate(sent):
        became = "a batch's request" if number in used else "a batch's request without an answer"
        part.seen[read.line.file.name, became] += 1
    return came
