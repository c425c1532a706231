"""Records of several people, so that one of them can be forgotten."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

from support.rows import PROJECT, T0, call, message, said, tool, turn
from turnspan_clickhouse.rows.consortium_tables import (
    Consortium,
    ConsortiumIteration,
    ConsortiumMember,
)
from turnspan_clickhouse.rows.keeping_tables import Tombstone
from turnspan_clickhouse.rows.loop_tables import ArtifactRow, AttemptRow, RolloutRow
from turnspan_clickhouse.rows.tables import (
    RECORDS,
    Annotation,
    ContextAssemblyRow,
    ContextItemRow,
    DatasetCase,
    Definition,
    Record,
    RunningCall,
    SpanRow,
    Withdrawal,
)
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.migrations import store_id
from turnspan_records.access import copies_registry as registry
from turnspan_records.access.whole_folders import hashed
from turnspan_records.keeping.archives import writing
from turnspan_records.keeping.lines import lines_of
from turnspan_records.keeping.table_files import read_lines
from turnspan_records.training.parquet import ParquetFile

SHARED = b"s" * 16
"""The hash of a system prompt that everybody's calls have."""


OF_ONE = 23
"""Rows of ``everything`` that nobody else has."""


def canary(name: str) -> str:
    """A text that is nowhere but in what is recorded of one."""
    return f"canary-{name}-text"


def session_of(name: str) -> str:
    """The id of somebody's session."""
    return f"{name}-session-0001"


def trace_of(name: str) -> str:
    """The id of somebody's trace."""
    return name.encode().hex().ljust(32, "0")[:32]


def everything(name: str, *, user: str = "", **place: Any) -> list[Record]:
    """A session of one turn, with a row in every table that something of a session is in."""
    project = place.pop("project", PROJECT)
    where: dict[str, Any] = {"session_id": session_of(name), "trace_id": trace_of(name), **place}
    turn_id, own = f"{name}-turn-01", name.encode().ljust(16, b"#")[:16]
    text = canary(name)
    answered = name.encode().ljust(16, b"?")[:16]
    asked = message("user", said(text), scope=where["session_id"] or where["trace_id"])
    asked.project = project
    at: dict[str, Any] = {"project": project, "start_time": T0, **where}
    owned: dict[str, Any] = {"turn_id": turn_id, **where}
    named = {"user.id": user} if user else {}
    tried: dict[str, Any] = {
        "lineage_id": "l",
        "rollout_id": f"{name}-rollout",
        "attempt_id": f"{name}-attempt",
    }
    judged: dict[str, Any] = {
        "project": project,
        "subject_kind": "turn",
        "subject_id": turn_id,
        "created_at": T0,
    }
    apart: dict[str, Any] = {**at, "session_id": ""}
    of_call: dict[str, Any] = {**judged, "subject_kind": "call", "subject_id": f"{name}-call-1"}
    of_attempt: dict[str, Any] = {
        **judged,
        "subject_kind": "attempt",
        "subject_id": f"{name}-attempt",
    }
    of_run: dict[str, Any] = {
        **judged,
        "subject_kind": "consortium",
        "subject_id": f"{name}-run",
    }
    rows: list[Record] = [
        turn(turn_id, project=project, **where, user_id=user, user_message=text, **tried),
        call(f"{name}-call-1", project=project, **owned, attributes=named,
             input_messages=[asked.hash], system_prompt=SHARED, context_assembled=own,
             response_text=text, **tried),
        RunningCall(**at, turn_id=turn_id, span_id=f"{name}-call-2", status="running",
                    input_messages=[asked.hash], system_prompt=own, response_text=text,
                    attributes=named),
        tool(f"{name}-tool-1", project=project, **owned, result=text),
        asked,
        Definition(project, own, "context_assembled", text, first_seen=T0),
        Definition(project, SHARED, "system_prompt", "You are kind.", first_seen=T0),
        SpanRow(**at, turn_id=turn_id, span_id=f"{name}-call-1", name="chat", attributes=named),
        SpanRow(**apart, span_id=f"{name}-http", name="GET",
                attributes={"url": text}),
        Annotation(**judged, kind="comment", comment=text, annotation_id=f"{name}-1"),
        Annotation(**of_call,
                   kind="score", score=7.0, comment=text, annotation_id=f"{name}-2"),
        Annotation(**of_attempt,
                   kind="score", score=7.0, comment=text, annotation_id=f"{name}-3"),
        Annotation(**of_run, kind="comment", comment=text, annotation_id=f"{name}-4"),
        Withdrawal(**judged, kind="comment", withdrawal_id=f"{name}-w", comment=text),
        ContextAssemblyRow(**at, turn_id=turn_id, assembly_id=f"{name}-ctx-1", context_hash=own),
        ContextItemRow(project, where["session_id"], turn_id, where["trace_id"], f"{name}-ctx-1",
                       T0, text, content_hash=own),
        ArtifactRow(project, "page", f"{name}-artifact", content=own, created_at=T0, **owned,
                    **tried),
        AttemptRow(project, "l", f"{name}-rollout", f"{name}-attempt", input=text, started_at=T0),
        RolloutRow(project, "l", f"{name}-rollout", task=text, started_at=T0),
        DatasetCase(project, "d", "v", f"{name}-case", input=text, turn_id=turn_id, created_at=T0),
        Consortium(project, f"{name}-run", prompt=answered, final_text=own, started_at=T0, **owned),
        ConsortiumMember(project, f"{name}-run", 1, "m", answer=text, started_at=T0, **owned),
        ConsortiumIteration(project, f"{name}-run", 1, "a", synthesis=text, started_at=T0,
                            trace_id=where["trace_id"]),  # in no turn and no session
        Definition(project, answered, "consortium_prompt", f"{text}?", first_seen=T0),
    ]  # fmt: skip
    return rows


