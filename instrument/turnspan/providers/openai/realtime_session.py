"""A Realtime session: its settings, its conversation, and the responses in it."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Mapping
from typing import Any, Final

from turnspan.patching.stainless import Sdk
from turnspan.providers.openai.realtime import (
    AudioDigest,
    Form,
    audio_form,
    blocks_of,
    item_of,
)
from turnspan.providers.openai.sockets import CREATE, SocketRecord
from turnspan.runtime.type_guards import is_list
from turnspan.tracing.endpoint import Endpoint, fields_of
from turnspan.tracing.model_call import CANCELLED, COMPLETE

_MAX_ITEMS: Final = 500
"""Items of a conversation that are kept; the oldest are let go, and counted."""
_MAX_EXPECTED: Final = 100
_NO_SETTINGS: Final = frozenset(
    {"id", "object", "type", "expires_at", "client_secret", "conversation", "input"}
)
_ITEM: Final = "conversation.item."
_BUFFER: Final = "input_audio_buffer."
_BUSY: Final = "conversation_already_has_active_response"


class ConversationItems(dict[str, dict[str, Any]]):
    """The items of a conversation by their ids, as the server says that they are."""

    dropped = 0

    def __init__(self) -> None:
        super().__init__()
        self._expected: deque[dict[str, Any]] = deque(maxlen=_MAX_EXPECTED)

    def expect(self, item: dict[str, Any]) -> None:
        """What the server will add, without its audio and perhaps by an id of its own."""
        if any("data" in block for block in blocks_of(item)):
            self._expected.append(item)

    def put(self, raw: Mapping[str, Any], form: Form, previous: Any = None) -> None:
        """Add an item behind the ``previous`` one, or say more of one that is there."""
        identity = raw.get("id")
        if not isinstance(identity, str):
            return
        known, last = self.get(identity), next(reversed(self), None)
        blocks = blocks_of(self._before(raw) if known is None else known)
        if any("truncated" in block for block in blocks):
            return  # what the server forgot of it does not come back
        item = item_of(raw, dict(enumerate(blocks)), form)
        if known is not None:  # in place: responses under way have it among their input
            known.clear()
            known.update(item)
            return
        self[identity] = item
        if previous in self and previous not in (last, identity):
            order = [key for key in self if key != identity]
            order.insert(order.index(previous) + 1, identity)
            items = {key: self[key] for key in order}
            self.clear()
            self.update(items)
        if len(self) > _MAX_ITEMS:
            del self[next(iter(self))]
            self.dropped += 1

    def _before(self, raw: Mapping[str, Any]) -> dict[str, Any]:
        for item in self._expected:
            identity = item.get("id")
            if identity == raw["id"] if identity else _shape_of(item) == _shape_of(raw):
                self._expected.remove(item)
                return item
        return {}

    def transcribe(self, identity: Any, index: Any, transcript: Any) -> None:
        """What the user said is known: also in requests that have the item already."""
        blocks = blocks_of(self.get(identity) or {})
        if transcript and isinstance(index, int) and index < len(blocks):
            blocks[index] = {**blocks[index], "transcript": transcript}

    def truncate(self, identity: Any, index: Any, milliseconds: Any) -> None:
        """The server keeps the beginning of an item's audio, and nothing of its transcript."""
        item = self.get(identity) or {}
        blocks = list(blocks_of(item))
        if isinstance(index, int) and index < len(blocks) and isinstance(milliseconds, int):
            kept = {k: v for k, v in blocks[index].items() if k != "transcript"}
            blocks[index] = {**kept, "seconds": milliseconds / 1_000, "truncated": True}
            self[identity] = {**item, "content": blocks}


def _shape_of(item: Mapping[str, Any]) -> list[Any]:
    kinds = [str(block.get("type")) for block in blocks_of(item)]
    return [item.get("role"), *kinds]


