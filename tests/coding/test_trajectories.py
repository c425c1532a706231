"""Sessions in the formats of others: each document is what the format itself asks for.

The schemas beside this file are written by hand after the formats' sources; the formats' own
readers read the same files in ``tests/loaders`` (Inspect) and were asked once by hand (Harbor).
"""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import pytest

from support.coding_sessions import MODEL, NEW, OLD, PROJECT, coding_turn, session
from support.landing import insert
from support.rows import tool
from support.shop_session import session as shop_session
from turnspan_clickhouse.rows.tables import Record
from turnspan_clickhouse.rows.tombstone_filter import Tombstones
from turnspan_clickhouse.store.client import Store
from turnspan_records.access.window import Window, moment
from turnspan_records.coding.trajectories.trajectory_export import (
    TrajectoryFormat,
    export_trajectories,
)
from turnspan_records.keeping.copies import sift_set
from turnspan_records.training import ExportError, Filters

pytestmark = pytest.mark.with_schema
SECRET = "sk-ant-api03-" + "a1B2" * 20
HOSTILE = "\x1b[31m‮txt\x00 <script>"


@pytest.fixture
def filled(embedded: Store) -> Store:
    """Two sessions of a coding agent, one of no coding agent, a turn that still runs."""
    insert(embedded, *session("s1"), *session("s2"), *shop_session())
    running: dict[str, Any] = {"status": "running", "stop_reason": "", "models": []}
    insert(embedded, coding_turn("r1", 90, f"{HOSTILE} {SECRET}", session_id="s3", **running))
    return embedded


def _written(
    store: Store, folder: Path, kind: TrajectoryFormat, filters: Filters | None = None
) -> dict[str, list[Any]]:
    """The documents of each file, by its name."""
    made = export_trajectories(store, folder, kind, filters or Filters())
    manifest = json.loads((folder / "manifest.json").read_text())
    assert made.sessions == len(manifest["files"]) == len(list(folder.glob("*/*.json*")))
    return {
        one["name"]: [*map(json.loads, (folder / one["name"]).read_bytes().splitlines())]
        for one in manifest["files"]
    }


def _require(name: str, document: Any) -> None:
    schema = json.loads((Path(__file__).parent / f"{name}.schema.json").read_text())
    checks: Any = importlib.import_module("jsonschema")  # 2 s, for every process of a parallel run
    checks.Draft202012Validator(schema).validate(document)


def test_atif(filled: Store, tmp_path: Path) -> None:
    """A step a message or reply, results with their calls, a subagent as its own trajectory."""
    written = _written(filled, tmp_path / "atif", "atif")
    assert sorted(written) == [
        *("parser/s1.json", "parser/s2.json", "parser/s3.json", "shop/s1.json")
    ]
    for (document,) in written.values():
        _require("atif", document)
        for one in (document, *document.get("subagent_trajectories", [])):
            assert [step["step_id"] for step in one["steps"]] == [*range(1, len(one["steps"]) + 1)]
            for step in one["steps"]:
                ids = {call["tool_call_id"] for call in step.get("tool_calls", [])}
                results = step.get("observation", {}).get("results", [])
                assert {result["source_call_id"] for result in results} <= ids
    (made,) = written["parser/s1.json"]
    assert [(step["source"], step["message"]) for step in made["steps"]] == [
        ("user", "Fix the parser: it keeps blanks."),
        ("agent", "I look."),
        ("agent", ""),
        ("agent", "Fixed."),
        ("user", "No, that is wrong: strip blanks only."),
        ("agent", ""),
        ("agent", "Now only blanks."),
    ]
    edit, task = made["steps"][2]["observation"]["results"]
    assert made["steps"][2]["tool_calls"][0]["arguments"]["new_string"] == NEW
    assert edit == {"source_call_id": "c2", "content": "ok"}
    assert task["subagent_trajectory_ref"] == [{"trajectory_id": "s1t2"}]
    (reviewer,) = made["subagent_trajectories"]
    assert reviewer["steps"][0]["extra"] == {"left_out": {"blob": 1}}
    assert made["final_metrics"]["total_cost_usd"] == 3.0, "the turns' costs hold the subagent's"
    assert made["final_metrics"]["total_prompt_tokens"] == 500
    assert made["steps"][1]["metrics"]["cached_tokens"] == 60
    assert made["extra"]["turnspan"]["vcs.repository.name"] == "parser"
    (running,) = written["parser/s3.json"]
    assert running["steps"][0]["message"].startswith(HOSTILE)
    assert "a1B2" not in json.dumps(running), "texts are redacted again"


