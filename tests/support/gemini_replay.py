"""Recorded exchanges with Gemini's API as calls of the real SDK."""

from __future__ import annotations

from typing import Any

from support import gemini_facts as facts
from support.gemini_facts import Exchange
from support.google_sdk import credentials, types

_CONFIG = ("systemInstruction", "tools", "toolConfig", "safetySettings", "cachedContent", "labels")
_PLACES = ("contents", "generationConfig", *_CONFIG)


def token() -> Any:
    """A token that the oldest versions need not fetch."""
    found = credentials.Credentials("k")
    found.refresh = lambda request: None  # pyright: ignore[reportUnknownLambdaType]
    return found


def by_types(exchange: Exchange) -> dict[str, Any] | None:
    """An exchange's request as arguments of the SDK's method; ``None`` where it has no words."""
    body, model = exchange.request, exchange.model
    try:
        if exchange.asks == "predict":
            texts = [each["content"] for each in body["instances"]]
            kinds = {each.get("task_type") for each in body["instances"]}
            size = facts.fielded(body, "parameters").get("outputDimensionality")
        elif "mbed" in exchange.asks:
            items = body.get("requests") or [body]
            texts = [types.Content.model_validate(each["content"]) for each in items]
            kinds = {each.get("taskType") for each in items}
            size = items[0].get("outputDimensionality")
        elif body.keys() <= set(_PLACES):
            settings = facts.fielded(body, "generationConfig")
            settings.update({key: body[key] for key in _CONFIG if key in body})
            return {
                "model": model,
                "contents": [
                    types.Content.model_validate(each) for each in facts.contents_of(body)
                ],
                "config": types.GenerateContentConfig.model_validate(settings),
            }
        else:
            return None
    except (ValueError, TypeError, KeyError):
        return None
    asked: dict[str, Any] = {"output_dimensionality": size, "task_type": next(iter(kinds))}
    return {"model": model, "contents": texts, "config": {k: v for k, v in asked.items() if v}}
