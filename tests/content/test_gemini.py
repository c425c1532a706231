"""The dialect of Gemini's API: nothing is lost, and what is said can be read."""

from __future__ import annotations

import base64
import hashlib
import random
from typing import Any

import orjson
import pytest

from support.sealing import rebuild_record, seal_message
from turnspan import config
from turnspan.content.media import digest_media
from turnspan.content.model import dumps
from turnspan.dialects.convert import (
    convert,
    convert_message,
    join_request,
    output_messages,
    response_details,
    split_request,
    system_parts,
    tool_definitions,
)
from turnspan.redaction.redactor import Redactor

PNG = "iVBORw0KGgo="
CALL: dict[str, Any] = {"functionCall": {"id": "c1", "args": {"city": "Rome"}, "name": "weather"}}
RESULT: dict[str, Any] = {
    "functionResponse": {"name": "weather", "response": {"result": "25"}, "id": "c1"}
}

PARTS: list[dict[str, Any]] = [
    {"text": "hi"},
    {"text": ""},
    {"text": "hm", "thought": True},
    {"thought": True, "text": "hm", "thoughtSignature": "a+/b"},
    {"text": "said", "thoughtSignature": "ab"},
    {"text": "seen", "thought": False},
    CALL,
    {"functionCall": {"name": "now", "args": {}}, "thoughtSignature": "ab"},
    {"thoughtSignature": "ab", "functionCall": {"name": "now"}},
    {"function_call": {"name": "now", "args": {"a": [1, {"b": None}]}}},
    RESULT,
    {"functionResponse": {"response": {"error": "no"}, "name": "now", "willContinue": True}},
    {"inlineData": {"mimeType": "image/png", "data": PNG}},
    {"inlineData": {"data": PNG, "mime_type": "image/png", "displayName": "x.png"}},
    {"inline_data": {"data": PNG}},
    {"fileData": {"file_uri": "gs://a/b.pdf", "mime_type": "application/pdf"}},
    {"fileData": {"mimeType": "video/mp4", "fileUri": "https://a/b"}, "videoMetadata": {"fps": 1}},
    {"executableCode": {"language": "PYTHON", "code": "1+1"}},
    {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "2"}},
    {"toolCall": {"toolType": "GOOGLE_SEARCH", "args": {}, "id": "s"}, "thoughtSignature": "a"},
    # What nobody sends, and must come back all the same.
    {"text": 5},
    {"text": "a", "content": "b"},
    {"functionCall": 5},
    {"functionCall": {"name": "f", "arguments": 1, "args": 2}},
    {"functionCall": {"name": "f"}, "name": "g"},
    {"functionCall": {"name": "f"}, "inlineData": {"data": PNG}},
    {"inlineData": {"data": 5}},
    {"new": {"kind": 1}},
    {},
    {"a,b": 1, "text": "x"},
    {"text": "x", "keys": "text"},
]


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize(
    "fields",
    [
        {"parts": ..., "role": "user"},
        {"role": "model", "parts": ...},
        {"parts": ...},
        {"role": "function", "parts": ...},
        {"role": "assistant", "parts": ...},
        {"parts": ..., "role": "user", "extra": [1]},
    ],
)
def test_a_message_comes_back_byte_for_byte(part: Any, fields: dict[str, Any]) -> None:
    """From its record, embedded files reduced to their hashes, in the order of its keys."""
    raw = {
        key: [part, {"text": "more"}] if value is ... else value for key, value in fields.items()
    }

    sealed = seal_message("gemini", raw)

    rebuilt = rebuild_record("gemini", sealed.role, sealed.name, sealed.parts, sealed.source)
    assert dumps(rebuilt) == dumps(digest_media(raw))


def test_few_messages_need_their_source() -> None:
    """What the API and the SDK write is coded, not kept a second time."""
    for part in PARTS[:20]:
        for raw in ({"parts": [part], "role": "user"}, {"role": "model", "parts": [part]}):
            assert seal_message("gemini", raw).source == "", part


