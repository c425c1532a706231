"""Logs of simonw/llm as its three generations write them; the recorded ones with their truth."""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
import sqlite3
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from support.shared import shared_folder
from turnspan.runtime.type_guards import is_dict, is_list

RECORDED = (
    *("llm0.20_lc0.3", "llm0.21_lc0.4", "llm0.24.2_lc0.5", "llm0.31.1_lc0.5"),
    *("llm0.31.1_lc0.8.0", "llm0.36_lc0.5", "llm0.36_lc0.8.0", "llm0.36_lc0.8.0_premigrated"),
)
"""The recorded databases by their tools' versions."""

_RESPONSES = """
CREATE TABLE [conversations] ([id] TEXT PRIMARY KEY, [name] TEXT, [model] TEXT);
CREATE TABLE [responses] ([id] TEXT PRIMARY KEY, [model] TEXT, [prompt] TEXT, [system] TEXT,
  [prompt_json] TEXT, [options_json] TEXT, [response] TEXT, [response_json] TEXT,
  [conversation_id] TEXT REFERENCES [conversations]([id]), [duration_ms] INTEGER,
  [datetime_utc] TEXT, [input_tokens] INTEGER, [output_tokens] INTEGER, [token_details] TEXT);
CREATE VIRTUAL TABLE [responses_fts] USING FTS5 ([prompt], [response], content=[responses]);
CREATE TRIGGER [responses_ai] AFTER INSERT ON [responses] BEGIN
  INSERT INTO [responses_fts] (rowid, [prompt], [response])
  VALUES (new.rowid, new.[prompt], new.[response]);
END;
CREATE TRIGGER [responses_au] AFTER UPDATE ON [responses] BEGIN
  INSERT INTO [responses_fts] ([responses_fts], rowid, [prompt], [response])
  VALUES ('delete', old.rowid, old.[prompt], old.[response]);
  INSERT INTO [responses_fts] (rowid, [prompt], [response])
  VALUES (new.rowid, new.[prompt], new.[response]);
END;
"""
_FRAGMENTS = """
CREATE TABLE "fragments" ("id" INTEGER PRIMARY KEY, "hash" TEXT, "content" TEXT,
  "datetime_utc" TEXT, "source" TEXT);
CREATE TABLE "prompt_fragments" ("response_id" TEXT, "fragment_id" INTEGER, "order" INTEGER,
  PRIMARY KEY ("response_id", "fragment_id", "order"));
"""
_TOOLS = """
CREATE TABLE "tools" ("id" INTEGER PRIMARY KEY, "hash" TEXT, "name" TEXT, "description" TEXT);
CREATE TABLE "tool_calls" ("id" INTEGER PRIMARY KEY, "response_id" TEXT, "name" TEXT);
ALTER TABLE "responses" ADD COLUMN "schema_id" TEXT;
ALTER TABLE "responses" ADD COLUMN "resolved_model" TEXT;
"""
_TURNS = """
CREATE TABLE "messages" ("hash" TEXT PRIMARY KEY, "parent_hash" TEXT, "role" TEXT,
  "provider_metadata" TEXT);
CREATE TABLE "parts" ("id" INTEGER PRIMARY KEY, "message_hash" TEXT, "position" INTEGER,
  "type" TEXT, "tool_name" TEXT, "text" TEXT, "payload" TEXT);
CREATE UNIQUE INDEX "idx_parts" ON "parts" ("message_hash", "position");
CREATE TABLE "threads" ("id" TEXT PRIMARY KEY, "name" TEXT, "tip_message_hash" TEXT,
  "forked_from" TEXT, "datetime_utc" TEXT);
CREATE TABLE "turns" ("id" TEXT PRIMARY KEY, "thread_id" TEXT, "parent_message_hash" TEXT,
  "tip_message_hash" TEXT, "model" TEXT, "resolved_model" TEXT, "options_json" TEXT,
  "schema_id" TEXT, "input_tokens" INTEGER, "output_tokens" INTEGER, "token_details" TEXT,
  "duration_ms" INTEGER, "datetime_utc" TEXT, "response_json" TEXT);
"""


@dataclass
class Call:
    """A call to be logged."""

    id: str
    model: str
    prompt: str
    response: str
    datetime_utc: str = "2026-11-20T10:00:00.000000+00:00"
    duration_ms: int | None = 10
    system: str | None = None
    response_json: Any = None
    conversation: str | None = None
    fragments: list[str] = field(default_factory=list[str])


