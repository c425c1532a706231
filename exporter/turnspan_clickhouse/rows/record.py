"""What a record class is made of: its bases, and its columns with their ClickHouse types."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, TypeAlias

from turnspan.runtime.mypyc import mypyc_attr
from turnspan_clickhouse.rows.native_types import EncodedMap

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
    """The first column of every table."""

    project: str = column("String", "")
    """Groups records; the service's name unless the application sets it."""


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class Located(ProjectRecord):
    """The next columns of calls, tools and spans: owner, and place in the trace."""

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


def columns(record: type[Record]) -> tuple[tuple[str, str], ...]:
    """(name, ClickHouse type) of every column of a record class, in order."""
    return tuple((f.name, f.metadata["type"]) for f in fields(record))  # type: ignore[arg-type]
