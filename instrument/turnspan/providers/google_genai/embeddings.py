"""Gemini's embeddings: what was embedded is content, the vectors are not kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import orjson

from turnspan import semconv
from turnspan.content.snapshot import freeze
from turnspan.providers.google_genai.content import describe_usage
from turnspan.runtime.type_guards import is_dict, is_list
from turnspan.tracing.endpoint import Endpoint

DIALECT: Final = "gemini.embeddings"


class GeminiEmbeddings(Endpoint):
    """``:batchEmbedContents``, ``:embedContent``, and ``:predict`` of Vertex's embedding models."""

    operation = semconv.OP_EMBEDDINGS
    dialect = DIALECT

    def describe(self, body: Mapping[str, Any], attributes: dict[str, Any]) -> None:
        """Write the request's attributes."""
        attributes[semconv.OPERATION_NAME] = semconv.OP_EMBEDDINGS
        asked = body.get("requests")
        first: Any = asked[0] if is_list(asked) and asked else body.get("parameters") or body
        size = first.get("outputDimensionality") if is_dict(first) else None
        if isinstance(size, int):
            attributes[semconv.EMBEDDINGS_DIMENSION_COUNT] = size

    def freeze(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """A copy of the request that no later change reaches, without what is for the SDK only."""
        return {k: freeze(v) for k, v in body.items() if k[:1] != "_" and k != "config"}

    def describe_response(
        self, response: Any, attributes: dict[str, Any], *, cut: bool = False
    ) -> None:
        """Write how many tokens were embedded, where the answer says so, into how many dimensions,
        and all that it says beside the vectors."""
        if not is_dict(response):
            return
        usage = response.get("usageMetadata")
        count = usage.get("promptTokenCount") if is_dict(usage) else _statistics(response)
        if isinstance(count, int):
            attributes[semconv.USAGE_INPUT_TOKENS] = count
        if is_dict(usage):
            describe_usage(usage, attributes)
        sizes: list[int] = []
        rest = _without_vectors(response, sizes)
        if sizes:
            attributes[semconv.EMBEDDINGS_DIMENSION_COUNT] = sizes[0]
        if rest:
            attributes[semconv.RESPONSE_DETAILS] = orjson.dumps(rest).decode()

    def error_code(self, error: BaseException) -> Any:
        """The API's ``status``."""
        return getattr(error, "status", None)


def embeds(body: Mapping[str, Any]) -> bool:
    """Whether a request of Vertex's ``predict`` is for embeddings: it makes images, too."""
    items = body.get("instances")
    first = items[0] if is_list(items) and items else None
    return is_dict(first) and "content" in first


def _without_vectors(value: Any, sizes: list[int]) -> Any:
    """An answer without its vectors, whose sizes are noted; ``None`` where nothing is left."""
    if is_list(value):
        items = [_without_vectors(item, sizes) for item in value]
        return items if any(item is not None for item in items) else None
    if not is_dict(value):
        return value
    kept: dict[str, Any] = {}
    for key, item in value.items():
        if key == "values" and is_list(item):
            sizes.append(len(item))
        elif (rest := _without_vectors(item, sizes)) is not None:
            kept[key] = rest
    return kept or None


def _statistics(response: Mapping[str, Any]) -> int | None:
    """The tokens that Vertex counts with each vector."""
    total: int | None = None
    found = response.get("predictions")
    for prediction in found if is_list(found) else ():
        vector = prediction.get("embeddings") if is_dict(prediction) else None
        counts = vector.get("statistics") if is_dict(vector) else None
        count = counts.get("token_count") if is_dict(counts) else None
        if isinstance(count, (int, float)):
            total = (total or 0) + int(count)
    return total
