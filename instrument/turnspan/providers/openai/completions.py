"""OpenAI's legacy completions: a text goes in, and its continuation comes out."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Final

from turnspan import semconv
from turnspan.content.snapshot import freeze
from turnspan.providers.openai.chat import ChatCompletions, finish_reasons
from turnspan.providers.openai.usage import read_usage, usage_of
from turnspan.tracing.endpoint import Accumulator, ReplyFacts, fields_of
from turnspan.tracing.request_parameters import describe

DIALECT: Final = "openai.completions"


class Completions(ChatCompletions):
    """``POST /completions``. Its responses are those of chat, with a text for each choice."""

    operation = semconv.OP_TEXT_COMPLETION
    dialect = DIALECT

    def describe(self, body: Mapping[str, Any], attributes: dict[str, Any]) -> None:
        """Write the request's attributes."""
        attributes[semconv.OPERATION_NAME] = semconv.OP_TEXT_COMPLETION
        describe(body, attributes)

    def reply(self, response: Any) -> ReplyFacts:
        """What a completion means for the turn."""
        fields = fields_of(response)
        usage = usage_of(fields)
        choices = fields.get("choices") or [None]
        text = fields_of(choices[0]).get("text")
        return ReplyFacts(
            fields.get("model") or "",
            finish_reasons(fields.get("choices") or ()),
            text if isinstance(text, str) else "",
            usage=None if usage is None else read_usage(usage),
        )

    def accumulator(self) -> Accumulator:
        """A fresh accumulator."""
        return CompletionAccumulator()


class CompletionAccumulator(Accumulator):
    """Folds the ``Completion`` objects of a stream."""

    __slots__ = ("_head", "_reasons", "_texts", "_usage")

    def __init__(self) -> None:
        super().__init__()
        self._head: dict[str, Any] = {}
        self._texts: dict[int, list[str]] = {}
        self._reasons: dict[int, str | None] = {}
        self._usage: Any = None

    def fold(self, chunk: Any) -> bool:
        """Take a chunk in; true for the chunk that carries only usage."""
        if self.first is None:
            self.first = time.perf_counter()
        fields = fields_of(chunk)
        if not self._head:
            keys = ("id", "model", "created", "system_fingerprint")
            self._head = {key: fields[key] for key in keys if fields.get(key)}
        choices = fields.get("choices") or ()
        for each in choices:
            choice = fields_of(each)
            index = choice.get("index") or 0
            self._texts.setdefault(index, []).append(choice.get("text") or "")
            reason = choice.get("finish_reason")
            if reason is not None or index not in self._reasons:
                self._reasons[index] = reason
                self.done = None not in self._reasons.values()
        usage = usage_of(fields)
        if usage is not None:
            self._usage = freeze(usage)
        return usage is not None and not choices

    def response(self) -> dict[str, Any] | None:
        """The completion as it would have come unstreamed."""
        if not self._head and not self._texts:
            return None
        choices = [
            {"index": index, "text": "".join(texts), "finish_reason": self._reasons.get(index)}
            for index, texts in sorted(self._texts.items())
        ]
        response: dict[str, Any] = {**self._head, "choices": choices}
        if self._usage is not None:
            response["usage"] = self._usage
        return response
