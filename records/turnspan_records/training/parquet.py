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

from turnspan_records.training.files import File, hashed
from turnspan_records.training.wanted import ExportError, Kind

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
        self._schema: Any = _schema(self._arrow, kind)
        self._writer: Any = parquet.ParquetWriter(
            path, self._schema, compression="zstd", version="2.6", write_statistics=False
        )
        path.chmod(0o600)
        self._waiting: list[dict[str, Any]] = []
        self._held = 0
        self.lines = 0

    def write(self, columns: Mapping[str, bytes], source: Mapping[str, Any]) -> None:
        """One row."""
        row: dict[str, Any] = {"source": orjson.dumps(source).decode()}
        for name, value in columns.items():
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


def _schema(arrow: Any, kind: Kind) -> Any:
    text = arrow.string()
    call = arrow.struct(
        [
            ("id", text),
            ("type", text),
            ("function", arrow.struct([("name", text), ("arguments", text)])),
        ]
    )
    block = arrow.struct([("type", text), ("text", text), ("image", text)])
    message = arrow.struct(
        [
            ("role", text),
            ("content", text),
            ("name", text),
            ("reasoning_content", text),
            ("tool_calls", arrow.list_(call)),
            ("tool_call_id", text),
            ("blocks", arrow.list_(block)),
        ]
    )
    messages = arrow.list_(message)
    fields: list[tuple[str, Any]] = [("prompt", messages)]
    if kind == "preference":
        fields += [("chosen", messages), ("rejected", messages)]
    else:
        fields.append(("completion", messages))
    fields += {
        "kto": [("label", arrow.bool_())],
        "reward": [("score", arrow.float64()), ("scored_by", text)],
    }.get(kind, [])
    return arrow.schema([*fields, ("tools", text), ("source", text)])
