"""Events of OpenAI's Realtime API, in the form of its reference."""

from __future__ import annotations

import base64
import hashlib
from typing import Any, Final

PCM: Final = {"type": "audio/pcm", "rate": 24000}
TOOL: Final = {
    "type": "function",
    "name": "weather",
    "description": "The weather.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
}
USAGE: Final = {
    "total_tokens": 300,
    "input_tokens": 200,
    "output_tokens": 100,
    "input_token_details": {
        "text_tokens": 120,
        "audio_tokens": 80,
        "image_tokens": 0,
        "cached_tokens": 64,
        "cached_tokens_details": {"text_tokens": 40, "audio_tokens": 24, "image_tokens": 0},
    },
    "output_token_details": {"text_tokens": 30, "audio_tokens": 70},
}

Event = dict[str, Any]


def audio(seconds: float, value: int = 1) -> bytes:
    """Sound of the API's usual format, 24 kHz of 16 bits."""
    return bytes([value]) * int(seconds * 48_000)


def encoded(sound: bytes) -> str:
    """As the API has it in its events."""
    return base64.b64encode(sound).decode()


def written(sound: bytes) -> str:
    """What stands in its place."""
    return hashlib.sha256(sound).hexdigest()


def session(kind: str = "session.created", **more: Any) -> Event:
    """What the server says of the session."""
    said: Event = {
        "type": "realtime",
        "object": "realtime.session",
        "id": "sess_1",
        "model": "gpt-realtime",
        "output_modalities": ["audio"],
        "instructions": "Be kind.",
        "tools": [TOOL],
        "tool_choice": "auto",
        "max_output_tokens": "inf",
        "tracing": None,
        "expires_at": 1_800_000_000,
        "audio": {"input": {"format": PCM}, "output": {"format": PCM, "voice": "marin"}},
        **more,
    }
    return {"type": kind, "event_id": "event_s", "session": said}


def message(identity: str, role: str, *content: Event, status: str = "completed") -> Event:
    """A message of the conversation."""
    head = {"id": identity, "object": "realtime.item", "type": "message"}
    return {**head, "status": status, "role": role, "content": list(content)}


def typed(identity: str, text: str) -> Event:
    """What the user wrote."""
    return message(identity, "user", {"type": "input_text", "text": text})


def heard(identity: str, transcript: str | None = None) -> Event:
    """What the user said, as the server echoes it: without the sound."""
    return message(identity, "user", {"type": "input_audio", "transcript": transcript})


def spoken(identity: str, transcript: str, status: str = "completed") -> Event:
    """What the model said."""
    block = {"type": "output_audio", "transcript": transcript}
    return message(identity, "assistant", block, status=status)


def call(identity: str, arguments: str = '{"city":"Oslo"}') -> Event:
    """A function that the model asks for."""
    head = {"id": identity, "object": "realtime.item", "type": "function_call"}
    tail = {"name": "weather", "call_id": f"call_{identity}", "arguments": arguments}
    return {**head, "status": "completed", **tail}


def answered(identity: str, asked: str, output: str) -> Event:
    """What the function gave."""
    head = {"id": identity, "object": "realtime.item", "type": "function_call_output"}
    return {**head, "call_id": f"call_{asked}", "output": output}


def added(item: Event, previous: str | None = None) -> list[Event]:
    """What the server says of a new item."""
    said = {"event_id": "event_i", "previous_item_id": previous, "item": item}
    return [{"type": f"conversation.item.{how}", **said} for how in ("added", "done")]


def created(identity: str = "resp_1", **more: Any) -> Event:
    """A response begins."""
    said: Event = {
        "object": "realtime.response",
        "id": identity,
        "status": "in_progress",
        "output": [],
    }
    settings = {"output_modalities": ["audio"], "audio": {"output": {"format": PCM}}}
    response = {**said, **settings, "conversation_id": "conv_1", "usage": None, **more}
    return {"type": "response.created", "event_id": "event_c", "response": response}


def done(*output: Event, id: str = "resp_1", status: str = "completed", **more: Any) -> Event:
    """A response has ended."""
    details = {"status": status, "output": list(output), "usage": USAGE, **more}
    return {**created(id, **details), "type": "response.done"}


def delta(kind: str, piece: str, item: str = "item_a", id: str = "resp_1", index: int = 0) -> Event:
    """A piece of a response."""
    place = {"response_id": id, "item_id": item, "output_index": index, "content_index": 0}
    return {"type": f"response.{kind}.delta", "event_id": "event_d", **place, "delta": piece}


def said(
    identity: str, text: str, *pieces: bytes, id: str = "resp_1", previous: str | None = None
) -> list[Event]:
    """A whole spoken answer: its pieces of sound, its transcript."""
    begun: Event = {**spoken(identity, "", "in_progress"), "content": []}
    item = spoken(identity, text)
    place = {"event_id": "event_o", "response_id": id, "output_index": 0}
    return [
        created(id),
        {"type": "response.output_item.added", **place, "item": begun},
        added(begun, previous)[0],
        *(delta("output_audio", encoded(piece), identity, id) for piece in pieces),
        *(delta("output_audio_transcript", word, identity, id) for word in text.split()),
        {"type": "response.output_item.done", **place, "item": item},
        added(item, previous)[1],
        done(item, id=id),
    ]


def listening(identity: str, start: int, end: int) -> list[Event]:
    """What the server says of a voice until it has an item."""
    place = {"event_id": "event_v", "item_id": identity}
    head = "input_audio_buffer."
    return [
        {"type": f"{head}speech_started", **place, "audio_start_ms": start},
        {"type": f"{head}speech_stopped", **place, "audio_end_ms": end},
        {"type": f"{head}committed", **place, "previous_item_id": None},
        *added(heard(identity)),
    ]


def transcribed(identity: str, text: str) -> Event:
    """What the user said is known."""
    kind = "conversation.item.input_audio_transcription.completed"
    usage = {"type": "duration", "seconds": 1}
    place = {"event_id": "event_t", "item_id": identity, "content_index": 0}
    return {"type": kind, **place, "transcript": text, "usage": usage}


def failure(code: str | None, message: str = "no", **more: Any) -> Event:
    """An error of the server's."""
    problem = {"type": "invalid_request_error", "code": code, "message": message, **more}
    return {"type": "error", "event_id": "event_e", "error": problem}
