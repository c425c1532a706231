"""What a tool call of a coding agent changes in files."""

from __future__ import annotations

import json
from typing import Any

import pytest

from turnspan_records.coding.authorship.edits import FileChange, added, changes_of
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
