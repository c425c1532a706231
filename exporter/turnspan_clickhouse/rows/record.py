"""What a record class is made of: its bases, and its columns with their ClickHouse types."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field, fields
from decimal import Decimal
from typing import Any, ClassVar, TypeAlias

from turnspan.runtime.mypyc import mypyc_attr
from turnspan_clickhouse.rows.native_types import EMPTY_MAP, EncodedMap

NO_HASH = bytes(16)
"""The hash column's value where a record has no such content."""

TIME = "DateTime64(9, 'UTC')"
MONEY = "Nullable(Decimal(18, 12))"

Texts: TypeAlias = "EncodedMap | dict[str, str]"
"""A map's column: encoded already, or a dictionary."""


OWN_ID = "loop:id"
"""The ``redact`` of a column of ids that we made: those stay as they are."""


def column(
    type_name: str,
    default: Any = None,
    *,
    factory: Any = None,
    redact: str = "",
    content: str = "",
    definition: str = "",
) -> Any:
    """A dataclass field that knows its ClickHouse type, and how a fact's value gets into it.

    Args:
        type_name: the type.
        default: the value where there is none.
        factory: makes it, instead.
        redact: what its texts are to the redactor; empty if they are written as they are.
        content: the same of content, which is cut and left out by the settings.
        definition: the kind of ``definition`` that the content lands as; the column has the hash.
    """
    metadata = {"type": type_name, "redact": redact, "content": content, "definition": definition}
    if factory is not None:
        return field(default_factory=factory, metadata=metadata)
    return field(default=default, metadata=metadata)


@mypyc_attr(acyclic=True)  # rows hold values, so the garbage collector need not look at them
class Record:
    """Base of the record classes; ``table`` is the ClickHouse table's name (see ``RECORDS``).

    Many rows are made on the way of every span. There ``__new__`` makes them, and all columns are
    set: what a dataclass generates is not compiled.
    """

    __slots__ = ()
    table: ClassVar[str] = ""


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class ProjectRecord(Record):
    """What every table has: whose record it is, and when its row was written."""

    project: str = column("String", "")
    """Groups records; the service's name unless the application sets it."""
    _: KW_ONLY
    written_at: int = column(TIME, 0)
    """When the row was written; the newest row of a key holds."""


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class WriterRecord(ProjectRecord):
    """A record that says which process wrote it."""

    _: KW_ONLY
    writer: str = column("String", "")
    """The process that wrote the row."""


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class Located(WriterRecord):
    """What calls, tools and spans have in common: owner, place in the trace, and time."""

    service: str = column("String", "")
    """``service.name`` of the process."""
    environment: str = column("String", "")
    """``deployment.environment.name`` of the process."""
    session_id: str = column("String", "")
    """The session (conversation); empty if there is none."""
    turn_id: str = column("String", "")
    """The turn; empty outside a turn."""
    trace_id: str = column("String", "")
    """The trace, as Jaeger shows it."""
    span_id: str = column("String", "")
    """The span of this record."""
    parent_span_id: str = column("String", "")
    """The span around it; empty for the root of a trace."""
    _: KW_ONLY
    start_time: int = column(TIME, 0)
    """When it began."""


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class SpanRecord(Located):
    """What the rows of ended spans have in common. Each table has an order of its own: blocks are
    written and read by the columns' names."""

    duration: float = column("Float64", 0.0)
    """How long it took."""
    scope_name: str = column("String", "")
    """The instrumentation that recorded it."""
    attributes: Texts = column("Map(String, String)", EMPTY_MAP)
    """Attributes of the span, or of the run, that no column has."""


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class UsageRecord(SpanRecord):
    """What a model call and a turn have in common: agent, tokens, cost, and what failed."""

    agent_name: str = column("String", "")
    """The agent around it, or whose turn it is."""
    agent_version: str = column("String", "")
    """The agent's version, named by the application."""
    input_tokens: int | None = column("Nullable(UInt64)")
    """Tokens of the prompt, with those read from a cache; ``NULL`` if unknown. A turn's tokens are
    those of its calls and of its nested turns: do not add nested turns again."""
    output_tokens: int | None = column("Nullable(UInt64)")
    """Tokens of the reply; ``NULL`` if unknown."""
    cache_read_tokens: int | None = column("Nullable(UInt64)")
    """Prompt tokens that the provider read from its cache."""
    cache_write_tokens: int | None = column("Nullable(UInt64)")
    """Prompt tokens that the provider wrote to its cache."""
    reasoning_tokens: int | None = column("Nullable(UInt64)")
    """Tokens of reasoning, which ``output_tokens`` includes."""
    cost_usd: Decimal | None = column(MONEY)
    """Cost in US dollars; ``NULL`` without a known price. A turn's is the sum of its calls' and
    nested turns'."""
    error_type: str = column("String", "")
    """Exception class or error code; empty if nothing failed."""
    error_message: str = column("String", "")
    """The error's message, masked and cut."""
    lineage_id: str = column("String", "")
    """The lineage it belongs to."""
    rollout_id: str = column("String", "")
    """The rollout it belongs to."""
    attempt_id: str = column("String", "")
    """The attempt it belongs to."""


def columns(record: type[Record]) -> tuple[tuple[str, str], ...]:
    """(name, ClickHouse type) of every column of a record class, in order."""
    return tuple((f.name, f.metadata["type"]) for f in fields(record))  # type: ignore[arg-type]