def test_parts_in_the_schema() -> None:
    """Each kind of part is what the schema has for it; the model is the assistant."""
    raw = {"role": "model", "parts": [PARTS[2], CALL, RESULT, PARTS[12], PARTS[15], PARTS[17]]}
    message = convert_message("gemini", raw)

    assert message["role"] == "assistant"
    thought, call, result, image, file, code = message["parts"]
    assert (thought["type"], thought["content"]) == ("reasoning", "hm")
    assert (call["type"], call["id"], call["name"], call["arguments"]) == (
        "tool_call",
        "c1",
        "weather",
        {"city": "Rome"},
    )
    assert (result["type"], result["id"], result["response"]) == (
        "tool_call_response",
        "c1",
        {"result": "25"},
    )
    assert (image["type"], image["modality"], image["size"]) == ("blob", "image", 8)
    assert "content" not in image
    assert (file["type"], file["uri"], file["modality"]) == ("uri", "gs://a/b.pdf", "document")
    assert (code["type"], code["name"]) == ("server_tool_call", "code_execution")


def test_a_reply_is_written_as_the_sdk_sends_it_back() -> None:
    """So that it and the message in the next request are one record."""
    said = {
        "role": "model",
        "parts": [
            {"text": "Let me look.", "thoughtSignature": "a+/b=="},
            {"functionCall": {"name": "weather", "args": {"city": "Rome"}, "id": "c1"}},
        ],
    }
    resent = {
        "parts": [{"text": "Let me look.", "thoughtSignature": "a-_b=="}, CALL],
        "role": "model",
    }

    (message,), reasons = output_messages(
        "gemini", {"candidates": [{"content": said, "finishReason": "STOP"}]}
    )

    assert orjson.dumps(message) == orjson.dumps(resent)
    assert reasons == ["stop"]


@pytest.mark.parametrize(
    ("response", "reasons"),
    [
        ({"candidates": [{"finishReason": "SAFETY"}]}, ["content_filter"]),
        ({"candidates": [{"finishReason": "RECITATION"}]}, ["content_filter"]),
        ({"candidates": [{"finishReason": "MAX_TOKENS"}, {}]}, ["length"]),
        (
            {"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL"}]},
            ["malformed_function_call"],
        ),
        ({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}, ["content_filter"]),
        ({}, []),
    ],
)
def test_finish_reasons(response: Any, reasons: list[str]) -> None:
    """In the conventions' words; a prompt that was blocked is filtered."""
    assert output_messages("gemini", response) == ([], reasons)


def test_a_request_in_full() -> None:
    """System instruction, contents, tools and all else: each where it belongs, nothing lost."""
    declared = {"name": "f", "description": "d", "parameters_json_schema": {"type": "object"}}
    request: dict[str, Any] = {
        "contents": [{"parts": [{"text": "hi"}], "role": "user"}],
        "systemInstruction": {"parts": [{"text": "be good"}], "role": "user"},
        "tools": [{"functionDeclarations": [declared]}, {"googleSearch": {}}],
        "toolConfig": {"functionCallingConfig": {"mode": "ANY"}},
        "generationConfig": {"temperature": 0.5},
        "safetySettings": [],
        "cachedContent": "cachedContents/1",
    }

    parts = split_request("gemini", request)

    assert join_request("gemini", parts) == request
    assert system_parts("gemini", parts.system_raw, []) == [{"type": "text", "content": "be good"}]
    assert tool_definitions("gemini", parts.tools_raw) == [
        {"type": "function", "name": "f", "description": "d", "parameters": {"type": "object"}},
        {"type": "googleSearch"},
    ]
    assert parts.parameters.keys() == {
        "toolConfig",
        "generationConfig",
        "safetySettings",
        "cachedContent",
    }
    found = convert(
        "gemini",
        request,
        {"candidates": [{"content": {"parts": [PARTS[2], {"text": "Yes."}, CALL]}}]},
    )
    assert (found.response_text, found.response_thoughts) == ("Yes.", "hm")
    assert found.tool_calls == [{"id": "c1", "name": "weather", "arguments": {"city": "Rome"}}]


EMPTY: dict[str, Any] = {}
LOGPROB: dict[str, Any] = {"token": "secret", "tokenId": 7, "logProbability": -0.1}


