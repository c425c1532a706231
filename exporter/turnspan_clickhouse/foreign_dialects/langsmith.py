"""LangSmith through OpenTelemetry: ``langsmith.*`` beside the conventions' older names."""

from __future__ import annotations

import re
from typing import Final

from turnspan import semconv
from turnspan.content.model import as_dict, as_list, text_part
from turnspan_clickhouse.foreign_dialects import genai, langchain
from turnspan_clickhouse.foreign_dialects.base import (
    INFERENCE,
    TOOL,
    WORKFLOW,
    Attributes,
    ForeignCall,
    ForeignSpan,
    definitions,
    fill_reply,
    first,
    genai_messages,
    operation_of,
    parsed,
    provider,
    raised,
    text,
)

KIND: Final = "langsmith.span.kind"
_METADATA: Final = "langsmith.metadata."
_CLASS: Final = re.compile(r"([A-Za-z_][\w.]{0,199})\(")


def read(span: ForeignSpan) -> ForeignCall:
    """Read a run."""
    a = span.attributes
    call = ForeignCall(operation_of(a.get(KIND)))
    genai.read_facts(call, a)
    call.conversation_id = call.conversation_id or text(
        first(a, *(f"{_METADATA}{name}" for name in ("session_id", "conversation_id", "thread_id")))
    )
    if call.kind == WORKFLOW:
        call.agent_name = span.name
    elif call.kind == TOOL:
        _read_tool(call, span)
    elif call.kind == INFERENCE:
        call.provider = provider(first(a, f"{_METADATA}ls_provider", "gen_ai.system"))
        call.stream = a.get(f"{_METADATA}stream") in (True, "true")
        _read_messages(call, a)
    _read_error(call, span)
    return call


def _read_error(call: ForeignCall, span: ForeignSpan) -> None:
    """A run that failed has its exception as an event, but often OK as its status.

    LangSmith begins a run's span with OK, unless the run has failed when it is first told of, and
    OpenTelemetry keeps an OK. The event's type is always ``Exception``; its message has the
    exception's ``repr`` before the traceback.
    """
    exception = raised(span.events)
    if exception is None:
        return
    said = text(exception.get(semconv.EXCEPTION_MESSAGE))
    call.error_message = said.partition("Traceback (most recent call last)")[0].strip()
    named = _CLASS.match(call.error_message)
    call.error_type = named[1] if named is not None else semconv.ERROR_OTHER


def _read_tool(call: ForeignCall, span: ForeignSpan) -> None:
    a = span.attributes
    call.tool_name = call.tool_name or span.name
    call.tool_arguments = parsed(a.get("gen_ai.prompt"))
    made = a.get("gen_ai.completion")
    if not langchain.read_result(call, made):
        body = as_dict(parsed(made)) or {}
        call.tool_result = body["output"] if "output" in body else parsed(made)


def _read_messages(call: ForeignCall, a: Attributes) -> None:
    asked = parsed(a.get("gen_ai.prompt"))
    call.input = langchain.messages(asked)
    if not call.input:  # what was traced by hand: the provider's own messages, or any arguments
        given = as_dict(asked) or {}
        call.input = genai_messages(given.get("messages") or asked, "user")
        call.tools = definitions(as_list(given.get("tools")) or [])
    made = a.get("gen_ai.completion")
    said = langchain.reply(made)
    if said is None:
        if made:
            call.output = [{"role": "assistant", "parts": [text_part(text(made))]}]
        return
    call.response_model = call.response_model or said.response_model
    fill_reply(call, said)
