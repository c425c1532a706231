"""Every kind of file that is imported, and lines of each that make a model call."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from receive.otlp import as_json, chat, request
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


def helicone(number: int) -> dict[str, Any]:
    return {
        "request_id": f"{number + 1:032x}",
        "request_created_at": "2019-05-29T13:46:19+00:00",
        "response_status": 200,
        "request_body": {"model": "m", "messages": [{"role": "user", "content": said(number)}]},
        "response_body": {"choices": [{"message": {"content": f"answer {number}"}}]},
        "provider": "OPENAI",
    }


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
