"""Recorded HTTP exchanges of model providers, whatever recorder wrote them, as they went."""

from __future__ import annotations

import base64
import gzip
import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from support.shared import recorded_data
from turnspan.content.model import as_dict, as_list

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its reply. Bodies are decoded from their transfer's compression."""

    path: str
    """The recording, relative to the recorded data."""
    number: int
    """Its place in the recording."""
    provider: str
    method: str
    url: str
    request: bytes
    status: int
    content_type: str
    response: bytes

    @property
    def name(self) -> str:
        """What a test calls it."""
        return f"{self.path}#{self.number}"

    def sent(self) -> dict[str, Any] | None:
        """The request's JSON object, if it is one."""
        return as_dict(loaded(self.request))


@cache
def exchanges() -> tuple[Exchange, ...]:
    """Every exchange of every recording; read once, in some seconds."""
    root = recorded_data()
    found: list[Exchange] = []
    with (root / "index.jsonl").open(encoding="utf-8") as index:
        for line in index:
            entry = json.loads(line)
            if entry.get("kind") == "http_recording":
                found += _exchanges_of(root, entry)
    return tuple(found)


def loaded(body: bytes | str) -> Any:
    """JSON, or ``None``."""
    try:
        return json.loads(body)
    except (UnicodeDecodeError, ValueError):
        return None


def _exchanges_of(root: Path, entry: Mapping[str, Any]) -> Iterator[Exchange]:
    text = (root / entry["path"]).read_text(encoding="utf-8")
    if entry["format"] in ("har", "ddapm"):
        recording = json.loads(text)
    else:
        recording = yaml.load(text, Loader=_LOADER)
    for number, (request, response) in enumerate(_READERS[entry["format"]](recording)):
        headers = {str(k).lower(): _first(v) for k, v in _pairs(response.get("headers"))}
        status: Any = response.get("status", response.get("code", response.get("status_code")))
        yield Exchange(
            path=entry["path"],
            number=number,
            provider=_provider(entry["provider"], str(request.get("uri") or request.get("url"))),
            method=str(request["method"]).upper(),
            url=str(request.get("uri") or request.get("url")),
            request=_body(request, ""),
            status=int(str((as_dict(status) or {"code": status})["code"]).split()[0]),
            content_type=headers.get("content-type", "application/json"),
            response=_body(response, headers.get("content-encoding", "")),
        )


def _provider(named: Any, url: str) -> str:
    """The provider; of a recording of several the one that the address names."""
    names = as_list(named)
    if names is None:
        return str(named)
    hints = {"azure_openai": "openai.azure", "azure_ai": ".ai.azure", "gemini": "google"}
    for name in names:
        if hints.get(name, f".{name}.") in url:
            return str(name)
    return "+".join(map(str, names))


def _pairs(headers: Any) -> list[tuple[Any, Any]]:
    if isinstance(headers, list):  # HAR
        return [(item["name"], item["value"]) for item in as_list(headers) or []]
    return list((as_dict(headers) or {}).items())


def _first(value: Any) -> str:
    values = as_list(value)
    return str(values[0] if values else value)


def _body(half: Mapping[str, Any], encoding: str) -> bytes:
    body: Any = half.get("body", half.get("content"))
    if half.get("parsed_body") is not None:
        return json.dumps(half["parsed_body"]).encode()
    holder = as_dict(body)
    if holder is not None:
        if "base64_string" in holder:
            body = base64.b64decode(holder["base64_string"])
        else:
            body = holder.get("string")
    data = body.encode() if isinstance(body, str) else bytes(body or b"")
    if data[:2] == b"\x1f\x8b":
        return gzip.decompress(data)
    return zlib.decompress(data) if encoding == "deflate" else data


def _vcrpy(recording: Any) -> Iterator[tuple[Any, Any]]:
    for each in recording["interactions"]:
        yield each["request"], each["response"]


def _ruby(recording: Any) -> Iterator[tuple[Any, Any]]:
    for each in recording["http_interactions"]:
        yield each["request"], each["response"]


def _ddapm(recording: Any) -> Iterator[tuple[Any, Any]]:
    yield recording["request"], recording["response"]


def _har(recording: Any) -> Iterator[tuple[Any, Any]]:
    entries: list[dict[str, Any]] = recording["log"]["entries"]
    for each in entries:
        request, response = each["request"], each["response"]
        content = response["content"]
        coded = content.get("encoding") == "base64"
        text = content.get("text", "")
        yield (
            {**request, "body": request["postData"]["text"] if "postData" in request else ""},
            {**response, "body": base64.b64decode(text) if coded else text},
        )


_READERS = {"vcrpy": _vcrpy, "go-vcr": _vcrpy, "ruby-vcr": _ruby, "har": _har, "ddapm": _ddapm}
