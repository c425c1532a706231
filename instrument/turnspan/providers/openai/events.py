"""Folding the events of a streamed OpenAI response into the response they make up."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Final

from turnspan.content.snapshot import freeze
from turnspan.runtime.type_guards import is_dict, is_list, kind_of
from turnspan.tracing.endpoint import Accumulator, fields_of

_DELTAS: Final = {
    "response.output_text.delta": ("content", "output_text", "text"),
    "response.refusal.delta": ("content", "refusal", "refusal"),
    "response.reasoning_text.delta": ("content", "reasoning_text", "text"),
    "response.reasoning_summary_text.delta": ("summary", "summary_text", "text"),
    "response.function_call_arguments.delta": ("", "", "arguments"),
    "response.output_audio_transcript.delta": ("content", "output_audio", "transcript"),
    "response.custom_tool_call_input.delta": ("", "", "input"),
    "response.mcp_call_arguments.delta": ("", "", "arguments"),
    "response.code_interpreter_call_code.delta": ("", "", "code"),
}
"""Events that bring a piece of text: the list of the item it goes to (none: the item itself), the
type of the block there, and the field."""

FINAL: Final = frozenset(
    {"response.completed", "response.incomplete", "response.failed", "response.done"}
)
"""Events that bring the whole response."""
_ITEMS: Final = frozenset({"response.output_item.added", "response.output_item.done"})


class ResponsesAccumulator(Accumulator):
    """Folds ``ResponseStreamEvent`` objects. The last one brings the whole response; what has come
    piece by piece is for streams that break off before."""

    __slots__ = ("_done", "_error", "_items", "_last", "_parts", "_pieces", "_snapshot")

    def __init__(self) -> None:
        super().__init__()
        self._snapshot: dict[str, Any] = {}
        self._items: dict[int, dict[str, Any]] = {}
        self._done: set[int] = set()
        self._error: dict[str, Any] | None = None
        self._parts: dict[tuple[Any, ...], list[str]] = {}
        self._last: Any = None
        """The item id of the last piece of output text, and where its pieces go."""
        self._pieces: list[str] = []

    def fold(self, chunk: Any) -> bool:
        """Take an event in; never one that carries only usage."""
        fields = fields_of(chunk) if kind_of(chunk) is dict else chunk.__dict__
        kind = fields.get("type")
        # The short way: nearly every chunk is another piece of the same text.
        if kind == "response.output_text.delta" and fields.get("item_id") is self._last:
            self._pieces.append(fields["delta"])
            return False
        if self.first is None:
            self.first = time.perf_counter()
        if kind in _DELTAS:
            self._fold_delta(kind, fields)
        elif kind in _ITEMS:
            self._fold_item(kind, fields)
        elif kind == "error":
            self._error = {"code": fields.get("code"), "message": fields.get("message")}
            self.done = True
        elif is_response(fields.get("response")):
            self._snapshot = freeze(fields["response"])
            self.done = kind in FINAL
        return False

    def _fold_delta(self, kind: str, fields: Mapping[str, Any]) -> None:
        delta = fields.get("delta")
        if type(delta) is not str:
            return
        where, block, field = _DELTAS[kind]
        index = fields.get("content_index", fields.get("summary_index"))
        key = (fields.get("output_index"), where, index, block, field)
        pieces = self._parts.setdefault(key, [])
        pieces.append(delta)
        if kind == "response.output_text.delta":
            self._last, self._pieces = fields.get("item_id"), pieces

    def _fold_item(self, kind: str, fields: Mapping[str, Any]) -> None:
        self._last = None  # another block of the same item would go elsewhere
        index, item = fields.get("output_index"), fields.get("item")
        if type(index) is int and item is not None:
            self._items[index] = freeze(item)
            if kind == "response.output_item.done":
                self._done.add(index)

    def response(self) -> dict[str, Any] | None:
        """The response as it would have come unstreamed, as far as it came."""
        if not self._snapshot and not self._items and not self._parts and self._error is None:
            return None
        response = dict(self._snapshot)
        if not response.get("output"):  # some servers leave it out of the last event
            response["output"] = self._as_it_came()
        if self._error is not None:
            response |= {"status": "failed", "error": self._error}
        return response

    def _as_it_came(self) -> list[dict[str, Any]]:
        """The items with their pieces, in copies: another thread may ask as well."""
        items = self._items.copy()
        for (index, where, block_index, kind, field), pieces in [*self._parts.items()]:
            if index in self._done:
                continue
            known = items.get(index) or {"type": "message", "role": "assistant"}
            item = items[index] = known.copy()
            text = "".join(pieces)
            if not where:
                item[field] = text
                continue
            blocks = item.get(where)
            blocks = item[where] = [*blocks] if is_list(blocks) else []
            at = block_index or 0
            while len(blocks) <= at:
                blocks.append({"type": kind, field: ""})
            blocks[at] = {**blocks[at], field: text}
        return [item for _, item in sorted(items.items())]


def is_response(value: Any) -> bool:
    """Whether an event's ``response`` is one, not a word."""
    return is_dict(value) or "output" in fields_of(value) or "id" in fields_of(value)
