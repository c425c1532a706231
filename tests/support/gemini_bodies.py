"""Bodies of Gemini's API, as it sends them."""

from __future__ import annotations

from typing import Any

USAGE = {
    "promptTokenCount": 40,
    "cachedContentTokenCount": 16,
    "toolUsePromptTokenCount": 3,
    "candidatesTokenCount": 9,
    "thoughtsTokenCount": 5,
    "totalTokenCount": 57,
}


def content(*parts: dict[str, Any], finish: str = "STOP", **more: Any) -> dict[str, Any]:
    """An answer of one candidate."""
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": list(parts)}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    return {
        "candidates": [candidate],
        "usageMetadata": USAGE,
        "modelVersion": "gemini-2.5-flash-001",
        "responseId": "r1",
        **more,
    }


def text(said: str, **more: Any) -> dict[str, Any]:
    """An answer of one text."""
    return content({"text": said}, **more)


def call(name: str, args: dict[str, Any], call_id: str = "") -> dict[str, Any]:
    """The part that asks for a function."""
    made: dict[str, Any] = {"name": name, "args": args}
    return {"functionCall": {**made, "id": call_id} if call_id else made}


def pieces(*said: str) -> list[dict[str, Any]]:
    """The chunks of a stream; the last one finishes it."""
    last = len(said) - 1
    return [text(piece, finish="STOP" if n == last else "") for n, piece in enumerate(said)]


def refusal(code: int, status: str, message: str = "no") -> dict[str, Any]:
    """An error's body."""
    return {"error": {"code": code, "message": message, "status": status}}
