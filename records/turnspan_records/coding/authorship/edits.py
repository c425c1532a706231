"""What a tool call of a coding agent changes in files, by each tool's own arguments.

The shapes are those of the transcripts of Claude Code (``Edit``, ``MultiEdit``, ``Write``,
``NotebookEdit``), Codex (``apply_patch`` as free text, arguments or a command), Gemini CLI
(``replace``, ``write_file``), OpenCode (``edit``, ``write``, ``patch``), Copilot (``edit``,
``create``, ``str_replace_editor``), Pi (``edit``, ``write``) and what is called alike elsewhere.
"""

from __future__ import annotations

import json
import posixpath
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Any, Final

from turnspan.content.model import as_dict, as_list

SHELLS: Final = {
    *("bash", "shell", "execcommand", "runshellcommand", "executebash", "localshell", "exec"),
    *("execute", "runterminalcmd", "runcommand", "shellexec", "terminal", "executecommand"),
}
"""Tools that run a command; names in lower case, without ``_``, ``-`` and blanks."""
EDITORS: Final = {
    *("edit", "multiedit", "write", "notebookedit", "replace", "writefile", "editfile", "patch"),
    *("create", "createfile", "strreplaceeditor", "strreplacebasededittool", "strreplace"),
    *("searchreplace", "applypatch", "writetofile", "replaceinfile", "insert", "filewrite"),
}
CHANGING: Final = sorted(EDITORS | SHELLS)
"""All tools that may change a file; what a call of one changes, ``changes_of`` tells."""
_PATH = ("file_path", "filePath", "path", "notebook_path", "target_file", "filename", "file")
_OLD = ("old_string", "oldString", "oldText", "old_str", "search")
_NEW = ("new_string", "newString", "newText", "new_str", "replace", "insert_text")
_WHOLE = ("content", "file_text", "contents", "fileContent")
_COMMAND = ("command", "cmd", "script")
_FOLDER = ("workdir", "cwd", "working_directory", "directory")
_BEGIN: Final = "*** Begin Patch"
_HEREDOC = re.compile(
    r"(?m)^(?P<line>[^\n]*?<<-?\s*(['\"]?)(?P<end>[\w.]+)\2[^\n]*)\n"
    r"(?P<text>.*?)^[ \t]*(?P=end)[ \t]*$",
    re.DOTALL,
)
_INTO = re.compile(r"(?<![<>&\d])(>>?)\s*(?:'([^']+)'|\"([^\"]+)\"|([^\s;&|<>'\"]+))")
_BLOCK = re.compile(
    r"(?ms)^(?:<{5,}|-{5,}) ?SEARCH>?\n(.*?)^={5,}\n(.*?)^(?:>{5,}|\+{5,}) ?REPLACE>?"
)
_NAMED = re.compile(r"[\s_-]")


@dataclass(frozen=True, slots=True)
class FileChange:
    """What a tool call changed in one file."""

    path: str
    """As the tool names it."""
    before: tuple[str, ...] | None
    """The lines that ``after`` replaces; None: the whole file, whatever was in it."""
    after: tuple[str, ...] | None
    """None: a command wrote the file, and its text does not state which lines."""
    by_command: bool = False


def changes_of(name: str, arguments: str) -> list[FileChange]:
    """The changes of a tool call that succeeded; none of a tool that changes no file.

    ``arguments`` is JSON, or the free text of a patch. A patch is one wherever it stands.
    """
    # As EDITORS and SHELLS have it: "strreplace" of "str_replace".
    called = _NAMED.sub("", name.rpartition(".")[2]).lower()
    if called not in EDITORS and called not in SHELLS:
        return []
    value = _loaded(arguments)
    if isinstance(value, str):
        return list(_patch(value)) if _BEGIN in value else []
    given = as_dict(value)
    if given is None:
        return []
    if called in SHELLS:
        return _of_command(given)
    for text in given.values():
        if isinstance(text, str) and text.lstrip().startswith(_BEGIN):
            return list(_patch(text))
    path = _text(given, _PATH)
    return list(_of_editor(path, given)) if path else []


def _loaded(text: str) -> Any:
    """A text's JSON; the text itself if it is none."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _of_editor(path: str, given: Mapping[Any, Any]) -> Iterator[FileChange]:
    edits = given.get("edits")
    # Some models write the list as text.
    listed = as_list(_loaded(edits) if isinstance(edits, str) else edits)
    old, new = _text(given, _OLD), _text(given, _NEW)
    if listed is not None:
        for one in filter(None, map(as_dict, listed)):
            yield from _of_editor(path, {**one, "edits": None})
    elif given.get("command") in ("view", "undo_edit"):
        return
    elif (source := _text(given, ("new_source",))) is not None:  # of a notebook's cell
        lines = source.splitlines(keepends=True)
        written = tuple(json.dumps(line, ensure_ascii=False) for line in lines)
        yield FileChange(path, (), written)
    elif (diff := _text(given, ("diff",))) is not None:
        for before, after in _BLOCK.findall(diff):
            yield FileChange(path, _lines(before), _lines(after))
    elif (whole := _text(given, _WHOLE)) is not None and old is None:
        yield FileChange(path, None, _lines(whole))
    elif (sketch := _text(given, ("code_edit",))) is not None:
        yield FileChange(path, (), _lines(sketch))
    elif old is not None or new is not None:
        yield FileChange(path, _lines(old or ""), _lines(new or ""))


def _patch(text: str) -> Iterator[FileChange]:
    """The changes of a patch in Codex's form."""
    path, whole = "", False
    before: list[str] = []
    after: list[str] = []

    def done() -> Iterator[FileChange]:
        if path and (before or after):
            yield FileChange(path, None if whole else tuple(before), tuple(after))
        before.clear()
        after.clear()

    for line in text[text.index(_BEGIN) :].splitlines():
        head = re.match(r"\*\*\* (Add|Update|Delete) File: (.+)", line)
        if head is not None or line.startswith("*** End Patch"):
            yield from done()
            path, whole = (head[2].strip(), head[1] == "Add") if head else ("", False)
            if head is None:
                return
        elif line.startswith("*** Move to: "):
            path = line.removeprefix("*** Move to: ").strip()
        elif line.startswith("@@"):
            yield from done()
        elif line.startswith("+"):
            after.append(line[1:])
        elif line.startswith("-"):
            before.append(line[1:])
        elif not line.startswith("***"):
            before.append(line[1:])
            after.append(line[1:])
    yield from done()


