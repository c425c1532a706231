"""Batches: what this process has seen of them and of their requests, for results to be read by.

OpenAI takes the requests as an uploaded file and tells results in two more
(https://platform.openai.com/docs/api-reference/batch); Anthropic takes them in the request itself
(https://docs.anthropic.com/en/api/creating-message-batches).
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any, Final

import orjson

from turnspan.runtime.forks import in_child
from turnspan.runtime.type_guards import is_dict, is_list
from turnspan.tracing.endpoint import fields_of
from turnspan.tracing.state import State, current
from turnspan.wire.answer_bytes import parsed
from turnspan.wire.past_calls import Newest

_MAX_BATCHES: Final = 1_000
MAX_INPUT: Final = 64 * 2**20
"""Bytes of requests that are remembered."""
_MAX_RECORDED: Final = 500_000
"""Results that are known to be recorded, of files that were not read to their end."""

_NONE: Final[set[str]] = set()


class BatchMemory:
    """What this process knows of batches. Any thread may ask and tell."""

    def __init__(self) -> None:
        self._batches: Newest[str, dict[str, Any]] = Newest(_MAX_BATCHES)
        self._of_file: Newest[str, str] = Newest(2 * _MAX_BATCHES)
        self._inputs: Newest[str, bytes] = Newest(_MAX_BATCHES)
        self._recorded: Newest[tuple[State, str], set[str] | None] = Newest(_MAX_BATCHES)
        self._lock = threading.RLock()
        in_child(self._after_fork)

    def _after_fork(self) -> None:
        self._lock = threading.RLock()

    def learn(self, document: Any) -> bool:
        """A batch, or a list of them, as the API tells it."""
        fields = fields_of(document)
        listed = fields.get("data")
        for batch in listed if is_list(listed) else [fields]:
            identity = batch.get("id") if is_dict(batch) else None
            if not isinstance(identity, str) or not is_dict(batch):
                continue
            with self._lock:
                self._batches[identity] = batch
                for name in ("output_file_id", "error_file_id"):
                    if isinstance(batch.get(name), str):
                        self._of_file[batch[name]] = identity
        return True

    def remember(self, identity: str, requests: bytes) -> None:
        """The requests of a batch or an uploaded file: JSON lines, or a list."""
        with self._lock:
            self._inputs[identity] = requests
            while sum(map(len, self._inputs.values())) > MAX_INPUT:
                self._inputs.popitem(last=False)

    def batch_of(self, source: str) -> dict[str, Any]:
        """The batch that a file of results is of, or that has this id; empty: it is not known."""
        with self._lock:
            identity = self._of_file.get(source, source)
            return self._batches.get(identity) or {}

    def requests_of(self, batch: Mapping[str, Any], source: str) -> dict[str, dict[str, Any]]:
        """The requests by ``custom_id``, as far as they are remembered."""
        with self._lock:
            data = self._inputs.get(batch.get("input_file_id") or source)
        if not data:
            return {}
        lines: Any = orjson.loads(data) if data[:1] == b"[" else parsed(data.split(b"\n"))
        return {str(line.get("custom_id")): line for line in lines if is_dict(line)}

    def claim(self, source: str, custom_id: str) -> bool:
        """Whether this recorder has not recorded a result yet; from now on it has."""
        key = (current(), source)
        with self._lock:
            known = self._recorded.get(key, _NONE)
            if known is None or custom_id in known:
                return False
            if known is _NONE:
                while sum(len(ids or ()) for ids in self._recorded.values()) > _MAX_RECORDED:
                    self._recorded.popitem(last=False)
                known = self._recorded[key] = set()
            known.add(custom_id)
            return True

    def complete(self, source: str) -> None:
        """All results have been recorded: that is remembered in place of their ids."""
        with self._lock:
            if (current(), source) in self._recorded:
                self._recorded[current(), source] = None


batches = BatchMemory()
"""The process's."""


def made(request: Mapping[str, Any], batch: Mapping[str, Any]) -> None:
    """A batch was made: which requests it is of is remembered, where the request has them."""
    batches.learn(batch)
    identity, requests = batch.get("id"), request.get("requests")
    if is_list(requests) and isinstance(identity, str):
        batches.remember(identity, orjson.dumps(requests))