def contents(store: Store, *, without: tuple[str, ...] = ("tombstone",)) -> dict[str, list[str]]:
    """Every row of every table, as text."""
    found: dict[str, list[str]] = {}
    for record in RECORDS:
        if record.table not in without:
            rows = store.query(f"SELECT * FROM {record.table}", settings={"final": 1}).rows
            found[record.table] = sorted(json.dumps(list(row), default=repr) for row in rows)
    return found


def naming(contents_: dict[str, list[str]], word: str) -> dict[str, int]:
    """How many rows of each table have a word in them."""
    found = {name: sum(word in row for row in rows) for name, rows in contents_.items()}
    return {name: number for name, number in found.items() if number}


def archive_of(store: Store, path: Path, *names: str) -> None:
    """An archive of all that is recorded of these sessions, with the contents that they name."""
    registry.register("archive", path, store_id(store))
    with writing(path, {"made": "by a test"}) as writer:
        for record in RECORDS:
            if record is Tombstone:
                continue
            for lines in lines_of(store, record, record.table, "1", {}):
                wanted = (*(name.encode() for name in names), b"You are kind.")
                kept = [line for line in lines if any(name in line for name in wanted)]
                writer.add(record.table, kept)


def set_of(store: Store, folder: Path, *names: str, form: str = "trl") -> None:
    """An exported set with a line for each of these sessions."""
    registry.register("export", folder, store_id(store))
    folder.mkdir(parents=True)
    path = folder / f"train.{'parquet' if form == 'parquet' else 'jsonl'}"
    sources = [
        {
            "project": PROJECT, "id": f"{name}-turn-01", "unit": "turn", "prompt_hash": name,
            "session_id": session_of(name), "calls": [f"{name}-call-1"], "trace_id": trace_of(name),
        }
        for name in names
    ]  # fmt: skip
    files = [path]
    if form == "parquet":
        made = ParquetFile(path, "sft")
        for name, source in zip(names, sources, strict=True):
            text = json.dumps([{"role": "user", "content": canary(name)}]).encode()
            made.write({"prompt": text, "completion": text, "tools": b"null"}, source)
        made.whole("train")
    else:
        lines: list[dict[str, Any]] = [{"prompt": canary(name)} for name in names]
        if form == "trl":
            lines = [{**one, "source": said} for one, said in zip(lines, sources, strict=True)]
        else:
            files.append(folder / "train.sources.jsonl")
            files[1].write_text("".join(json.dumps(one) + "\n" for one in sources))
        path.write_text("".join(json.dumps(one) + "\n" for one in lines))
    number = len(names)
    manifest = {
        "counts": {"lines": number},
        "splits": {"train": {"lines": number, "prompts": number}},
        "files": [
            {"name": one.name, "split": "train", "lines": number, "bytes": one.stat().st_size,
             "sha256": hashed(one)}
            for one in files
        ],
    }  # fmt: skip
    (folder / "manifest.json").write_text(json.dumps(manifest))
    card = (
        f"# A set\n\n| split | lines | prompts |\n|---|--:|--:|\n| train | {number} | {number} |\n"
    )
    (folder / "README.md").write_text(card)


def holding(folder: Path, word: str) -> list[str]:
    """The files under a folder that have a word in them, read as what they are."""
    found: list[str] = []
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            content = path.read_bytes()
            if path.suffix == ".zst":
                content = b"".join(
                    line
                    for some in read_lines(path.parent, path.name.split(".")[0])
                    for line in some
                )
            elif path.suffix == ".parquet":
                content = json.dumps(parquet_rows(path), default=str).encode()
            if word.encode() in content:
                found.append(str(path.relative_to(folder)))
    return found


def parquet_rows(path: Path) -> list[Any]:
    """The rows of a Parquet file."""
    parquet: Any = importlib.import_module("pyarrow.parquet")
    rows: list[Any] = parquet.read_table(path).to_pylist()
    return rows
