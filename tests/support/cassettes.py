"""Recorded HTTP of the real APIs: the requests and replies of public test suites."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from support.shared import recorded_data
from turnspan.content.model import as_dict

_ENDPOINTS = (
    (
        "openai.chat",
        re.compile(r"https://(?:api\.openai\.com|[\w.-]+azure\.com)/.*/chat/completions"),
    ),
    (
        "openai.responses",
        re.compile(r"https://(?:api\.openai\.com|[\w.-]+azure\.com)/.*/responses"),
    ),
    ("anthropic.messages", re.compile(r"https://api\.anthropic\.com/v1/messages")),
)
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """One exchange with a provider. ``response`` is ``None`` where it is not one JSON document."""

    path: str
    dialect: str
    status: int
    request: dict[str, Any]
    response: Any


@cache
def recorded_calls() -> tuple[RecordedCall, ...]:
    """Every model call in the vcrpy cassettes whose request is JSON; read once, in some 3 s."""
    root = recorded_data()
    calls: list[RecordedCall] = []
    with (root / "index.jsonl").open(encoding="utf-8") as index:
        for line in index:
            entry = json.loads(line)
            if entry.get("format") != "vcrpy":
                continue
            calls += _calls_of(root / entry["path"])
    return tuple(calls)


def _calls_of(path: Path) -> list[RecordedCall]:
    text = path.read_text(encoding="utf-8")
    if not any(word in text for word in ("/chat/completions", "/responses", "/v1/messages")):
        return []
    found: list[RecordedCall] = []
    for exchange in yaml.load(text, Loader=_LOADER)["interactions"]:
        request, response = exchange["request"], exchange["response"]
        address = request["uri"].partition("?")[0]
        body = as_dict(_json(request))
        if body is None or request["method"] != "POST":
            continue
        for dialect, endpoint in _ENDPOINTS:
            if endpoint.fullmatch(address):
                status = response.get("status", {}).get("code", 0)
                found.append(RecordedCall(str(path), dialect, status, body, _json(response)))
    return found


def _json(half: dict[str, Any]) -> Any:
    if "parsed_body" in half:
        return half["parsed_body"]
    body: Any = half.get("body")
    if not isinstance(body, (str, bytes)):
        body = dict(body or {}).get("string")
    try:
        return json.loads(body or "")
    except (UnicodeDecodeError, ValueError):
        return None
