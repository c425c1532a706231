"""OpenAI's Realtime API in the form of its Responses API, which it resembles.

Of audio the hash, the size and the seconds are kept, never the bytes. The names of the preview
(``client.beta.realtime``) become those of today.
"""

from __future__ import annotations

import binascii
import hashlib
import time
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, Final

import orjson

from turnspan import semconv
from turnspan.content.media import digest_media, hash_text
from turnspan.providers.background import PENDING
from turnspan.providers.openai.events import ResponsesAccumulator
from turnspan.providers.openai.responses import Responses
from turnspan.runtime.type_guards import is_dict, is_list
from turnspan.tracing.endpoint import fields_of

_AUDIO_FORMATS: Final = {
    "pcm16": "audio/pcm",
    "g711_ulaw": "audio/pcmu",
    "g711_alaw": "audio/pcma",
}
_PCM: Final = "audio/pcm"
_PCM_RATE: Final = 24_000
_G711_RATE: Final = 8_000  # of one byte each
_RENAMED: Final = {
    "response.text.delta": "response.output_text.delta",
    "response.audio.delta": "response.output_audio.delta",
    "response.audio_transcript.delta": "response.output_audio_transcript.delta",
}
_REWRITTEN: Final = ("object", "output", "status", "status_details", "usage")
_AUDIO_KEYS: Final = ("type", "format", "data", "seconds", "truncated", "transcript")

Form = tuple[str, int]
"""The media type of audio, and its bytes a second."""


def audio_form(settings: Mapping[str, Any], side: str) -> Form:
    """What a session or a response says of its audio on one side (``input``, ``output``)."""
    form = fields_of(fields_of(fields_of(settings.get("audio")).get(side)).get("format"))
    name = str(form.get("type") or settings.get(f"{side}_audio_format") or _PCM)
    name = _AUDIO_FORMATS.get(name, name)
    rate = form.get("rate")
    pcm = 2 * (rate if isinstance(rate, int) and rate > 0 else _PCM_RATE)
    return name, pcm if name == _PCM else _G711_RATE


class AudioDigest:
    """Audio that passes in pieces: its hash and its size."""

    __slots__ = ("_hash", "_size")

    def __init__(self) -> None:
        self._hash = hashlib.sha256()
        self._size = 0

    def add(self, encoded: Any) -> None:
        """Take in a piece, as base64."""
        if isinstance(encoded, str):
            try:
                piece = binascii.a2b_base64(encoded)  # ten times as fast as the careful one
            except ValueError:  # the server refuses it as well
                return
            self._hash.update(piece)
            self._size += len(piece)

    def block(self, form: Form) -> dict[str, Any]:
        """The fields of an audio block; none where there was no audio."""
        if not self._size:
            return {}
        written = hash_text(self._hash.hexdigest(), self._size)
        return {"format": form[0], "data": written, "seconds": round(self._size / form[1], 3)}


def item_of(raw: Mapping[str, Any], known: Mapping[int, Any], form: Form) -> dict[str, Any]:
    """An item as it is kept; ``known`` is what is known of its blocks, by their index."""
    item = {k: v for k, v in raw.items() if k != "object" and (k, v) != ("status", "completed")}
    side = "output" if raw.get("role") == "assistant" else "input"
    blocks = blocks_of(raw)
    if blocks:
        kept = [_block_of(b, side, known.get(i) or {}, form) for i, b in enumerate(blocks)]
        item["content"] = kept
    return item


def _block_of(
    block: dict[str, Any], side: str, known: Mapping[str, Any], form: Form
) -> dict[str, Any]:
    kind = str(block.get("type"))
    if kind == "text":
        return {"type": f"{side}_text", "text": block.get("text")}
    if not kind.endswith("audio"):
        reduced: dict[str, Any] = digest_media(block)
        return reduced
    audio = AudioDigest()
    audio.add(block.get("audio"))
    told = {key: value for key, value in block.items() if value and key != "audio"}
    found = {**known, **told, **audio.block(form), "type": f"{side}_audio"}
    return {key: found[key] for key in _AUDIO_KEYS if key in found}


def blocks_of(item: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The blocks of an item's content; none where it is of another form."""
    content = item.get("content")
    return content if is_list(content) and all(is_dict(block) for block in content) else []


class RealtimeAccumulator(ResponsesAccumulator):
    """Folds the events of one response of a Realtime session."""

    __slots__ = ("_audio",)

    def __init__(self) -> None:
        super().__init__()
        self._audio: dict[Any, dict[Any, AudioDigest]] = {}
        """By the indices of item and block."""

    def fold(self, chunk: Any) -> bool:
        """Take an event in. The first delta is the first chunk: what comes before says nothing."""
        event = fields_of(chunk)
        kind = str(event.get("type"))
        kind = _RENAMED.get(kind, kind)
        first = self.first
        if first is None and kind.endswith(".delta"):
            first = time.perf_counter()
        if kind == "response.output_audio.delta":
            blocks = self._audio.setdefault(event.get("output_index"), {})
            blocks.setdefault(event.get("content_index"), AudioDigest()).add(event.get("delta"))
        else:
            super().fold(SimpleNamespace(**{**event, "type": kind}))
        self.first = first
        return False

    def response(self) -> dict[str, Any] | None:
        """The response in the form of the Responses API."""
        raw = super().response()
        if raw is None:
            return None
        form = audio_form(raw, "output")
        response = {key: value for key, value in raw.items() if key not in _REWRITTEN}
        response["output"] = [
            item_of(fields_of(item), self._heard(place, form), form)
            for place, item in enumerate(raw.get("output") or ())
        ]
        usage = fields_of(raw.get("usage"))
        if usage:
            response["usage"] = {k.replace("_token_d", "_tokens_d"): v for k, v in usage.items()}
        status = raw.get("status")
        if status and status not in PENDING:
            response["status"] = status
        details = fields_of(raw.get("status_details"))
        if details.get("error"):
            response["error"] = details["error"]
        elif details.get("reason"):
            key = "incomplete_details" if status == "incomplete" else "cancelled_details"
            response[key] = {"reason": details["reason"]}
        return response

    def _heard(self, place: int, form: Form) -> dict[Any, Any]:
        return {index: audio.block(form) for index, audio in self._audio.get(place, {}).items()}


class RealtimeResponses(Responses):
    """The responses of a Realtime session, each of which is one call."""

    def describe(self, body: Mapping[str, Any], attributes: dict[str, Any]) -> None:
        """Write the attributes of the session's settings, and of what a response has of its own."""
        super().describe(body, attributes)
        attributes[semconv.OPENAI_API_TYPE] = "realtime"
        modalities = body.get("output_modalities", body.get("modalities"))
        if is_list(modalities):
            attributes[semconv.OUTPUT_TYPE] = "speech" if "audio" in modalities else "text"

    def freeze(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """The body, which was made for the record."""
        return dict(body)

    def describe_response(
        self, response: Any, attributes: dict[str, Any], *, cut: bool = False
    ) -> None:
        """Write the attributes of a response, and why it was cancelled."""
        super().describe_response(response, attributes, cut=cut)
        reason = fields_of(response).get("cancelled_details")
        if reason:
            attributes[semconv.RESPONSE_DETAILS] = orjson.dumps(reason).decode()

    def accumulator(self) -> RealtimeAccumulator:
        """A fresh accumulator."""
        return RealtimeAccumulator()
