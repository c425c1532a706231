"""Agent Trace, version 0.1.0: which lines of which files a tool call of an agent wrote.

Source: the specification of agent-trace.dev (repository ``cursor/agent-trace``, commit 2754f077).
A record is about one tool call. Its lines are numbered as the file was after that call: by the
patch that the tool recorded beside its result, else by what the session wrote into the file
before. Where neither tells, the file stands without ranges.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from itertools import groupby
from typing import Any, Final
from urllib.parse import quote
from uuid import NAMESPACE_URL, uuid5

from turnspan import semconv
from turnspan.content.model import as_dict, as_list
from turnspan_records.access.fields import parsed
from turnspan_records.coding.authorship.edits import FileChange, added, changes_of
from turnspan_records.coding.trajectories.utterances import without_nothing, written_time
from turnspan_records.conversation import CallRecord, Conversation, Step, TurnRecord
from turnspan_records.conversation import ToolExecutionRecord as ToolRecord

VERSION: Final = "0.1.0"
_PROVIDERS: Final = {
    **dict.fromkeys(("gcp.gemini", "gcp.gen_ai"), "google"),
    **dict.fromkeys(("azure.ai.openai", "azure.ai.inference"), "azure"),
    "gcp.vertex_ai": "google-vertex",
    "aws.bedrock": "amazon-bedrock",
    "x_ai": "xai",
    "mistral_ai": "mistral",
}
"""Values of ``gen_ai.provider.name`` that models.dev calls otherwise."""
_HUNK: Final = re.compile(r"@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@")

_Lines = list[tuple[int, str]]
"""Lines that were written, with their numbers."""


def trace_records(
    conversation: Conversation,
    facts: Mapping[str, str],
    attributes: Mapping[str, Mapping[str, str]],
) -> list[dict[str, Any]]:
    """A record for each successful tool call of a session that changed files, in their order.

    Args:
        conversation: a session, as ``replay`` gives it.
        facts: attributes of its first turn: working folder and commit.
        attributes: of its tool calls, by their spans: what the tool recorded beside a result.
    """
    made: list[dict[str, Any]] = []
    files: dict[str, list[str]] = {}
    runs = sorted(_runs(conversation.steps, None), key=lambda run: run[0].start_time)
    for tool, turn, call in runs:
        written: dict[str, _Lines] = {}
        for change in () if tool.failed else changes_of(tool.name, tool.arguments):
            written.setdefault(change.path, []).extend(_apply(change, files))
        beside = attributes.get(tool.span_id, {}).values()
        for path in written:  # what the tool says goes before what was worked out
            written[path] = _patched(beside, path, len(written) == 1) or written[path]
        if written:
            made.append(_record(conversation, facts, (tool, turn, call), written))
    return made


_ToolRunPlace = tuple[ToolRecord, TurnRecord | None, CallRecord | None]


def _runs(steps: Sequence[Step], turn: TurnRecord | None) -> Iterator[_ToolRunPlace]:
    for step in steps:
        if isinstance(step, TurnRecord):
            yield from _runs(step.steps, step)
        elif isinstance(step, ToolRecord):
            yield step, turn, None
        else:
            yield from ((one.execution, turn, step) for one in step.requests if one.execution)


def _apply(change: FileChange, files: dict[str, list[str]]) -> _Lines:
    """Change a file as far as it is known; returns the lines that are new, if their place is."""
    known, after = files.pop(change.path, []), change.after
    if after is None:
        return []
    if change.before is None:
        files[change.path] = list(after)
        return list(enumerate(after, 1))
    before = list(change.before)
    last = len(known) - len(before) if before else -1
    places = [at for at in range(last + 1) if known[at : at + len(before)] == before]
    if len(places) != 1:
        return []
    at = places[0]
    known[at : at + len(before)] = after
    files[change.path] = known
    return [(at + place + 1, after[place]) for place in added(before, after)]


def _patched(texts: Iterable[str], path: str, alone: bool) -> _Lines:
    """The new lines of a file by what a tool recorded: ``structuredPatch`` (Claude Code) or a
    unified diff (Codex, Gemini CLI, OpenCode), whatever the attribute is called. Of several files
    only what stands under the file's own path."""
    for text in texts:
        if "@@ -" in text or '"newStart"' in text:
            value = parsed(text)
            own = _member(value, path)
            if own is not None or alone:
                return _hunks(value if own is None else own)
    return []


