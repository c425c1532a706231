"""OpenAI embeddings: what was embedded is content, the vectors are not kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from turnspan import semconv
from turnspan.providers.openai.completions import CompletionAccumulator
from turnspan.runtime.type_guards import is_list
from turnspan.tracing.endpoint import Accumulator, Endpoint, fields_of, write_counts, write_named
from turnspan.tracing.request_parameters import describe

DIALECT: Final = "openai.embeddings"

_COUNTS: Final = (("prompt_tokens", semconv.USAGE_INPUT_TOKENS),)
_ABOUT_RESPONSE: Final = (
    ("id", semconv.RESPONSE_ID),  # not OpenAI's own, but Mistral's, vLLM's, ...
    ("model", semconv.RESPONSE_MODEL),
)
_FLOAT_BYTES: Final = 4


class Embeddings(Endpoint):
    """``POST /embeddings``: no round of a turn."""

    operation = semconv.OP_EMBEDDINGS
    dialect = DIALECT

    def describe(self, body: Mapping[str, Any], attributes: dict[str, Any]) -> None:
        """Write the request's attributes."""
        attributes[semconv.OPERATION_NAME] = semconv.OP_EMBEDDINGS
        describe(body, attributes)
        form = body.get("encoding_format")
        if type(form) is str:
            attributes[semconv.REQUEST_ENCODING_FORMATS] = [form]
        dimensions = body.get("dimensions")
        if type(dimensions) is int:
            attributes[semconv.EMBEDDINGS_DIMENSION_COUNT] = dimensions

    def describe_response(
        self, response: Any, attributes: dict[str, Any], *, cut: bool = False
    ) -> None:
        """Write the attributes of a list of embeddings."""
        fields = fields_of(response)
        write_named(fields, _ABOUT_RESPONSE, attributes)
        write_counts(fields_of(fields.get("usage")), _COUNTS, attributes)
        data = fields.get("data")
        size = dimension_count(fields_of(data[0]).get("embedding")) if is_list(data) and data else 0
        if size:
            attributes[semconv.EMBEDDINGS_DIMENSION_COUNT] = size

    def accumulator(self) -> Accumulator:
        """Embeddings are not streamed; what came if they were is not kept."""
        return CompletionAccumulator()


def dimension_count(embedding: Any) -> int:
    """The length of a vector: a list of numbers, or base64 of 32-bit floats; 0 if neither."""
    if is_list(embedding):
        return len(embedding)
    if type(embedding) is str:
        return (len(embedding) * 3 // 4 - embedding[-2:].count("=")) // _FLOAT_BYTES
    return 0
