"""``turnspan.inference(...)``: record a model call that no instrumentor covers, by hand."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Final

from opentelemetry import context as otel_context

from turnspan import semconv
from turnspan.content.given_values import label_of, text_of, warn_of_near_misses
from turnspan.content.snapshot import freeze
from turnspan.runtime.guard import guard
from turnspan.runtime.inspection import looking
from turnspan.runtime.type_guards import is_dict
from turnspan.tracing.begin_call import begin
from turnspan.tracing.block_stack import WithBlock
from turnspan.tracing.manual_endpoint import ManualEndpoint
from turnspan.tracing.model_call import ABANDONED, COMPLETE, ModelCall
from turnspan.tracing.request_parameters import PARAMETERS
from turnspan.tracing.state import another_one, current, within
from turnspan.turn.turn import TokenUsage, ToolRequest

_GUARD = guard("inference", "turnspan.inference")
_OWN: Final = ("provider", "model", "operation", "messages", "system", "tools", "server_address")
_KNOWN: Final = frozenset((*_OWN, "server_port", "models", "top_a", *PARAMETERS))
"""What it takes, and what providers take that is no slip of it."""


def inference(
    *,
    provider: str = "custom",
    model: str = "",
    operation: str = semconv.OP_CHAT,
    messages: Sequence[Any] | str | None = None,
    system: Any = None,
    tools: Sequence[Any] | None = None,
    server_address: str = "",
    server_port: int | None = None,
    **parameters: Any,
) -> Inference:
    """Record a model call by hand: a context manager, synchronous or asynchronous.

    ``messages`` have OpenAI's form (``{"role", "content"}``) or the GenAI schema
    (``{"role", "parts"}``). ``parameters`` such as ``temperature`` or ``max_tokens`` are recorded
    under their standard names. Your exceptions are recorded and raised again. Turnspan itself never
    raises: a value that cannot be recorded is logged once and left out.

        with turnspan.inference(provider="my-llm", model="m-7b", messages=messages) as call:
            reply = my_llm(messages)
            call.response(text=reply.text, input_tokens=reply.prompt, output_tokens=reply.output)
    """
    warn_of_near_misses("turnspan.inference", parameters, _KNOWN, "argument as a parameter")
    target: dict[str, Any] = {semconv.PROVIDER_NAME: label_of(provider)}
    address, name = label_of(server_address), label_of(model)
    if address:
        target[semconv.SERVER_ADDRESS] = address
        target[semconv.SERVER_PORT] = 443 if server_port is None else label_of(server_port)
    body: dict[str, Any] = {"model": name} if name else {}
    if system is not None:
        body["system"] = system
    if messages is not None:
        body["messages"] = messages
    if tools is not None:
        body["tools"] = tools
    body.update(parameters)
    return Inference(target, ManualEndpoint(text_of(operation)), body)


class Inference(WithBlock["Inference"]):
    """A model call recorded by hand; its span ends with the ``with`` block."""

    __slots__ = ("_body", "_call", "_first", "_manual", "_parts", "_state", "_target")

    def __init__(
        self, target: dict[str, Any], manual: ManualEndpoint, body: dict[str, Any]
    ) -> None:
        self._target = target
        self._manual = manual
        self._body = body
        self._call: ModelCall | None = None
        self._parts: list[str] | None = None
        self._first: float | None = None
        self._state = another_one()

    def response(
        self,
        *,
        text: str | None = None,
        finish_reason: str | None = None,
        input_tokens: int | None = None,
        output_tokens: int | None = None,
        cache_read_tokens: int | None = None,
        cache_write_tokens: int | None = None,
        reasoning_tokens: int | None = None,
        tool_calls: Sequence[Any] | None = None,
        thoughts: str | None = None,
        model: str | None = None,
        id: str | None = None,
        service_tier: str | None = None,
        cached: bool | None = None,
    ) -> None:
        """Record the response. You may call it several times; token counts and tool calls add up.

        ``input_tokens`` includes cached tokens. ``tool_calls`` have OpenAI's form or
        ``{"id", "name", "arguments"}``. ``service_tier`` is the billed tier (``batch``, ``flex``).
        ``cached``: the answer came from the application's own cache and cost nothing.
        """
        with _GUARD:
            told = self._manual
            told.text = text_of(text) if text is not None else told.text
            told.finish_reason = text_of(finish_reason) or told.finish_reason
            told.thoughts = text_of(thoughts) if thoughts is not None else told.thoughts
            told.model = text_of(model) or told.model
            told.id = text_of(id) or told.id
            told.service_tier = text_of(service_tier) or told.service_tier
            told.cached = told.cached if cached is None else cached
            if tool_calls is not None:
                with looking:
                    told.tool_calls.extend(_tool_request(freeze(c)) for c in tool_calls)
            usage = TokenUsage(
                input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens
            )
            told.usage.add(usage)

    def chunk(self, text: str = "") -> None:
        """A piece of a streamed reply has arrived; the pieces make up the text."""
        with _GUARD:
            if self._parts is None:
                self._parts = []
                self._first = time.perf_counter()
                if self._call is not None:
                    self._call.chunks = self._call.state.metrics.chunk_clock()
                    manual, parts = self._manual, self._parts
                    self._call.streams(lambda: manual.plain("".join(parts)))
            elif self._call is not None and self._call.chunks is not None:
                self._call.chunks.append(time.perf_counter())
            self._parts.append(text_of(text))

    def __enter__(self) -> Inference:
        with _GUARD:
            manual = self._manual
            with looking:
                manual.choose_dialect(self._body)
            state = self._state or current()
            back = otel_context.get_current()
            token = otel_context.attach(within(back, state))
            try:
                tracer = state.tracer(semconv.SCOPE_MANUAL)
                self._call = begin(tracer, manual, self._target, self._body, stream=False)
            finally:
                otel_context.detach(token)
            if self._call is not None:
                self._call.enter(back)
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        with _GUARD:
            call, self._call = self._call, None
            if call is not None:
                call.leave()
                self._end(call, error)

    def _end(self, call: ModelCall, error: BaseException | None) -> None:
        response: Any = None
        outcome = ""
        try:
            told = self._manual
            streamed = self._parts is not None
            if self._parts and told.text is None:
                told.text = "".join(self._parts)
            if streamed:
                call.stream = True
                call.span.set_attribute(semconv.REQUEST_STREAM, True)
                outcome = "" if error is not None else COMPLETE
            if isinstance(error, GeneratorExit):
                outcome, error = ABANDONED, None
            if told.is_filled or error is None:
                response = told.plain()
        finally:
            call.close(response, response, error=error, outcome=outcome, first_chunk=self._first)


def _tool_request(call: Any) -> ToolRequest:
    if not is_dict(call):
        return ("", str(call), None)
    inner = call.get("function")
    named = inner if is_dict(inner) else call
    arguments = named.get("arguments", named.get("input"))
    return (str(call.get("id") or ""), str(named.get("name") or ""), arguments)