class LlmLog:
    """A log of one generation: ``responses``, ``tools`` or ``turns``."""

    def __init__(self, path: Path, generation: str = "responses") -> None:
        self.path = path
        self.generation = generation
        self.db = sqlite3.connect(path, isolation_level=None)
        self.db.execute("PRAGMA synchronous = off")
        self.db.executescript(_RESPONSES)
        if generation != "responses":
            self.db.executescript(_FRAGMENTS + _TOOLS)
        if generation == "turns":
            self.db.executescript(_TURNS)

    @classmethod
    def opened(cls, path: Path, generation: str = "responses") -> LlmLog:
        """A log that is there already."""
        log = cls.__new__(cls)
        log.path, log.generation = path, generation
        log.db = sqlite3.connect(path, isolation_level=None)
        return log

    def configs(self, configs: dict[str, dict[str, Any]]) -> None:
        """Save consortiums as llm-consortium does."""
        self.db.execute(
            "CREATE TABLE IF NOT EXISTS consortium_configs (name TEXT PRIMARY KEY, "
            "config TEXT NOT NULL, created_at TEXT DEFAULT CURRENT_TIMESTAMP)"
        )
        rows = [(name, json.dumps(config)) for name, config in configs.items()]
        self.db.executemany("INSERT INTO consortium_configs (name, config) VALUES (?, ?)", rows)

    def log(self, *calls: Call) -> None:
        """Write calls in this order, in one transaction."""
        self.db.execute("BEGIN")
        for call in calls:
            (self._turn if self.generation == "turns" else self.response)(call)
        self.db.execute("COMMIT")

    def response(self, call: Call) -> None:
        """A row of ``responses``."""
        conversation = call.conversation or f"c-{call.id}"
        self.db.execute(
            "INSERT OR IGNORE INTO conversations VALUES (?, ?, ?)",
            (conversation, call.prompt[:50], call.model),
        )
        self.db.execute(
            "INSERT INTO responses (id, model, prompt, system, options_json, response, "
            "response_json, conversation_id, duration_ms, datetime_utc) "
            "VALUES (?, ?, ?, ?, '{}', ?, ?, ?, ?, ?)",
            (
                *(call.id, call.model, call.prompt, call.system, call.response),
                _json(condensed(call.response_json, call.response, f"r:{call.id}")),
                *(conversation, call.duration_ms, call.datetime_utc),
            ),
        )
        for order, text in enumerate(call.fragments):
            made = self.db.execute("INSERT INTO fragments (content) VALUES (?)", (text,))
            self.db.execute(
                "INSERT INTO prompt_fragments VALUES (?, ?, ?)", (call.id, made.lastrowid, order)
            )

    def _turn(self, call: Call) -> None:
        thread = call.conversation or f"c-{call.id}"
        self.db.execute("INSERT OR IGNORE INTO threads (id, name) VALUES (?, 'a name')", (thread,))
        tip: str | None = None
        if call.system is not None:
            tip = self._message(tip, "system", call.system)
        parent = self._message(tip, "user", "\n".join([*call.fragments, call.prompt]))
        tip = self._message(parent, "assistant", call.response)
        self.db.execute(
            "INSERT INTO turns (id, thread_id, parent_message_hash, tip_message_hash, model, "
            "duration_ms, datetime_utc, response_json) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(call.id, thread, parent, tip, call.model, call.duration_ms, call.datetime_utc),
                _json(condensed(call.response_json, call.response, "0.0.text")),
            ),
        )

    def _message(self, parent: str | None, role: str, text: str) -> str:
        hash_ = hashlib.sha256(f"{parent}\0{role}\0{text}".encode()).hexdigest()[:32]
        self.db.execute(
            "INSERT OR IGNORE INTO messages (hash, parent_hash, role) VALUES (?, ?, ?)",
            (hash_, parent, role),
        )
        self.db.execute(
            "INSERT OR IGNORE INTO parts (message_hash, position, type, text) "
            "VALUES (?, 0, 'text', ?)",
            (hash_, text),
        )
        return hash_


def condensed(value: Any, text: str, key: str) -> Any:
    """A JSON value as llm stores it: the reply's text replaced by a reference."""
    if is_dict(value):
        return {name: condensed(item, text, key) for name, item in value.items()}
    if is_list(value):
        return [condensed(item, text, key) for item in value]
    if not isinstance(value, str) or not text or text not in value:
        return value
    if value == text:
        return {"$": key}
    pieces: list[Any] = []
    for literal in value.split(text):
        pieces += [literal, {"$": key}]
    return {"$r": [piece for piece in pieces[:-1] if piece]}


def _json(value: Any) -> str | None:
    return None if value is None else json.dumps(value)


def recorded(name: str, folder: Path) -> Path:
    """One of the recorded logs, unpacked into the folder with what belongs to it."""
    shared = shared_folder()
    source = None if shared is None else shared / "data" / "consortium" / name
    if source is None or not source.is_dir():
        pytest.skip("the recorded logs of consortium runs are not at hand: set TURNSPAN_SHARED")
    folder.mkdir(parents=True, exist_ok=True)
    for packed in source.glob("*.gz"):
        with gzip.open(packed) as file, (folder / packed.stem).open("wb") as to:
            shutil.copyfileobj(file, to)
    return folder / "logs.db"


def truth(name: str) -> dict[str, Any]:
    """Which rows belong to which run of a recorded log."""
    shared = shared_folder()
    assert shared is not None
    path = shared / "data" / "consortium" / name / "ground_truth.json"
    loaded: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return loaded
