"""What the provider answered, as bytes: a recorded reply in the form of its API."""

from __future__ import annotations

import ast
import random
import re
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from struct import pack
from typing import Any, Final
from zlib import crc32

import orjson

from turnspan import semconv
from turnspan.content.model import as_dict, as_list
from turnspan.dialects.convert import rebuild_message
from turnspan.dialects.replies import REASONS, error_body, join_response, response_pieces
from turnspan.dialects.response_parts import ResponseParts, TokenCounts
from turnspan.wire.answer_bytes import AWS_EVENTS
from turnspan_records.access.fields import copied
from turnspan_records.again.rerun.recording import PlayableCall, SessionRecording
from turnspan_records.again.rerun.requests import AskedRequest
from turnspan_records.conversation import MessageRecord
from turnspan_records.messages import provider_message

JSON: Final = "application/json"
_STATUS: Final = re.compile(r"(?:\w+: )?(?:Error code: )?([45]\d\d)\b[ :-]*")
"""How an SDK's message, or ours, begins that names the HTTP status."""
_WRAPPED: Final = re.compile(r"\Alitellm\.\w+: (?:\w+: )?[\w-]+(?: \w+)? - ")
"""How LiteLLM's message begins before that of what it calls, which a rerun answers to."""
_STATUSES: Final = {
    "badrequest": 400,
    "authentication": 401,
    "permission": 403,
    "notfound": 404,
    "conflict": 409,
    "unprocessable": 422,
    "ratelimit": 429,
    "quota": 429,
    "exhausted": 429,
    "overloaded": 529,
}
"""The HTTP status of an error that is called so, where its message does not say."""
_NO_ANSWER: Final = ("connection", "timeout", "timedout", "protocol", "readerror")
_DIMENSIONS: Final = 1536
_PLAIN: Final = ("type", "content", "id", "name", "arguments")
"""What parts have in all dialects."""
_PLAIN_ERRORS: Final = {"aws.bedrock": "message", "cohere": "message", "ollama": "error"}


@dataclass(frozen=True, slots=True)
class WireReply:
    """An answer to a request. ``pieces`` are the bytes of a stream, or one document.

    ``cut``: the connection breaks off after them, as it did, without a status where there are none.
    ``waits`` are seconds: until the first piece, and from there to the last.
    """

    status: int
    content_type: str
    pieces: list[bytes]
    headers: dict[str, str] = field(default_factory=dict[str, str])
    cut: bool = False
    waits: tuple[float, float] = (0.0, 0.0)
    made: bool = False
    """Whether its vectors are made: those of embeddings are not recorded."""


def reply_of(
    recording: SessionRecording, call: PlayableCall, asked: AskedRequest, *, timing: bool = False
) -> WireReply:
    """A recorded call's answer to a request that is alike.

    Args:
        recording: whose call it is.
        call: the call; its content is recorded.
        asked: what is answered: its API and whether it wants a stream.
        timing: whether the answer takes the time that it took.
    """
    first = call.time_to_first_chunk if asked.stream else None
    first = call.duration if first is None else first
    waits = (first, max(0.0, call.duration - first)) if timing else (0.0, 0.0)
    if call.failed and call.finish_reasons != ["failed"]:
        return _failure(call, asked, waits)
    if asked.operation == semconv.OP_EMBEDDINGS:
        return WireReply(200, JSON, [orjson.dumps(_vectors(call, asked))], waits=waits, made=True)
    dialect = asked.form.endpoint.dialect
    body = join_response(dialect, _parts(recording, call, asked))
    if call.finish_reasons == ["failed"]:
        body["error"] = {"code": call.error_type, "message": call.error_message}
    if not asked.stream:
        return WireReply(200, JSON, [orjson.dumps(asked.form.written(body))], waits=waits)
    error = _error(call, asked, 500) if call.stream_outcome == "error" else None
    return _streamed(asked, body, error, waits)


def _parts(recording: SessionRecording, call: PlayableCall, asked: AskedRequest) -> ResponseParts:
    dialect, known = asked.form.endpoint.dialect, recording.messages
    words: Mapping[str, str] = REASONS.get(dialect, {}) if asked.of_framework else {}
    return ResponseParts(
        [_reply_message(known[one], dialect, asked.of_framework) for one in call.output_hashes],
        [words.get(one, one) for one in call.finish_reasons],
        call.response_id,
        call.response_model or call.request_model,
        int(call.start_time.timestamp()),
        copied(TokenCounts, call),
        as_dict(orjson.loads(call.details or "{}")) or {},
        asked.body,
    )


def _reply_message(message: MessageRecord, dialect: str, of_framework: bool) -> Any:
    """A recorded reply's message in a dialect: a framework's record is in the framework's own."""
    if not of_framework or message.dialect == dialect:
        return provider_message(message)
    parts = [{key: value for key, value in one.items() if key in _PLAIN} for one in message.parts]
    for part in parts:
        if part["type"] == "reasoning":
            part["signature"] = ""
    return rebuild_message(dialect, message.role, message.name, parts)


def _streamed(
    asked: AskedRequest,
    body: dict[str, Any],
    error: dict[str, Any] | None,
    waits: tuple[float, float],
) -> WireReply:
    form = asked.form
    options = as_dict(asked.body.get("stream_options")) or {}
    asks = bool(options.get("include_usage"))
    dialect = form.endpoint.dialect
    events = form.written_events or partial(response_pieces, dialect, usage_apart=asks)
    if ":streamGenerateContent" in asked.target and "alt=sse" not in asked.target:
        return WireReply(200, JSON, [orjson.dumps(list(events(body)))], waits=waits)
    made = [*events(body)]
    if error is not None:  # the end of the stream did not come
        made = [*made[: -1 if len(made) > 1 else 1], error]
    frame = _frame_of(asked)
    pieces = [frame(event) for event in made]
    if error is None and "choices" in body and form.language == "openai":
        pieces.append(b"data: [DONE]\n\n")
    return WireReply(200, form.content_type, pieces, waits=waits)


