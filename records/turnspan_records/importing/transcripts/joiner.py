"""Which logged call another one goes on with, as far as their lines have to be read together.

Each request brings the history again, so a call goes on with the one whose answer its history has
in the same place, or anywhere if nobody else gives such an answer by chance. That is a first
selection: what joins what is decided by the normaliser, which is given these lines together.
"""

from __future__ import annotations

from collections import OrderedDict
from itertools import accumulate
from typing import Any, Final

from turnspan.content.model import RequestParts, as_dict
from turnspan.dialects.convert import convert_message, first_choice, output_messages, split_request
from turnspan_clickhouse.normalise.history_keys import (
    START,
    HistoryMessage,
    HistoryReader,
    ReplyKeys,
    extended,
)
from turnspan_records.importing.files.groups import Groups

MAX_KNOWN: Final = 200_000
"""Answers that are remembered: a conversation is gone on with before so many others answer."""
MAX_RUNS: Final = 8
"""How many of its answers, from the newest back, a history is looked up by."""


class Joiner:
    """Remembers answers, and finds whose history has them."""

    def __init__(self) -> None:
        self._reader = HistoryReader()
        self._known: OrderedDict[int, int] = OrderedDict()

    def join(self, dialect: str, request: Any, response: Any, group: int, groups: Groups) -> None:
        """Join a call's group with those of earlier calls that it goes on with."""
        parts = split_request(dialect, request)
        said = [self._reader.message(dialect, raw) for raw in parts.messages_raw]
        chains = list(accumulate((each.key for each in said), extended, initial=START))
        before = self._before(said, chains, parts)
        for key in self._answered(dialect, response, chains[-1]):
            self._known[key] = group
            self._known.move_to_end(key)
        while len(self._known) > MAX_KNOWN:
            self._known.popitem(last=False)
        for other in before:
            groups.join(other, group)

    def _before(
        self, said: list[HistoryMessage], chains: list[int], parts: RequestParts
    ) -> list[int]:
        keys: list[int] = []
        before = parts.parameters.get("previous_response_id")
        if isinstance(before, str):
            keys.append(self._reader.digest(f"response\0{before}"))
        stop = len(said)
        for _ in range(MAX_RUNS):
            while stop and said[stop - 1].role != "assistant":
                stop -= 1
            start = stop
            while start and said[start - 1].role == "assistant":
                start -= 1
            if start == stop:
                break
            keys += self._keys(self._reader.answer(said[start:stop]), chains[start])
            found = self._groups(keys)
            if found:
                return found
            stop = start
        return self._groups(keys)

    def _groups(self, keys: list[int]) -> list[int]:
        return sorted({self._known[key] for key in keys if key in self._known})

    def _answered(self, dialect: str, response: Any, chain: int) -> list[int]:
        keys: list[int] = []
        identity = (as_dict(response) or {}).get("id")
        if isinstance(identity, str):
            keys.append(self._reader.digest(f"response\0{identity}"))
        replies, _ = output_messages(dialect, response)
        output = [convert_message(dialect, raw, default_role="assistant") for raw in replies]
        one = len(first_choice(dialect, output)) == len(output)
        for answer in self._reader.answers(output, one):
            keys += self._keys(answer, chain)
        return keys

    def _keys(self, answer: ReplyKeys, chain: int) -> list[int]:
        keys = [extended(extended(START, chain or 1), key) for key in answer.keys]
        return keys + answer.keys if answer.distinct else keys
