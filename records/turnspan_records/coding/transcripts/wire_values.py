"""Values as transcripts have them: any field may be missing, of a wrong type, or huge."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, Final

import orjson

from turnspan.content.media import digest_media
from turnspan.content.model import as_dict, as_list, as_text, dumps
from turnspan.turn.turn import TokenUsage
from turnspan_records.importing.transcripts.fields import nanoseconds

OWN_NOTE: Final = "the tool's own note"
NOT_AN_OBJECT: Final = "unknown: no object"

_LARGEST: Final = 2**53
"""Of a count: a larger one is a mistake, and no store takes the sum of several."""
_DEAREST: Final = Decimal(10) ** 9
_SMALL: Final = 16_384
"""Bytes of JSON that an attribute may have."""
_LONGEST_TIME: Final = 64
_SHORTEST_ID: Final = 16
"""An id of fewer characters is a number within its session, and other sessions have it too."""
_LONGEST_NAME: Final = 60

_PROVIDERS: Final = {
    "amazon-bedrock": "aws.bedrock",
    "azure": "azure.ai.openai",
    "azure-openai": "azure.ai.openai",
    "azure-openai-responses": "azure.ai.openai",
    "google": "gcp.gemini",
    "google-gemini-cli": "gcp.gemini",
    "google-vertex": "gcp.vertex_ai",
    "google-vertex-anthropic": "gcp.vertex_ai",
    "mistral": "mistral_ai",
    "moonshotai": "moonshot_ai",
    "openai-codex": "openai",
    "xai": "x_ai",
}
"""The conventions' names (``gen_ai.provider.name``) of the providers of OpenCode and Pi, which are
those of models.dev; others go by their own."""


def provider_name(named: str) -> str:
    """A provider as ``gen_ai.provider.name`` has it."""
    return _PROVIDERS.get(named, named)


class PassedOver:
    """Lines of a tree that say nothing of the conversation: what follows one follows its parent."""

    def __init__(self) -> None:
        self._parents: dict[str, str] = {}

    def add(self, id_: str, parent: str) -> None:
        """Pass over a line."""
        self._parents[id_] = self.before(parent)

    def before(self, parent: str) -> str:
        """The message before a line, by the parent that it names."""
        return self._parents.get(parent, parent)


def text_in(holder: dict[str, Any], name: str) -> str:
    """A field's text; empty for anything else."""
    return as_text(holder.get(name))


def object_in(holder: dict[str, Any], name: str) -> dict[str, Any]:
    """A field's object; an empty one for anything else."""
    return as_dict(holder.get(name)) or {}


def objects_in(holder: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """The objects of a field's list, without whatever else stands in it."""
    return [item for item in as_list(holder.get(name)) or [] if isinstance(item, dict)]


def count_of(value: Any) -> int | None:
    """A count of tokens; None for what is none."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return int(value) if 0 <= value < _LARGEST else None


def sum_of(*values: Any) -> int | None:
    """The sum of the counts that are there; None where there is none."""
    counts = [count for count in map(count_of, values) if count is not None]
    return sum(counts) if counts else None


def usage_of(
    *sent: Any, output: Any, read: Any = None, written: Any = None, reasoning: Any = None
) -> TokenUsage:
    """The counts of a call: ``sent`` is summed, and has the cache in it; ``output`` has the
    reasoning in it."""
    counts = (count_of(output), count_of(read), count_of(written), count_of(reasoning))
    return TokenUsage(sum_of(*sent), *counts)


def dollars_of(value: Any) -> Decimal | None:
    """A sum of money in USD; None for what is none."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    if len(text := str(value) if not isinstance(value, int) or abs(value) < _LARGEST else "") > 40:
        return None
    try:
        money = Decimal(text)
    except InvalidOperation:
        return None
    return money if money.is_finite() and 0 <= money < _DEAREST else None


def time_of(value: Any) -> int:
    """A time in nanoseconds since the epoch; 0 for what is none."""
    if isinstance(value, str) and len(value) > _LONGEST_TIME:
        return 0
    return nanoseconds(value) or 0


def wide_id(session: str, id_: str) -> str:
    """An id that no other session has."""
    return id_ if len(id_) >= _SHORTEST_ID or not id_ else f"{session}:{id_}"


def other_fields(holder: dict[str, Any], known: Iterable[str]) -> dict[str, Any]:
    """What an object has beside the known fields, as attributes, as far as it is small."""
    rest: dict[str, Any] = {}
    for name in holder.keys() - set(known):
        value = holder[name]
        if value not in (None, "", [], {}) and is_small(value):
            rest[name] = value
    return dict(sorted(rest.items()))


def is_small(value: Any) -> bool:
    """Whether a value may stand among attributes."""
    return len(dumps(value)) <= _SMALL


def unknown(named: Any) -> str:
    """What became of a line of an unknown type, for the report."""
    return f"unknown: {_name(named)}"


def own_note(named: Any) -> str:
    """What became of a line that says something of the tool, and nothing of the conversation."""
    return f"{OWN_NOTE}: {_name(named)}"


def _name(named: Any) -> str:
    name = named if isinstance(named, str) and named.isprintable() else type(named).__name__
    return name[:_LONGEST_NAME]


def json_in(text: Any) -> Any:
    """What a column or a file of JSON says; None for what is no JSON."""
    try:
        return orjson.loads(text)
    except (orjson.JSONDecodeError, TypeError):
        return None


def document_in(path: Path) -> dict[str, Any] | None:
    """The object in a file of JSON; None where there is none (or the tool has deleted it)."""
    try:
        return as_dict(json_in(path.read_bytes()))
    except OSError:
        return None


def result_of(content: Any) -> Any:
    """What a tool brought: the text of blocks that are all text, else what there is, with the
    hashes of files in their places."""
    blocks = as_list(content)
    if not blocks:
        return digest_media(content)
    texts = [as_dict(block) or {} for block in blocks]
    if all(text_in(block, "type").endswith("text") and "text" in block for block in texts):
        return "\n".join(text_in(block, "text") for block in texts)
    return digest_media(blocks)