def _frame_of(asked: AskedRequest) -> Callable[[dict[str, Any]], bytes]:
    if asked.form.content_type == AWS_EVENTS:
        return _aws_event
    if asked.form.content_type != "text/event-stream":
        return lambda event: orjson.dumps(event) + b"\n"
    return _server_sent


def _server_sent(event: dict[str, Any]) -> bytes:
    kind = event.get("type")
    name = b"event: " + kind.encode() + b"\n" if isinstance(kind, str) else b""
    return name + b"data: " + orjson.dumps(event) + b"\n\n"


def _aws_event(event: dict[str, Any]) -> bytes:
    """A message of ``application/vnd.amazon.eventstream``."""
    ((kind, value),) = event.items()
    payload, headers = orjson.dumps(value), b""
    named = ((":event-type", kind), (":content-type", JSON), (":message-type", "event"))
    for name, text in named:
        headers += bytes([len(name)]) + name.encode() + b"\x07"
        headers += pack(">H", len(text)) + text.encode()
    head = pack(">II", 16 + len(headers) + len(payload), len(headers))
    message = head + pack(">I", crc32(head)) + headers + payload
    return message + pack(">I", crc32(message))


# -- failures --------------------------------------------------------------------------------------


def refusal(asked: AskedRequest, status: int, text: str, kind: str) -> WireReply:
    """An error in the form of the API that was asked, which its SDK does not try again."""
    headers = {"x-should-retry": "false", "x-amzn-errortype": kind}
    return WireReply(status, JSON, [orjson.dumps(_error_body(asked, status, text, kind))], headers)


def _error_body(
    asked: AskedRequest, status: int, text: str, kind: str, code: str | None = None
) -> dict[str, Any]:
    key = _PLAIN_ERRORS.get(asked.form.language)
    if key is not None:
        return {key: text}
    return error_body(asked.form.endpoint.dialect, text, kind, status, code)


def has_no_answer(call: PlayableCall) -> bool:
    """Whether a call failed on its way: nothing was answered."""
    kind = call.error_type.lower().replace("_", "")
    return any(word in kind for word in _NO_ANSWER) and _STATUS.match(call.error_message) is None


def _failure(call: PlayableCall, asked: AskedRequest, waits: tuple[float, float]) -> WireReply:
    if has_no_answer(call):
        return WireReply(0, "", [], cut=True, waits=waits)
    status = _status(call)
    body = orjson.dumps(_error(call, asked, status))
    headers = {"x-should-retry": "false", "x-amzn-errortype": call.error_type}
    return WireReply(status, JSON, [body], headers, waits=waits)


def _status(call: PlayableCall) -> int:
    found = _STATUS.match(_WRAPPED.sub("", call.error_message))
    if found is not None:
        return int(found[1])
    kind = call.error_type.lower().replace("_", "")
    return next((status for word, status in _STATUSES.items() if word in kind), 500)


def _error(call: PlayableCall, asked: AskedRequest, status: int) -> dict[str, Any]:
    """The body of the provider's error: as the SDK's message quotes it, else made of its words."""
    text = _WRAPPED.sub("", call.error_message)
    begun = _STATUS.match(text)
    text = text if begun is None else text[begun.end() :]
    at = text.find("{")
    if at >= 0:
        try:
            body = as_dict(ast.literal_eval(text[at:]))
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            body = None
        if body is not None:
            return body
    code = None if call.error_type.endswith("Error") else call.error_type  # not a class's name
    return _error_body(asked, status, text, call.error_type, code)


# -- vectors ---------------------------------------------------------------------------------------


def _vectors(call: PlayableCall, asked: AskedRequest) -> dict[str, Any]:
    """Vectors made of the hashes of what is embedded: the same text has the same one always."""
    body = asked.body
    given = [body.get(key) for key in ("dimensions", "output_dimension", "outputDimensionality")]
    size = next((one for one in given if isinstance(one, int)), _DIMENSIONS)
    made = list(_unit_vectors(asked.input_hashes, size))
    model = call.response_model or asked.request_model
    language, path = asked.form.language, asked.target.partition("?")[0]
    if language.startswith("gcp."):
        values = [{"values": vector} for vector in made]
        if path.endswith(":predict"):
            return {"predictions": [{"embeddings": one} for one in values]}
        return {"embeddings": values} if "batch" in path else {"embedding": values[0]}
    if language == "ollama":
        whole = path.endswith("/embed")
        return {"model": model, **({"embeddings": made} if whole else {"embedding": made[0]})}
    if language == "cohere":
        kinds = as_list(body.get("embedding_types")) or []
        return {"id": "", "embeddings": {str(kinds[0]): made} if kinds else made}
    coded: list[Any] = made
    if body.get("encoding_format") == "base64":
        coded = [b64encode(pack(f"<{size}f", *vector)).decode() for vector in made]
    data = [{"object": "embedding", "index": at, "embedding": one} for at, one in enumerate(coded)]
    count = call.input_tokens or 0
    usage = {"prompt_tokens": count, "total_tokens": count}
    made_by = {"id": call.response_id} if call.response_id else {}
    return {**made_by, "object": "list", "model": model, "data": data, "usage": usage}


def _unit_vectors(hashes: list[str], size: int) -> Iterator[list[float]]:
    for one in hashes:
        numbers = random.Random(one)
        vector = [numbers.gauss(0.0, 1.0) for _ in range(size)]
        length = sum(value * value for value in vector) ** 0.5
        yield [value / length for value in vector]
