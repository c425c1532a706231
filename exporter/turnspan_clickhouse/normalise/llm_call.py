"""A model call's span and content -> an ``llm_call`` row, with its messages and definitions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from turnspan import semconv
from turnspan.content.model import CallContent, Message, RequestParts, dumps_text
from turnspan.content.text_message import as_dict_message
from turnspan.dialects import openai_responses
from turnspan.dialects.convert import (
    ITEMISED,
    convert_message,
    describe_reply,
    first_choice,
    output_messages,
    response_details,
    system_parts,
    tool_definitions,
)
from turnspan.redaction.truncate import limit_parts
from turnspan.runtime.type_guards import is_list
from turnspan.tracing.content_store import InferenceContent
from turnspan.turn.turn import TokenUsage
from turnspan_clickhouse.normalise.attributes import EVERYWHERE, IN_THE_LOOP
from turnspan_clickhouse.normalise.column_values import agent_version, integer, text
from turnspan_clickhouse.normalise.content_columns import write_attribute, write_content
from turnspan_clickhouse.normalise.message_store import MessageScope, MessageStore, system_text
from turnspan_clickhouse.normalise.span_facts import SpanFacts, locate
from turnspan_clickhouse.normalise.turn_facts import note, set_usage
from turnspan_clickhouse.pricing.prices import price_of_call
from turnspan_clickhouse.rows.batch import Batch
from turnspan_clickhouse.rows.tables import NO_HASH, LlmCall

_COLUMNS = (
    EVERYWHERE
    | IN_THE_LOOP
    | {
        semconv.PROVIDER_NAME,
        semconv.REQUEST_MODEL,
        semconv.RESPONSE_MODEL,
        semconv.RESPONSE_ID,
        semconv.RESPONSE_FINISH_REASONS,
        semconv.RESPONSE_TIME_TO_FIRST_CHUNK,
        semconv.REQUEST_STREAM,
        semconv.USAGE_INPUT_TOKENS,
        semconv.USAGE_OUTPUT_TOKENS,
        semconv.USAGE_CACHE_READ_INPUT_TOKENS,
        semconv.USAGE_CACHE_WRITE_INPUT_TOKENS,
        semconv.USAGE_REASONING_OUTPUT_TOKENS,
        semconv.AGENT_VERSION,
        semconv.ROUND,
        semconv.TRIES,
        semconv.STREAM_OUTCOME,
        semconv.TOKENS_ESTIMATED,
        semconv.CONSORTIUM_ID,
        semconv.CONSORTIUM_ROLE,
    }
)


def llm_call(facts: SpanFacts, batch: Batch) -> LlmCall:
    """The row of a model call without its content."""
    a = facts.attributes
    row = LlmCall.__new__(LlmCall)
    locate(row, facts, batch)
    row.provider = text(a.get(semconv.PROVIDER_NAME))
    row.operation = text(a.get(semconv.OPERATION_NAME))
    row.request_model = text(a.get(semconv.REQUEST_MODEL))
    row.response_model = text(a.get(semconv.RESPONSE_MODEL))
    row.response_id = text(a.get(semconv.RESPONSE_ID))
    row.stream_outcome = text(a.get(semconv.STREAM_OUTCOME))
    row.agent_name = text(a.get(semconv.AGENT_NAME))
    row.agent_version = agent_version(a)
    row.consortium_id = text(a.get(semconv.CONSORTIUM_ID))
    row.consortium_role = integer(a.get(semconv.CONSORTIUM_ROLE))
    row.lineage_id = text(a.get(semconv.LINEAGE_ID))
    row.rollout_id = text(a.get(semconv.ROLLOUT_ID))
    row.attempt_id = text(a.get(semconv.ATTEMPT_ID))
    row.error_type = facts.error_type
    row.error_message = facts.error_message
    row.round = integer(a.get(semconv.ROUND)) or 0
    row.tries = integer(a.get(semconv.TRIES)) or 1
    row.stream = a.get(semconv.REQUEST_STREAM) is True
    row.tokens_estimated = a.get(semconv.TOKENS_ESTIMATED) is True
    ttfc = a.get(semconv.RESPONSE_TIME_TO_FIRST_CHUNK)
    row.time_to_first_chunk = float(ttfc) if isinstance(ttfc, (int, float)) else None
    reasons: Any = a.get(semconv.RESPONSE_FINISH_REASONS) or ()
    # A stranger may write anything there: what is no list is one reason.
    if not isinstance(reasons, (list, tuple)):
        reasons = (reasons,)
    row.finish_reasons = [text(reason) for reason in cast("Sequence[Any]", reasons)]
    usage = usage_of(a)
    set_usage(row, usage)
    row.cost_usd, row.price_version = price_of_call(facts.raw, usage, facts.start_time)
    row.attributes = facts.other_attributes(_COLUMNS)
    # Without content, until it is known.
    row.request_parameters = ""
    row.input_messages = []
    row.output_messages = []
    row.system_prompt = NO_HASH
    row.tool_definitions = NO_HASH
    row.context_assembled = NO_HASH
    row.response_text = ""
    row.response_thoughts = ""
    row.tool_calls = ""
    return row


def usage_of(a: dict[str, Any]) -> TokenUsage:
    """The token counts that a span's attributes say."""
    return TokenUsage(
        integer(a.get(semconv.USAGE_INPUT_TOKENS)),
        integer(a.get(semconv.USAGE_OUTPUT_TOKENS)),
        integer(a.get(semconv.USAGE_CACHE_READ_INPUT_TOKENS)),
        integer(a.get(semconv.USAGE_CACHE_WRITE_INPUT_TOKENS)),
        integer(a.get(semconv.USAGE_REASONING_OUTPUT_TOKENS)),
    )


