"""Every kind of file that is imported, and lines of each that make a model call."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from receive.otlp import as_json, chat, request
from support.imported import iso
from turnspan_clickhouse.store.zstd import compressed
from turnspan_records.importing.exports.helicone import Helicone
from turnspan_records.importing.exports.langfuse import Langfuse
from turnspan_records.importing.exports.otlp import Otlp
from turnspan_records.importing.exports.phoenix import Phoenix
from turnspan_records.importing.files.file_log import Format
from turnspan_records.importing.transcripts.anthropic import ANTHROPIC
from turnspan_records.importing.transcripts.openai import OPENAI
from turnspan_records.importing.transcripts.transcript_lines import Transcripts

FORMATS: dict[str, Callable[[], Format]] = {
    "openai-jsonl": lambda: Transcripts(OPENAI, ""),
    "anthropic-jsonl": lambda: Transcripts(ANTHROPIC, ""),
    "otlp-json": Otlp,
    "helicone": Helicone,
    "langfuse": Langfuse,
    "phoenix": Phoenix,
}


def said(number: int) -> str:
    """Words that no packing makes much smaller."""
    return " ".join(f"{(number + 1) * each * 7919 % 99_991:x}" for each in range(1, 200))


def talk(number: int) -> dict[str, Any]:
    user = {"role": "user", "content": said(number)}
    return {"messages": [user, {"role": "assistant", "content": f"answer {number}"}]}


def otlp(number: int) -> dict[str, Any]:
    asked = json.dumps([{"role": "user", "parts": [{"type": "text", "content": said(number)}]}])
    spans = [chat(f"call {number}", "", 1, attributes={"gen_ai.input.messages": asked})]
    return dict(json.loads(as_json(request(f"story {number}", spans))))


ASKED: dict[str, Any] = {
    "model": "gpt-4o",
    "temperature": 0,
    "messages": [{"role": "user", "content": 'say "" and \\" and nothing'}],
}
ANSWERED: dict[str, Any] = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "model": "gpt-4o-2024-08-06",
    "choices": [
        {
            "index": 0,
            "finish_reason": "stop",
            "message": {"role": "assistant", "content": 'so "be" it'},
        }
    ],
    "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
}


def helicone_row(number: int, **more: Any) -> dict[str, Any]:
    """A request as ``/v1/request/query-clickhouse`` gives it, with its bodies."""
    return {
        "request_id": f"6f5e1d2c-0000-4000-8000-{number:012x}",
        "response_id": f"7f5e1d2c-0000-4000-8000-{number:012x}",
        "request_created_at": iso(number),
        "response_created_at": iso(number + 0.9),
        "response_status": 200,
        "request_body": ASKED,
        "response_body": ANSWERED,
        "request_user_id": "ada",
        "request_properties": {"Helicone-Session-Id": "s 1", "Environment": "test"},
        "provider": "OPENAI",
        "request_model": "gpt-4o",
        "target_url": "https://api.openai.com/v1/chat/completions",
        "cache_reference_id": "00000000-0000-0000-0000-000000000000",
        "delay_ms": 800,
        "time_to_first_token": 250,
        "prompt_tokens": 10,
        "completion_tokens": 5,
        "cost": 0.25,
        "scores": None,
        **more,
    }


def helicone(number: int) -> dict[str, Any]:
    said_here = [{"role": "user", "content": said(number)}]
    answer = {"choices": [{"message": {"content": f"answer {number}"}}]}
    return helicone_row(
        number,
        request_body={"model": "m", "messages": said_here},
        response_body=answer,
        request_properties={},
    )


def observation(number: int) -> dict[str, Any]:
    return {
        "id": f"{number + 1:016x}",
        "trace_id": f"{number + 1:032x}",
        "type": "GENERATION",
        "start_time": "2019-05-29 13:46:19.963000",
        "input": said(number),
        "output": f"answer {number}",
    }


def phoenix(number: int) -> dict[str, Any]:
    return {
        "name": "llm",
        "context": {"trace_id": f"{number + 1:032x}", "span_id": f"{number + 1:016x}"},
        "span_kind": "LLM",
        "start_time": "2019-05-29T13:46:19+00:00",
        "end_time": "2019-05-29T13:46:20+00:00",
        "status_code": "OK",
        "attributes": {"llm.model_name": "gpt-4o", "input.value": said(number)},
    }


MADE: dict[str, Callable[[int], dict[str, Any]]] = {
    "openai-jsonl": talk,
    "anthropic-jsonl": talk,
    "otlp-json": otlp,
    "helicone": helicone,
    "langfuse": observation,
    "phoenix": phoenix,
}
KINDS = tuple(FORMATS)


def text_of(kind: str, count: int) -> bytes:
    return b"".join(json.dumps(MADE[kind](n)).encode() + b"\n" for n in range(count))


def zstd(text: bytes) -> bytes:
    packed, encoding = compressed(text)
    assert encoding == "zstd"
    return packed
