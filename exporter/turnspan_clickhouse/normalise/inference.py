"""A model call's span and content -> an ``llm_call`` row, with its messages and definitions."""

from __future__ import annotations

from typing import Any, cast

from turnspan import semconv
from turnspan.content.convert import convert
from turnspan.content.keys import is_content
from turnspan.content.ledger import InferenceContent
from turnspan.content.limit import limit_parts
from turnspan.content.model import Conversation, RequestParts, dumps_text
from turnspan.content.rebuild import source_if_needed
from turnspan.content.redact import Redactor
from turnspan.content.reduce import reduce_bytes
from turnspan.turn import Usage
from turnspan_clickhouse.batch import Batch
from turnspan_clickhouse.normalise.landing import Lander, system_text
from turnspan_clickhouse.normalise.source import SpanFacts, agent_version, integer, text
from turnspan_clickhouse.normalise.written import write_content
from turnspan_clickhouse.pricing import price_of_call
from turnspan_clickhouse.records import NO_HASH, LlmCall

_COLUMNS = frozenset(
    {
        semconv.OPERATION_NAME,
        semconv.PROVIDER_NAME,
        semconv.CONVERSATION_ID,
        semconv.SESSION_ID,
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
        semconv.AGENT_NAME,
        semconv.AGENT_VERSION,
        semconv.TURN_AGENT_VERSION,
        semconv.ERROR_TYPE,
        semconv.TURN_ID,
        semconv.ROUND,
        semconv.TRIES,
        semconv.STREAM_OUTCOME,
        semconv.TOKENS_ESTIMATED,
        semconv.LINEAGE_ID,
        semconv.ROLLOUT_ID,
        semconv.ATTEMPT_ID,
        semconv.CONSORTIUM_ID,
        semconv.CONSORTIUM_ROLE,
    }
)


def llm_call(facts: SpanFacts, redactor: Redactor, batch: Batch) -> LlmCall:
    """The row of a model call without its content."""
    a = facts.attributes
    usage = usage_of(facts)
    provider = text(a.get(semconv.PROVIDER_NAME))
    request_model = text(a.get(semconv.REQUEST_MODEL))
    response_model = text(a.get(semconv.RESPONSE_MODEL))
    cost, version = price_of_call(facts.raw, usage, facts.start_time)
    ttfc = a.get(semconv.RESPONSE_TIME_TO_FIRST_CHUNK)
    reasons: Any = a.get(semconv.RESPONSE_FINISH_REASONS) or ()
    return LlmCall(
        project=facts.project,
        service=facts.origin.service,
        environment=facts.origin.environment,
        session_id=facts.session_id,
        turn_id=facts.turn_id,
        trace_id=facts.trace_id,
        span_id=facts.span_id,
        parent_span_id=facts.parent_span_id,
        start_time=facts.start_time,
        duration=facts.duration,
        time_to_first_chunk=float(ttfc) if isinstance(ttfc, (int, float)) else None,
        round=integer(a.get(semconv.ROUND)) or 0,
        provider=provider,
        operation=text(a.get(semconv.OPERATION_NAME)),
        request_model=request_model,
        response_model=response_model,
        response_id=text(a.get(semconv.RESPONSE_ID)),
        stream=a.get(semconv.REQUEST_STREAM) is True,
        stream_outcome=text(a.get(semconv.STREAM_OUTCOME)),
        tries=integer(a.get(semconv.TRIES)) or 1,
        finish_reasons=[text(r) for r in ((reasons,) if isinstance(reasons, str) else reasons)],
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cache_read_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        reasoning_tokens=usage.reasoning_tokens,
        tokens_estimated=a.get(semconv.TOKENS_ESTIMATED) is True,
        cost_usd=cost,
        price_version=version,
        error_type=facts.error_type,
        error_message=facts.error_message,
        agent_name=text(a.get(semconv.AGENT_NAME)),
        agent_version=agent_version(a),
        consortium_id=text(a.get(semconv.CONSORTIUM_ID)),
        consortium_role=integer(a.get(semconv.CONSORTIUM_ROLE)),
        lineage_id=text(a.get(semconv.LINEAGE_ID)),
        rollout_id=text(a.get(semconv.ROLLOUT_ID)),
        attempt_id=text(a.get(semconv.ATTEMPT_ID)),
        scope_name=facts.scope_name,
        attributes=other_attributes(facts, _COLUMNS),
        writer=batch.writer,
        written_at=batch.written_at,
    )


def usage_of(facts: SpanFacts) -> Usage:
    """The token counts that a span's attributes say."""
    a = facts.attributes
    return Usage(
        input_tokens=integer(a.get(semconv.USAGE_INPUT_TOKENS)),
        output_tokens=integer(a.get(semconv.USAGE_OUTPUT_TOKENS)),
        cache_read_tokens=integer(a.get(semconv.USAGE_CACHE_READ_INPUT_TOKENS)),
        cache_write_tokens=integer(a.get(semconv.USAGE_CACHE_WRITE_INPUT_TOKENS)),
        reasoning_tokens=integer(a.get(semconv.USAGE_REASONING_OUTPUT_TOKENS)),
    )


