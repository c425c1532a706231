"""Sets as Parquet: columns of fixed types, whatever the tools' arguments look like.

Arguments and tools are JSON text: as columns of their own they would get the fields of every other
tool as well. A message of a text has it in ``content``, one with images the pieces in ``blocks``.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import orjson

from turnspan_records.access.whole_folders import ExportError, hashed
from turnspan_records.training.columns import Shape
from turnspan_records.training.export_request import Kind
from turnspan_records.training.files import File

ROWS: Final = 500
BYTES: Final = 16 * 2**20
"""Of JSON at most, a row group."""


class ParquetFile:
    """A Parquet file, written a row group at a time. The same rows make the same bytes."""

    def __init__(self, path: Path, kind: Kind) -> None:
        """Raises ``ExportError`` where pyarrow is not installed."""
        try:
            self._arrow: Any = importlib.import_module("pyarrow")
            parquet: Any = importlib.import_module("pyarrow.parquet")
        except ImportError:
            raise ExportError("To write Parquet: pip install 'turnspan[export]'.") from None
        self._path = path
        self._schema: Any = self._arrow.schema(_type(self._arrow, columns(kind)))
        self._writer: Any = parquet.ParquetWriter(
            path, self._schema, compression="zstd", version="2.6", write_statistics=False
        )
        path.chmod(0o600)
        self._waiting: list[dict[str, Any]] = []
        self._held = 0
        self.lines = 0

    def write(self, line: Mapping[str, bytes], source: Mapping[str, Any]) -> None:
        """One row."""
        row: dict[str, Any] = {"source": orjson.dumps(source).decode()}
        for name, value in line.items():
            loaded = orjson.loads(value)
            if name == "tools":
                row[name] = None if loaded is None else value.decode()
            elif isinstance(loaded, list):
                row[name] = [_message(one) for one in loaded]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
            else:
                row[name] = loaded
            self._held += len(value)
        self._waiting.append(row)
        self.lines += 1
        if len(self._waiting) >= ROWS or self._held >= BYTES:
            self._write()

    def _write(self) -> None:
        table = self._arrow.Table.from_pylist(self._waiting, schema=self._schema)
        self._writer.write_table(table, row_group_size=ROWS)
        self._waiting.clear()
        self._held = 0

    def whole(self, split: str) -> File:
        """All rows are there: write the last of them, and what a Parquet file ends with."""
        if self._waiting:
            self._write()
        self._writer.close()
        size = self._path.stat().st_size
        return File(self._path.name, split, self.lines, size, hashed(self._path))

    def close(self) -> None:
        """Let the file go."""
        self._writer.close()


def _message(message: dict[str, Any]) -> dict[str, Any]:
    content = message.get("content")
    if isinstance(content, str) or content is None:
        return message
    return {**message, "content": None, "blocks": content}


_CALL: Final[Shape] = {
    "id": "string",
    "type": "string",
    "function": {"name": "string", "arguments": "string"},
}
_MESSAGES: Final[Shape] = [
    {
        "role": "string",
        "content": "string",
        "name": "string",
        "reasoning_content": "string",
        "tool_calls": [_CALL],
        "tool_call_id": "string",
        "blocks": [{"type": "string", "text": "string", "image": "string"}],
    }
]


def columns(kind: Kind) -> dict[str, Shape]:
    """The columns of a kind of set."""
    answers = ("chosen", "rejected") if kind == "preference" else ("completion",)
    own: dict[Kind, dict[str, Shape]] = {
        "kto": {"label": "bool"},
        "reward": {"score": "float64", "scored_by": "string"},
    }
    messages = dict.fromkeys(("prompt", *answers), _MESSAGES)
    return {**messages, **own.get(kind, {}), "tools": "string", "source": "string"}


def _type(arrow: Any, shape: Shape) -> Any:
    if isinstance(shape, dict):
        return arrow.struct([(name, _type(arrow, one)) for name, one in shape.items()])
    if isinstance(shape, list):
        return arrow.list_(_type(arrow, shape[0]))
    return arrow.type_for_alias(shape)
