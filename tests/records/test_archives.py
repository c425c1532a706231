"""Archives: what is in them is what was in the store, and what is damaged is not believed."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from support.landing import insert
from support.rows import PROJECT, T0, call, message, said, turn
from turnspan_clickhouse.rows.native_encoder import encode_block
from turnspan_clickhouse.rows.tables import Definition, LlmCall, Record
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.dsn import data_folder
from turnspan_records.access import copies_registry as registry
from turnspan_records.keeping.archives import MANIFEST, Archive, rewrite, settle, writing
from turnspan_records.keeping.errors import ArchiveError
from turnspan_records.keeping.lines import BY_TABLE, lines_of

ODD = "\u2028 é \r\n\t \\ \" ' \U0001f600 \x01"


def records() -> list[Record]:
    """Rows with everything that is hard to write in them."""
    return [
        call("c1", input_messages=[b"\n" * 16, bytes(16)], attributes={ODD: ODD, "b": ""},
             cost_usd=Decimal("0.000000000001"), input_tokens=2**63 + 5, response_text=ODD),
        call("c2", 1.5, duration=float("inf"), time_to_first_chunk=float("nan"), stream=True,
             finish_reasons=["stop", ODD], consortium_role=0, written_at=T0 + 1),
        turn("t1", 0.1 + 0.2, user_message=ODD, models=["a", "b"], max_rounds=None),
        message("user", said(ODD)),
        Definition(project=PROJECT, hash=b"\x80" * 16, kind="k", body="[1]", written_at=T0),
    ]  # fmt: skip


@pytest.fixture
def archive(store: Store, tmp_path: Path) -> Archive:
    """The records, out of a store."""
    insert(store, *records())
    with writing(tmp_path / "archives" / "one", {"why": "test"}) as writer:
        for table, record in BY_TABLE.items():
            for lines in lines_of(store, record, f"{record.table} AS r FINAL", "1", {}):
                writer.add(table, lines)
    return Archive(tmp_path / "archives" / "one")


def encoded(rows: list[Record]) -> list[bytes]:
    """Rows in a form that tells all values apart, in an order of its own."""
    return sorted(encode_block(type(row), [row]) for row in rows)


def test_an_archive_has_exactly_the_rows_of_the_store(archive: Archive) -> None:
    """Every value of every type comes back as it was recorded."""
    archive.verify()
    found = [row for table in archive.manifest.tables for some in archive.records(table)
             for row in some]  # fmt: skip
    assert encoded(found) == encoded(records())
    assert archive.manifest.rows == len(records())
    assert archive.manifest.about == {"why": "test"}


def test_the_files_are_for_their_owner_alone(archive: Archive) -> None:
    """They hold what people said."""
    assert {oct(one.stat().st_mode & 0o77) for one in archive.path.iterdir()} == {"0o0"}


@pytest.mark.parametrize("name", ["llm_call.jsonl.zst", "llm_call.parquet", "message.parquet"])
@pytest.mark.parametrize("how", ["flipped", "cut", "gone"])
def test_a_damaged_file_is_found(embedded: Store, tmp_path: Path, name: str, how: str) -> None:
    """Whatever happened to it."""
    insert(embedded, *records())
    with writing(tmp_path / "one", {}) as writer:
        for record in (LlmCall, BY_TABLE["message"]):
            for lines in lines_of(embedded, record, f"{record.table} AS r FINAL", "1", {}):
                writer.add(record.table, lines)
    path = tmp_path / "one" / name
    content = path.read_bytes()
    middle = len(content) // 2
    if how == "gone":
        path.unlink()
    elif how == "cut":
        path.write_bytes(content[:middle])
    else:
        path.write_bytes(content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :])
    with pytest.raises(ArchiveError, match="damaged"):
        Archive(tmp_path / "one").verify()


def test_what_is_no_archive_is_said(tmp_path: Path) -> None:
    """No manifest, one that cannot be read, one of the future, and tables of the future."""
    with pytest.raises(ArchiveError, match="is not an archive"):
        Archive(tmp_path)
    known: dict[str, Any] = {
        "format": 1, "turnspan": "9.9", "schema": 1, "about": {}, "tables": {},
    }  # fmt: skip
    table: dict[str, Any] = {"rows": 1, "content": "", "files": {}}
    for said_, wanted in (
        ("{", "cannot be read"),
        ("[]", "cannot be read"),
        (json.dumps({**known, "format": 2}), "newer Turnspan"),
        (json.dumps({**known, "tables": {"dream": table}}), "does not know"),
    ):
        (tmp_path / MANIFEST).write_text(said_)
        with pytest.raises(ArchiveError, match=wanted):
            Archive(tmp_path)


def test_nothing_is_there_of_an_archive_that_failed(tmp_path: Path) -> None:
    """And one that is there is not written over."""
    with pytest.raises(RuntimeError), writing(tmp_path / "one", {}) as writer:
        writer.add("llm_call", [b'{"project":"p"}'])
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []
    with writing(tmp_path / "one", {}):
        pass
    with pytest.raises(ArchiveError, match="is there already"), writing(tmp_path / "one", {}):
        pass


def without_c1(_table: str, row: Mapping[str, Any]) -> bool:
    """What is kept of an archive that forgets the call c1."""
    return row.get("span_id") != "c1"


def nothing(_table: str, _row: Mapping[str, Any]) -> bool:
    """What is kept of one that forgets everything."""
    return False


def test_an_archive_is_rewritten_without_some_rows(archive: Archive) -> None:
    """The others are there still, and verified; the files have no trace of those that went."""
    assert rewrite(archive.path, without_c1) == {"llm_call": 1}
    found = Archive(archive.path)
    found.verify()
    assert found.manifest.rows == len(records()) - 1
    assert [row.span_id for some in found.records("llm_call") for row in some
            if isinstance(row, LlmCall)] == ["c2"]  # fmt: skip
    assert [one.name for one in archive.path.parent.iterdir()] == ["one"]
    before = {one: one.stat().st_mtime_ns for one in archive.path.iterdir()}
    assert rewrite(archive.path, without_c1) == {}
    assert {one: one.stat().st_mtime_ns for one in archive.path.iterdir()} == before
    assert sum(rewrite(archive.path, nothing).values()) == len(records()) - 1
    assert list(archive.path.parent.iterdir()) == []


@pytest.mark.parametrize("moment", ["beside", "away"])
def test_a_replacement_that_was_cut_short_is_finished(archive: Archive, moment: str) -> None:
    """The new one counts from when it is whole."""
    path = archive.path
    new, old = path.with_name(".one.new"), path.with_name(".one.old")
    with writing(new, {"why": "new"}) as writer:
        writer.add("llm_call", [line for some in archive.lines("llm_call") for line in some][:1])
    if moment == "away":
        os.replace(path, old)
    assert Archive(path).manifest.about == {"why": "new"}
    settle(path)
    assert [one.name for one in path.parent.iterdir()] == ["one"]


def test_folders_are_registered_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the order in which they came, also after a line that a crash cut."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert registry.known() == []
    registry.register("archive", tmp_path / "a b", "1")
    registry.register("export", tmp_path / "é\n", "1")
    registry.register("archive", tmp_path / "a b", "1")
    place = data_folder() / registry.NAME
    with place.open("ab") as file:
        file.write(b'{"kind":"arch')
    registry.register("archive", tmp_path / "c", "1")
    assert [one.path.name for one in registry.known()] == ["a b", "é\n", "c"]
    assert [one.path.name for one in registry.known("archive")] == ["a b", "c"]
    assert place.stat().st_mode & 0o77 == 0
