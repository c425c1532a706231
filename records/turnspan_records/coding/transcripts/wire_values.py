"""Values as transcripts have them: any field may be missing, of a wrong type, or huge."""

from __future__ import annotations

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


class WireFields(dict[str, Any]):
    """An object of a transcript: any field may be missing, of a wrong type, or huge.

    It is for reading: what goes into an event is a plain ``dict``, which media is found in.
    """

    __slots__ = ()

    def text(self, name: str) -> str:
        """A field's text; empty for anything else."""
        return as_text(self.get(name))

    def object(self, name: str) -> WireFields:
        """A field's object; an empty one for anything else."""
        return fields_of(self.get(name))

    def maybe(self, name: str) -> WireFields | None:
        """A field's object; None for anything else."""
        value = as_dict(self.get(name))
        return None if value is None else WireFields(value)

    def objects(self, name: str) -> list[WireFields]:
        """The objects of a field's list, without whatever else stands in it."""
        items = as_list(self.get(name)) or []
        return [WireFields(item) for item in map(as_dict, items) if item is not None]

    def count(self, name: str) -> int | None:
        """A field's count of tokens; None for what is none."""
        return count_of(self.get(name))

    def time(self, name: str) -> int:
        """A field's time in nanoseconds since the epoch; 0 for what is none."""
        return time_of(self.get(name))

    def others(self, *known: str) -> dict[str, Any]:
        """What there is beside the known fields, as attributes, as far as it is small."""
        rest = {name: self[name] for name in sorted(self.keys() - set(known))}
        return {k: v for k, v in rest.items() if v not in (None, "", [], {}) and is_small(v)}


def fields_of(value: Any) -> WireFields:
    """An object; an empty one for anything else."""
    return WireFields(as_dict(value) or {})


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
    if not (money.is_finite() and 0 <= money < _DEAREST):
        return None
    # As stores keep it: tools add binary fractions, 0.00030299999999999994 is 0.000303.
    return money if len(text.rpartition(".")[2]) <= 12 and "e" not in text else round(money, 12)


def time_of(value: Any) -> int:
    """A time in nanoseconds since the epoch; 0 for what is none."""
    if isinstance(value, str) and len(value) > _LONGEST_TIME:
        return 0
    return nanoseconds(value) or 0


def wide_id(session: str, id_: str) -> str:
    """An id that no other session has."""
    return id_ if len(id_) >= _SHORTEST_ID or not id_ else f"{session}:{id_}"


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


def document_in(path: Path) -> WireFields | None:
    """The object in a file of JSON; None where there is none (or the tool has deleted it)."""
    try:
        value = as_dict(json_in(path.read_bytes()))
    except OSError:
        return None
    return None if value is None else WireFields(value)


def result_of(content: Any) -> Any:
    """What a tool brought: the text of blocks that are all text, else what there is, with the
    hashes of files in their places."""
    blocks = as_list(content)
    if not blocks:
        return digest_media(content)
    texts = [fields_of(block) for block in blocks]
    if all(block.text("type").endswith("text") and "text" in block for block in texts):
        return "\n".join(block.text("text") for block in texts)
    return digest_media(blocks)
