"""What recorded exchanges with Gemini's API say, read from their bodies alone.

Nothing of the product reads them here: the tests compare its records with this.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import Any
from urllib.parse import unquote

import genai_prices

from support.shared import recorded_data
from turnspan.content.model import as_dict, as_list

CALLS = {
    "generateContent",
    "streamGenerateContent",
    "embedContent",
    "batchEmbedContents",
    "predict",
}
_FILTERED = {
    *("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR"),
    *("IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION"),
}
_ENDS = {"STOP": "stop", "MAX_TOKENS": "length"}


@dataclass(frozen=True)
class Exchange:
    """One request and its answers: one, or those of a stream."""

    name: str
    method: str
    url: str
    status: int
    request: Any
    answers: list[Any]
    streamed: bool

    @property
    def asks(self) -> str:
        """The API's method, such as ``generateContent``; of others the last of their path."""
        return self.url.rpartition("/")[2].rpartition(":")[2]

    @property
    def vertex(self) -> bool:
        """Whether it went to Vertex."""
        return "aiplatform" in self.url

    @property
    def model(self) -> str:
        """The model that is asked."""
        return self.url.rpartition("/")[2].partition(":")[0]


@cache
def exchanges() -> tuple[Exchange, ...]:
    """All that are recorded."""
    path = recorded_data("gemini", "exchanges.jsonl")
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return tuple(_exchange(json.loads(line)) for line in lines)


def _exchange(said: dict[str, Any]) -> Exchange:
    body = _text(said["resp"])
    streamed = "data:" in body and not body.lstrip().startswith(("{", "["))
    lines = body.splitlines()
    answers = [json.loads(line[5:]) for line in lines if line.startswith("data: {")]
    return Exchange(
        f"{said['source']}:{said['path'].rpartition('/')[2]}#{said['n']}",
        said["method"],
        unquote(said["uri"].partition("?")[0]),
        said["status"],
        json.loads(_text(said["req"]) or "{}"),
        answers if streamed else [json.loads(body)],
        streamed,
    )


def _text(body: str) -> str:
    """A body; some recorders write base64 without saying so."""
    if not body or not body.isascii() or not set(body[:8]).isdisjoint('{}[]":'):
        return body
    return base64.b64decode(body).decode()


# -- files ------------------


def bytes_of(data: str) -> bytes:
    """The bytes of a file in either alphabet of base64."""
    data = data.replace("-", "+").replace("_", "/")
    return base64.b64decode(data + "=" * (-len(data) % 4), validate=True)


def without_bytes(value: Any) -> Any:
    """The value, each embedded file as ``sha256:<hash>;size=<bytes>``."""
    fields, items = as_dict(value), as_list(value)
    if fields is not None:
        kept = {key: without_bytes(item) for key, item in fields.items()}
        data = fields.get("data")
        if isinstance(data, str) and {"mimeType", "mime_type"} & fields.keys():
            raw = bytes_of(data)
            kept["data"] = f"sha256:{hashlib.sha256(raw).hexdigest()};size={len(raw)}"
        return kept
    return value if items is None else [without_bytes(item) for item in items]


def listed(value: Any, key: str) -> list[Any]:
    """The list under a key; empty where there is none."""
    fields: Any = value or {}
    return list(fields.get(key) or ())


def fielded(value: Any, key: str) -> dict[str, Any]:
    """The object under a key; empty where there is none."""
    fields: Any = value or {}
    return dict(fields.get(key) or {})


# -- messages ------------------


def parts_of(content: Any) -> list[Any]:
    """A content's parts."""
    return listed(content, "parts")


def contents_of(request: Mapping[str, Any]) -> list[Any]:
    """A request's contents: one may stand without its list."""
    contents: Any = request.get("contents") or []
    return list(contents) if isinstance(contents, list) else [contents]  # pyright: ignore[reportUnknownArgumentType]


def said(parts: Sequence[Mapping[str, Any]]) -> list[tuple[Any, ...]]:
    """Parts as the API writes them, in a form that they have in common with those of a record."""
    return [_said(part) for part in parts]


