"""What a tool call of a coding agent changes in files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from support.landing import insert
from support.rows import PROJECT, tool, turn
from turnspan_clickhouse.rows.tables import ToolCall
from turnspan_clickhouse.store.client import Store
from turnspan_records.access.questions import ask
from turnspan_records.access.window import window_parameters
from turnspan_records.coding.authorship.edits import (
    CHANGING,
    EDITORS,
    SHELLS,
    FileChange,
    added,
    changes_of,
)
from turnspan_records.coding.authorship.recorded_edits import address_of

PATCH = """*** Begin Patch
*** Update File: src/a.py
@@ def one():
 keep
-old
+new
@@
+last
*** Add File: b.py
+only
*** Update File: c.py
*** Move to: d.py
@@
-gone
*** Delete File: e.py
*** End Patch"""
PATCHED = [
    FileChange("src/a.py", ("keep", "old"), ("keep", "new")),
    FileChange("src/a.py", (), ("last",)),
    FileChange("b.py", None, ("only",)),
    FileChange("d.py", ("gone",), ()),
]
REPLACED = FileChange("f", ("a", "b"), ("c",))
WHOLE = FileChange("f", None, ("x", "", "y"))


@pytest.mark.parametrize(
    ("name", "given", "changes"),
    [
        ("Edit", {"file_path": "f", "old_string": "a\nb", "new_string": "c"}, [REPLACED]),
        ("replace", {"file_path": "f", "old_string": "a\nb\n", "new_string": "c\n"}, [REPLACED]),
        ("edit", {"filePath": "f", "oldString": "a\nb", "newString": "c"}, [REPLACED]),
        ("edit", {"path": "f", "oldText": "a\nb", "newText": "c"}, [REPLACED]),
        ("edit", {"path": "f", "edits": [{"oldText": "a\nb", "newText": "c"}]}, [REPLACED]),
        ("edit", {"path": "f", "old_str": "a\nb", "new_str": "c"}, [REPLACED]),
        (
            "str_replace_editor",
            {"command": "str_replace", "path": "f", "old_str": "a\nb", "new_str": "c"},
            [REPLACED],
        ),
        (
            "MultiEdit",
            {"file_path": "f", "edits": [{"old_string": "a\nb", "new_string": "c"}] * 2},
            [REPLACED, REPLACED],
        ),
        ("Write", {"file_path": "f", "content": "x\n\ny\n"}, [WHOLE]),
        ("write_file", {"file_path": "f", "content": "x\n\ny"}, [WHOLE]),
        ("create", {"path": "f", "file_text": "x\n\ny\n"}, [WHOLE]),
        (
            "Edit",
            {"file_path": "f", "old_string": "a", "new_string": ""},
            [FileChange("f", ("a",), ())],
        ),
        (
            "NotebookEdit",
            {"notebook_path": "n.ipynb", "new_source": "a = 1\nb"},
            [FileChange("n.ipynb", (), ('"a = 1\\n"', '"b"'))],
        ),
        ("apply_patch", PATCH, PATCHED),
        ("apply_patch", {"input": PATCH}, PATCHED),
        ("apply_patch", {"patchText": PATCH}, PATCHED),
        ("shell", {"command": ["bash", "-lc", f"apply_patch <<'EOF'\n{PATCH}\nEOF\n"]}, PATCHED),
        ("functions.exec_command", {"cmd": f"apply_patch <<'EOF'\n{PATCH}\nEOF\n"}, PATCHED),
        (
            "Bash",
            {"command": "cd sub && cat > f <<'EOF'\nx\n\ny\nEOF\necho done"},
            [FileChange("sub/f", None, ("x", "", "y"), by_command=True)],
        ),
        (
            "Bash",
            {"command": "cat >> 'a b' <<EOF\nx\nEOF"},
            [FileChange("a b", (), ("x",), by_command=True)],
        ),
        (
            "exec_command",
            {"cmd": "sed -i 's/a/b/' src/x.py && make 2>&1 | tee out.log", "workdir": "/w"},
            [
                FileChange("/w/src/x.py", None, None, by_command=True),
                FileChange("/w/out.log", None, None, by_command=True),
            ],
        ),
        (
            "replace_in_file",
            {"path": "f", "diff": "------- SEARCH\na\nb\n=======\nc\n+++++++ REPLACE"},
            [REPLACED],
        ),
        ("Bash", {"command": "ls > /dev/null; grep -i 'sed' x.py"}, []),
        ("Bash", {"command": "echo 'an open quote"}, []),
        ("Read", {"file_path": "f"}, []),
        ("create_document", {"title": "t", "content": "x"}, []),
        ("str_replace_editor", {"command": "view", "path": "f"}, []),
        ("Edit", {"file_path": 7, "old_string": None}, []),
        ("Edit", "not JSON", []),
        ("Edit", [1], []),
    ],
)
def test_what_a_tool_changes(name: str, given: Any, changes: list[FileChange]) -> None:
    """Each tool's own arguments say what it replaces by what; of a command only a here-document
    says which lines, and what is no edit changes nothing."""
    text = given if isinstance(given, str) else json.dumps(given)
    assert changes_of(name, text) == changes


def test_context_is_not_written() -> None:
    """Lines that an edit repeats are not its work, at its ends and between."""
    assert added(["a", "b", "c"], ["a", "x", "c"]) == [1]
    assert added(["a", "c"], ["a", "b", "c"]) == [1]
    assert added([], ["a", "b"]) == [0, 1]
    assert added(["a", "a"], ["a"]) == []
    assert added(["a", "b", "c", "d"], ["x", "b", "y", "d"]) == [0, 2]


def test_addresses_of_one_repository_are_equal() -> None:
    """However a remote is written: with a scheme, a user, a port, ``.git`` or none."""
    urls = (
        *(
            "git@github.com:team/shop.git",
            "https://github.com/team/shop",
            "ssh://git@github.com:22/team/shop/",
        ),
        "https://token:x@GitHub.com/team/shop.git",
    )
    assert {address_of(url) for url in urls} == {"github.com/team/shop"}


@pytest.mark.release
def test_every_question_finds_the_same_tools(embedded: Store) -> None:
    """Whoever asks for calls that change files has those of all agents, however a name is written;
    none that failed, and none of tools that only sound so."""
    named = ["Edit", "functions.apply_patch", "str_replace_based_edit_tool", "Write-File", "insert"]
    shells = ["run_terminal_cmd", "local shell"]
    others = ["TodoWrite", "write_stdin", "mcp__tracker__create_issue", "Read"]
    names = named + shells + others
    values = {"turn_id": "t1", "session_id": "s1", "call_id": "k"}
    rows: list[ToolCall] = [
        tool(f"x{at}", at, name=name, **values) for at, name in enumerate(names)
    ]
    rows.append(tool("failed", 99, name="Edit", failed=True, **values))
    insert(embedded, turn("t1", session_id="s1"), *rows)

    def found(name: str, tools: Sequence[str] = CHANGING, **given: object) -> list[str]:
        return [str(row["name"]) for row in ask(embedded, name, tools=tools, **given).dicts()]

    assert sorted(EDITORS | SHELLS) == CHANGING and not EDITORS & SHELLS
    assert found("coding/session_edits", session="s1", since=0) == named + shells
    assert found("coding/authorship/tools", turns=["t1"]) == named + shells
    place = {"after_project": "", "after_session": "", "after_time": 0, "after_span": "", "page": 9}
    window = window_parameters(PROJECT, None, **place)
    assert found("coding/edits", sorted(EDITORS), **window) == named
    turns = ask(embedded, "coding/authorship/turns", project=PROJECT, tools=["edit"]).dicts()
    assert [one["turn_id"] for one in turns] == ["t1"]
