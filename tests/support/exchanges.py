"""Recorded HTTP exchanges with a provider, of every cassette format, with their bodies as sent."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterable, Iterator, Mapping
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
    """One request and what came back. ``body`` is decompressed; header names are lowercase."""

    path: str
    number: int
    method: str
    url: str
    request_headers: Mapping[str, str]
    request: Any
    """The request's JSON; ``None`` where it is none."""
    status: int
    content_type: str
    body: bytes

    @property
    def name(self) -> str:
        """Short, for a test's id."""
        source, _, rest = self.path.removeprefix("cassettes/").partition("/")
        return f"{source.partition('__')[2] or source}:{rest.rpartition('/')[2]}#{self.number}"


@cache
def exchanges(provider: str) -> tuple[Exchange, ...]:
    """Every recorded exchange of the files that involve a provider."""
    root = recorded_data()
    found: list[Exchange] = []
    with (root / "index.jsonl").open(encoding="utf-8") as index:
        for line in index:
            entry = json.loads(line)
            if entry.get("kind") == "http_recording" and provider in str(entry.get("provider")):
                found += _read(root, entry["path"])
    return tuple(found)


def _read(root: Path, path: str) -> Iterator[Exchange]:
    text = (root / path).read_text(encoding="utf-8")
    if path.endswith(".har"):
        recorded: Iterable[Any] = json.loads(text)["log"]["entries"]
    else:
        document = yaml.load(text, Loader=_LOADER)
        recorded = document.get("interactions") or document["http_interactions"]
    for number, exchange in enumerate(recorded):
        request, response = exchange["request"], exchange["response"]
        headers = _headers(response.get("headers"))
        yield Exchange(
            path=path,
            number=number,
            method=request["method"].upper(),
            url=request.get("uri") or request["url"],
            request_headers=_headers(request.get("headers")),
            request=_json(_body(request)),
            status=_status(response),
            content_type=headers.get("content-type", ""),
            body=_body(response),
        )


def _status(response: Mapping[str, Any]) -> int:
    status = response.get("code") or response["status"]  # go-vcr has the number in "code"
    fields = as_dict(status)
    return int(status if fields is None else fields["code"])


def _headers(headers: Any) -> dict[str, str]:
    listed = as_list(headers)
    if listed is not None:  # HAR
        return {item["name"].lower(): item["value"] for item in listed}
    found: dict[str, str] = {}
    for name, value in (as_dict(headers) or {}).items():
        values = as_list(value)
        found[name.lower()] = str(values[0] if values else value)
    return found


def _body(half: Mapping[str, Any]) -> bytes:
    if "parsed_body" in half:
        return json.dumps(half["parsed_body"], ensure_ascii=False).encode()
    body: Any = half.get("body")
    if body is None:
        body = half.get("postData") or half.get("content")  # HAR
    fields = as_dict(body)
    if fields is not None:
        body = _within(fields)
    data = body.encode() if isinstance(body, str) else bytes(body or b"")
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def _within(body: dict[str, Any]) -> str | bytes:
    text = body.get("string", body.get("text", ""))
    if body.get("encoding") == "base64":
        return base64.b64decode(text)
    return text or b""


def _json(data: bytes) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        return None