def _said(part: Mapping[str, Any]) -> tuple[Any, ...]:
    part = {_camel(key): value for key, value in part.items()}
    signature = _standard(part.get("thoughtSignature"))
    if "text" in part:
        return ("reasoning" if part.get("thought") else "text", part["text"], signature)
    if "functionCall" in part:
        call = part["functionCall"]
        return ("tool_call", call.get("id"), call["name"], call.get("args"), signature)
    if "functionResponse" in part:
        result = part["functionResponse"]
        return ("tool_call_response", result.get("id"), result["name"], result["response"])
    if "inlineData" in part:
        data = {_camel(key): value for key, value in part["inlineData"].items()}
        raw = bytes_of(data["data"])
        return ("blob", data.get("mimeType"), hashlib.sha256(raw).hexdigest(), len(raw))
    if "fileData" in part:
        data = {_camel(key): value for key, value in part["fileData"].items()}
        return ("uri", data["fileUri"], data.get("mimeType"))
    if {"executableCode", "toolCall"} & part.keys():
        return ("server_tool_call", _plain(part))
    if {"codeExecutionResult", "toolResponse"} & part.keys():
        return ("server_tool_call_response", _plain(part))
    return ("unknown", _plain(part))


def kept(parts: Sequence[Mapping[str, Any]]) -> list[tuple[Any, ...]]:
    """A record's parts in that form."""
    return [_kept(part) for part in parts]


def _kept(part: Mapping[str, Any]) -> tuple[Any, ...]:
    kind = part["type"]
    signature = _standard(part.get("thoughtSignature", part.get("thought_signature")))
    if kind in ("text", "reasoning"):
        return (kind, part["content"], signature)
    if kind == "tool_call":
        return (kind, part.get("id"), part["name"], part.get("arguments"), signature)
    if kind == "tool_call_response":
        return (kind, part.get("id"), part["name"], part["response"])
    if kind == "blob":
        return (kind, part.get("mime_type"), part["sha256"], part["size"])
    if kind == "uri":
        return (kind, part["uri"], part.get("mime_type"))
    if kind in ("server_tool_call", "server_tool_call_response"):
        return (kind, _plain(part[kind]))
    return ("unknown", _plain(part.get("value", part)))


def _plain(part: Any) -> str:
    named = {_camel(key): value for key, value in part.items()}
    if "thoughtSignature" in named:
        named["thoughtSignature"] = _standard(named["thoughtSignature"])
    return json.dumps(named, sort_keys=True)


def _camel(key: str) -> str:
    first, *more = key.split("_")
    return first + "".join(word.capitalize() for word in more)


def _standard(signature: Any) -> Any:
    return signature and signature.replace("-", "+").replace("_", "/")


def joined(parts: Sequence[Mapping[str, Any]]) -> list[tuple[Any, ...]]:
    """Parts of a stream in that form: texts that follow each other are one, empty ones none."""
    found: list[tuple[Any, ...]] = []
    for part in said(parts):
        last: tuple[Any, ...] = found[-1] if found else ("",)
        if part[0] in ("text", "reasoning") and last[0] == part[0] and not (part[2] or last[2]):
            found[-1] = (part[0], last[1] + part[1], None)
        elif part[:2] != ("text", "") or part[2]:
            found.append(part)
    return found


# -- what an answer says ------------------


def candidates_of(answers: Sequence[Any]) -> dict[int, list[Any]]:
    """By their index, what each candidate's answers say."""
    found: dict[int, list[Any]] = {}
    for answer in answers:
        for candidate in listed(answer, "candidates"):
            found.setdefault(candidate.get("index", 0), []).append(candidate)
    return found


def reasons_of(answers: Sequence[Any]) -> list[str]:
    """Why each candidate ended, in the conventions' words."""
    reasons: list[str] = []
    for _, pieces in sorted(candidates_of(answers).items()):
        said = [str(piece["finishReason"]) for piece in pieces if piece.get("finishReason")]
        if said:
            last = said[-1]
            reasons.append("content_filter" if last in _FILTERED else _ENDS.get(last, last.lower()))
    if not reasons and any(fielded(a, "promptFeedback").get("blockReason") for a in answers):
        return ["content_filter"]
    return reasons


def usage_of(answers: Sequence[Any]) -> dict[str, Any]:
    """The token counts: of a stream the newest of each."""
    counts: dict[str, Any] = {}
    for answer in answers:
        counts.update(fielded(answer, "usageMetadata"))
    return counts