def _member(value: Any, name: str) -> Any:
    """The member of a name, in an object or in one inside of it; ``None``: there is none."""
    items = as_dict(value) or {}
    inside = (found for one in items.values() if (found := _member(one, name)) is not None)
    return items[name] if items.get(name) is not None else next(inside, None)


def _hunks(value: Any) -> _Lines:
    """Of an object the first member that has any: others say the same again."""
    if isinstance(value, str):
        return _diffed(value.split("\n"))
    if (items := as_dict(value)) is None:
        return [line for one in as_list(value) or [] for line in _hunks(one)]
    if isinstance(start := items.get("newStart"), int):
        return _diffed([f"@@ -0 +{start} @@", *map(str, as_list(items.get("lines")) or [])])
    found: _Lines = []
    for one in items.values():
        found = found or _hunks(one)
    return found


def _diffed(diff: Sequence[str]) -> _Lines:
    lines: _Lines = []
    at = 0
    for line in diff:
        if begun := _HUNK.match(line):
            at = int(begun[1])
        elif at and line[:1] in (" ", "+", ""):
            lines += [(at, line[1:])] * line.startswith("+")
            at += 1
    return lines


def _record(
    conversation: Conversation,
    facts: Mapping[str, str],
    run: _ToolRunPlace,
    written: Mapping[str, _Lines],
) -> dict[str, Any]:
    tool, turn, call = run
    session = conversation.session_id or conversation.trace_id
    url = f"turnspan:///s/{quote(conversation.project, safe='')}/{quote(session, safe='')}"
    own = f"{url}?at={quote(tool.span_id)}"
    related = [{"type": "tool_call", "url": own}]
    if turn is not None:
        related.insert(0, {"type": "prompt", "url": f"{url}?at={quote(turn.turn_id)}"})
    contributor = without_nothing({"type": "ai", "model_id": _model_id(call)[:250]})
    talk = {"url": url, "contributor": contributor, "related": related}
    folder = facts.get(semconv.WORKING_DIRECTORY, "")
    revision = facts.get(semconv.VCS_HEAD_REVISION, "")
    named = facts.get(semconv.CODING_TOOL) or (turn.agent_name if turn else "")
    made = {
        "version": VERSION,
        "id": str(uuid5(NAMESPACE_URL, own)),
        "timestamp": written_time(tool.start_time + timedelta(seconds=tool.duration)),
        "vcs": {"type": "git", "revision": revision} if revision else None,
        "tool": without_nothing({"name": named, "version": turn.agent_version if turn else ""}),
        "files": [
            {"path": _relative(path, folder), "conversations": [{**talk, "ranges": _ranges(lines)}]}
            for path, lines in written.items()
        ],
        "metadata": {"dev.turnspan": {"lines": "of the file after this tool call"}},
    }
    return without_nothing(made)


def _model_id(call: CallRecord | None) -> str:
    if call is None or "/" in call.model or not call.model or not call.provider:
        return call.model if call else ""
    return f"{_PROVIDERS.get(call.provider, call.provider)}/{call.model}"


def _relative(path: str, folder: str) -> str:
    """A path from the working folder, with ``/``; one outside of it as it is."""
    path, folder = path.replace("\\", "/"), folder.replace("\\", "/").rstrip("/")
    return posixpath.normpath(path.removeprefix(f"{folder}/") if folder else path)


def _ranges(lines: _Lines) -> list[dict[str, Any]]:
    """Runs of lines, each with the hash of its text."""
    made: list[dict[str, Any]] = []
    ordered = enumerate(sorted(dict(lines).items()))
    for _, run in groupby(ordered, key=lambda one: one[1][0] - one[0]):
        written = [line for _, line in run]
        text = "\n".join(text for _, text in written).encode()
        digest = f"sha256:{hashlib.sha256(text).hexdigest()[:32]}"
        made.append(
            {"start_line": written[0][0], "end_line": written[-1][0], "content_hash": digest}
        )
    return made
