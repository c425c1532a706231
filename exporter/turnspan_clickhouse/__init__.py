"""Write spans as records into ClickHouse."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from turnspan_clickhouse.exporter import ClickHouseSpanExporter

__all__ = ["ClickHouseSpanExporter"]


def __getattr__(name: str) -> object:
    # The exporter brings the SDK; whoever only reads does not pay for it.
    if name == "ClickHouseSpanExporter":
        # With the exporter: the package itself is light.
        from turnspan_clickhouse.exporter import ClickHouseSpanExporter

        return ClickHouseSpanExporter
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