@pytest.mark.parametrize(
    ("response", "kept"),
    [
        pytest.param({"candidates": [{"finishReason": "STOP", "index": 0}]}, {}, id="nothing"),
        pytest.param(
            {"candidates": [{"finishReason": "SAFETY", "finishMessage": "no", "content": EMPTY}]},
            {"candidates": [{"finishReason": "SAFETY", "finishMessage": "no"}]},
            id="which filter it was",
        ),
        pytest.param(
            {"candidates": [{"content": EMPTY}, {"avgLogprobs": -1, "index": 1}, {"index": 4}]},
            {"candidates": [EMPTY, {"avgLogprobs": -1}, {"index": 4}]},
            id="each candidate's in its place",
        ),
        pytest.param(
            {"promptFeedback": {"blockReason": "OTHER", "safetyRatings": []}, "responseId": "r"},
            {"promptFeedback": {"blockReason": "OTHER", "safetyRatings": []}},
            id="a blocked prompt",
        ),
        pytest.param(
            {"usageMetadata": {"totalTokenCount": 9}, "modelVersion": "m", "toCome": [{"a": 1}]},
            {"usageMetadata": {"totalTokenCount": 9}, "toCome": [{"a": 1}]},
            id="counts, and what is to come",
        ),
        pytest.param(
            {"candidates": [{"logprobsResult": {"chosenCandidates": [LOGPROB]}}]},
            {"candidates": [{"logprobsResult": {"chosenCandidates": [LOGPROB]}}]},
            id="log probabilities",
        ),
        pytest.param(
            {"candidates": [{"x": {"mimeType": "image/png", "data": PNG}}]},
            {"candidates": [{"x": digest_media({"mimeType": "image/png", "data": PNG})}]},
            id="files by their hashes",
        ),
        pytest.param({"candidates": [5, None], "usageMetadata": 7}, {"usageMetadata": 7}, id="odd"),
        pytest.param({"candidates": {"a": 1}}, {}, id="odd candidates"),
        pytest.param("text", {}, id="no object"),
        pytest.param(None, {}, id="no answer"),
    ],
)
def test_what_an_answer_says_beside_its_messages(response: Any, kept: dict[str, Any]) -> None:
    """All of it but what columns say, and the masks leave a model's tokens alone."""
    details = response_details("gemini", response)

    assert details == kept
    assert Redactor(config.resolve({})).value(details, "output") == kept


@pytest.mark.parametrize(
    "request_body",
    [
        {"requests": [{"content": {"parts": [{"text": "a"}]}, "model": "m"}] * 2},
        {"instances": [{"content": "a", "task_type": "X"}, {"content": "b"}], "parameters": {}},
        {"content": {"parts": [{"text": "a"}]}, "outputDimensionality": 3},
        {"requests": []},
        {"requests": [{"other": 1}]},
        {},
    ],
)
def test_requests_for_embeddings(request_body: dict[str, Any]) -> None:
    """What is embedded are the messages; together with the rest they are the request."""
    parts = split_request("gemini.embeddings", request_body)

    assert join_request("gemini.embeddings", parts) == request_body
    known = len(request_body.get("requests") or request_body.get("instances") or ())
    if "content" in str(request_body):
        assert len(parts.messages_raw) == max(known, 1)


@pytest.mark.parametrize("seed", range(40))
def test_files_are_known_by_their_bytes_in_either_alphabet(seed: int) -> None:
    """Hash and size are those of the bytes, however base64 was written; other text is text."""
    raw = random.Random(seed).randbytes(60 + seed)
    expected = f"sha256:{hashlib.sha256(raw).hexdigest()};size={len(raw)}"
    plain = base64.b64encode(raw).decode()
    urls = base64.urlsafe_b64encode(raw).decode()
    wrapped = base64.encodebytes(raw).decode()
    for written in (plain, urls, wrapped, plain.rstrip("="), urls.rstrip("=")):
        for data in ({"mimeType": "audio/wav", "data": written}, {"bytesBase64Encoded": written}):
            (kept,) = set(digest_media(data).values()) - {"audio/wav"}
            assert kept == expected, written
    for text in (plain + "!", "-_+/", "no base64", "abcde"):
        said = text.encode()
        kept = digest_media({"mimeType": "audio/wav", "data": text})["data"]
        assert kept == f"sha256:{hashlib.sha256(said).hexdigest()};size={len(said)}"