def test_inspect(filled: Store, tmp_path: Path) -> None:
    """A log a session and a sample a turn; its results are messages of tools."""
    written = _written(filled, tmp_path / "inspect", "inspect")
    (log,) = written["parser/s1.json"]
    assert (log["version"], log["status"], log["eval"]["model"]) == (2, "success", MODEL)
    assert log["eval"]["revision"]["origin"] == "https://example.org/ana/parser.git"
    first, nested, last = log["samples"]
    assert [message["role"] for message in first["messages"]] == [
        *("user", "assistant", "tool", "assistant", "tool", "tool", "assistant")
    ]
    assert first["messages"][1]["content"][0]["reasoning"] == "First read it."
    assert first["messages"][2]["content"] == OLD
    assert nested["metadata"]["parent_turn_id"] == "s1t1"
    assert last["output"]["choices"][0]["stop_reason"] == "tool_calls"
    usage = log["stats"]["model_usage"][MODEL]
    assert (usage["input_tokens"], usage["input_tokens_cache_read"]) == (240, 360)
    (shop,) = written["shop/s1.json"]
    failed = shop["samples"][0]["messages"][-2]
    assert failed["error"]["message"] == "Error: no price"
    assert written["parser/s3.json"][0]["results"]["completed_samples"] == 0


def test_filters(filled: Store, tmp_path: Path) -> None:
    """A session is written if a turn of it meets all filters."""
    cases: list[tuple[Filters, list[str]]] = [
        (Filters(project="shop"), ["shop/s1.json"]),
        (Filters(agents=("reviewer",)), ["parser/s1.json", "parser/s2.json"]),
        (Filters(where="tool_error_count > 0 AND session_id = 's2'"), ["parser/s2.json"]),
        (Filters(window=Window(since=moment("2026-09-21T14:14:40"))), ["parser/s3.json"]),
        (Filters(stop_reasons=("max_tokens",)), ["shop/s1.json"]),
    ]
    for number, (filters, names) in enumerate(cases):
        assert sorted(_written(filled, tmp_path / str(number), "atif", filters)) == names
    one, none = Filters(project="parser"), Filters(project="nothing")
    assert export_trajectories(filled, tmp_path / "one", "atif", one, "s2").sessions == 1
    assert export_trajectories(filled, tmp_path / "none", "atif", none).sessions == 0
    assert not (tmp_path / "none").exists()
    for wrong in ("1) UNION ALL SELECT (1", "no_column = 1"):
        with pytest.raises(ExportError, match="condition"):
            export_trajectories(filled, tmp_path / "wrong", "atif", Filters(where=wrong))


def test_forgotten(filled: Store, tmp_path: Path) -> None:
    """The file of a session, turn or call that is forgotten goes, and the others stay."""
    folder = tmp_path / "set"
    _written(filled, folder, "atif")
    gone = Tombstones()
    gone.add(("session", "parser", "s2"), 2**62)
    gone.add(("span", "shop", "l2"), 2**62)
    assert sift_set(folder, gone, dry=True) == 2
    assert sift_set(folder, gone) == 2
    manifest = json.loads((folder / "manifest.json").read_text())
    assert [one["name"] for one in manifest["files"]] == ["parser/s1.json", "parser/s3.json"]
    assert manifest["counts"]["lines"] == manifest["forgotten"] == 2
    assert sorted(path.name for path in folder.glob("*/*")) == ["s1.json", "s3.json"]