def tokens_of(counts: Mapping[str, Any]) -> dict[str, int | None]:
    """The counts of a record's columns; ``None`` is unknown."""

    def both(one: str, other: str) -> int | None:
        if one not in counts and other not in counts:
            return None
        return int(counts.get(one, 0)) + int(counts.get(other, 0))

    return {
        "input_tokens": both("promptTokenCount", "toolUsePromptTokenCount"),
        "output_tokens": both("candidatesTokenCount", "thoughtsTokenCount"),
        "cache_read_tokens": counts.get("cachedContentTokenCount"),
        "reasoning_tokens": counts.get("thoughtsTokenCount"),
    }


_LISTS = {
    "promptTokensDetails": "input_tokens",
    "toolUsePromptTokensDetails": "input_tokens",
    "candidatesTokensDetails": "output_tokens",
    "cacheTokensDetails": "cache_read.input_tokens",
}


def modalities_of(counts: Mapping[str, Any]) -> dict[str, str]:
    """The attributes of the tokens by modality; a document is priced as an image."""
    found: Counter[str] = Counter()
    for key, kind in _LISTS.items():
        for entry in listed(counts, key):
            modality = {"DOCUMENT": "image"}.get(entry["modality"], entry["modality"].lower())
            ours = "turnspan" if modality == "video" else "gen_ai"
            found[f"{ours}.usage.{modality}.{kind}"] += entry.get("tokenCount", 0)
    found["turnspan.usage.tool.input_tokens"] = counts.get("toolUsePromptTokenCount", 0)
    return {name: str(count) for name, count in found.items() if count}


def searches_of(answers: Sequence[Any]) -> int:
    """How many queries Google Search was asked; empty ones are not charged."""
    asked: dict[str, None] = {}
    for number, pieces in candidates_of(answers).items():
        for piece in pieces:
            for query in listed(piece.get("groundingMetadata"), "webSearchQueries"):
                if query:
                    asked[f"{number}:{query}"] = None
    return len(asked)


def cost_of(answers: Sequence[Any], model: str) -> Decimal | None:
    """What an answer costs by genai-prices' own reading of it, and its searches: of Google's models
    before the third generation a prompt that searched is charged, of later ones each query."""
    said = [a["modelVersion"] for a in answers if a.get("modelVersion")] or [model]
    searches = searches_of(answers)
    if searches and said[-1].startswith(("gemini-1", "gemini-2")):
        searches = 1
    for name in (said[-1], model):
        body = {"modelVersion": name, "usageMetadata": usage_of(answers)}
        try:
            found = genai_prices.extract_usage(body, provider_id="google", api_flavor="default")
        except (LookupError, ValueError):  # an unknown model, or an answer without counts
            continue
        if found.model is not None:
            usage: Any = found.usage
            usage.web_searches = searches
            price = found.calc_price()
            priced: Any = price.model_price
            unknown = searches and priced.web_searches_kcount is None
            return None if unknown else price.total_price
    return None


def beside(answers: Sequence[Any]) -> Counter[tuple[str, str]]:
    """All that answers say beside their messages, leaf by leaf: where it stands, but for its place
    in lists, and what it is. Of a stream's counts the newest."""
    found: Counter[tuple[str, str]] = Counter()
    for answer in answers:
        rest = {k: v for k, v in answer.items() if k not in _COLUMNS and k != "candidates"}
        candidates = [
            {k: v for k, v in candidate.items() if k not in _CANDIDATE}
            for candidate in listed(answer, "candidates")
        ]
        leaves = Counter(_leaves({**rest, "candidates": candidates}, ""))
        found |= leaves  # what is said again is not more
    found |= Counter(_leaves({"usageMetadata": usage_of(answers)}, ""))
    return found


_COLUMNS = {"responseId", "modelVersion", "usageMetadata"}
_CANDIDATE = {"content", "index", "finishReason"}


def leaves_of(details: Any) -> Counter[tuple[str, str]]:
    """A record's details leaf by leaf."""
    return Counter(_leaves(details, ""))


def _leaves(value: Any, path: str) -> Iterator[tuple[str, str]]:
    fields, items = as_dict(value), as_list(value)
    if fields is not None:
        for key, item in fields.items():
            yield from _leaves(item, f"{path}.{key}")
    elif items is not None:
        for item in items:
            yield from _leaves(item, path)
    else:
        yield path, json.dumps(value)