def _of_command(given: Mapping[Any, Any]) -> list[FileChange]:
    command: Any = next((given[name] for name in _COMMAND if name in given), "")
    if (words := as_list(command)) is not None:
        command = "".join(map(str, words[-1:]))  # bash -lc COMMAND
    if not isinstance(command, str):
        return []
    folder = _text(given, _FOLDER) or ""
    if (entered := re.match(r"\s*cd\s+([^\s;&|]+)\s*(?:&&|;|\n)", command)) is not None:
        folder = posixpath.join(folder, entered[1].strip("'\""))
    found = list(_patch(command)) if _BEGIN in command else list(_written(command))
    return [
        FileChange(posixpath.join(folder, one.path), one.before, one.after, _BEGIN not in command)
        for one in found
    ]


def _written(command: str) -> Iterator[FileChange]:
    """What a command writes: the text of a here-document, else only into which files."""
    for found in _HEREDOC.finditer(command):
        line = found["line"]
        into = _INTO.search(line)
        tee = re.search(r"\btee\s+(-a\s+)?([^\s<>|;&-][^\s<>|;&]*)", line)
        if re.match(r"\s*(?:\S.*&&\s*)?(cat|tee)\b", line) and (into or tee):
            more = into[1] == ">>" if into else bool(tee and tee[1])
            path = _first(into.groups()[1:]) if into else tee[2] if tee else ""
            yield FileChange(path, () if more else None, _lines(found["text"]))
        elif into:
            yield FileChange(_first(into.groups()[1:]), None, None)
    for piece in re.split(r"&&|\|\|?|;|\n", _HEREDOC.sub("", command)):
        for into in _INTO.finditer(piece):
            if not (path := _first(into.groups()[1:])).startswith("/dev/"):
                yield FileChange(path, None, None)
        try:
            words = shlex.split(piece, comments=True)
        except ValueError:  # a quote that is open
            continue
        options = [word for word in words if word.startswith("-")]
        inplace = any(re.match(r"-[a-hj-zA-Z]*i|--in-place", one) for one in options)
        named = [word for word in words[1:] if not word.startswith("-")]
        if words[:1] == ["tee"]:
            files = named
        elif words[:1] in (["sed"], ["perl"], ["gsed"]) and inplace:
            files = named[1:]  # the first one is the program
        else:
            continue
        for file in files:
            yield FileChange(file, None, None)


def _first(groups: Sequence[str | None]) -> str:
    return next((one for one in groups if one), "")


def _text(given: Mapping[Any, Any], names: Sequence[str]) -> str | None:
    return next((given[one] for one in names if isinstance(given.get(one), str)), None)


def lines_of(text: str) -> list[str]:
    """A text's lines, as git divides it."""
    return text.removesuffix("\n").split("\n") if text else []


def _lines(text: str) -> tuple[str, ...]:
    return tuple(lines_of(text))


@lru_cache(1 << 18)  # a line is compared many times
def key_of(line: str) -> str:
    """A line as it is compared: without what a formatter changes in it."""
    return "".join(line.split()).replace("'", '"').rstrip(",;")


def squeezed(text: str) -> str:
    """A text as it is compared across lines that a formatter joined or split."""
    return re.sub(r"[\s,;()\\]+", "", text).replace("'", '"')


@lru_cache(1 << 18)
def weight(text: str) -> int:
    """How much a line says: its letters and digits. Fewer than three say nothing of their own."""
    return sum(map(str.isalnum, text))


def blocks(before: Sequence[str], after: Sequence[str]) -> list[tuple[bool, int, int, int, int]]:
    """How ``after`` (keys of lines) came of ``before``: runs of lines, whether they are the same,
    and where the run begins and ends in both."""
    start, end = 0, len(after)
    while start < min(len(before), end) and before[start] == after[start]:
        start += 1
    shift = len(before) - len(after)
    while end > start and end + shift > start and before[end + shift - 1] == after[end - 1]:
        end -= 1
    old, new = before[start : end + shift], after[start:end]
    matcher = SequenceMatcher(None, old, new, autojunk=len(old) * len(new) > 4_000_000)
    return [
        (True, 0, start, 0, start),
        *(
            (tag == "equal", start + i1, start + i2, start + j1, start + j2)
            for tag, i1, i2, j1, j2 in matcher.get_opcodes()
        ),
        (True, end + shift, len(before), end, len(after)),
    ]


def added(before: Sequence[str], after: Sequence[str]) -> list[int]:
    """Which of ``after`` (keys of lines) are not in ``before``: their places. Context is not."""
    runs = blocks(before, after)
    return [at for same, _, _, first, last in runs if not same for at in range(first, last)]