def add_content(
    row: LlmCall,
    content: InferenceContent,
    request: RequestParts,
    facts: SpanFacts,
    message_store: MessageStore,
    batch: Batch,
) -> CallContent:
    """Land a call's content, put its hashes and its reply into the row; returns the reply."""
    place = MessageScope(content.dialect, facts.project, row.session_id or row.trace_id, batch)
    add_request(row, request, facts.start_time, message_store, place)
    return add_reply(row, content, facts.end_time, message_store, place)


def add_request(
    row: LlmCall,
    request: RequestParts,
    when: int,
    message_store: MessageStore,
    place: MessageScope,
) -> None:
    """Land what the model was sent, and put its hashes into the row."""
    row.input_messages = message_store.messages(request.messages_raw, place, when)
    row.request_parameters = message_store.parameters(request.parameters, place.batch)
    row.system_prompt = _system_prompt(request, place, when, message_store)
    row.tool_definitions = _tool_definitions(request, place, when, message_store)


def output_of(content: InferenceContent | None) -> list[Message]:
    """What was answered, in the GenAI schema; nothing of it lands."""
    if content is None:
        return []
    replies, _ = output_messages(content.dialect, content.response)
    return [convert_message(content.dialect, raw, default_role="assistant") for raw in replies]


def reply_of(row: LlmCall, content: InferenceContent) -> CallContent:
    """What was answered, for its turn; of what was said nothing lands."""
    reply = CallContent()
    reply.output = output_of(content)
    describe_reply(reply, first_choice(content.dialect, reply.output))
    _note(row, reply, content.dialect)
    return reply


def _note(row: LlmCall, reply: CallContent, dialect: str) -> None:
    """Note what a stop reason depends on and no column has."""
    if reply.refused:
        note(row, semconv.RESPONSE_REFUSED)
    if not reply.output and row.finish_reasons and dialect in ITEMISED:
        note(row, semconv.RESPONSE_BLANK)  # it ended, and has no item


def _system_prompt(
    request: RequestParts, place: MessageScope, when: int, message_store: MessageStore
) -> bytes:
    given, leading = request.system_raw, _leading_system(request.messages_raw)
    raw: Any = leading if given is None else given
    if raw is None:
        return NO_HASH
    both = given is not None and bool(leading) and place.dialect == openai_responses.NAME
    known = None if both else message_store.remembered(raw)
    if known is not None:
        return known
    source, redactor = "", place.batch.redactor
    if isinstance(raw, str) and not both:
        body = redactor.text(raw, "system")
    else:
        if given is not None:
            source = dumps_text(redactor.value(given, "system"))
        before = leading if given is None or both else ()
        messages = [convert_message(place.dialect, message) for message in _messages(before)]
        body = system_text(redactor.parts(system_parts(place.dialect, given, messages), "system"))
    digest = message_store.definition(
        "system_prompt",
        body,
        source=source,
        project=place.project,
        when=when,
        batch=place.batch,
    )
    if not both:
        message_store.remember(raw, digest)
    return digest


def _messages(leading: Any) -> list[Any]:
    return [{"role": "system", "content": leading}] if isinstance(leading, str) else list(leading)


def _leading_system(messages: list[Any]) -> Any:
    """The text (or the messages) of the system prompt where it is part of the history."""
    leading: list[Any] = []
    for frozen in messages:
        message = as_dict_message(frozen)
        if not isinstance(message, dict):
            break
        fields = cast("dict[str, Any]", message)
        if fields.get("role") not in ("system", "developer"):
            break
        leading.append(fields)
    if not leading:
        return None
    content = leading[0].get("content")
    return content if len(leading) == 1 and isinstance(content, str) else leading


def _tool_definitions(
    request: RequestParts, place: MessageScope, when: int, message_store: MessageStore
) -> bytes:
    raw = request.tools_raw
    if not raw:
        return NO_HASH
    known = message_store.remembered(raw)
    if known is not None:
        return known
    tools = tool_definitions(place.dialect, raw)
    where, redactor = "tool_definitions", place.batch.redactor
    body, source = dumps_text(redactor.value(tools, where)), dumps_text(redactor.value(raw, where))
    digest = message_store.definition(
        "tool_definitions",
        body,
        source="" if source == body else source,
        project=place.project,
        when=when,
        batch=place.batch,
    )
    message_store.remember(raw, digest)
    return digest


def add_reply(
    row: LlmCall,
    content: InferenceContent,
    when: int,
    message_store: MessageStore,
    place: MessageScope,
) -> CallContent:
    """Land what the model said; returns it."""
    replies, reasons = output_messages(content.dialect, content.response)
    reply = CallContent(None, reasons)
    as_is = True
    for raw in replies:
        message, digest, same = message_store.reply(raw, place, when)
        reply.output.append(message)
        as_is = as_is and same
        row.output_messages.append(digest)
    describe_reply(reply, first_choice(content.dialect, reply.output))
    _note(row, reply, content.dialect)
    redactor = place.batch.redactor
    if reply.response_text:
        write_content(row, "response_text", reply.response_text, "output", place.batch)
    if reply.response_thoughts:
        write_content(row, "response_thoughts", reply.response_thoughts, "output", place.batch)
    details = response_details(content.dialect, content.response)
    if details:
        write_attribute(row, semconv.RESPONSE_DETAILS, details, "output", place.batch)
    if reply.tool_calls:
        # Of the values that the messages' parts have, which have just been looked at.
        calls: Any = reply.tool_calls if as_is else redactor.value(reply.tool_calls, "output")
        limit = redactor.settings.content_limit_bytes
        row.tool_calls = dumps_text(limit_parts(calls, limit) if is_list(calls) else calls)
    return reply