def other_attributes(facts: SpanFacts, columns: frozenset[str]) -> dict[str, str]:
    """The attributes that have no column; content of foreign spans has landed and stays out."""
    found = {key: value for key, value in facts.texts.items() if key not in columns}
    if facts.foreign:
        return {key: value for key, value in found.items() if not is_content(key)}
    return found


def add_content(
    row: LlmCall,
    content: InferenceContent,
    request: RequestParts,
    facts: SpanFacts,
    lander: Lander,
    redactor: Redactor,
    batch: Batch,
) -> Conversation:
    """Land a call's content, put its hashes and its reply into the row; returns the reply."""
    dialect = content.dialect
    scope = row.session_id or row.trace_id
    media = redactor.settings.capture_media
    reply = convert(InferenceContent(dialect, {}, content.response), keep_bytes=media)
    row.input_messages = lander.messages(
        request.messages_raw,
        dialect=dialect,
        project=facts.project,
        scope=scope,
        when=facts.start_time,
        redactor=redactor,
        batch=batch,
    )
    add_reply(row, reply, dialect, facts, lander, redactor, batch)
    parameters = reduce_bytes(request.parameters)
    row.request_parameters = dumps_text(redactor.value(parameters, "parameters"))
    row.system_prompt = _system_prompt(dialect, request, facts, lander, redactor, batch)
    row.tool_definitions = _tool_definitions(dialect, request, facts, lander, redactor, batch)
    return reply


def _system_prompt(
    dialect: str,
    request: RequestParts,
    facts: SpanFacts,
    lander: Lander,
    redactor: Redactor,
    batch: Batch,
) -> bytes:
    raw: Any = request.system_raw
    if raw is None:
        raw = _leading_system(request.messages_raw)
    if raw is None:
        return NO_HASH
    known = lander.remembered(raw)
    if known is not None:
        return known
    source = ""
    if isinstance(raw, str):
        body = redactor.text(raw, "system")
    else:
        request_of_it: dict[str, Any] = {"system": raw, "messages": []}
        if request.system_raw is None:
            request_of_it = {"messages": raw}
        else:
            source = dumps_text(redactor.value(raw, "system"))
        system = convert(InferenceContent(dialect, request_of_it)).system
        body = system_text(redactor.parts(system, "system"))
    digest = lander.definition(
        "system_prompt",
        body,
        source=source,
        project=facts.project,
        when=facts.start_time,
        batch=batch,
    )
    lander.remember(raw, digest)
    return digest


def _leading_system(messages: list[Any]) -> Any:
    """The text (or the messages) of the system prompt where it is part of the history."""
    leading: list[Any] = []
    for message in messages:
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
    dialect: str,
    request: RequestParts,
    facts: SpanFacts,
    lander: Lander,
    redactor: Redactor,
    batch: Batch,
) -> bytes:
    raw = request.tools_raw
    if not raw:
        return NO_HASH
    known = lander.remembered(raw)
    if known is not None:
        return known
    tools = convert(InferenceContent(dialect, {"messages": [], "tools": raw})).tools
    where = "tool_definitions"
    body, source = dumps_text(redactor.value(tools, where)), dumps_text(redactor.value(raw, where))
    digest = lander.definition(
        "tool_definitions",
        body,
        source="" if source == body else source,
        project=facts.project,
        when=facts.start_time,
        batch=batch,
    )
    lander.remember(raw, digest)
    return digest


def add_reply(
    row: LlmCall,
    reply: Conversation,
    dialect: str,
    facts: SpanFacts,
    lander: Lander,
    redactor: Redactor,
    batch: Batch,
) -> None:
    """Land what the model said."""
    media = redactor.settings.capture_media
    row.output_messages = [
        lander.message(
            message,
            source=source_if_needed(dialect, raw, message, keep_bytes=media),
            dialect=dialect,
            project=facts.project,
            scope=row.session_id or row.trace_id,
            when=facts.end_time,
            redactor=redactor,
            batch=batch,
        )
        for raw, message in zip(reply.raw_output, reply.output, strict=True)
    ]
    write_content(row, "response_text", reply.response_text, "output", redactor)
    write_content(row, "response_thoughts", reply.response_thoughts, "output", redactor)
    if reply.tool_calls:
        calls: list[Any] = redactor.value(reply.tool_calls, "output")
        limit = redactor.settings.content_limit_bytes
        row.tool_calls = dumps_text(limit_parts(calls, limit) if type(calls) is list else calls)