def _edits(*runs: tuple[str, dict[str, Any] | str], **values: Any) -> list[Record]:
    """A turn in which tools ran, one after the other: their names with their arguments."""
    found: list[Record] = [coding_turn("e", 0, "Edit", session_id="e")]
    for at, (name, given) in enumerate(runs):
        place: dict[str, Any] = {"project": PROJECT, "session_id": "e", "turn_id": "e"}
        text = given if isinstance(given, str) else json.dumps(given)
        found.append(tool(f"e{at}", at + 1, name=name, arguments=text, **place, **values))
    return found


def _placed(record: Any) -> list[tuple[str, list[tuple[int, int]]]]:
    """The files of a trace record with the first and last lines of their ranges."""
    return [
        (file["path"], [(r["start_line"], r["end_line"]) for r in talk["ranges"]])
        for file in record["files"]
        for talk in file["conversations"]
    ]


def test_agent_trace(filled: Store, tmp_path: Path) -> None:
    """A record for each successful change: by the tool's patch, by what was written before, and
    without ranges where neither tells."""
    change = "*** Update File: /home/ana/parser/a.py\n@@\n one\n-two\n+TWO\n+2\n three"
    diff = "--- a\n+++ b\n@@ -9,2 +9,3 @@ def f():\n x\n+y\n+z\n-w\n v\n@@ -20 +30,2 @@\n+end"
    runs = (
        ("Write", {"file_path": "/home/ana/parser/a.py", "content": "one\ntwo\nthree\n"}),
        ("apply_patch", f"*** Begin Patch\n{change}\n*** End Patch"),
        ("Edit", {"file_path": "b.py", "old_string": "x", "new_string": HOSTILE}),
        ("Bash", {"command": "ls"}),
    )
    insert(filled, *_edits(*runs))
    more = tool("e9", 9, name="replace", project=PROJECT, session_id="e", turn_id="e")
    more.arguments = json.dumps({"file_path": "c.py", "old_string": "w", "new_string": "y\nz"})
    more.attributes = {"turnspan.import.resultDisplay": json.dumps({"fileDiff": diff})}
    failed = tool("e8", 8, name="Write", failed=True, project=PROJECT, session_id="e", turn_id="e")
    failed.arguments = json.dumps(runs[0][1])
    both = tool("e7", 7, name="apply_patch", project=PROJECT, session_id="e", turn_id="e")
    parts = "".join(f"*** Update File: {name}\n@@\n-a\n+b\n" for name in ("d.py", "x.py"))
    both.arguments = f"*** Begin Patch\n{parts}*** End Patch"
    told = {"changes": {"x.py": {"unified_diff": "@@ -7 +7 @@\n-a\n+b"}}}
    both.attributes = {"turnspan.import.patch_apply_end": json.dumps(told)}
    insert(filled, more, failed, both)
    written = _written(filled, tmp_path / "traces", "agent-trace")
    assert sorted(written) == ["parser/e.jsonl", "parser/s1.jsonl", "parser/s2.jsonl"]
    for record in (one for ones in written.values() for one in ones):
        _require("agent_trace", record)
    assert [_placed(record) for record in written["parser/e.jsonl"]] == [
        [("a.py", [(1, 3)])],
        [("a.py", [(2, 3)])],
        [("b.py", [])],
        [("d.py", []), ("x.py", [(7, 7)])],
        [("c.py", [(10, 11), (30, 30)])],
    ]
    first, again = written["parser/s1.jsonl"]
    assert _placed(again) == [("src/parse.py", [(6, 6)])]
    [talk] = first["files"][0]["conversations"]
    assert talk["contributor"] == {"type": "ai", "model_id": f"anthropic/{MODEL}"}
    assert talk["url"] == "turnspan:///s/parser/s1"
    assert talk["related"][0] == {"type": "prompt", "url": "turnspan:///s/parser/s1?at=s1t1"}
    assert first["vcs"] == {"type": "git", "revision": "0123456789abcdef0123456789abcdef01234567"}
    assert first["tool"] == {"name": "claude-code", "version": "2.1.0"}
    assert len({record["id"] for ones in written.values() for record in ones}) == 9