class RealtimeSession(SocketRecord):
    """What passes over the connection of a Realtime session."""

    def __init__(self, sdk: Sdk, endpoint: Endpoint, target: Mapping[str, Any]) -> None:
        super().__init__(sdk, endpoint, target)
        self._settings: dict[str, Any] = {}
        self._items = ConversationItems()
        self._audio = AudioDigest()
        self._speech: dict[str, Any] = {}
        self._committed: tuple[int, float] | None = None
        """When the user's voice became an item that no response has answered yet."""

    def take_sent(self, event: dict[str, Any]) -> None:
        """A request, or audio, which the server does not say again."""
        kind = event["type"]
        if kind == CREATE:
            self.ask(event)
        elif kind == f"{_BUFFER}append":
            self._audio.add(event.get("audio"))
        elif kind == f"{_BUFFER}clear":
            self._audio = AudioDigest()
        elif kind == f"{_ITEM}create":
            self._items.expect(item_of(fields_of(event.get("item")), {}, self._form))

    def take_received(self, event: dict[str, Any]) -> None:
        """An event of the session, its conversation or a response."""
        kind: str = event["type"]
        if kind.startswith("response."):
            self._respond(kind, event)
        elif kind in ("session.created", "session.updated"):
            session = fields_of(event.get("session"))
            self._settings = {k: v for k, v in session.items() if v is not None}
            self.session = self.session or str(session.get("id") or "")
        elif kind == "error":
            self._refused(event, fields_of(event.get("error")))
        elif kind.startswith(_ITEM):
            self._converse(kind.removeprefix(_ITEM), event, event.get("item_id"))
        elif kind.startswith(_BUFFER):
            self._hear(kind.removeprefix(_BUFFER), event, event.get("item_id"))

    def body_of(self, event: Mapping[str, Any]) -> dict[str, Any]:
        """The session's settings and the conversation, or what a response has in their place."""
        self.session = self.session or f"realtime-{os.urandom(8).hex()}"
        own = fields_of(event.get("response"))
        body = {k: v for k, v in {**self._settings, **own}.items() if k not in _NO_SETTINGS}
        if "max_response_output_tokens" in body:  # the preview's name
            body["max_output_tokens"] = body.pop("max_response_output_tokens")
        if self._items.dropped:
            body["dropped_items"] = self._items.dropped
        given = own.get("input")
        items = list(self._items.values())
        if is_list(given):
            items = [self._given(fields_of(item)) for item in given]
        return {**body, "stream": True, "input": items}

    def _given(self, item: dict[str, Any]) -> dict[str, Any]:
        known = self._items.get(str(item.get("id")))
        if known is not None and item.get("type") == "item_reference":
            return known
        return item_of(item, {}, self._form)

    @property
    def _form(self) -> Form:
        return audio_form(self._settings, "input")

    def _respond(self, kind: str, event: dict[str, Any]) -> None:
        response = fields_of(event.get("response"))
        key = str(event.get("response_id") or response.get("id"))
        if kind == "response.created":
            # The server's own: as soon as the user had spoken.
            asked = self.asked[0] if self.asked else self.asking({}, self._committed)
            self._committed = None
            self.start(key, asked)
        found = self.fold(key, event)
        if kind != "response.done":
            return
        made = None if found is None else found.accumulator.response()
        for item in (made or response).get("output") or ():
            if item.get("id") in self._items:
                self._items.put(item, self._form)
        self.finish(key, CANCELLED if response.get("status") == "cancelled" else COMPLETE)

    def _refused(self, event: dict[str, Any], error: dict[str, Any]) -> None:
        """An error: of a response where it names the request, or may mean nothing else."""
        cause, code = error.get("event_id"), error.get("code")
        meant = [a for a in self.asked if cause is None or a.event.get("event_id") == cause]
        other = error.get("type") == "invalid_request_error" and code != _BUSY and cause is None
        if meant and (not other or str(error.get("param")).startswith("response")):
            self.refuse(meant[0], event)
        elif code == _BUSY:  # the one that is under way was taken for it
            self.refuse(self.asking({}), event)

    def _converse(self, what: str, event: dict[str, Any], identity: Any) -> None:
        items, index = self._items, event.get("content_index")
        if what in ("added", "created", "done"):
            previous = None if what == "done" else event.get("previous_item_id")
            items.put(fields_of(event.get("item")), self._form, previous)
        elif what == "deleted":
            items.pop(identity, None)
        elif what == "truncated":
            items.truncate(identity, index, event.get("audio_end_ms"))
        elif what == "input_audio_transcription.completed":
            items.transcribe(identity, index, event.get("transcript"))

    def _hear(self, what: str, event: dict[str, Any], identity: Any) -> None:
        if what == "speech_started":
            self._speech = {"id": identity, "start": event.get("audio_start_ms")}
        elif what == "speech_stopped":
            self._speech["end"] = event.get("audio_end_ms")
        elif what == "committed":
            self._committed = (time.time_ns(), time.perf_counter())
            block, speech = self._audio.block(self._form), self._speech
            self._audio, self._speech = AudioDigest(), {}
            start, end = speech.get("start"), speech.get("end")
            if speech.get("id") == identity and isinstance(start, int) and isinstance(end, int):
                block["seconds"] = (end - start) / 1_000  # the server leaves the silence out
            self._items.expect({"id": identity, "content": [block]})
